package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// walk reads a list to its end in pages of limit and gives the ids in order.
func walk[T any](b *bed, limit int, page func(tx store.ReadTx, cursor string, limit int) (store.Page[T], error), id func(T) string) []string {
	b.Helper()
	var out []string
	cursor := ""
	for range 1000 {
		p := load(b, func(tx store.ReadTx) (store.Page[T], error) { return page(tx, cursor, limit) })
		for _, item := range p.Items {
			out = append(out, id(item))
		}
		if len(p.Items) > limit {
			b.Fatalf("a page of %d has %d items", limit, len(p.Items))
		}
		if cursor = p.Next; cursor == "" {
			return out
		}
	}
	b.Fatal("the list has no end")
	return nil
}

func testLists(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	t.Run("runs newest first", func(t *testing.T) { testRunList(&bed{t, b.db}) })
	t.Run("requests in three orders", func(t *testing.T) { testRequestList(&bed{t, b.db}) })
	t.Run("messages oldest first", func(t *testing.T) { testMessageList(&bed{t, b.db}) })
	t.Run("messages of another time", func(t *testing.T) { testMessageTimes(&bed{t, b.db}) })
	t.Run("journal and operations of a run", func(t *testing.T) { testRunParts(&bed{t, b.db}) })
}

func testRunList(b *bed) {
	session := newSession(birth)
	statuses := []holdshort.RunStatus{holdshort.RunQueued, holdshort.RunWaiting, holdshort.RunCompleted}
	var runs []holdshort.Run
	for i := range 23 {
		run := newRun(birth.Add(time.Duration(i) * time.Second))
		run.Status, run.Agent, run.Flow = statuses[i%3], fmt.Sprint("agent", i%2), fmt.Sprint("flow", i%5)
		if i%4 == 0 {
			run.SessionID = session.ID
		}
		if i%6 == 1 {
			run.Held = &holdshort.Hold{Code: holdshort.Corrupt, Since: birth}
		}
		runs = append(runs, run)
	}
	b.update(func(tx store.Tx) error {
		for _, r := range runs {
			if err := tx.PutRun(r); err != nil {
				return err
			}
		}
		return nil
	})
	for name, c := range map[string]struct {
		query store.RunQuery
		fits  func(holdshort.Run) bool
	}{
		"all":     {store.RunQuery{}, func(holdshort.Run) bool { return true }},
		"queued":  {store.RunQuery{Status: holdshort.RunQueued}, func(r holdshort.Run) bool { return r.Status == holdshort.RunQueued }},
		"waiting": {store.RunQuery{Status: holdshort.RunWaiting}, func(r holdshort.Run) bool { return r.Status == holdshort.RunWaiting }},
		"session": {store.RunQuery{Session: session.ID}, func(r holdshort.Run) bool { return r.SessionID == session.ID }},
		"flow":    {store.RunQuery{Flow: "flow3"}, func(r holdshort.Run) bool { return r.Flow == "flow3" }},
		"agent":   {store.RunQuery{Agent: "agent1"}, func(r holdshort.Run) bool { return r.Agent == "agent1" }},
		"held":    {store.RunQuery{Held: true}, func(r holdshort.Run) bool { return r.Held != nil }},
		"together": {store.RunQuery{Held: true, Agent: "agent1", Status: holdshort.RunWaiting}, func(r holdshort.Run) bool {
			return r.Held != nil && r.Agent == "agent1" && r.Status == holdshort.RunWaiting
		}},
		"nothing": {store.RunQuery{Status: "no such status"}, func(holdshort.Run) bool { return false }},
	} {
		var want []string
		for _, r := range slices.Backward(runs) {
			if c.fits(r) {
				want = append(want, string(r.ID))
			}
		}
		for _, limit := range []int{1, 4, 200} {
			got := walk(b, limit, func(tx store.ReadTx, cursor string, limit int) (store.Page[holdshort.Run], error) {
				q := c.query
				q.Cursor, q.Limit = cursor, limit
				return tx.Runs(q)
			}, func(r holdshort.Run) string { return string(r.ID) })
			if !slices.Equal(got, want) {
				b.Errorf("%s by %d: got %v, want %v", name, limit, got, want)
			}
		}
	}
}

