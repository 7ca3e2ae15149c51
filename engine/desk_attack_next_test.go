package engine_test

import (
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

// Whoever knows a request of a run that closed finds the one in its place, and nothing where there is none.
func TestAttackRequestInItsPlace(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{OnTimeout: holdshort.TimeoutEscalate, ExpiresIn: time.Minute, Editable: []string{"*"}, Audience: holdshort.Audience{Roles: []string{"reviewer"}, Quorum: 2}})})
	next := func(id holdshort.RequestID) holdshort.RequestID {
		t.Helper()
		v, err := b.RequestFor(t.Context(), tenant, id, ana)
		if err != nil {
			t.Fatal(err)
		}
		return v.Next
	}
	run := b.start("refunds", refund{"77", 120})
	first := b.request(run.ID)
	if got := next(first.ID); got != "" {
		t.Errorf("in the place of an open request there is %s", got)
	}
	b.decide(engine.DecideInput{Request: first.ID, Action: holdshort.Edit, Args: []byte(`{"order":"77","amount":121}`), Actor: ana})
	second := b.request(run.ID)
	b.advance(2 * time.Minute)
	third := b.request(run.ID)
	if a, c, last := next(first.ID), next(second.ID), next(third.ID); first.ID == second.ID || second.ID == third.ID || a != second.ID || c != third.ID || last != "" {
		t.Errorf("%s → %s, %s → %s, %s → %s", first.ID, a, second.ID, c, third.ID, last)
	}
}
