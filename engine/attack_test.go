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

// one of two needed people closes it by spelling approve as an edit.
func TestQuorumByEditVerb(t *testing.T) {
	for _, verb := range []holdshort.Verb{holdshort.Edit, holdshort.Respond} {
		var pay counter
		b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{Audience: holdshort.Audience{Roles: []string{"reviewer"}, Quorum: 2}})})
		run := b.start("refunds", refund{"77", 120})
		req := b.request(run.ID)
		_, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: verb, Actor: ana, Calls: []holdshort.CallDecision{{CallID: "call_1", Action: holdshort.Approve}}})
		if now := b.request(run.ID); code(err) != holdshort.DoesNotFit || now.ID != req.ID || pay.n() != 0 {
			t.Errorf("%s: one vote of two: %v, request is %s %s, ran %d", verb, err, now.Status, now.Outcome, pay.n())
		}
	}
}

// the same on the escalation of a request that nobody answered: it runs.
func TestQuorumEscalation(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{OnTimeout: holdshort.TimeoutEscalate, ExpiresIn: time.Minute, Audience: holdshort.Audience{Roles: []string{"reviewer"}, Quorum: 2}})})
	run := b.start("refunds", refund{"77", 120})
	b.advance(2 * time.Minute)
	req := b.request(run.ID)
	_, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Respond, Actor: ops, Calls: []holdshort.CallDecision{{CallID: "call_1", Action: holdshort.Approve}}})
	b.settle()
	if pay.n() != 0 {
		t.Errorf("ran %d times on one of two approvals (%v)", pay.n(), err)
	}
}

// gate: raiser asks for two people
func TestQuorumGate(t *testing.T) {
	b := newBed(t, engine.Config{Policy: asking(policy.Verdict{})})
	key := holdshort.Actor{ID: "key_1", Kind: holdshort.Service, Assurance: holdshort.AssuranceToken}
	asked, err := b.Ask(t.Context(), tenant, engine.AskInput{Kind: holdshort.Approval, Actions: []engine.AskAction{{Tool: "wipe", Args: json.RawMessage(`{}`)}}, Audience: holdshort.Audience{Quorum: 2}, Actor: key})
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Decide(t.Context(), tenant, engine.DecideInput{Request: asked.Request.ID, Action: holdshort.Respond, Actor: ana, Calls: []holdshort.CallDecision{{CallID: "call_1", Action: holdshort.Approve}}})
	claimed, cerr := b.Claim(t.Context(), tenant, engine.ClaimInput{Request: asked.Request.ID, Actor: key})
	if cerr == nil {
		t.Errorf("claimed %v on one approval of two (decide: %v)", claimed.Actions, err)
	}
}

var twoRefunds = flow.New("batch", 1, func(c *flow.Context, in refund) (string, error) {
	rs, err := flow.Calls(c, "both", []flow.Request{{Tool: "refund", Args: in}, {Tool: "refund", Args: refund{"other", 5}}})
	if err != nil {
		return "", err
	}
	var s []string
	for _, r := range rs {
		if r.Err != nil {
			s = append(s, string(holdshort.CodeOf(r.Err)))
		} else {
			s = append(s, string(r.Value))
		}
	}
	return strings.Join(s, " "), nil
})

// edit one, reject the other, quorum two: the rejection is lost, and counts as the editor's approval.
func TestEditForgetsRejection(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{twoRefunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{Editable: []string{"*"}, Audience: holdshort.Audience{Roles: []string{"reviewer"}, Quorum: 2}})})
	run := b.start("batch", refund{"77", 120})
	req := b.request(run.ID)
	_, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Edit, Actor: ana, Calls: []holdshort.CallDecision{
		{CallID: "call_1", Action: holdshort.Edit, Args: json.RawMessage(`{"order":"77","amount":99}`)}, {CallID: "call_2", Action: holdshort.Reject, Message: "never"}}})
	if code(err) != holdshort.DoesNotFit || b.request(run.ID).ID != req.ID || pay.n() != 0 {
		t.Errorf("%v, ran %v", err, pay.args())
	}
}

// one human through two identities.
func TestQuorumOnePersonTwice(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{Audience: holdshort.Audience{Roles: []string{"reviewer"}, Quorum: 2}})})
	run := b.start("refunds", refund{"77", 120})
	req := b.request(run.ID)
	b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana})
	_, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: holdshort.Actor{ID: "key_1", Kind: holdshort.Service, ForUser: "ana", Roles: []string{"reviewer"}, Assurance: holdshort.AssuranceToken}})
	b.settle()
	if pay.n() != 0 {
		t.Errorf("ana and a key that speaks for ana were two people (%v)", err)
	}
}

