package storetest

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// testStanding: every count is that of a walk through everything, up to a thousand.
func testStanding(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	now := b.now()
	ages := []time.Duration{5 * time.Minute, time.Hour, 24 * time.Hour}
	if empty := load(b, func(tx store.ReadTx) (store.Standing, error) { return tx.Standing(now, ages...) }); empty.Open != (store.Tally{}) || len(empty.ByAge) != 4 || len(empty.ByKind)+len(empty.Assigned)+len(empty.Outbox)+len(empty.Lost) != 0 {
		b.Errorf("of nothing: %+v", empty)
	}
	kinds := append([]holdshort.Kind{holdshort.Approval, holdshort.Approval}, holdshort.Clarification, holdshort.Reconcile)
	priorities := []holdshort.Priority{holdshort.PriorityLow, holdshort.PriorityCritical, holdshort.PriorityNormal, holdshort.PriorityHigh}
	waited := []time.Duration{time.Minute, 10 * time.Minute, 3 * time.Hour, 50 * time.Hour, 80 * time.Hour}
	want := store.Standing{ByKind: map[holdshort.Kind]store.Tally{}, ByAge: make([]store.Tally, 4), Assigned: map[string]store.Tally{}}
	count := func(t store.Tally, at time.Time) store.Tally {
		t.Count++
		if t.Oldest.IsZero() || at.Before(t.Oldest) {
			t.Oldest = at
		}
		return t
	}
	b.update(func(tx store.Tx) error {
		for i := range 60 {
			at := now.Add(-waited[i%5])
			r := newRequest(at)
			r.Kind, r.Priority = kinds[i%4], priorities[i/4%4]
			if i%7 == 0 {
				r.Status, r.ClosedAt = holdshort.RequestExpired, now
			} else {
				if i%3 == 0 {
					r.Assignee = fmt.Sprint("ann", i%4)
					t := want.Assigned[r.Assignee]
					t.Count++
					want.Assigned[r.Assignee] = t
				}
				want.Open, want.ByKind[r.Kind] = count(want.Open, at), count(want.ByKind[r.Kind], at)
				want.ByAge[min(i%5, 3)].Count++
			}
			run := newRun(at)
			run.Status = []holdshort.RunStatus{holdshort.RunQueued, holdshort.RunRunning, holdshort.RunFailed, holdshort.RunCompleted}[i%4]
			switch run.Status {
			case holdshort.RunQueued:
				want.Queued = count(want.Queued, at)
			case holdshort.RunRunning:
				want.Running = count(want.Running, at)
			default:
				if run.EndedAt = at; run.Status == holdshort.RunFailed && i%5 < 3 { // the period is a day
					want.Failed.Count++
				}
			}
			if err := firstError(tx.PutRequest(r), tx.PutRun(run), standingOperation(tx, &want, run.ID, i, at, count), standingDelivery(tx, i, at)); err != nil {
				return err
			}
		}
		return nil
	})
	got := load(b, func(tx store.ReadTx) (store.Standing, error) { return tx.Standing(now.Add(-24*time.Hour), ages...) })
	var lost []string
	for _, o := range got.Lost {
		lost = append(lost, o.ID)
	}
	if len(got.Lost) != int(want.Unknown.Count) || !slices.IsSortedFunc(got.Lost, func(x, y holdshort.Operation) int { return y.StartedAt.Compare(x.StartedAt) }) {
		b.Errorf("lost are %v, want %d, the latest first", lost, want.Unknown.Count)
	}
	want.Outbox = []store.OutboxTally{
		{Channel: "chat", Status: holdshort.DeliveryQueued, Tally: store.Tally{Count: 24, Oldest: micro(now.Add(-waited[4]))}},
		{Channel: "mail", Status: holdshort.DeliveryParked, Tally: store.Tally{Count: 12, Oldest: micro(now.Add(-waited[2]))}},
		{Channel: "mail", Status: holdshort.DeliveryDead, Tally: store.Tally{Count: 12, Oldest: micro(now.Add(-waited[3]))}},
	}
	got.Lost, want.At = nil, got.At
	for name, pair := range map[string][2]any{"open": {got.Open, want.Open}, "by kind": {got.ByKind, want.ByKind}, "by age": {got.ByAge, want.ByAge}, "assigned": {got.Assigned, want.Assigned},
		"queued": {got.Queued, want.Queued}, "running": {got.Running, want.Running}, "failed": {got.Failed, want.Failed}, "unknown": {got.Unknown, want.Unknown}, "outbox": {got.Outbox, want.Outbox}} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			b.Errorf("%s: got %+v, want %+v", name, pair[0], pair[1])
		}
	}
	testManyStanding(b)
}

