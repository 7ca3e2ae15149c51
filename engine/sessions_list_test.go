package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/store"
)

// TestSessionsFor: page after page everybody gets exactly the sessions that they may see and want, the latest activity first.
func TestSessionsFor(t *testing.T) {
	b := newBed(t, engine.Config{})
	random := rand.New(rand.NewPCG(3, 4))
	var all []holdshort.Session
	err := b.store.Update(t.Context(), tenant, func(tx store.Tx) error {
		all = nil
		for i := range 520 {
			at := b.clock.now().Add(-time.Duration(random.IntN(100_000)) * time.Second)
			s := holdshort.Session{ID: holdshort.NewSessionID(at), Mode: holdshort.ModeAI, User: fmt.Sprint("user", random.IntN(40)), Channel: []string{"chat", "mail"}[i%2], Agent: fmt.Sprint("agent", i%3),
				CreatedAt: at, UpdatedAt: at.Add(time.Duration(random.IntN(5000)) * time.Second)}
			if i%9 == 0 {
				s.Mode = holdshort.ModeTakeover
			}
			if i%50 == 0 {
				s.User = "carl"
			}
			if err := tx.PutSession(s); err != nil {
				return err
			}
			all = append(all, s)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(x, y holdshort.Session) int {
		if c := y.UpdatedAt.Truncate(time.Minute).Compare(x.UpdatedAt.Truncate(time.Minute)); c != 0 {
			return c
		}
		return int(map[bool]int{true: -1, false: 1}[x.ID > y.ID])
	})
	gone := all[7].ID
	if err := b.store.Update(b.reported(), tenant, func(tx store.Tx) error { return tx.EraseSession(gone, "ana") }); err != nil {
		t.Fatal(err)
	}
	key := holdshort.Actor{ID: "key_1", Kind: holdshort.Service, ForUser: "carl"}
	for name, c := range map[string]struct {
		query engine.SessionQuery
		actor holdshort.Actor
		fits  func(holdshort.Session) bool
	}{
		"everybody's, of an auditor":  {engine.SessionQuery{}, auditor, func(holdshort.Session) bool { return true }},
		"everybody's, of an operator": {engine.SessionQuery{}, ops, func(holdshort.Session) bool { return true }},
		"own":                         {engine.SessionQuery{}, carl, func(s holdshort.Session) bool { return s.User == "carl" }},
		"of whom a key speaks for":    {engine.SessionQuery{}, key, func(s holdshort.Session) bool { return s.User == "carl" }},
		"of a reviewer":               {engine.SessionQuery{}, ben, func(holdshort.Session) bool { return false }},
		"of nobody":                   {engine.SessionQuery{}, holdshort.Actor{}, func(holdshort.Session) bool { return false }},
		"others', wanted by carl":     {engine.SessionQuery{User: "user7"}, carl, func(holdshort.Session) bool { return false }},
		"of a user":                   {engine.SessionQuery{User: "user7"}, admin, func(s holdshort.Session) bool { return s.User == "user7" }},
		"of a channel":                {engine.SessionQuery{Channel: "mail"}, admin, func(s holdshort.Session) bool { return s.Channel == "mail" }},
		"of a mode":                   {engine.SessionQuery{Mode: "takeover"}, admin, func(s holdshort.Session) bool { return s.Mode == holdshort.ModeTakeover }},
		"of an agent":                 {engine.SessionQuery{Agent: "agent2", User: "carl"}, admin, func(s holdshort.Session) bool { return s.Agent == "agent2" && s.User == "carl" }},
		"of no channel":               {engine.SessionQuery{Channel: "pigeon"}, admin, func(holdshort.Session) bool { return false }},
	} {
		var want []holdshort.SessionID
		for _, s := range all {
			if s.ID != gone && c.fits(s) {
				want = append(want, s.ID)
			}
		}
		for _, limit := range []int{1, 7, 200, 0} {
			if limit == 1 && len(want) > 60 {
				continue
			}
			var got []holdshort.SessionID
			q := c.query
			for q.Limit = limit; ; {
				page, err := b.SessionsFor(t.Context(), tenant, q, c.actor)
				if err != nil {
					t.Fatal(err)
				}
				if limit > 0 && len(page.Items) > limit {
					t.Errorf("%s: %d on a page of %d", name, len(page.Items), limit)
				}
				for _, s := range page.Items {
					got = append(got, s.ID)
				}
				if q.Cursor = page.Next; page.Next == "" {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s by %d: got %d, want %d of them", name, limit, len(got), len(want))
			}
		}
	}
	if _, err := b.SessionsFor(t.Context(), tenant, engine.SessionQuery{Cursor: "made up"}, admin); code(err) != holdshort.Invalid {
		t.Errorf("a cursor that nobody gave: %v", err)
	}
}
