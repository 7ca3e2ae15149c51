package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

// asked again, rejected there, policy loose again: nothing.
func TestAttackRejectedSecond(t *testing.T) {
	var pay counter
	role := "reviewer"
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: policy.Func(func(context.Context, policy.Call) (policy.Verdict, error) {
		return policy.Verdict{Audience: holdshort.Audience{Roles: []string{role}}}, nil
	})})
	run := b.start("refunds", refund{"77", 120})
	role = "finance"
	b.decide(engine.DecideInput{Request: b.request(run.ID).ID, Action: holdshort.Approve, Actor: ben})
	role = "reviewer"
	b.decide(engine.DecideInput{Request: b.request(run.ID).ID, Action: holdshort.Reject, Actor: ana})
	if pay.n() != 0 {
		t.Error("ran")
	}
	b.want(run.ID, holdshort.RunCompleted, `"denied"`)
}

// a limit that asks, inside a batch, twice over.
func TestAttackLimitAsksInBatch(t *testing.T) {
	var pay counter
	f := flow.New("three", 1, func(c *flow.Context, in refund) (string, error) {
		rs, err := flow.Calls(c, "k", []flow.Request{{Tool: "refund", Args: refund{"1", 1}}, {Tool: "refund", Args: refund{"2", 2}}, {Tool: "refund", Args: refund{"3", 3}}})
		if err != nil {
			return "", err
		}
		s := ""
		for _, r := range rs {
			if r.Err != nil {
				s += string(holdshort.CodeOf(r.Err)) + " "
			} else {
				s += "ok "
			}
		}
		return s, nil
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{f}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{Decision: policy.Allow, Limits: []policy.Limit{{Scope: policy.PerRun, Max: 1}}})})
	run := b.start("three", refund{})
	if pay.n() != 1 {
		t.Fatalf("ran %d", pay.n())
	}
	req := b.request(run.ID)
	if len(req.Actions) != 2 {
		t.Fatalf("%+v", req.Actions)
	}
	b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana, Calls: []holdshort.CallDecision{{CallID: req.Actions[0].CallID, Action: holdshort.Approve}, {CallID: req.Actions[1].CallID, Action: holdshort.Reject}}})
	if pay.n() != 2 {
		t.Errorf("ran %v", pay.args())
	}
	b.want(run.ID, holdshort.RunCompleted, "")
}

// retry of a canceled approval in a batch where a call failed, with posts between.
func TestAttackGiveUpThenRetry(t *testing.T) {
	n := 0
	pay := counter{do: func(context.Context, tool.Call) (tool.Result, error) { n++; return tool.Result{}, errors.New("reset") }}
	f := flow.New("strict", 1, func(c *flow.Context, in refund) (string, error) {
		_, err := flow.Call[any](c, "pay", "refund", in)
		return "", err
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{f}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{ExpiresIn: policy.Never})})
	run := b.start("strict", refund{"77", 1})
	b.approve(run.ID)
	b.advance(time.Minute)
	b.decide(engine.DecideInput{Request: b.request(run.ID).ID, Action: holdshort.Select, OptionIDs: []string{"give_up"}, Actor: ana})
	for range 3 {
		b.want(run.ID, holdshort.RunFailed, "")
		if _, err := b.Retry(t.Context(), tenant, run.ID, ops); err != nil {
			t.Fatal(err)
		}
		b.settle()
	}
	b.want(run.ID, holdshort.RunFailed, "")
	if pay.n() != 1 {
		t.Errorf("an unknown call was made %d times", pay.n())
	}
}

// reconcile says it did not happen; the approval of the second try is edited by a call decision: must be refused.
func TestAttackEditOfRetry(t *testing.T) {
	pay := counter{do: func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, errors.New("reset") }}
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{ExpiresIn: policy.Never, Editable: []string{"*"}})})
	run := b.start("refunds", refund{"77", 120})
	b.approve(run.ID)
	b.advance(time.Minute)
	b.decide(engine.DecideInput{Request: b.request(run.ID).ID, Action: holdshort.Select, OptionIDs: []string{"retry"}, Actor: ana})
	req := b.request(run.ID)
	for _, in := range []engine.DecideInput{{Action: holdshort.Edit, Args: json.RawMessage(`{"order":"77","amount":1}`)},
		{Action: holdshort.Approve, Calls: []holdshort.CallDecision{{CallID: "call_1", Action: holdshort.Edit, Args: json.RawMessage(`{"order":"77","amount":1}`)}}}} {
		in.Request, in.Actor = req.ID, ana
		if _, err := b.Decide(t.Context(), tenant, in); code(err) != holdshort.DoesNotFit {
			t.Errorf("%v", err)
		}
	}
	pay.do = nil
	b.approve(run.ID)
	b.want(run.ID, holdshort.RunCompleted, `"paid"`)
	if a := pay.args(); len(a) != 2 || a[0] != a[1] {
		t.Error(a)
	}
}

// escalated and asked by two operators; an operator who is the requester does not count.
func TestAttackEscalated(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{OnTimeout: holdshort.TimeoutEscalate, ExpiresIn: time.Minute, Audience: holdshort.Audience{Roles: []string{"reviewer"}, Quorum: 2}})})
	run := b.start("refunds", refund{"77", 120})
	b.advance(2 * time.Minute)
	req := b.request(run.ID)
	carl := holdshort.Actor{ID: "carl", Kind: holdshort.Person, Roles: []string{"operator"}}
	if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: carl}); err == nil {
		t.Error("the requester voted")
	}
	if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana}); err == nil {
		t.Error("a reviewer voted on the escalation")
	}
	b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ops})
	if pay.n() != 0 {
		t.Error("ran on one")
	}
	b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: holdshort.Actor{ID: "ops2", Kind: holdshort.Person, Roles: []string{"operator"}}})
	if pay.n() != 1 {
		t.Errorf("ran %d, run %s", pay.n(), b.run(run.ID).Status)
	}
}
