package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

// replaying a question that is open is no further question.
func TestAttackPausesReplay(t *testing.T) {
	var items []int
	for i := range 8 {
		items = append(items, i)
	}
	f := flow.New("many", 1, func(c *flow.Context, in any) (string, error) {
		_, err := flow.Each(c, "each", items, func(i int) string { return fmt.Sprint(i) }, func(c *flow.Context, i int) (string, error) {
			_, err := flow.Approve(c, "ok", flow.Question{Text: "ok?"})
			return "", err
		})
		return "", err
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{f}, Limits: engine.Limits{Pauses: 10}})
	run := b.start("many", nil)
	b.decide(engine.DecideInput{Request: b.requests(run.ID)[0].ID, Action: holdshort.Approve, Actor: ana})
	if got := b.run(run.ID); got.Status != holdshort.RunWaiting || len(b.requests(run.ID)) != 7 {
		t.Errorf("8 questions of 10, one answered: run is %s %+v", got.Status, got.Error)
	}
}

// the last pause that a run may have, and something else wakes it.
func TestAttackLastPause(t *testing.T) {
	f := flow.New("last", 1, func(c *flow.Context, in any) (string, error) {
		_, err := flow.All(c, "all",
			flow.Branch[string]{Key: "a", Run: func(c *flow.Context) (string, error) {
				_, err := flow.Approve(c, "ok", flow.Question{Text: "ok?"})
				return "", err
			}},
			flow.Branch[string]{Key: "b", Run: func(c *flow.Context) (string, error) { return flow.Wait[string](c, "go", 0) }})
		return "", err
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{f}, Limits: engine.Limits{Pauses: 1}})
	run := b.start("last", nil)
	b.request(run.ID)
	if _, err := b.Post(t.Context(), tenant, engine.PostInput{Run: run.ID, ID: "1", Name: "go", Actor: ops}); err != nil {
		t.Fatal(err)
	}
	b.settle()
	if got := b.run(run.ID); got.Status != holdshort.RunWaiting {
		t.Errorf("run is %s %+v", got.Status, got.Error)
	}
}

// while one call of a batch is asked about anew, the fate of another that is out is still looked into.
func TestAttackOtherUnknown(t *testing.T) {
	lost := func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, errors.New("reset") }
	one, two := counter{do: lost}, counter{do: lost}
	f := flow.New("mixed", 1, func(c *flow.Context, in any) (string, error) {
		_, err := flow.Calls(c, "both", []flow.Request{{Tool: "one", Args: map[string]string{}}, {Tool: "two", Args: map[string]string{}}})
		return "", err
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{f}, Tools: []tool.Tool{{Name: "one", Timeout: time.Second, Call: one.call}, {Name: "two", Timeout: time.Minute, Call: two.call}},
		Policy: asking(policy.Verdict{ExpiresIn: policy.Never})})
	run := b.start("mixed", nil)
	b.approve(run.ID)
	b.advance(2 * time.Second)
	b.decide(engine.DecideInput{Request: b.request(run.ID).ID, Action: holdshort.Select, OptionIDs: []string{"retry"}, Actor: ana})
	for range 10 {
		b.advance(time.Minute)
	}
	unknown := 0
	for _, op := range b.operations(run.ID) {
		if op.Status == holdshort.OperationUnknown {
			unknown++
		}
	}
	if unknown != 1 {
		t.Errorf("ten minutes after its deadline nobody is asked what became of it: %d open, %+v", len(b.requests(run.ID)), b.operations(run.ID))
	}
}

// the second request of a batch expires while an idempotent call beside it is out.
func TestAttackExpiredBesideRerun(t *testing.T) {
	fail := true
	one := counter{do: func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, errors.New("reset") }}
	two := counter{do: func(context.Context, tool.Call) (tool.Result, error) {
		if fail {
			return tool.Result{}, errors.New("reset")
		}
		return tool.Result{}, nil
	}}
	f := flow.New("mixed", 1, func(c *flow.Context, in any) (string, error) {
		rs, err := flow.Calls(c, "both", []flow.Request{{Tool: "one", Args: map[string]string{}}, {Tool: "two", Args: map[string]string{}}})
		if err != nil {
			return "", err
		}
		return fmt.Sprint(holdshort.CodeOf(rs[0].Err), holdshort.CodeOf(rs[1].Err)), nil
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{f}, Tools: []tool.Tool{{Name: "one", Timeout: time.Second, Call: one.call}, {Name: "two", Timeout: time.Minute, Idempotent: true, Call: two.call}},
		Policy: asking(policy.Verdict{ExpiresIn: 10 * time.Minute, OnTimeout: holdshort.TimeoutResume})})
	run := b.start("mixed", nil)
	b.approve(run.ID)
	b.advance(2 * time.Second)
	b.decide(engine.DecideInput{Request: b.request(run.ID).ID, Action: holdshort.Select, OptionIDs: []string{"retry"}, Actor: ana})
	fail = false
	b.advance(11 * time.Minute)
	b.advance(time.Minute)
	if got := b.run(run.ID); got.Held != nil || got.Status != holdshort.RunCompleted {
		t.Errorf("run is %s, held %+v, result %s; two ran %d", got.Status, got.Held, got.Result, two.n())
	}
}

// rejected between the journal that a slice loaded and its look at the request, and the policy allows it by now.
func TestAttackRejectedMeanwhile(t *testing.T) {
	var pay counter
	decision := policy.Ask
	var b *bed
	var hook func()
	two := flow.New("two", 1, func(c *flow.Context, in refund) (string, error) {
		_, err := flow.All(c, "all",
			flow.Branch[string]{Key: "a", Run: func(c *flow.Context) (string, error) {
				if h := hook; h != nil {
					hook = nil
					h()
				}
				_, err := flow.Call[any](c, "pay", "refund", in)
				return "", err
			}},
			flow.Branch[string]{Key: "b", Run: func(c *flow.Context) (string, error) { return flow.Wait[string](c, "go", 0) }})
		return "", err
	})
	b = newBed(t, engine.Config{Flows: []flow.Flow{two}, Tools: []tool.Tool{refundTool(&pay)}, Policy: policy.Func(func(context.Context, policy.Call) (policy.Verdict, error) {
		return policy.Verdict{Decision: decision}, nil
	})})
	run := b.start("two", refund{"77", 120})
	req := b.request(run.ID)
	decision = policy.Allow
	var out engine.Decided
	var err error
	hook = func() {
		out, err = b.Decide(context.Background(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Reject, Actor: ana})
	}
	if _, err := b.Post(t.Context(), tenant, engine.PostInput{Run: run.ID, ID: "1", Name: "go", Actor: ops}); err != nil {
		t.Fatal(err)
	}
	b.settle()
	if pay.n() != 0 {
		t.Errorf("ran %d times after ana's rejection was accepted (%v %s)", pay.n(), err, out.Request.Outcome)
	}
}
