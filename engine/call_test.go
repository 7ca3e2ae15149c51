package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

// TestCallVerdicts: what a policy and a person say is what happens to one call.
func TestCallVerdicts(t *testing.T) {
	ask := policy.Verdict{Decision: policy.Ask, Editable: []string{"amount"}}
	for _, tt := range []struct {
		name    string
		verdict policy.Verdict
		decide  *engine.DecideInput
		result  string
		status  holdshort.RunStatus
		args    []string
	}{
		{"allowed", policy.Verdict{Decision: policy.Allow}, nil, `"paid"`, holdshort.RunCompleted, []string{`{"amount":120,"order":"77"}`}},
		{"denied", policy.Verdict{Decision: policy.Deny}, nil, `"denied"`, holdshort.RunCompleted, nil},
		{"approved", ask, &engine.DecideInput{Action: holdshort.Approve}, `"paid"`, holdshort.RunCompleted, []string{`{"amount":120,"order":"77"}`}},
		{"rejected", ask, &engine.DecideInput{Action: holdshort.Reject, Message: "no"}, `"denied"`, holdshort.RunCompleted, nil},
		{"edited", ask, &engine.DecideInput{Action: holdshort.Edit, Args: []byte(`{"order":"77","amount":50}`)}, `"paid"`, holdshort.RunCompleted, []string{`{"amount":50,"order":"77"}`}},
		{"answered in its place", ask, &engine.DecideInput{Action: holdshort.Respond, Value: []byte(`"done by hand"`)}, `"does_not_fit"`, holdshort.RunCompleted, nil},
		{"canceled", ask, &engine.DecideInput{Action: holdshort.Cancel}, ``, holdshort.RunCanceled, nil},
		{"rejected, which cancels", policy.Verdict{Decision: policy.Ask, OnReject: holdshort.RejectCancel}, &engine.DecideInput{Action: holdshort.Reject}, ``, holdshort.RunCanceled, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var pay counter
			b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(tt.verdict)})
			run := b.start("refunds", refund{"77", 120})
			if tt.decide != nil {
				if pay.n() != 0 {
					t.Fatal("it ran before anybody decided")
				}
				in := *tt.decide
				in.Request, in.Actor = b.request(run.ID).ID, ana
				b.decide(in)
			}
			b.want(run.ID, tt.status, tt.result)
			if got := pay.args(); !slices.Equal(got, tt.args) {
				t.Errorf("ran with %q, want %q", got, tt.args)
			}
			if open := b.requests(run.ID); len(open) != 0 {
				t.Errorf("left open: %+v", open)
			}
			for _, op := range b.operations(run.ID) {
				if op.Status != holdshort.OperationDone || op.ExternalIDs["refund"][0] != "r1" || op.Attempt != 1 {
					t.Errorf("ledger: %+v", op)
				}
			}
		})
	}
}

// TestEditRefused: an edit that does not fit changes nothing, and the request stays open.
func TestEditRefused(t *testing.T) {
	for _, tt := range []struct {
		name, args string
		policy     policy.Policy
	}{
		{"not the schema", `{"order":"77","amount":"many"}`, asking(policy.Verdict{Editable: []string{"*"}})},
		{"not a field that may change", `{"order":"78","amount":120}`, asking(policy.Verdict{Editable: []string{"amount"}})},
		{"a field that goes", `{"order":"77"}`, asking(policy.Verdict{Editable: []string{"amount"}})},
		{"no field may change", `{"order":"77","amount":121}`, asking(policy.Verdict{})},
		{"not JSON", `{"order":`, asking(policy.Verdict{Editable: []string{"*"}})},
		{"not canonical", `{"order":"77","amount":1,"amount":2}`, asking(policy.Verdict{Editable: []string{"*"}})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var pay counter
			b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: tt.policy})
			run := b.start("refunds", refund{"77", 120})
			req := b.request(run.ID)
			if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Edit, Args: json.RawMessage(tt.args), Actor: ana}); err == nil {
				t.Fatal("accepted")
			}
			if now := b.request(run.ID); now.ID != req.ID || now.Fingerprint != req.Fingerprint || pay.n() != 0 {
				t.Errorf("it changed: %+v", now)
			}
		})
	}
}

