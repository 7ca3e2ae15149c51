package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

// more open requests than a page.
func TestAttackCancelMany(t *testing.T) {
	var pay counter
	var items []int
	for i := range 250 {
		items = append(items, i)
	}
	f := flow.New("many", 1, func(c *flow.Context, in any) (string, error) {
		_, err := flow.Each(c, "each", items, func(i int) string { return fmt.Sprint(i) }, func(c *flow.Context, i int) (string, error) {
			_, err := flow.Call[any](c, "pay", "refund", refund{"77", i + 1})
			return "", err
		})
		return "", err
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{f}, Tools: []tool.Tool{refundTool(&pay)}})
	run := b.start("many", nil)
	if _, err := b.Cancel(t.Context(), tenant, run.ID, ops, "enough"); err != nil {
		t.Fatal(err)
	}
	b.settle()
	if open := b.requests(run.ID); len(open) != 0 {
		t.Errorf("%d requests of a canceled run are open; run.Open %d", len(open), b.run(run.ID).Open)
	}
}

// on_reject: cancel, with the rejection spelled call by call.
func TestAttackRejectCancelPerCall(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{OnReject: holdshort.RejectCancel})})
	run := b.start("refunds", refund{"77", 120})
	b.decide(engine.DecideInput{Request: b.request(run.ID).ID, Action: holdshort.Approve, Actor: ana, Calls: []holdshort.CallDecision{{CallID: "call_1", Action: holdshort.Reject}}})
	b.want(run.ID, holdshort.RunCanceled, "")
}

// a batch whose call was rejected, run failed by that, retried: is it asked again like a single call?
func TestAttackRetryRejectedBatch(t *testing.T) {
	for _, single := range []bool{true, false} {
		var pay counter
		f := flow.New("strict", 1, func(c *flow.Context, in refund) (string, error) {
			if single {
				_, err := flow.Call[any](c, "pay", "refund", in)
				return "", err
			}
			rs, err := flow.Calls(c, "pay", []flow.Request{{Tool: "refund", Args: in}})
			if err != nil {
				return "", err
			}
			return "", rs[0].Err
		})
		b := newBed(t, engine.Config{Flows: []flow.Flow{f}, Tools: []tool.Tool{refundTool(&pay)}})
		run := b.start("strict", refund{"77", 120})
		b.decide(engine.DecideInput{Request: b.request(run.ID).ID, Action: holdshort.Reject, Actor: ana})
		b.want(run.ID, holdshort.RunFailed, "")
		if _, err := b.Retry(t.Context(), tenant, run.ID, ops); err != nil {
			t.Fatal(err)
		}
		b.settle()
		if n := len(b.requests(run.ID)); n != 1 {
			t.Errorf("single %v: %d requests after the retry, run is %s %+v", single, n, b.run(run.ID).Status, b.run(run.ID).Error)
		}
	}
}

// roles are not signed, but count at execution.
func TestAttackForgedRoles(t *testing.T) {
	var pay counter
	role := "reviewer"
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: policy.Func(func(context.Context, policy.Call) (policy.Verdict, error) {
		return policy.Verdict{Audience: holdshort.Audience{Roles: []string{role}}}, nil
	})})
	run := b.start("refunds", refund{"77", 120})
	req := b.request(run.ID)
	// an engine that has no flows takes the decision, nobody executes it yet
	bare, err := engine.New(b.store, engine.Config{Policy: b.conf.Policy, Observer: b.facts})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bare.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ben}); err != nil {
		t.Fatal(err)
	}
	role = "board"
	b.forge(`UPDATE decisions SET body = CAST(replace(CAST(body AS TEXT), '"reviewer"', '"board"') AS BLOB) WHERE request_id = ?`, string(req.ID))
	b.settle()
	if pay.n() != 0 {
		t.Errorf("ran on roles that somebody wrote into the database; run %s", b.run(run.ID).Status)
	}
}

// valid_for is not in the fingerprint.
func TestAttackForgedValidFor(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{ValidFor: time.Hour})})
	run := b.start("refunds", refund{"77", 120})
	req := b.request(run.ID)
	bare, err := engine.New(b.store, engine.Config{Policy: b.conf.Policy, Observer: b.facts})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bare.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana}); err != nil {
		t.Fatal(err)
	}
	b.forge(`UPDATE requests SET fixed = CAST(replace(CAST(fixed AS TEXT), '3600000000000', '99936000000000000') AS BLOB) WHERE id = ?`, string(req.ID))
	b.clock.move(48 * time.Hour)
	b.settle()
	if pay.n() != 0 {
		t.Errorf("ran 48 h after an approval that was good for one")
	}
}

// a batch takes valid_for from one of its calls.
func TestAttackBatchValidFor(t *testing.T) {
	var pay, wipe counter
	f := flow.New("mixed", 1, func(c *flow.Context, in refund) (string, error) {
		_, err := flow.Calls(c, "both", []flow.Request{{Tool: "refund", Args: in}, {Tool: "wipe", Args: map[string]string{}}})
		return "", err
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{f}, Tools: []tool.Tool{refundTool(&pay), {Name: "wipe", Call: wipe.call}}, Policy: policy.Func(func(_ context.Context, c policy.Call) (policy.Verdict, error) {
		if c.Tool == "wipe" {
			return policy.Verdict{ValidFor: time.Hour}, nil
		}
		return policy.Verdict{}, nil
	})})
	run := b.start("mixed", refund{"77", 120})
	req := b.request(run.ID)
	bare, err := engine.New(b.store, engine.Config{Policy: b.conf.Policy, Observer: b.facts})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bare.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana}); err != nil {
		t.Fatal(err)
	}
	b.clock.move(5 * time.Hour)
	b.settle()
	if wipe.n() != 0 {
		t.Errorf("wipe ran 5 h after an approval that its rule says is good for one hour")
	}
}

