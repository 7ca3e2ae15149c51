package engine_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/internal/testall"
	"github.com/holdshort/holdshort/internal/testpg"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/postgres"
	"github.com/holdshort/holdshort/store/sqlite"
)

// deskActors look for different reasons.
var deskActors = map[string]holdshort.Actor{
	"admin":          {ID: "ada", Kind: holdshort.Person, Roles: []string{"admin"}},
	"operator":       ops,
	"auditor":        {ID: "aud", Kind: holdshort.Person, Roles: []string{"auditor"}},
	"reviewer":       ben,
	"two roles":      ana,
	"finance":        {ID: "fin", Kind: holdshort.Person, Roles: []string{"finance", "legal", "finance"}},
	"named":          {ID: "ned", Kind: holdshort.Person},
	"owner":          {ID: "carl", Kind: holdshort.Person},
	"for the owner":  {ID: "key_1", Kind: holdshort.Service, ForUser: "carl"},
	"for somebody":   {ID: "key_2", Kind: holdshort.Service, ForUser: "ned"},
	"raiser":         {ID: "key_3", Kind: holdshort.Service},
	"an agent":       {ID: "bot", Kind: holdshort.Agent, Roles: []string{"legal"}},
	"stranger":       eve,
	"nobody":         {},
	"unknown kind":   {ID: "ada", Kind: "robot", Roles: []string{"admin"}},
	"the kernel":     holdshort.SystemActor("test"),
	"odd role":       {ID: "odd", Kind: holdshort.Person, Roles: []string{"-", "", "reviewer:x"}},
	"named like one": {ID: "-", Kind: holdshort.Person},
}