func testRequestList(b *bed) {
	priorities := []holdshort.Priority{holdshort.PriorityLow, holdshort.PriorityCritical, holdshort.PriorityNormal, holdshort.PriorityHigh}
	rank := map[holdshort.Priority]int{holdshort.PriorityCritical: 0, holdshort.PriorityHigh: 1, holdshort.PriorityNormal: 2, holdshort.PriorityLow: 3}
	session, run := holdshort.NewSessionID(birth), holdshort.NewRunID(birth)
	var requests []holdshort.Request
	for i := range 21 {
		r := newRequest(birth.Add(time.Duration(i) * time.Second))
		r.Priority = priorities[i%4]
		switch i % 3 {
		case 0:
			r.ExpiresAt = birth.Add(time.Duration(100-i) * time.Hour)
		case 1:
			r.AskedAt, r.QueueUntil = time.Time{}, birth.Add(time.Duration(50+i)*time.Hour)
		}
		if i%5 == 0 {
			r.Status, r.ClosedAt = holdshort.RequestResolved, birth
		}
		if i%2 == 0 {
			r.Assignee, r.RunID, r.OriginStepID = "ann", holdshort.NewRunID(r.CreatedAt), fmt.Sprint("step", i)
		}
		if i%4 != 1 {
			r.SessionID = session
		}
		if i%7 == 3 {
			r.Kind = holdshort.Escalation
		}
		if i > 8 {
			r.RunID, r.OriginStepID = run, fmt.Sprint("step", i)
		}
		requests = append(requests, r)
	}
	b.update(func(tx store.Tx) error {
		for _, r := range requests {
			if err := tx.PutRequest(r); err != nil {
				return err
			}
		}
		return nil
	})
	due := func(r holdshort.Request) int64 {
		if r.Due().IsZero() {
			return 1 << 62
		}
		return r.Due().UnixMicro()
	}
	orders := map[store.RequestOrder]func(a, b holdshort.Request) int{
		store.ByUrgency: func(a, b holdshort.Request) int {
			return order(rank[a.Priority], rank[b.Priority], string(a.ID), string(b.ID))
		},
		store.ByNewest: func(a, b holdshort.Request) int { return order(0, 0, string(b.ID), string(a.ID)) },
		store.ByExpiry: func(a, b holdshort.Request) int { return order(due(a), due(b), string(a.ID), string(b.ID)) },
	}
	for by, compare := range orders {
		for name, c := range map[string]struct {
			query store.RequestQuery
			fits  func(holdshort.Request) bool
		}{
			"all":      {store.RequestQuery{}, func(holdshort.Request) bool { return true }},
			"open":     {store.RequestQuery{Status: holdshort.RequestOpen}, func(r holdshort.Request) bool { return r.Status == holdshort.RequestOpen }},
			"assignee": {store.RequestQuery{Status: holdshort.RequestOpen, Assignee: "ann"}, func(r holdshort.Request) bool { return r.Status == holdshort.RequestOpen && r.Assignee == "ann" }},
			"priority": {store.RequestQuery{Priority: holdshort.PriorityHigh}, func(r holdshort.Request) bool { return r.Priority == holdshort.PriorityHigh }},
			"run":      {store.RequestQuery{Run: requests[4].RunID}, func(r holdshort.Request) bool { return r.RunID == requests[4].RunID }},
			"kind":     {store.RequestQuery{Kind: holdshort.Takeover}, func(holdshort.Request) bool { return false }},
			"one run":  {store.RequestQuery{Run: run}, func(r holdshort.Request) bool { return r.RunID == run }},
			"one run, open": {store.RequestQuery{Run: run, Status: holdshort.RequestOpen},
				func(r holdshort.Request) bool { return r.RunID == run && r.Status == holdshort.RequestOpen }},
			"one run, resolved": {store.RequestQuery{Run: run, Status: holdshort.RequestResolved},
				func(r holdshort.Request) bool { return r.RunID == run && r.Status == holdshort.RequestResolved }},
			"one run and session, assignee": {store.RequestQuery{Run: run, Session: session, Assignee: "ann"},
				func(r holdshort.Request) bool { return r.RunID == run && r.SessionID == session && r.Assignee == "ann" }},
			"session": {store.RequestQuery{Session: session}, func(r holdshort.Request) bool { return r.SessionID == session }},
			"session, open, priority": {store.RequestQuery{Session: session, Status: holdshort.RequestOpen, Priority: holdshort.PriorityHigh},
				func(r holdshort.Request) bool {
					return r.SessionID == session && r.Status == holdshort.RequestOpen && r.Priority == holdshort.PriorityHigh
				}},
			"open, kind": {store.RequestQuery{Status: holdshort.RequestOpen, Kind: holdshort.Escalation},
				func(r holdshort.Request) bool {
					return r.Status == holdshort.RequestOpen && r.Kind == holdshort.Escalation
				}},
			"unknown":  {store.RequestQuery{Priority: "no such priority"}, func(holdshort.Request) bool { return false }},
			"injected": {store.RequestQuery{Status: "open' OR '1'='1"}, func(holdshort.Request) bool { return false }},
		} {
			var fitting []holdshort.Request
			for _, r := range requests {
				if c.fits(r) {
					fitting = append(fitting, r)
				}
			}
			slices.SortFunc(fitting, compare)
			var want []string
			for _, r := range fitting {
				want = append(want, string(r.ID))
			}
			for _, limit := range []int{1, 4} {
				got := walk(b, limit, func(tx store.ReadTx, cursor string, limit int) (store.Page[holdshort.Request], error) {
					q := c.query
					q.Order, q.Cursor, q.Limit = by, cursor, limit
					return tx.Requests(q)
				}, func(r holdshort.Request) string { return string(r.ID) })
				if !slices.Equal(got, want) {
					b.Errorf("%s by %q in pages of %d: got %v, want %v", name, by, limit, got, want)
				}
			}
		}
	}
}