var batch = flow.New("batch", 1, func(c *flow.Context, amounts []int) ([]string, error) {
	var calls []flow.Request
	for i, n := range amounts {
		calls = append(calls, flow.Request{ID: fmt.Sprint("c", i+1), Tool: "refund", Args: refund{fmt.Sprint(i + 1), n}})
	}
	results, err := flow.Calls(c, "pay", calls)
	var out []string
	for _, r := range results {
		switch {
		case r.Err != nil:
			out = append(out, string(holdshort.CodeOf(r.Err)))
		case r.By != "":
			out = append(out, "by "+r.By)
		default:
			out = append(out, "paid")
		}
	}
	return out, err
})

// TestBatch: one request for all calls of a batch; nothing runs before it; each call is then what was decided about it.
func TestBatch(t *testing.T) {
	big := policy.Func(func(_ context.Context, c policy.Call) (policy.Verdict, error) {
		var r refund
		if err := json.Unmarshal(c.Args, &r); err != nil || r.Amount > 100 {
			return policy.Verdict{Decision: policy.Ask, Editable: []string{"*"}}, err
		}
		return policy.Verdict{Decision: policy.Allow}, nil
	})
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{batch}, Tools: []tool.Tool{refundTool(&pay)}, Policy: big})
	run := b.start("batch", []int{10, 200, 300, 400, 500})
	req := b.request(run.ID)
	if len(req.Actions) != 5 || req.Actions[0].NeedsApproval || !req.Actions[1].NeedsApproval || pay.n() != 0 {
		t.Fatalf("%+v, %d ran", req.Actions, pay.n())
	}
	if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana,
		Calls: []holdshort.CallDecision{{CallID: "c2", Action: holdshort.Approve}}}); code(err) != holdshort.DoesNotFit {
		t.Fatalf("decided in part: %v", err)
	}
	b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana, Calls: []holdshort.CallDecision{
		{CallID: "c2", Action: holdshort.Approve}, {CallID: "c3", Action: holdshort.Reject, Message: "too much"},
		{CallID: "c4", Action: holdshort.Edit, Args: json.RawMessage(`{"order":"4","amount":150}`)}, {CallID: "c5", Action: holdshort.Respond, Message: "paid in cash"}}})
	b.want(run.ID, holdshort.RunCompleted, `["paid","paid","denied","paid","by ana"]`)
	got := pay.args()
	slices.Sort(got)
	if want := []string{`{"amount":10,"order":"1"}`, `{"amount":150,"order":"4"}`, `{"amount":200,"order":"2"}`}; !slices.Equal(got, want) {
		t.Errorf("ran %q, want %q", got, want)
	}

	pay = counter{}
	run = b.start("batch", []int{10, 200})
	b.decide(engine.DecideInput{Request: b.request(run.ID).ID, Action: holdshort.Reject, Actor: ana})
	b.want(run.ID, holdshort.RunCompleted, `["denied","denied"]`)
	if pay.n() != 0 {
		t.Error("rejecting the whole ran some of it")
	}
}