// crowd writes requests of all sorts.
func crowd(t *testing.T, s store.Store, n int, seed uint64) []holdshort.Request {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 2))
	pick := func(values ...string) string { return values[random.IntN(len(values))] }
	audiences := []holdshort.Audience{{Roles: []string{"reviewer"}}, {Roles: []string{"finance"}}, {Roles: []string{"finance", "legal"}, Quorum: 2}, {Owner: true}, {Users: []string{"ned", "ana"}},
		{Roles: []string{"operator"}}, {Roles: []string{"legal"}, Owner: true, Separate: true}, {}, {Users: []string{"carl"}, Owner: true}}
	var out []holdshort.Request
	err := s.Update(t.Context(), tenant, func(tx store.Tx) error {
		out = nil
		for i := range n {
			at := tx.Now().Add(time.Duration(i-n) * time.Second)
			r := holdshort.Request{ID: holdshort.NewRequestID(at), Version: 1, Kind: holdshort.Kind(pick("approval", "approval", "approval", "reconcile", "clarification")), Status: holdshort.RequestOpen,
				Question: "Refund " + pick("an apple", "a pear") + "?", ExpectedInput: holdshort.YesNo, Fingerprint: "f", Audience: audiences[random.IntN(len(audiences))],
				Priority:  holdshort.Priority(pick("critical", "high", "normal", "normal", "low")),
				Requester: holdshort.Requester{User: pick("carl", "ned", "dora", ""), RaisedBy: pick("key_3", "")}, Assignee: pick("", "ana", "ned", "eve"), CreatedAt: at, AskedAt: at}
			switch random.IntN(5) {
			case 0:
				r.ExpiresAt = tx.Now().Add(time.Duration(1+random.IntN(60)) * time.Minute)
			case 1:
				r.ExpiresAt = tx.Now().Add(24 * time.Hour)
			}
			if random.IntN(6) == 0 {
				r.Status, r.Outcome, r.ClosedAt = holdshort.RequestResolved, holdshort.Approved, at
			}
			out = append(out, r)
			if err := tx.PutRequest(r); err != nil {
				return err
			}
			if err := tx.AddEvent(holdshort.Event{Type: "hitl.interrupt.paused", Request: r.ID}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// deskStores opens one of each kind.
func deskStores(t *testing.T, test func(t *testing.T, s store.Store, e *engine.Engine)) {
	quiet := slog.New(slog.DiscardHandler)
	for name, open := range map[string]func(t *testing.T) (store.Store, error){
		"sqlite": func(t *testing.T) (store.Store, error) {
			return sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"), sqlite.Options{Logger: quiet})
		},
		"postgres": func(t *testing.T) (store.Store, error) {
			return postgres.Open(t.Context(), testpg.URL(t), postgres.Options{KeyringFile: filepath.Join(t.TempDir(), "keys"), Logger: quiet})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			e, err := engine.New(s, engine.Config{Logger: quiet})
			if err != nil {
				t.Fatal(err)
			}
			test(t, s, e)
		})
	}
}

// deskOf reads a desk to its end.
func deskOf(t *testing.T, e *engine.Engine, q engine.DeskQuery, actor holdshort.Actor) (ids []holdshort.RequestID) {
	t.Helper()
	for {
		page, err := e.Desk(t.Context(), tenant, q, actor)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Items {
			ids = append(ids, r.ID)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return ids
		}
	}
}

// TestDesk: the pages of a desk are what is open and for whom it is, in order and each once; the counts are the same numbers; and who may not see a
// request has it on no desk.
func TestDesk(t *testing.T) {
	deskStores(t, func(t *testing.T, s store.Store, e *engine.Engine) {
		requests := crowd(t, s, 300, 5)
		for name, actor := range deskActors {
			want := map[holdshort.RequestID]holdshort.Request{}
			for _, r := range requests {
				on := e.OnDesk(&r, actor)
				if seen := e.Visible(actor, &r, nil); on && !seen {
					t.Fatalf("%s has %+v on the desk and may not see it", name, r)
				} else if who := actor.Who(); seen && !on && r.Status == holdshort.RequestOpen && r.Requester.User != actor.ID && r.Requester.User != who && r.Requester.RaisedBy != actor.ID {
					t.Fatalf("%s may see %+v, has not asked for it, and does not have it on the desk", name, r)
				}
				if on {
					want[r.ID] = r
				}
			}
			for _, order := range []store.RequestOrder{store.ByUrgency, store.ByNewest, store.ByExpiry} {
				ids := deskOf(t, e, engine.DeskQuery{Order: order, Limit: 13}, actor)
				seen := map[holdshort.RequestID]bool{}
				for i, id := range ids {
					r, ok := want[id]
					if !ok || seen[id] {
						t.Fatalf("%s, sorted by %q: %s is not wanted, or comes twice", name, order, id)
					}
					seen[id] = true
					if i > 0 && inOrder(order, r, want[ids[i-1]]) {
						t.Fatalf("%s, sorted by %q: %s comes behind %s", name, order, id, ids[i-1])
					}
				}
				if len(ids) != len(want) {
					t.Fatalf("%s, sorted by %q: %d requests, want %d", name, order, len(ids), len(want))
				}
			}
			counts, err := e.DeskCounts(t.Context(), tenant, actor)
			if err != nil {
				t.Fatal(err)
			}
			n := func(fits func(holdshort.Request) bool) engine.Count {
				c := engine.Count{}
				for _, r := range want {
					if fits(r) {
						c.N++
					}
				}
				return c
			}
			for what, c := range map[string][2]engine.Count{
				"all":     {counts.All, n(func(holdshort.Request) bool { return true })},
				"mine":    {counts.Mine, n(func(r holdshort.Request) bool { return r.Assignee != "" && r.Assignee == actor.Who() })},
				"unknown": {counts.Unknown, n(func(r holdshort.Request) bool { return r.Kind == holdshort.Reconcile })},
				"soon": {counts.Soon, n(func(r holdshort.Request) bool {
					return !r.Due().IsZero() && r.Due().Before(counts.At.Add(15*time.Minute))
				})},
				"low":   {counts.ByPriority[holdshort.PriorityLow], n(func(r holdshort.Request) bool { return r.Priority == holdshort.PriorityLow })},
				"asked": {counts.ByKind[holdshort.Clarification], n(func(r holdshort.Request) bool { return r.Kind == holdshort.Clarification })},
			} {
				if c[0] != c[1] {
					t.Errorf("%s counts %+v as %s, want %+v", name, c[0], what, c[1])
				}
			}
		}
	})
}

// inOrder: a must come before b.
func inOrder(order store.RequestOrder, a, b holdshort.Request) bool {
	urgency := func(r holdshort.Request) int {
		return slices.Index([]holdshort.Priority{holdshort.PriorityCritical, holdshort.PriorityHigh, holdshort.PriorityNormal, holdshort.PriorityLow}, r.Priority)
	}
	due := func(r holdshort.Request) int64 {
		if r.Due().IsZero() {
			return 1 << 62
		}
		return r.Due().UnixMicro()
	}
	switch {
	case order == store.ByNewest:
		return a.ID > b.ID
	case order == store.ByUrgency && a.Priority != b.Priority:
		return urgency(a) < urgency(b)
	case order == store.ByExpiry && due(a) != due(b):
		return due(a) < due(b)
	}
	return a.ID < b.ID
}

// TestDeskBesideWriters: while others raise and close, no request comes twice, and what stays open is there.
func TestDeskBesideWriters(t *testing.T) {
	deskStores(t, func(t *testing.T, s store.Store, e *engine.Engine) {
		stay := crowd(t, s, 120, 9)
		stop := make(chan struct{})
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					default:
					}
					id := holdshort.NewRequestID(time.Now())
					err := s.Update(t.Context(), tenant, func(tx store.Tx) error {
						return tx.PutRequest(holdshort.Request{ID: id, Kind: holdshort.Approval, Status: holdshort.RequestOpen, Question: "?", Fingerprint: "f", CreatedAt: tx.Now(),
							Priority: holdshort.PriorityHigh, Audience: holdshort.Audience{Roles: []string{"finance"}}})
					}, store.RequestRow(id))
					if err == nil {
						err = s.Update(t.Context(), tenant, func(tx store.Tx) error {
							r, err := tx.Request(id)
							if err != nil {
								return err
							}
							r.Status, r.ClosedAt = holdshort.RequestCanceled, tx.Now()
							return tx.PutRequest(r)
						}, store.RequestRow(id))
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		rounds := 5
		if testall.Enabled() {
			rounds = 20
		}
		for range rounds {
			for _, order := range []store.RequestOrder{store.ByUrgency, store.ByNewest, store.ByExpiry} {
				seen := map[holdshort.RequestID]bool{}
				for _, id := range deskOf(t, e, engine.DeskQuery{Order: order, Limit: 7}, ana) {
					if seen[id] {
						t.Errorf("%s comes twice", id)
					}
					seen[id] = true
				}
				for _, r := range stay {
					if e.OnDesk(&r, ana) && !seen[r.ID] {
						t.Errorf("%s was open all the time and is not there", r.ID)
					}
				}
			}
		}
		close(stop)
		wg.Wait()
		counts, err := e.DeskCounts(t.Context(), tenant, ana)
		if want := len(deskOf(t, e, engine.DeskQuery{}, ana)); err != nil || counts.All.N != want {
			t.Errorf("counts %+v, want %d (%v)", counts.All, want, err)
		}
	})
}

// TestDeskLife: a request is on the desk from when it is raised until it is decided, canceled, or past its time.
func TestDeskLife(t *testing.T) {
	b := newBed(t, engine.Config{})
	has := func(when string, want ...holdshort.RequestID) {
		t.Helper()
		got := deskOf(t, b.Engine, engine.DeskQuery{Order: store.ByNewest}, ana)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s the desk has %v, want %v", when, got, want)
		}
	}
	first, second, third := b.ask(wantsRefund(50)), b.ask(wantsRefund(60)), b.ask(wantsRefund(70))
	has("raised", first.ID, second.ID, third.ID)
	if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: first.ID, Action: holdshort.Approve, Actor: ana}); err != nil {
		t.Fatal(err)
	}
	has("decided", second.ID, third.ID)
	if _, err := b.Assign(t.Context(), tenant, engine.AssignInput{Request: second.ID, To: "ana", Actor: ana}); err != nil {
		t.Fatal(err)
	}
	mine, err := b.Desk(t.Context(), tenant, engine.DeskQuery{Assignee: "ana"}, ana)
	if err != nil || len(mine.Items) != 1 || mine.Items[0].ID != second.ID {
		t.Errorf("assigned: %+v (%v)", mine, err)
	}
	b.clock.move(time.Second) // so that one closed before the other
	if _, err := b.CancelRequest(t.Context(), tenant, engine.CancelRequestInput{Request: third.ID, Actor: bot}); err != nil {
		t.Fatal(err)
	}
	has("canceled", second.ID)
	b.clock.move(time.Hour)
	has("past its time, not swept")
	b.settle()
	has("swept")
	if counts, err := b.DeskCounts(t.Context(), tenant, ops); err != nil || counts.All.N != 0 || counts.Mine.N != 0 {
		t.Errorf("counts %+v (%v)", counts, err)
	}
	done, err := b.DecidedRequests(t.Context(), tenant, engine.DecidedQuery{}, ana)
	var got []holdshort.RequestID
	for _, r := range done.Items {
		got = append(got, r.ID)
	}
	if err != nil || !slices.Equal(got, []holdshort.RequestID{second.ID, third.ID, first.ID}) {
		t.Errorf("closed: %v (%v)", got, err)
	}
	for name, c := range map[string]struct {
		q     engine.DecidedQuery
		actor holdshort.Actor
		want  int
	}{
		"by ana": {engine.DecidedQuery{By: "ana"}, ana, 1}, "by ben": {engine.DecidedQuery{By: "ben"}, ana, 0}, "expired": {engine.DecidedQuery{Status: holdshort.RequestExpired}, ops, 1},
		"approved": {engine.DecidedQuery{Outcome: holdshort.Approved}, ops, 1}, "rejected": {engine.DecidedQuery{Outcome: holdshort.Rejected}, ops, 0}, "seen by nobody": {engine.DecidedQuery{}, eve, 0},
	} {
		page, err := b.DecidedRequests(t.Context(), tenant, c.q, c.actor)
		if err != nil || len(page.Items) != c.want {
			t.Errorf("%s: %d requests, want %d (%v)", name, len(page.Items), c.want, err)
		}
	}
	if _, err := b.DecidedRequests(t.Context(), tenant, engine.DecidedQuery{Status: holdshort.RequestOpen}, ana); holdshort.CodeOf(err) != holdshort.Invalid {
		t.Errorf("open ones are decided: %v", err)
	}
}

