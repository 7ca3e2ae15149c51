package engine_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/tool"
)

// logged is a log of runs, gate requests and refusals over some hours.
func logged(t *testing.T) (b *bed, ofRun, ofGate holdshort.Request) {
	var pay counter
	b = newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)},
		Policy: asking(policy.Verdict{Decision: policy.Ask, Audience: holdshort.Audience{Roles: []string{"finance"}}, ExpiresIn: 100 * time.Hour})})
	for i := range 5 {
		run := b.start("refunds", refund{"77", 120 + i})
		ofRun = b.request(run.ID)
		ofGate = b.ask(wantsRefund(50 + i))
		b.clock.move(2 * time.Hour)
		b.approve(run.ID)
		b.decide(engine.DecideInput{Request: ofGate.ID, Action: holdshort.Reject, Actor: ana})
		if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: ofGate.ID, Action: holdshort.Approve, Actor: eve}); err == nil {
			t.Fatal("eve decided")
		}
	}
	return b, ofRun, ofGate
}

// TestAuditLog: page after page, newest first, exactly the events that were asked for.
func TestAuditLog(t *testing.T) {
	b, ofRun, ofGate := logged(t)
	var all []holdshort.Event
	for after := int64(0); ; {
		page, err := b.Events(t.Context(), tenant, engine.EventQuery{After: after})
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, page.Items...); page.Last == after {
			break
		}
		after = page.Last
	}
	middle := all[len(all)/2].At
	for name, c := range map[string]struct {
		query engine.AuditQuery
		fits  func(holdshort.Event) bool
	}{
		"all":              {engine.AuditQuery{}, func(holdshort.Event) bool { return true }},
		"types":            {engine.AuditQuery{Types: []string{"hitl.request.*"}}, func(e holdshort.Event) bool { return holdshort.MatchEvent(e.Type, []string{"hitl.request.*"}) }},
		"actor":            {engine.AuditQuery{Actor: "ana"}, func(e holdshort.Event) bool { return e.Actor == "ana" }},
		"run":              {engine.AuditQuery{Run: string(ofRun.RunID)}, func(e holdshort.Event) bool { return e.Run == ofRun.RunID }},
		"request of a run": {engine.AuditQuery{Request: string(ofRun.ID)}, func(e holdshort.Event) bool { return e.Request == ofRun.ID }},
		"gate request":     {engine.AuditQuery{Request: string(ofGate.ID)}, func(e holdshort.Event) bool { return e.Request == ofGate.ID }},
		"since":            {engine.AuditQuery{Since: middle}, func(e holdshort.Event) bool { return !e.At.Before(middle) }},
		"until":            {engine.AuditQuery{Until: middle}, func(e holdshort.Event) bool { return e.At.Before(middle) }},
		"between": {engine.AuditQuery{Since: middle.Add(-3 * time.Hour), Until: middle.Add(3 * time.Hour), Actor: "ana"}, func(e holdshort.Event) bool {
			return e.Actor == "ana" && !e.At.Before(middle.Add(-3*time.Hour)) && e.At.Before(middle.Add(3*time.Hour))
		}},
		"request, since": {engine.AuditQuery{Request: string(ofRun.ID), Since: ofRun.CreatedAt.Add(time.Hour)}, func(e holdshort.Event) bool {
			return e.Request == ofRun.ID && e.At.After(ofRun.CreatedAt.Add(time.Hour))
		}},
		"unknown request":    {engine.AuditQuery{Request: string(holdshort.NewRequestID(middle))}, func(holdshort.Event) bool { return false }},
		"not a request":      {engine.AuditQuery{Request: "x' OR 1=1"}, func(holdshort.Event) bool { return false }},
		"unknown session":    {engine.AuditQuery{Session: string(holdshort.NewSessionID(middle))}, func(holdshort.Event) bool { return false }},
		"a type that is not": {engine.AuditQuery{Types: []string{"made.up"}}, func(holdshort.Event) bool { return false }},
		"the future":         {engine.AuditQuery{Since: middle.AddDate(1, 0, 0)}, func(holdshort.Event) bool { return false }},
	} {
		var want []holdshort.EventID
		for _, e := range slices.Backward(all) {
			if c.fits(e) {
				want = append(want, e.ID)
			}
		}
		for _, limit := range []int{3, 0} {
			var got []holdshort.EventID
			q := c.query
			for q.Limit = limit; ; {
				page, err := b.AuditLog(t.Context(), tenant, q, auditor)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range page.Items {
					got = append(got, e.ID)
				}
				if q.Before = page.Next; page.Next == 0 {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s by %d: got %d, want %d of them", name, limit, len(got), len(want))
			}
		}
	}
}

