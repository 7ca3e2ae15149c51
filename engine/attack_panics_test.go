package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

// a new run whose first call is past a limit that denies.
func TestAttackFreshRefused(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{Decision: policy.Allow, Limits: []policy.Limit{{Scope: policy.PerDay, Max: 1, Deny: true}}})})
	b.start("refunds", refund{"77", 120})
	for range 3 {
		run, err := b.Start(t.Context(), tenant, engine.StartInput{Flow: "refunds", User: "carl", Input: json.RawMessage(`{"order":"78","amount":1}`)})
		if err != nil {
			t.Errorf("start: %v (run %s)", err, run.ID)
			continue
		}
		b.settle()
		b.want(run.ID, holdshort.RunCompleted, `"limit_reached"`)
	}
}

// the tool author's own functions panic.
func TestAttackDefinitePanics(t *testing.T) {
	pay := counter{do: func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, errors.New("x") }}
	tl := refundTool(&pay)
	tl.Definite = func(err error) bool { panic("oops") }
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{tl}, Policy: asking(policy.Verdict{Decision: policy.Allow})})
	run := b.start("refunds", refund{"77", 120})
	b.advance(11 * time.Second)
	if op := b.operations(run.ID)[0]; op.Status != holdshort.OperationUnknown {
		t.Errorf("a function that cannot tell proved something: %+v", op)
	}
}

func TestAttackCostPanics(t *testing.T) {
	var pay counter
	tl := refundTool(&pay)
	tl.Cost = func(args json.RawMessage) int64 {
		if strings.Contains(string(args), "boom") {
			panic("oops")
		}
		return 1
	}
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{tl}, Policy: asking(policy.Verdict{Editable: []string{"*"}})})
	run := b.start("refunds", refund{"77", 120})
	req := b.request(run.ID)
	func() {
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("Decide panics: %v", p)
			}
		}()
		if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Edit, Actor: ana, Args: json.RawMessage(`{"order":"boom","amount":1}`)}); err != nil {
			t.Errorf("decide: %v", err)
		}
	}()
	b.settle()
	b.start("refunds", refund{"boom", 120})
}