// whoever started the run for somebody does not count among those who approve what it asks, under its own name either.
func TestStarterDoesNotCount(t *testing.T) {
	for name, audience := range map[string]holdshort.Audience{"quorum": {Roles: []string{"reviewer"}, Quorum: 2}, "separate": {Roles: []string{"reviewer"}, Separate: true}} {
		t.Run(name, func(t *testing.T) {
			var pay counter
			b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{Audience: audience})})
			key := holdshort.Actor{ID: "key_1", Kind: holdshort.Service, ForUser: "carl", Roles: []string{"reviewer"}, Assurance: holdshort.AssuranceToken}
			run, err := b.Start(t.Context(), tenant, engine.StartInput{Flow: "refunds", Input: []byte(`{"order":"77","amount":120}`), User: "carl", Actor: key})
			if err != nil {
				t.Fatal(err)
			}
			b.settle()
			req := b.request(run.ID)
			key.ForUser = ""
			if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: key}); code(err) != holdshort.Forbidden {
				t.Errorf("the key that started it approves: %v", err)
			}
			if pay.n() != 0 {
				t.Error("it ran")
			}
		})
	}
}

// the policy becomes Allow while a person looks: the call runs although its request is open, and the rejection is accepted afterwards.
func TestRunsWhileAsked(t *testing.T) {
	var pay counter
	decision := policy.Ask
	two := flow.New("two", 1, func(c *flow.Context, in refund) (string, error) {
		_, err := flow.All(c, "all",
			flow.Branch[string]{Key: "a", Run: func(c *flow.Context) (string, error) {
				_, err := flow.Call[any](c, "pay", "refund", in)
				return "", err
			}},
			flow.Branch[string]{Key: "b", Run: func(c *flow.Context) (string, error) {
				flow.Wait[string](c, "go", 0)
				flow.Wait[string](c, "end", 0)
				return "", nil
			}})
		return "", err
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{two}, Tools: []tool.Tool{refundTool(&pay)}, Policy: policy.Func(func(context.Context, policy.Call) (policy.Verdict, error) {
		return policy.Verdict{Decision: decision}, nil
	})})
	run := b.start("two", refund{"77", 120})
	req := b.request(run.ID)
	decision = policy.Allow
	if _, err := b.Post(t.Context(), tenant, engine.PostInput{Run: run.ID, ID: "1", Name: "go", Actor: ops}); err != nil {
		t.Fatal(err)
	}
	b.settle()
	ran := pay.n()
	out, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Reject, Actor: ana})
	b.settle()
	if ran != 0 || pay.n() != 0 {
		t.Errorf("ran %d times while its request was open; then the rejection was accepted: %v %s", ran, err, out.Request.Outcome)
	}
}

// a read in an approved batch whose policy asks meanwhile runs unasked.
func TestReadAfterPolicyAsks(t *testing.T) {
	var pay, peek counter
	mixed := flow.New("mixed", 1, func(c *flow.Context, in refund) (string, error) {
		_, err := flow.Calls(c, "both", []flow.Request{{Tool: "refund", Args: in}, {Tool: "peek", Args: map[string]string{"who": "carl"}}})
		return "", err
	})
	strict := false
	b := newBed(t, engine.Config{Flows: []flow.Flow{mixed}, Tools: []tool.Tool{refundTool(&pay), {Name: "peek", Effect: tool.Read, Call: peek.call}},
		Policy: policy.Func(func(_ context.Context, c policy.Call) (policy.Verdict, error) {
			if c.Effect == "read" && !strict {
				return policy.Verdict{Decision: policy.Allow}, nil
			}
			return policy.Verdict{}, nil
		})})
	run := b.start("mixed", refund{"77", 120})
	strict = true
	b.approve(run.ID)
	if peek.n() != 0 {
		t.Errorf("a read ran %d times although the policy asks and nobody approved it", peek.n())
	}
}

// limits on reads are not kept at all
func TestReadLimits(t *testing.T) {
	var peek counter
	f := flow.New("peeks", 1, func(c *flow.Context, in any) (string, error) {
		for range 3 {
			flow.Call[any](c, "peek", "peek", map[string]string{"who": "carl"})
		}
		return "", nil
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{f}, Tools: []tool.Tool{{Name: "peek", Effect: tool.Read, Call: peek.call}},
		Policy: asking(policy.Verdict{Decision: policy.Allow, Limits: []policy.Limit{{Scope: policy.PerRun, Max: 1, Deny: true}}})})
	b.start("peeks", nil)
	if peek.n() != 1 {
		t.Errorf("a read with a limit of 1 per run ran %d times", peek.n())
	}
}