func order[T int | int64](a, b T, ida, idb string) int {
	switch {
	case a < b || a == b && ida < idb:
		return -1
	case a == b && ida == idb:
		return 0
	}
	return 1
}

func testMessageList(b *bed) {
	session := newSession(birth)
	var want, recent []string
	b.update(func(tx store.Tx) error {
		want, recent = nil, nil
		for i := range 12 {
			m := newMessage(session.ID, int64(i+1), birth.Add(time.Duration(i)*time.Minute))
			m.Pinned = i == 2
			want = append(want, string(m.ID))
			if i == 2 || i >= 7 {
				recent = append(recent, string(m.ID))
			}
			if err := tx.PutMessage(m); err != nil {
				return err
			}
		}
		other := newMessage(newSession(birth).ID, 1, birth)
		return tx.PutMessage(other)
	})
	id := func(m holdshort.Message) string { return string(m.ID) }
	pages := func(q store.MessageQuery) func(store.ReadTx, string, int) (store.Page[holdshort.Message], error) {
		return func(tx store.ReadTx, cursor string, limit int) (store.Page[holdshort.Message], error) {
			q.Cursor, q.Limit = cursor, limit
			return tx.Messages(q)
		}
	}
	for _, limit := range []int{1, 5, 200} {
		if got := walk(b, limit, pages(store.MessageQuery{Session: session.ID}), id); !slices.Equal(got, want) {
			b.Errorf("in pages of %d: got %v, want %v", limit, got, want)
		}
		if got := walk(b, limit, pages(store.MessageQuery{Session: session.ID, Since: birth.Add(7 * time.Minute)}), id); !slices.Equal(got, recent) {
			b.Errorf("since, in pages of %d: got %v, want the pinned one and those after", limit, got)
		}
	}
	for _, limit := range []int{1, 200} {
		if got := walk(b, limit, pages(store.MessageQuery{Session: session.ID, Pinned: true}), id); !slices.Equal(got, want[2:3]) {
			b.Errorf("pinned, in pages of %d: got %v", limit, got)
		}
	}
	last := load(b, func(tx store.ReadTx) (store.Page[holdshort.Message], error) {
		return tx.Messages(store.MessageQuery{Session: session.ID, Newest: true, Limit: 5})
	})
	before := load(b, func(tx store.ReadTx) (store.Page[holdshort.Message], error) {
		return tx.Messages(store.MessageQuery{Session: session.ID, Newest: true, Limit: 5, Cursor: last.Next})
	})
	var got []string
	for _, m := range append(before.Items, last.Items...) {
		got = append(got, id(m))
	}
	if !slices.Equal(got, want[2:]) {
		b.Errorf("the newest ten: got %v, want %v", got, want[2:])
	}
}