// hard limit: deny. An approval by somebody who cannot know the counter passes it.
func TestAttackDenyLimitApproved(t *testing.T) {
	var pay counter
	f := flow.New("twice", 1, func(c *flow.Context, in refund) (string, error) {
		flow.Call[any](c, "first", "refund", in)
		flow.Call[any](c, "second", "refund", in)
		return "", nil
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{f}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{Limits: []policy.Limit{{Scope: policy.PerRun, Max: 1, Deny: true}}})})
	run := b.start("twice", refund{"77", 120})
	b.approve(run.ID)
	b.approve(run.ID)
	if pay.n() != 1 {
		t.Errorf("a limit of 1 that denies let %d pass", pay.n())
	}
}

// edited arguments larger than arguments may be.
func TestAttackEditSize(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{Editable: []string{"*"}}), Limits: engine.Limits{Args: 1000, Text: 1000}})
	run := b.start("refunds", refund{"77", 120})
	req := b.request(run.ID)
	if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Reject, Actor: ana, Calls: []holdshort.CallDecision{{CallID: "call_1", Action: holdshort.Reject, Message: strings.Repeat("x", 100_000)}}}); code(err) != holdshort.TooLarge {
		t.Errorf("a message of 100 kB: %v", err)
	}
	run = b.start("refunds", refund{"77", 120})
	req = b.request(run.ID)
	if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Edit, Actor: ana, Args: json.RawMessage(`{"order":"` + strings.Repeat("x", 100_000) + `","amount":1}`)}); code(err) != holdshort.TooLarge {
		t.Errorf("arguments of 100 kB: %v", err)
	}
	b.settle()
}

// session limits of runs without a session are one counter for the whole tenant.
func TestAttackSessionlessLimit(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{Decision: policy.Allow, Limits: []policy.Limit{{Scope: policy.PerSession, Max: 1, Deny: true}}})})
	b.start("refunds", refund{"77", 120})
	b.start("refunds", refund{"78", 120})
	if pay.n() != 2 {
		t.Errorf("two runs without a session: %d ran", pay.n())
	}
}

// the kernel's own actor, from outside.
func TestAttackSystemActor(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{OnTimeout: holdshort.TimeoutApprove})})
	run := b.start("refunds", refund{"77", 120})
	_, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: b.request(run.ID).ID, Action: holdshort.Approve, Actor: holdshort.Actor{ID: "system:me", Kind: holdshort.System}})
	b.settle()
	if pay.n() != 0 || err == nil {
		t.Errorf("system:me approved: %v, ran %d", err, pay.n())
	}
}

// an idempotent call whose answer was lost is called again although the policy denies it now.
func TestAttackRerunDenied(t *testing.T) {
	pay := counter{do: func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, errors.New("reset") }}
	tl := refundTool(&pay)
	tl.Idempotent = true
	d := policy.Ask
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{tl}, Policy: policy.Func(func(context.Context, policy.Call) (policy.Verdict, error) { return policy.Verdict{Decision: d}, nil })})
	run := b.start("refunds", refund{"77", 120})
	b.approve(run.ID)
	d = policy.Deny
	b.advance(11 * time.Second)
	t.Logf("calls %d run %s", pay.n(), b.run(run.ID).Status)
	b.advance(11 * time.Second)
	t.Logf("calls %d run %s %v", pay.n(), b.run(run.ID).Status, b.operations(run.ID))
	if pay.n() > 1 {
		t.Errorf("called %d times, the policy denies it since the first", pay.n())
	}
}

// clock set back between two requests.
func TestAttackClockBack(t *testing.T) {
	var pay counter
	role := "reviewer"
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: policy.Func(func(context.Context, policy.Call) (policy.Verdict, error) {
		return policy.Verdict{ExpiresIn: policy.Never, Audience: holdshort.Audience{Roles: []string{role}}}, nil
	})})
	run := b.start("refunds", refund{"77", 120})
	role = "finance"
	b.clock.move(-time.Hour)
	b.decide(engine.DecideInput{Request: b.request(run.ID).ID, Action: holdshort.Approve, Actor: ben})
	again := b.request(run.ID)
	b.decide(engine.DecideInput{Request: again.ID, Action: holdshort.Reject, Actor: ana})
	role = "reviewer"
	if open := b.requests(run.ID); len(open) > 0 || pay.n() > 0 {
		t.Errorf("after the rejection: %d open, ran %d, run %s", len(open), pay.n(), b.run(run.ID).Status)
	}
}

// two failed branches.
func TestAttackRetryBranches(t *testing.T) {
	fail := true
	n := 0
	f := flow.New("branches", 1, func(c *flow.Context, in any) (string, error) {
		_, err := flow.Each(c, "each", []string{"a", "b"}, func(s string) string { return s }, func(c *flow.Context, s string) (string, error) {
			return flow.Step(c, "try", func(context.Context) (string, error) {
				if fail {
					return "", errors.New("away")
				}
				return "ok", nil
			})
		})
		return "", err
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{f}})
	run := b.start("branches", nil)
	fail = false
	for b.run(run.ID).Status == holdshort.RunFailed && n < 5 {
		if _, err := b.Retry(t.Context(), tenant, run.ID, ops); err != nil {
			t.Fatal(err)
		}
		b.settle()
		n++
	}
	if n != 1 {
		t.Errorf("%d retries for two branches that failed for one reason, run is %s", n, b.run(run.ID).Status)
	}
}
