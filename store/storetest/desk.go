package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

func testDesk(t *testing.T, d Driver) {
	t.Run("seats follow a request", func(t *testing.T) { testSeats(open(t, d, Options{})) })
	t.Run("pages and counts", func(t *testing.T) { testDeskPages(open(t, d, Options{})) })
	t.Run("few and many", func(t *testing.T) { testDeskMany(open(t, d, Options{})) })
	t.Run("what was decided", func(t *testing.T) { testDecided(open(t, d, Options{})) })
	t.Run("what was open before there were seats", func(t *testing.T) { testSeatFill(open(t, d, Options{})) })
}

// seatRows gives every seat as text.
func (b *bed) seatRows() []string {
	b.Helper()
	var out []string
	for _, row := range b.db.Rows(b, "SELECT seat, urgency, id FROM seats") {
		out = append(out, fmt.Sprint(row...))
	}
	slices.Sort(out)
	return out
}

// wantSeats gives those that open requests should have.
func (b *bed) wantSeats() []string {
	b.Helper()
	var out []string
	urgency := map[holdshort.Priority]int64{holdshort.PriorityCritical: 0, holdshort.PriorityHigh: 1, holdshort.PriorityNormal: 2, holdshort.PriorityLow: 3}
	for cursor := ""; ; {
		page := load(b, func(tx store.ReadTx) (store.Page[holdshort.Request], error) {
			return tx.Requests(store.RequestQuery{Status: holdshort.RequestOpen, Cursor: cursor})
		})
		for _, r := range page.Items {
			for _, seat := range store.Seats(&r) {
				out = append(out, fmt.Sprint(seat, urgency[r.Priority], string(r.ID)))
			}
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	slices.Sort(out)
	return out
}

func (b *bed) seatsFit(when string) {
	b.Helper()
	if got, want := b.seatRows(), b.wantSeats(); !slices.Equal(got, want) {
		b.Errorf("%s the seats are\n%s\nwant\n%s", when, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// testSeats: whatever becomes of a request, its seats are those of what is open, in the same transaction.
func testSeats(b *bed) {
	session := newSession(birth)
	make := func(a holdshort.Audience, owner string) holdshort.Request {
		r := newRequest(birth)
		r.Audience, r.Requester.User, r.SessionID = a, owner, session.ID
		return r
	}
	requests := []holdshort.Request{
		make(holdshort.Audience{Roles: []string{"finance", "reviewer"}}, "ann"),
		make(holdshort.Audience{Roles: []string{"finance", "legal"}, Users: []string{"ben", "eva", "ben"}, Owner: true, Quorum: 2}, "ann"),
		make(holdshort.Audience{Owner: true}, "ann"),
		make(holdshort.Audience{Owner: true}, ""),
		make(holdshort.Audience{}, "ann"),
		make(holdshort.Audience{Users: []string{"ann"}}, "ann"),
		make(holdshort.Audience{Users: []string{strings.Repeat("long", 1000), "nul\x00", "é"}}, "ann"),
	}
	b.update(func(tx store.Tx) error {
		err := tx.PutSession(session)
		for _, r := range requests {
			err = firstError(err, tx.PutRequest(r))
		}
		return err
	})
	b.seatsFit("after they were raised")
	if n := len(b.seatRows()); n != 18 {
		b.Errorf("%d seats, want 18", n)
	}
	change := func(i int, read bool, change func(r *holdshort.Request)) func(tx store.Tx) error {
		return func(tx store.Tx) error {
			var r holdshort.Request
			var err error
			if read {
				r, err = tx.Request(requests[i].ID)
			} else { // as one of a list
				var page store.Page[holdshort.Request]
				page, err = tx.Requests(store.RequestQuery{Session: session.ID})
				r = page.Items[slices.IndexFunc(page.Items, func(r holdshort.Request) bool { return r.ID == requests[i].ID })]
			}
			if err != nil {
				return err
			}
			change(&r)
			return tx.PutRequest(r)
		}
	}
	for _, read := range []bool{true, false} {
		b.update(change(1, read, func(r *holdshort.Request) { r.Assignee = "eva" }), store.RequestRow(requests[1].ID))
		b.seatsFit("after it was assigned")
		b.update(change(1, read, func(r *holdshort.Request) { r.Priority = holdshort.PriorityCritical }), store.RequestRow(requests[1].ID))
		b.seatsFit("after it became urgent")
		b.update(change(1, read, func(r *holdshort.Request) { r.Priority = holdshort.PriorityLow }))
		b.seatsFit("after it became less urgent")
	}
	failed := b.try(func(tx store.Tx) error {
		return firstError(change(0, true, func(r *holdshort.Request) { r.Status = holdshort.RequestCanceled })(tx), fmt.Errorf("no"))
	})
	if failed == nil {
		b.Error("a transaction that failed was committed")
	}
	b.seatsFit("after a transaction that failed")
	close := func(status holdshort.RequestStatus) func(r *holdshort.Request) {
		return func(r *holdshort.Request) { r.Status, r.ClosedAt = status, birth.Add(time.Hour) }
	}
	b.update(change(0, true, func(r *holdshort.Request) { close(holdshort.RequestResolved)(r); r.Outcome = holdshort.Approved }))
	b.seatsFit("after a decision")
	b.update(change(1, false, close(holdshort.RequestExpired)), store.RequestRow(requests[1].ID))
	b.seatsFit("after one expired")
	next := make(holdshort.Audience{Roles: []string{"board"}}, "ann")
	b.update(func(tx store.Tx) error { // an edit that needs more people: one closes, another opens
		return firstError(change(2, true, close(holdshort.RequestResolved))(tx), tx.PutRequest(next))
	})
	b.seatsFit("after an edit that another request follows")
	requests = append(requests, next)
	for i := 3; i < len(requests); i++ {
		b.update(change(i, i%2 == 0, close(holdshort.RequestCanceled)))
	}
	b.update(func(tx store.Tx) error { return tx.EraseSession(session.ID, "ana") })
	if left := b.seatRows(); len(left) != 0 {
		b.Errorf("nothing is open, and %v are taken", left)
	}
}

// people sit at different seats.
var people = map[string][]string{
	"all":      {store.NamedSeat, store.RestSeat},
	"reviewer": {store.NamedSeat, store.OwnerSeat("ann")},
	"finance":  {store.RoleSeat("finance"), store.RoleSeat("legal"), store.UserSeat("ann"), store.OwnerSeat("ann")},
	"ann":      {store.UserSeat("ann"), store.OwnerSeat("ann")},
	"nobody":   {store.RoleSeat("none")},
}

// crowded writes n requests of all sorts and gives them back.
func (b *bed) crowded(n int, seed uint64) []holdshort.Request {
	b.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	audiences := []holdshort.Audience{{Roles: []string{"reviewer"}}, {Roles: []string{"finance"}}, {Roles: []string{"finance", "legal"}}, {Owner: true}, {Users: []string{"ann", "ben"}},
		{Roles: []string{"legal"}, Owner: true}, {}}
	kinds := []holdshort.Kind{holdshort.Approval, holdshort.Approval, holdshort.Approval, holdshort.Reconcile, holdshort.Clarification, "odd"}
	priorities := []holdshort.Priority{holdshort.PriorityCritical, holdshort.PriorityHigh, holdshort.PriorityNormal, holdshort.PriorityNormal, holdshort.PriorityLow}
	var out []holdshort.Request
	for len(out) < n {
		some := out[len(out):]
		for range min(n-len(out), 500) {
			at := birth.Add(time.Duration(len(out)+len(some)) * time.Second)
			r := newRequest(at)
			r.Audience, r.Kind, r.Priority = audiences[random.IntN(len(audiences))], kinds[random.IntN(len(kinds))], priorities[random.IntN(len(priorities))]
			r.Requester.User, r.Assignee = []string{"ann", "ben", ""}[random.IntN(3)], []string{"ann", "", "", "ben"}[random.IntN(4)]
			if random.IntN(3) > 0 {
				r.ExpiresAt = birth.Add(time.Duration(random.IntN(1000)) * time.Hour)
			}
			if random.IntN(5) == 0 {
				r.Status, r.Outcome, r.ClosedAt = holdshort.RequestResolved, holdshort.Approved, at.Add(time.Minute)
			}
			some = append(some, r)
		}
		b.update(func(tx store.Tx) error {
			for _, r := range some {
				if err := tx.PutRequest(r); err != nil {
					return err
				}
			}
			return nil
		})
		out = append(out, some...)
	}
	return out
}

func urgencyOf(p holdshort.Priority) int {
	return slices.Index([]holdshort.Priority{holdshort.PriorityCritical, holdshort.PriorityHigh, holdshort.PriorityNormal, holdshort.PriorityLow}, p)
}

func dueOf(r holdshort.Request) int64 {
	if due := r.Due(); !due.IsZero() {
		return due.UnixMicro()
	}
	return 1 << 62
}

// expected is what a query must give, found out the long way.
func expected(requests []holdshort.Request, q store.DeskQuery) []holdshort.RequestID {
	var fit []holdshort.Request
	for _, r := range requests {
		if r.Status == holdshort.RequestOpen && slices.ContainsFunc(store.Seats(&r), func(s string) bool { return slices.Contains(q.Seats, s) }) &&
			(len(q.Kinds) == 0 || slices.Contains(q.Kinds, r.Kind)) && (q.Priority == "" || r.Priority == q.Priority) && (q.Assignee == "" || r.Assignee == q.Assignee) &&
			(q.DueBefore.IsZero() || !r.Due().IsZero() && r.Due().Before(q.DueBefore)) {
			fit = append(fit, r)
		}
	}
	slices.SortFunc(fit, func(a, b holdshort.Request) int {
		switch {
		case q.Order == store.ByNewest:
			return strings.Compare(string(b.ID), string(a.ID))
		case q.Order == store.ByUrgency && a.Priority != b.Priority:
			return urgencyOf(a.Priority) - urgencyOf(b.Priority)
		case q.Order == store.ByExpiry && dueOf(a) < dueOf(b):
			return -1
		case q.Order == store.ByExpiry && dueOf(a) > dueOf(b):
			return 1
		}
		return strings.Compare(string(a.ID), string(b.ID))
	})
	ids := []holdshort.RequestID{}
	for _, r := range fit {
		ids = append(ids, r.ID)
	}
	return ids
}

// pagesOf reads a desk to its end.
func (b *bed) pagesOf(q store.DeskQuery) []holdshort.RequestID {
	b.Helper()
	ids := []holdshort.RequestID{}
	for {
		page := load(b, func(tx store.ReadTx) (store.Page[holdshort.Request], error) { return tx.Desk(q) })
		if len(page.Items) > q.Limit {
			b.Fatalf("a page of %d has %d", q.Limit, len(page.Items))
		}
		for _, r := range page.Items {
			ids = append(ids, r.ID)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return ids
		}
	}
}

// testDeskPages: the pages together are what is open at the seats, in order, each once; the counts are the same numbers.
func testDeskPages(b *bed) {
	requests := b.crowded(400, 7)
	soon := birth.Add(300 * time.Hour)
	for who, seats := range people {
		for _, order := range []store.RequestOrder{store.ByUrgency, store.ByNewest, store.ByExpiry} {
			for name, q := range map[string]store.DeskQuery{
				"all": {}, "kind": {Kinds: []holdshort.Kind{holdshort.Reconcile}}, "kinds": {Kinds: []holdshort.Kind{holdshort.Approval, "odd"}},
				"other kind": {Kinds: []holdshort.Kind{"strange"}}, "high": {Priority: holdshort.PriorityHigh}, "assigned": {Assignee: "ann"}, "soon": {DueBefore: soon},
				"much": {Kinds: []holdshort.Kind{holdshort.Approval}, Priority: holdshort.PriorityNormal, Assignee: "ann", DueBefore: soon},
			} {
				q.Seats, q.Order, q.Limit = seats, order, 17
				if got, want := b.pagesOf(q), expected(requests, q); !slices.Equal(got, want) {
					b.Errorf("%s, %s, sorted by %q: %d requests, want %d\n%v\n%v", who, name, order, len(got), len(want), got, want)
				}
			}
		}
		tally := load(b, func(tx store.ReadTx) (store.DeskTally, error) { return tx.DeskTally(seats, "ann", soon) })
		count := func(q store.DeskQuery) int64 {
			q.Seats = seats
			return int64(len(expected(requests, q)))
		}
		for name, c := range map[string]struct {
			got  store.Tally
			want int64
		}{
			"all": {tally.All, count(store.DeskQuery{})}, "mine": {tally.Mine, count(store.DeskQuery{Assignee: "ann"})}, "soon": {tally.Soon, count(store.DeskQuery{DueBefore: soon})},
			"reconcile": {tally.ByKind[holdshort.Reconcile], count(store.DeskQuery{Kinds: []holdshort.Kind{holdshort.Reconcile}})},
			"approval":  {tally.ByKind[holdshort.Approval], count(store.DeskQuery{Kinds: []holdshort.Kind{holdshort.Approval}})},
			"critical":  {tally.ByPriority[holdshort.PriorityCritical], count(store.DeskQuery{Priority: holdshort.PriorityCritical})},
			"normal":    {tally.ByPriority[holdshort.PriorityNormal], count(store.DeskQuery{Priority: holdshort.PriorityNormal})},
		} {
			if c.got.Count != c.want || c.got.More {
				b.Errorf("%s counts %+v as %s, want %d", who, c.got, name, c.want)
			}
		}
		if ids := expected(requests, store.DeskQuery{Seats: seats, Order: store.ByNewest}); len(ids) > 0 {
			oldest := requests[slices.IndexFunc(requests, func(r holdshort.Request) bool { return r.ID == ids[len(ids)-1] })]
			if !tally.All.Oldest.Equal(oldest.CreatedAt) {
				b.Errorf("%s: the oldest is of %s, want %s", who, tally.All.Oldest, oldest.CreatedAt)
			}
		}
	}
	for _, cursor := range []string{"x", "W10", "WyJkZXNrOnVyZ2VuY3kraWQiLDEsMl0"} {
		err := b.store().View(b.Context(), acme, func(tx store.ReadTx) error {
			_, err := tx.Desk(store.DeskQuery{Seats: people["all"], Cursor: cursor})
			return err
		})
		b.refused(err, holdshort.Invalid)
	}
}

// testDeskMany: past what is counted and gathered the order stays, no request comes twice, and the counts say that there is more.
func testDeskMany(b *bed) {
	requests := b.crowded(4000, 11)
	if !b.store().Exclusive() { // the autovacuum of a server gathers statistics a minute after such a load
		b.db.Exec(b, "ANALYZE")
	}
	for _, who := range []string{"all", "reviewer", "finance"} {
		for _, q := range []store.DeskQuery{{}, {Order: store.ByNewest}, {Order: store.ByExpiry}, {Assignee: "ann"}, {DueBefore: birth.Add(2000 * time.Hour)},
			{Order: store.ByExpiry, DueBefore: birth.Add(2000 * time.Hour), Kinds: []holdshort.Kind{holdshort.Reconcile}}} {
			q.Seats, q.Limit = people[who], 190
			if got, want := b.pagesOf(q), expected(requests, q); !slices.Equal(got, want) {
				b.Errorf("%s, %+v: %d requests, want %d", who, q, len(got), len(want))
			}
		}
		tally := load(b, func(tx store.ReadTx) (store.DeskTally, error) {
			return tx.DeskTally(people[who], "ann", birth.Add(2000*time.Hour))
		})
		if tally.All.Count != store.MostCounted || !tally.All.More || !tally.Soon.More {
			b.Errorf("%s counts %+v", who, tally)
		}
	}
}

// testDecided: the last closed come first; those of one actor by their decisions.
func testDecided(b *bed) {
	var want []holdshort.RequestID
	b.update(func(tx store.Tx) error {
		for i := range 30 {
			r := newRequest(birth.Add(time.Duration(i) * time.Second))
			closed := birth.Add(time.Duration(100-i) * time.Minute)
			if i%10 != 9 {
				r.Status, r.ClosedAt, r.Outcome = holdshort.RequestResolved, closed, holdshort.Approved
				if i%5 == 0 {
					r.Status, r.Outcome = holdshort.RequestExpired, ""
				}
				want = append(want, r.ID)
			}
			who := []string{"ann", "ben"}[i%2]
			err := firstError(tx.PutRequest(r), tx.AddVote(newDecision(r.ID, "eva", closed)))
			if r.Status == holdshort.RequestResolved {
				err = firstError(err, tx.AddDecision(newDecision(r.ID, who, closed)))
				if i%4 == 0 { // who decides a quorum has voted too
					err = firstError(err, tx.AddVote(newDecision(r.ID, who, closed.Add(-time.Second))))
				}
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	read := func(q store.DecidedQuery) (ids []holdshort.RequestID, all []holdshort.Request) {
		b.Helper()
		q.Limit = 4
		for {
			page := load(b, func(tx store.ReadTx) (store.Page[holdshort.Request], error) { return tx.Decided(q) })
			for _, r := range page.Items {
				ids, all = append(ids, r.ID), append(all, r)
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				return ids, all
			}
		}
	}
	if got, _ := read(store.DecidedQuery{}); !slices.Equal(got, want) {
		b.Errorf("got %v\nwant %v", got, want)
	}
	if _, got := read(store.DecidedQuery{Status: holdshort.RequestExpired}); len(got) != 6 || slices.ContainsFunc(got, func(r holdshort.Request) bool { return r.Status != holdshort.RequestExpired }) {
		b.Errorf("expired: %v", got)
	}
	ids, got := read(store.DecidedQuery{By: "ann"})
	seen := map[holdshort.RequestID]bool{}
	for i, r := range got {
		if seen[r.ID] || r.Status != holdshort.RequestResolved || i > 0 && r.ClosedAt.After(got[i-1].ClosedAt) {
			b.Errorf("ann's decisions are %v", ids)
		}
		seen[r.ID] = true
	}
	if len(got) != 12 {
		b.Errorf("ann decided %d, want 12", len(got))
	}
	if ids, _ := read(store.DecidedQuery{By: "eva"}); len(ids) != len(want) {
		b.Errorf("eva voted on %d that are closed, want %d", len(ids), len(want))
	}
}

// testSeatFill: a database of an older release gets its seats when it is opened, however often that is cut short.
func testSeatFill(b *bed) {
	b.crowded(1300, 3)
	want := b.wantSeats()
	b.db.Exec(b, "DELETE FROM seats")
	b.db.Exec(b, "DELETE FROM meta WHERE name = 'seats_filled'")
	b.db.Reopen(b)
	b.seatsFit("after it was opened again")
	if !load(b, store.ReadTx.Seated) {
		b.Error("not every request has its seats")
	}
	b.db.Exec(b, "UPDATE meta SET value = 'acme/req_' WHERE name = 'seats_filled'") // half of it is done
	b.db.Exec(b, "DELETE FROM seats WHERE kind = 1")
	b.db.Crash(b)
	if got := b.seatRows(); !slices.Equal(got, want) {
		b.Errorf("%d seats, want %d", len(got), len(want))
	}
	if n := b.number("SELECT COUNT(*) FROM meta WHERE name = 'seats_filled' AND value = 'all'"); n != 1 {
		b.Error("it does not know that it is done")
	}
}
