package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

// two votes at the same moment.
func TestAttackVotes(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{Audience: holdshort.Audience{Roles: []string{"reviewer"}, Quorum: 2}})})
	var reqs []holdshort.Request
	for range 60 {
		reqs = append(reqs, b.request(b.start("refunds", refund{"77", 120}).ID))
	}
	var wg sync.WaitGroup
	for _, r := range reqs {
		for _, who := range []holdshort.Actor{ana, ben} {
			wg.Go(func() {
				if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: r.ID, Action: holdshort.Approve, Actor: who}); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	b.settle()
	for _, r := range reqs {
		if got := b.run(r.RunID); got.Status != holdshort.RunCompleted {
			t.Errorf("run is %s after two votes", got.Status)
		}
	}
}

func TestAttackLimit(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{Decision: policy.Allow, Limits: []policy.Limit{{Scope: policy.PerDay, Max: 5}}})})
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			if _, err := b.Start(t.Context(), tenant, engine.StartInput{Flow: "refunds", User: "carl", Input: json.RawMessage(fmt.Sprintf(`{"order":"%d","amount":1}`, i))}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	b.settle()
	if pay.n() != 5 {
		t.Errorf("limit 5, ran %d", pay.n())
	}
}

// after "it did not happen" a new approval is needed, also for a call that the policy had allowed beside others.
func TestAttackRetryInBatch(t *testing.T) {
	var pay counter
	wipe := counter{do: func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, errors.New("reset") }}
	f := flow.New("mixed", 1, func(c *flow.Context, in refund) (string, error) {
		_, err := flow.Calls(c, "both", []flow.Request{{Tool: "refund", Args: in}, {Tool: "wipe", Args: map[string]string{}}})
		return "", err
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{f}, Tools: []tool.Tool{refundTool(&pay), {Name: "wipe", Timeout: time.Second, Call: wipe.call}}, Policy: policy.Func(func(_ context.Context, c policy.Call) (policy.Verdict, error) {
		if c.Tool == "wipe" {
			return policy.Verdict{Decision: policy.Allow}, nil
		}
		return policy.Verdict{}, nil
	})})
	run := b.start("mixed", refund{"77", 120})
	b.approve(run.ID)
	b.advance(2 * time.Second)
	b.decide(engine.DecideInput{Request: b.request(run.ID).ID, Action: holdshort.Select, OptionIDs: []string{"retry"}, Actor: ops})
	if wipe.n() != 1 {
		t.Errorf("called %d times, nobody approved the second", wipe.n())
	}
}

// the second Start of one id while no slot is free.
func TestAttackStartTwiceQueued(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}})
	b.Engine.Drain() // no room any more
	for i := range 20 {
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if _, err := b.Start(t.Context(), tenant, engine.StartInput{ID: holdshort.RunID(fmt.Sprint("run_", i)), Flow: "refunds", User: "carl", Input: json.RawMessage(`{"order":"1","amount":1}`)}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
}

// two prompts of one session asked by two runs at once; ask/answer: one prompt at a time.
func TestAttackNodeName(t *testing.T) {
	hang := make(chan struct{})
	f := flow.New("long", 1, func(c *flow.Context, in any) (string, error) {
		return flow.Step(c, "think", func(ctx context.Context) (string, error) {
			select {
			case <-hang:
			case <-ctx.Done():
			}
			return "done", nil
		})
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{f}, Grace: time.Millisecond, Node: "one"})
	run, err := b.Start(t.Context(), tenant, engine.StartInput{Flow: "long", User: "carl"})
	if err != nil {
		t.Fatal(err)
	}
	// the process dies: its store is closed under it
	b.store.Close()
	close(hang)
	b.open()
	if err := b.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.settle()
	if got := b.run(run.ID); got.Status != holdshort.RunCompleted {
		t.Errorf("a node with a fixed name is back: its run is %s, lease %+v", got.Status, got.Lease)
	}
}

// chain of edits with a veto at the end, and each way a vote can go.
func TestAttackEditChain(t *testing.T) {
	var pay counter
	cy := holdshort.Actor{ID: "cy", Kind: holdshort.Person, Roles: []string{"reviewer"}}
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{Editable: []string{"amount"}, Audience: holdshort.Audience{Roles: []string{"reviewer"}, Quorum: 2}})})
	run := b.start("refunds", refund{"77", 120})
	edit := func(who holdshort.Actor, amount int) error {
		_, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: b.request(run.ID).ID, Action: holdshort.Edit, Actor: who, Args: json.RawMessage(fmt.Sprintf(`{"order":"77","amount":%d}`, amount))})
		b.settle()
		return err
	}
	for i, who := range []holdshort.Actor{ana, ben, cy, ana} {
		if err := edit(who, 10+i); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range []string{`{"order":"78","amount":1}`, `{"amount":1}`, `{"order":null,"amount":1}`, `{"order":"77","amount":0}`, `null`, `[]`, `{"order":"77","amount":1,"x":1}`, `{"order":"77","amount":1,"amount":2}`} {
		if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: b.request(run.ID).ID, Action: holdshort.Edit, Actor: ben, Args: json.RawMessage(args)}); err == nil {
			t.Errorf("edit to %s was taken", args)
		}
	}
	if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: b.request(run.ID).ID, Action: holdshort.Approve, Actor: ana}); code(err) != holdshort.AlreadyVoted {
		t.Error(err)
	}
	b.decide(engine.DecideInput{Request: b.request(run.ID).ID, Action: holdshort.Approve, Actor: ben})
	if got := pay.args(); len(got) != 1 || got[0] != `{"amount":13,"order":"77"}` {
		t.Errorf("ran %v", got)
	}
	run = b.start("refunds", refund{"77", 120})
	edit(ana, 5)
	b.decide(engine.DecideInput{Request: b.request(run.ID).ID, Action: holdshort.Reject, Actor: ben})
	if pay.n() != 1 {
		t.Error("ran after a veto")
	}
}