// TestQuorum: votes gather, nobody counts twice, a veto rejects, the requester does not count, an edit is approved anew.
func TestQuorum(t *testing.T) {
	two := asking(policy.Verdict{Decision: policy.Ask, Editable: []string{"*"}, Audience: holdshort.Audience{Roles: []string{"reviewer"}, Quorum: 2}})
	carl := holdshort.Actor{ID: "carl", Kind: holdshort.Person, Roles: []string{"reviewer"}}
	newRun := func(t *testing.T) (*bed, *counter, holdshort.Run, holdshort.RequestID) {
		var pay counter
		b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: two})
		run := b.start("refunds", refund{"77", 120})
		return b, &pay, run, b.request(run.ID).ID
	}
	yes := func(id holdshort.RequestID, who holdshort.Actor) engine.DecideInput {
		return engine.DecideInput{Request: id, Action: holdshort.Approve, Actor: who}
	}
	t.Run("two approve", func(t *testing.T) {
		b, pay, run, id := newRun(t)
		if out := b.decide(yes(id, ana)); out.Decision != nil || len(out.Votes) != 1 || out.Request.Status != holdshort.RequestOpen || pay.n() != 0 {
			t.Fatalf("%+v", out)
		}
		if _, err := b.Decide(t.Context(), tenant, yes(id, ana)); code(err) != holdshort.AlreadyVoted {
			t.Errorf("twice: %v", err)
		}
		if _, err := b.Decide(t.Context(), tenant, yes(id, carl)); code(err) != holdshort.Forbidden {
			t.Errorf("the requester: %v", err)
		}
		b.decide(yes(id, ben))
		b.want(run.ID, holdshort.RunCompleted, `"paid"`)
	})
	t.Run("veto", func(t *testing.T) {
		b, pay, run, id := newRun(t)
		b.decide(yes(id, ana))
		b.decide(engine.DecideInput{Request: id, Action: holdshort.Reject, Actor: ben})
		b.want(run.ID, holdshort.RunCompleted, `"denied"`)
		if pay.n() != 0 {
			t.Error("it ran")
		}
	})
	t.Run("edit", func(t *testing.T) {
		b, pay, run, id := newRun(t)
		b.decide(yes(id, ana))
		out := b.decide(engine.DecideInput{Request: id, Action: holdshort.Edit, Args: []byte(`{"order":"77","amount":60}`), Actor: ben})
		if out.Next == nil || out.Request.Outcome != holdshort.Edited || pay.n() != 0 {
			t.Fatalf("%+v", out)
		}
		next := b.request(run.ID)
		if next.ID != out.Next.ID || string(next.Actions[0].Args) != `{"amount":60,"order":"77"}` {
			t.Fatalf("%+v", next)
		}
		if _, err := b.Decide(t.Context(), tenant, yes(next.ID, ben)); code(err) != holdshort.AlreadyVoted {
			t.Errorf("the editor has a vote: %v", err)
		}
		b.decide(yes(next.ID, ana))
		b.want(run.ID, holdshort.RunCompleted, `"paid"`)
		if got := pay.args(); !slices.Equal(got, []string{`{"amount":60,"order":"77"}`}) {
			t.Errorf("ran %q", got)
		}
	})
}

// TestValidFor: an approval that was given too long ago is asked again.
func TestValidFor(t *testing.T) {
	var pay counter
	slow := flow.New("slow", 1, func(c *flow.Context, in refund) (string, error) {
		_, err := flow.All(c, "both", flow.Branch[int]{Key: "nap", Run: func(c *flow.Context) (int, error) { return 0, nil }})
		if err != nil {
			return "", err
		}
		_, err = flow.Call[any](c, "pay", "refund", in)
		return "paid", err
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{slow}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{ValidFor: time.Hour})})
	run := b.start("slow", refund{"77", 120})
	first := b.request(run.ID)
	// The node that decides has no flow: the run waits in the queue until the approval is too old.
	b.restart(func(c *engine.Config) { c.Flows = nil })
	b.decide(engine.DecideInput{Request: first.ID, Action: holdshort.Approve, Actor: ana})
	b.clock.move(2 * time.Hour)
	b.restart(func(c *engine.Config) { c.Flows = []flow.Flow{slow} })
	second := b.request(run.ID)
	if second.ID == first.ID || pay.n() != 0 {
		t.Fatalf("ran on an old approval: %d", pay.n())
	}
	b.approve(run.ID)
	b.want(run.ID, holdshort.RunCompleted, `"paid"`)
	if pay.n() != 1 {
		t.Errorf("ran %d times", pay.n())
	}
}