func micro(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func standingOperation(tx store.Tx, want *store.Standing, run holdshort.RunID, i int, at time.Time, count func(store.Tally, time.Time) store.Tally) error {
	op := newOperation(run, "call", at)
	switch i % 6 {
	case 0:
		op.Status = holdshort.OperationUnknown
		want.Unknown = count(want.Unknown, at)
	case 1:
		op.Status, op.Settled = holdshort.OperationUnknown, true
	}
	return tx.PutOperation(op)
}

func standingDelivery(tx store.Tx, i int, at time.Time) error {
	d := newDelivery(fmt.Sprint("key", i), at)
	switch i % 5 {
	case 1:
		d.Status = holdshort.DeliverySent
	case 2:
		d.Status, d.Channel = holdshort.DeliveryParked, "mail"
	case 3:
		d.Status, d.Channel = holdshort.DeliveryDead, "mail"
	case 4:
		d.Status = holdshort.DeliverySending
	}
	return tx.PutDelivery(d)
}

// testManyStanding: over a thousand it says so.
func testManyStanding(b *bed) {
	now := b.now()
	b.update(func(tx store.Tx) error {
		for i := range 1200 {
			r := newRequest(now.Add(-2 * time.Hour))
			r.Assignee = "zoe"
			if i%12 == 0 {
				r.Kind = holdshort.Takeover
			}
			if err := tx.PutRequest(r); err != nil {
				return err
			}
		}
		return nil
	})
	s := load(b, func(tx store.ReadTx) (store.Standing, error) { return tx.Standing(now, time.Hour) })
	for name, t := range map[string]store.Tally{"open": s.Open, "older than an hour": s.ByAge[1], "approvals": s.ByKind[holdshort.Approval]} {
		if t.Count != store.MostCounted || !t.More {
			b.Errorf("%s: %+v, want a thousand and more", name, t)
		}
	}
	if n := s.Assigned["zoe"]; n.Count != store.MostAssigned || !n.More {
		b.Errorf("assigned: %+v", n)
	}
	if s.ByAge[0].More || s.ByKind[holdshort.Takeover].Count != 100 || s.ByKind[holdshort.Takeover].More {
		b.Errorf("what is few is not counted exactly: %+v %+v", s.ByAge, s.ByKind)
	}
	b.update(func(tx store.Tx) error {
		for range 1100 {
			r := newRequest(now.Add(-time.Hour))
			r.Kind = holdshort.Clarification
			if err := tx.PutRequest(r); err != nil {
				return err
			}
		}
		return nil
	})
	s = load(b, func(tx store.ReadTx) (store.Standing, error) { return tx.Standing(now, time.Hour) })
	if n := s.ByKind[holdshort.Approval]; !n.More || n.Count < 900 { // so many open ones were looked at, not all of them approvals
		b.Errorf("approvals among many others: %+v, want more", n)
	}
	if n := s.ByKind[holdshort.Clarification]; !n.More || n.Count != store.MostCounted {
		b.Errorf("clarifications: %+v", n)
	}
}

// testClosed: the latest first, with what figures need and nothing that was said.
func testClosed(t *testing.T, d Driver) {
	for name, o := range map[string]Options{"plain": {}, "encrypted": {Encrypt: true}} {
		t.Run(name, func(t *testing.T) { testClosedRequests(open(t, d, o)) })
	}
}

func testClosedRequests(b *bed) {
	session := newSession(birth)
	var want []store.ClosedRequest
	write := func(tx store.Tx) error {
		want = nil
		if err := tx.PutSession(session); err != nil {
			return err
		}
		for i := range 30 {
			r := newRequest(birth.Add(time.Duration(i) * time.Minute))
			r.Kind = []holdshort.Kind{holdshort.Approval, holdshort.Clarification}[i%2]
			r.Rule = []string{"", "refunds", `over "100"\ é`}[i%3]
			r.Question, r.Context = `"rule":"not this one"`, []byte(`{"rule":"nor this one","outcome":"edited"}`)
			r.ClosedAt = r.CreatedAt.Add(time.Duration(i%7) * time.Hour)
			r.SessionID = session.ID
			c := store.ClosedRequest{Kind: r.Kind, Rule: r.Rule, CreatedAt: r.CreatedAt, ClosedAt: r.ClosedAt}
			switch i % 5 {
			case 0:
				continue
			case 1:
				r.Status, c.Status = holdshort.RequestExpired, holdshort.RequestExpired
			case 2:
				r.Status, r.CancelReason, c.Status = holdshort.RequestCanceled, "outcome", holdshort.RequestCanceled
			default:
				c.Status, c.Outcome, c.Actor = holdshort.RequestResolved, []holdshort.Outcome{holdshort.Edited, holdshort.Approved}[i%2], fmt.Sprint("ann", i%4)
				r.Status, r.Outcome = c.Status, c.Outcome
				if err := firstError(tx.AddVote(newDecision(r.ID, "voter", birth)), tx.AddDecision(newDecision(r.ID, c.Actor, birth))); err != nil {
					return err
				}
			}
			want = append(want, c)
			if err := tx.PutRequest(r); err != nil {
				return err
			}
		}
		return nil
	}
	b.updateOf(rival, write)
	b.update(write)
	slices.SortStableFunc(want, func(x, y store.ClosedRequest) int { return y.ClosedAt.Compare(x.ClosedAt) })
	closed := func(since time.Time, limit int) ([]store.ClosedRequest, bool) {
		var more bool
		list := load(b, func(tx store.ReadTx) (list []store.ClosedRequest, err error) {
			list, more, err = tx.ClosedRequests(since, limit)
			return list, err
		})
		slices.SortStableFunc(list, func(x, y store.ClosedRequest) int { return y.ClosedAt.Compare(x.ClosedAt) })
		return list, more
	}
	for _, c := range []struct {
		since time.Time
		limit int
	}{{time.Time{}, 0}, {birth, 100}, {birth, 5}, {birth.Add(3 * time.Hour), 0}, {birth.AddDate(1, 0, 0), 0}, {birth, len(want)}, {birth, len(want) - 1}} {
		fits := slices.DeleteFunc(slices.Clone(want), func(r store.ClosedRequest) bool { return r.ClosedAt.Before(c.since) })
		limit := len(fits)
		if c.limit > 0 {
			limit = min(limit, c.limit)
		}
		got, more := closed(c.since, c.limit)
		if more != (limit < len(fits)) || len(got) != limit || !reflect.DeepEqual(got, append([]store.ClosedRequest(nil), fits[:limit]...)) {
			b.Errorf("since %s, %d at most: got %d (more %v)\n%+v\nwant %d\n%+v", c.since, c.limit, len(got), more, got, limit, fits[:limit])
		}
	}
	b.update(func(tx store.Tx) error {
		open, err := tx.Requests(store.RequestQuery{Session: session.ID, Status: holdshort.RequestOpen})
		for _, r := range open.Items {
			r.Status = holdshort.RequestCanceled
			err = firstError(err, tx.PutRequest(r))
		}
		return firstError(err, tx.EraseSession(session.ID, "ana"))
	})
	got, _ := closed(time.Time{}, 0)
	if len(got) == 0 || slices.ContainsFunc(got, func(c store.ClosedRequest) bool { return !c.Erased || c.Rule != "" || c.Outcome != "" }) {
		b.Errorf("after they were erased: %+v", got)
	}
}