// testMessageTimes: what was said elsewhere and stored later stands by its time, then by its number.
func testMessageTimes(b *bed) {
	session := newSession(birth)
	minutes := []int{5, 6, 1, 1, 6, 3}
	var want []string
	b.update(func(tx store.Tx) error {
		ids := make([]string, len(minutes))
		for i, minute := range minutes {
			m := newMessage(session.ID, int64(i+1), birth.Add(time.Duration(minute)*time.Minute))
			m.Pinned, m.ExternalID = i == 3 || i == 1, fmt.Sprint("x", i)
			ids[i] = string(m.ID)
			if err := tx.PutMessage(m); err != nil {
				return err
			}
		}
		want = []string{ids[2], ids[3], ids[5], ids[0], ids[1], ids[4]} // by time, then by number
		return nil
	})
	id := func(m holdshort.Message) string { return string(m.ID) }
	for _, c := range []struct {
		name  string
		query store.MessageQuery
		want  []string
	}{
		{"all", store.MessageQuery{}, want},
		{"window with pinned", store.MessageQuery{Since: birth.Add(5 * time.Minute)}, []string{want[1], want[3], want[4], want[5]}},
		{"pinned", store.MessageQuery{Pinned: true}, []string{want[1], want[4]}},
		{"pinned in a window", store.MessageQuery{Pinned: true, Since: birth.Add(5 * time.Minute)}, want[4:5]},
	} {
		for _, limit := range []int{1, 2, 3, 200} {
			c.query.Session = session.ID
			got := walk(b, limit, func(tx store.ReadTx, cursor string, limit int) (store.Page[holdshort.Message], error) {
				c.query.Cursor, c.query.Limit = cursor, limit
				return tx.Messages(c.query)
			}, id)
			if !slices.Equal(got, c.want) {
				b.Errorf("%s in pages of %d: got %v, want %v", c.name, limit, got, c.want)
			}
		}
		var back []string
		for cursor, more := "", true; more; more = cursor != "" {
			page := load(b, func(tx store.ReadTx) (store.Page[holdshort.Message], error) {
				q := c.query
				q.Newest, q.Cursor, q.Limit = true, cursor, 2
				return tx.Messages(q)
			})
			var ids []string
			for _, m := range page.Items {
				ids = append(ids, id(m))
			}
			back, cursor = append(ids, back...), page.Next
		}
		if !slices.Equal(back, c.want) {
			b.Errorf("%s from the end: got %v, want %v", c.name, back, c.want)
		}
	}
	for name, code := range map[string]holdshort.Code{"x3": "", "x9": holdshort.NotFound, "": holdshort.NotFound} {
		err := b.store().View(b.Context(), acme, func(tx store.ReadTx) error {
			m, err := tx.MessageNamed(session.ID, name)
			if err == nil && m.ExternalID != name {
				b.Errorf("asked for %s, got %+v", name, m)
			}
			return err
		})
		if holdshort.CodeOf(err) != code {
			b.Errorf("%q: %v", name, err)
		}
	}
}

func testRunParts(b *bed) {
	run, other := newRun(birth), newRun(birth)
	b.update(func(tx store.Tx) error {
		for _, id := range []holdshort.RunID{run.ID, other.ID} {
			for i := range 3 {
				e := newEntry(id, fmt.Sprint("key", 2-i), birth.Add(time.Duration(i)*time.Second))
				if err := firstError(tx.AddJournal(e), tx.PutOperation(newOperation(id, e.Key, birth))); err != nil {
					return err
				}
			}
		}
		return nil
	})
	journal := load(b, func(tx store.ReadTx) ([]holdshort.JournalEntry, error) { return tx.Journal(run.ID) })
	operations := load(b, func(tx store.ReadTx) ([]holdshort.Operation, error) { return tx.Operations(run.ID) })
	var keys []string
	for _, e := range journal {
		keys = append(keys, e.Key)
	}
	if !slices.Equal(keys, []string{"key2", "key1", "key0"}) {
		b.Errorf("the journal came as %v, not in the order in which it was written", keys)
	}
	if len(operations) != 3 {
		b.Errorf("the run has %d operations, want its own 3", len(operations))
	}
}