// an edit spends what it runs with, not what the flow asked for.
func TestSpendOfEdit(t *testing.T) {
	var pay counter
	f := flow.New("spends", 1, func(c *flow.Context, in refund) (string, error) {
		flow.Call[any](c, "first", "refund", refund{"1", 60})
		flow.Call[any](c, "second", "refund", refund{"2", 40})
		return "", nil
	})
	tl := refundTool(&pay)
	tl.Cost = func(args json.RawMessage) int64 {
		var r refund
		json.Unmarshal(args, &r)
		return int64(r.Amount)
	}
	b := newBed(t, engine.Config{Flows: []flow.Flow{f}, Tools: []tool.Tool{tl}, Policy: policy.Func(func(_ context.Context, c policy.Call) (policy.Verdict, error) {
		v := policy.Verdict{Editable: []string{"*"}, Limits: []policy.Limit{{Scope: policy.PerRun, Max: 100, Spend: true, Deny: true}}}
		if c.Cost <= 50 {
			v.Decision = policy.Allow
		}
		return v, nil
	})})
	run := b.start("spends", refund{"77", 120})
	b.decide(engine.DecideInput{Request: b.request(run.ID).ID, Action: holdshort.Edit, Actor: ana, Args: json.RawMessage(`{"order":"1","amount":90}`)})
	if pay.n() != 1 {
		t.Errorf("limit 100, spent %v", pay.args())
	}
}

// asked again, and that expired: it must not go on under the old approval.
func TestExpiredSecondAsk(t *testing.T) {
	var pay counter
	role := "reviewer"
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: policy.Func(func(context.Context, policy.Call) (policy.Verdict, error) {
		return policy.Verdict{OnTimeout: holdshort.TimeoutResume, ExpiresIn: time.Minute, Audience: holdshort.Audience{Roles: []string{role}}}, nil
	})})
	run := b.start("refunds", refund{"77", 120})
	req := b.request(run.ID)
	role = "board"
	b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana})
	again := b.request(run.ID)
	if again.ID == req.ID || pay.n() != 0 {
		t.Fatal("not asked again")
	}
	role = "reviewer"
	b.advance(2 * time.Minute)
	if pay.n() != 0 {
		t.Errorf("ran %d times after its last request expired; run %s %s", pay.n(), b.run(run.ID).Status, b.run(run.ID).Result)
	}
}

func TestExpiredSecondAskLoops(t *testing.T) {
	var pay counter
	role := "reviewer"
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: policy.Func(func(context.Context, policy.Call) (policy.Verdict, error) {
		return policy.Verdict{OnTimeout: holdshort.TimeoutResume, ExpiresIn: time.Minute, Audience: holdshort.Audience{Roles: []string{role}}}, nil
	})})
	run := b.start("refunds", refund{"77", 120})
	role = "board"
	b.approve(run.ID)
	b.advance(2 * time.Minute)
	b.want(run.ID, holdshort.RunCompleted, `"expired"`)
}

// post ids with a "!".
func TestPostTook(t *testing.T) {
	f := flow.New("waits", 1, func(c *flow.Context, in any) (string, error) {
		s, err := flow.Wait[string](c, "go", time.Hour)
		return s, err
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{f, flow.New("later", 1, func(c *flow.Context, in any) (string, error) {
		flow.Sleep(c, "nap", time.Minute)
		return flow.Wait[string](c, "go", time.Hour)
	})}})
	run := b.start("later", nil)
	for _, p := range []engine.PostInput{{ID: "x", Name: "go", Body: json.RawMessage(`"real"`)}, {ID: "x!took", Name: "other", Body: json.RawMessage(`""`)}} {
		p.Run, p.Actor = run.ID, ops
		if _, err := b.Post(t.Context(), tenant, p); err != nil {
			t.Log(err)
		}
	}
	b.advance(2 * time.Minute)
	b.want(run.ID, holdshort.RunCompleted, `"real"`)
}