// TestSearchRights: words are found by whoever may see the request, before and after they are indexed, and by nobody else.
func TestSearchRights(t *testing.T) {
	deskStores(t, func(t *testing.T, s store.Store, e *engine.Engine) {
		requests := crowd(t, s, 120, 21)
		var ids []holdshort.RequestID
		for _, r := range requests {
			ids = append(ids, r.ID)
		}
		for _, when := range []string{"at once", "indexed"} {
			for name, actor := range deskActors {
				for _, status := range []holdshort.RequestStatus{"", holdshort.RequestOpen, holdshort.RequestResolved} {
					var want, got []string
					for _, r := range requests {
						if e.Visible(actor, &r, nil) && strings.Contains(r.Question, "apple") && (status == "" || r.Status == status) {
							want = append(want, string(r.ID))
						}
					}
					q := engine.RequestQuery{Status: status, Limit: 11}
					for {
						page, err := e.SearchRequests(t.Context(), tenant, q, "refund APP", actor)
						if err != nil {
							t.Fatal(err)
						}
						for _, r := range page.Items {
							got = append(got, string(r.ID))
						}
						if q.Cursor = page.Next; q.Cursor == "" {
							break
						}
					}
					slices.Sort(want)
					slices.Sort(got)
					if !slices.Equal(got, want) {
						t.Errorf("%s, %s finds %d of status %q, want %d", when, name, len(got), status, len(want))
					}
					if status != "" {
						continue
					}
					among, err := e.SearchAmong(t.Context(), tenant, ids, "refund APP", actor)
					if err != nil {
						t.Fatal(err)
					}
					got = nil
					for _, r := range among {
						got = append(got, string(r.ID))
					}
					slices.Sort(got)
					if !slices.Equal(got, want) {
						t.Errorf("%s, %s finds %d among all, want %d", when, name, len(got), len(want))
					}
				}
			}
			for range 4 {
				if _, err := e.Tick(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// TestSimilar counts what became of the same call under the same rule, and shows the last that somebody may see.
func TestSimilar(t *testing.T) {
	b := newBed(t, engine.Config{})
	old := b.ask(wantsRefund(1))
	decide := func(id holdshort.RequestID, action holdshort.Verb) {
		t.Helper()
		if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: id, Action: action, Actor: ana}); err != nil {
			t.Fatal(err)
		}
		b.clock.move(time.Second)
	}
	decide(old.ID, holdshort.Approve)
	b.clock.move(31 * 24 * time.Hour)
	var last holdshort.Request
	for i, action := range []holdshort.Verb{holdshort.Approve, holdshort.Approve, holdshort.Reject} {
		last = b.ask(wantsRefund(100 + i))
		decide(last.ID, action)
	}
	expires := b.ask(wantsRefund(200))
	b.clock.move(time.Hour)
	b.settle()
	if got := b.requestByID(expires.ID).Status; got != holdshort.RequestExpired {
		t.Fatalf("it is %s", got)
	}
	open := b.ask(wantsRefund(300))
	b.settle()
	got, err := b.Similar(t.Context(), tenant, open, ana)
	if err != nil || got.Approved != 2 || got.Rejected != 1 || got.Edited != 0 || got.Expired != 1 || got.More || got.Since.IsZero() {
		t.Errorf("got %+v (%v)", got, err)
	}
	if got.Last == nil || got.Last.Request.ID != last.ID || got.Last.Decision == nil || fmt.Sprint(string(got.Last.Request.Actions[0].Args)) == "" {
		t.Errorf("the last is %+v, want %s", got.Last, last.ID)
	}
	if got, err := b.Similar(t.Context(), tenant, open, eve); err != nil || got.Last != nil {
		t.Errorf("who may not see it sees %+v (%v)", got.Last, err)
	}
}