// TestAuditRights: the events of everybody are for those who may see everything.
func TestAuditRights(t *testing.T) {
	b, _, _ := logged(t)
	for _, c := range []struct {
		actor holdshort.Actor
		may   bool
	}{{auditor, true}, {ops, true}, {admin, true}, {ana, false}, {carl, false}, {eve, false}, {bot, false}, {holdshort.Actor{}, false}} {
		page, err := b.AuditLog(t.Context(), tenant, engine.AuditQuery{}, c.actor)
		switch {
		case c.may && (err != nil || len(page.Items) == 0):
			t.Errorf("%s got %d events and %v", c.actor.ID, len(page.Items), err)
		case !c.may && (code(err) != holdshort.Forbidden || holdshort.HintOf(err) == "" || len(page.Items) > 0):
			t.Errorf("%s got %d events and %v", c.actor.ID, len(page.Items), err)
		}
	}
}

// TestSealStatus: it says how far the log is signed, and the tail is checked as far as it says.
func TestSealStatus(t *testing.T) {
	b := newBed(t, engine.Config{})
	if s, err := b.SealStatus(t.Context(), tenant); err != nil || s.Number != 0 || s.Signed || s.Position != 0 || s.Unsealed.Count != 0 {
		t.Errorf("before anything: %+v %v", s, err)
	}
	b.ask(wantsRefund(50))
	before, err := b.SealStatus(t.Context(), tenant)
	if err != nil || before.Sealed != 0 || before.Position == 0 || before.Unsealed.Count == 0 {
		t.Errorf("before the first seal: %+v %v", before, err)
	}
	b.settle()
	s, err := b.SealStatus(t.Context(), tenant)
	if err != nil || s.Sealed < before.Position || s.Number != 1 || !s.Signed || len(s.Root) != 64 || s.KeyID == "" || !s.SealedAt.Equal(b.clock.now()) || s.Unsealed.Count != 0 {
		t.Errorf("sealed: %+v %v", s, err)
	}
	b.ask(wantsRefund(60))
	if s, err := b.SealStatus(t.Context(), tenant); err != nil || s.Unsealed.Count == 0 || s.Position <= s.Sealed {
		t.Errorf("after the seal: %+v %v", s, err)
	}
	c, err := b.VerifyChain(t.Context(), tenant, 1000)
	if err != nil || !c.All || c.From != 1 || c.Seals != 1 || c.Events == 0 || c.Unsealed == 0 || len(c.Faults) > 0 {
		t.Errorf("checked %+v %v", c, err)
	}
	if c, err := b.VerifyChain(t.Context(), tenant, 2); err != nil || c.All || c.Events != 2 || c.From != c.To-1 || len(c.Faults) > 0 {
		t.Errorf("checked %+v %v", c, err)
	}
}

// TestVerifyChainSees: an event that somebody changed is named.
func TestVerifyChainSees(t *testing.T) {
	b, _, _ := logged(t)
	if c, err := b.VerifyChain(t.Context(), tenant, 1000); err != nil || len(c.Faults) > 0 {
		t.Fatalf("before: %+v %v", c, err)
	}
	b.forge(`UPDATE events SET actor = 'eve' WHERE pos = ?`, 3)
	c, err := b.VerifyChain(t.Context(), tenant, 1000)
	if err != nil || len(c.Faults) == 0 || !c.All {
		t.Errorf("%+v %v", c, err)
	}
	if c, err := b.VerifyChain(t.Context(), tenant, 4); err != nil || len(c.Faults) > 0 || c.From < 4 || c.All {
		t.Errorf("the last four: %+v %v", c, err)
	}
}

// faulty is a store in whose tail something is wrong.
type faulty struct{ store.Store }

func (f faulty) System() store.System { return faultySystem{f.Store.System()} }

// TestVerifyChainTells: what is wrong with another tenant's events is theirs to know.
func TestVerifyChainTells(t *testing.T) {
	b := newBed(t, engine.Config{})
	e, err := engine.New(faulty{b.store}, engine.Config{Keyring: b.store.Keyring()})
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.VerifyChain(t.Context(), tenant, 10)
	if err != nil || len(c.Faults) != 2 || c.Faults[0].Problem != "ours" || c.Faults[1].Problem != "a seal" {
		t.Errorf("%+v %v", c, err)
	}
}

type faultySystem struct{ store.System }

func (faultySystem) VerifyTail(context.Context, int) (store.Verdict, error) {
	return store.Verdict{Faults: []store.Fault{{Tenant: tenant, Problem: "ours"}, {Tenant: "rival", Problem: "theirs"}, {Seal: 1, Problem: "a seal"}}}, nil
}