// a step named post that is retried takes posts with it.
func TestStepNamedPost(t *testing.T) {
	fail := true
	f := flow.New("posts", 1, func(c *flow.Context, in any) (string, error) {
		flow.Wait[string](c, "go", 0)
		if _, err := flow.Step(c, "post", func(context.Context) (string, error) {
			if fail {
				return "", errors.New("away")
			}
			return "", nil
		}); err != nil {
			return "", err
		}
		return flow.Wait[string](c, "go", time.Hour)
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{f}})
	run := b.start("posts", nil)
	for i, name := range []string{"later", "go"} {
		_ = i
		_ = name
	}
	// the second one first waits in the journal while the first is handled
	run2, err := b.Post(t.Context(), tenant, engine.PostInput{Run: run.ID, ID: "2", Name: "other", Actor: ops})
	_ = run2
	if err != nil {
		t.Fatal(err)
	}
	b.settle()
	_ = run
}

func TestQuestionCutsRune(t *testing.T) {
	var pay counter
	for i := range 4 {
		b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}})
		run := b.start("refunds", refund{strings.Repeat("x", i) + strings.Repeat("שלום€", 80), 120})
		if got := b.run(run.ID); got.Status != holdshort.RunWaiting {
			t.Errorf("%d: run is %s %+v", i, got.Status, got.Error)
		}
	}
}

func TestCancelReason(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}})
	run := b.start("refunds", refund{"77", 120})
	if _, err := b.Cancel(t.Context(), tenant, run.ID, ops, "x"+strings.Repeat("é", 60)); err != nil {
		t.Errorf("cancel: %v", err)
	}
	run = b.start("refunds", refund{"77", 120})
	if _, err := b.Cancel(t.Context(), tenant, run.ID, ops, "Jane Doe, +1 555 0100, asked for it"); err != nil {
		t.Errorf("cancel: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), safetyLimit)
	defer cancel()
	err := b.Watch(ctx, tenant, engine.WatchInput{Run: run.ID}, func(e holdshort.Event) error {
		if strings.Contains(e.Code, "Jane") {
			t.Errorf("text in an event: %+v", e)
		}
		if e.Type == "run.canceled" {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		t.Errorf("watch: %v", err)
	}
}

// outcomes that cannot be stored as they are.
func TestOutcomeText(t *testing.T) {
	for name, do := range map[string]func(context.Context, tool.Call) (tool.Result, error){
		"result not UTF-8": func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Value: json.RawMessage("{\"ok\":true,\"text\":\"caf\xe9\"}")}, nil
		},
		"error not UTF-8": func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{}, tool.NotSent(errors.New("caf\xe9"))
		},
		"long error": func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{}, tool.NotSent(errors.New("x" + strings.Repeat("é", 3000)))
		},
		"external id not UTF-8": func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Value: json.RawMessage(`{"ok":true}`), ExternalIDs: map[string][]string{"a": {"caf\xe9"}}}, nil
		},
		"huge result": func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Value: json.RawMessage(`"` + strings.Repeat("x", 40<<20) + `"`)}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			pay := counter{do: do}
			b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}})
			run := b.start("refunds", refund{"77", 120})
			b.approve(run.ID)
			if got := b.run(run.ID); got.Status != holdshort.RunCompleted {
				t.Errorf("run is %s %+v %+v, operation %+v", got.Status, got.Held, got.Error, b.operations(run.ID))
			}
		})
	}
}

// operation ids of two runs.
func TestOperationID(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{Decision: policy.Allow})})
	for _, in := range []engine.StartInput{{ID: "run_a:run_b", Trace: "t"}, {ID: "run_b", Trace: "t:run_a"}} {
		in.Flow, in.User, in.Input = "refunds", "carl", json.RawMessage(`{"order":"77","amount":1}`)
		run, err := b.Start(t.Context(), tenant, in)
		if in.ID == "run_a:run_b" {
			if code(err) != holdshort.Invalid {
				t.Errorf("an id that could be taken for two: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		b.settle()
		b.want(run.ID, holdshort.RunCompleted, `"paid"`)
	}
	if pay.n() != 1 {
		t.Errorf("one run, %d refunds", pay.n())
	}
}

// somebody else's run under an id that one can guess.
func TestStartID(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{Decision: policy.Allow})})
	in := engine.StartInput{ID: "run_order77", Flow: "refunds", User: "carl", Input: json.RawMessage(`{"order":"77","amount":1}`)}
	if _, err := b.Start(t.Context(), tenant, in); err != nil {
		t.Fatal(err)
	}
	b.settle()
	in.User = "eve"
	got, err := b.Start(t.Context(), tenant, in)
	if err == nil {
		t.Errorf("eve was given carl's run: %s %s %s", got.ID, got.User, got.Result)
	}
}
