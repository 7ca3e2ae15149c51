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
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/tool"
)

// the question of an edited form shows the arguments from before the edit.
func TestAttackEditedQuestion(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{Editable: []string{"*"}, Audience: holdshort.Audience{Roles: []string{"reviewer"}, Quorum: 2}})})
	run := b.start("refunds", refund{"77", 120})
	b.decide(engine.DecideInput{Request: b.request(run.ID).ID, Action: holdshort.Edit, Actor: ana, Args: json.RawMessage(`{"order":"77","amount":9999}`)})
	if q := b.request(run.ID).Question; !strings.Contains(q, "9999") {
		t.Errorf("people are asked %q, and %s runs", q, b.request(run.ID).Actions[0].Args)
	}
}

// a limit on pauses counts only those that are over.
func TestAttackPauses(t *testing.T) {
	var pay counter
	var items []int
	for i := range 50 {
		items = append(items, i)
	}
	f := flow.New("many", 1, func(c *flow.Context, in any) (string, error) {
		_, err := flow.Each(c, "each", items, func(i int) string { return fmt.Sprint(i) }, func(c *flow.Context, i int) (string, error) {
			_, err := flow.Call[any](c, "pay", "refund", refund{"77", i + 1})
			return "", err
		})
		return "", err
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{f}, Tools: []tool.Tool{refundTool(&pay)}, Limits: engine.Limits{Pauses: 10}})
	run := b.start("many", nil)
	if open := len(b.requests(run.ID)); open > 10 {
		t.Errorf("a run that may raise 10 requests has %d open", open)
	}
}

// A timer that cannot be carried out stays due. Eight of them keep every other from firing.
func TestAttackPoisonTimers(t *testing.T) {
	var pay counter
	var items []int
	for i := range 12 {
		items = append(items, i)
	}
	f := flow.New("many", 1, func(c *flow.Context, in any) (string, error) {
		_, err := flow.Each(c, "each", items, func(i int) string { return fmt.Sprint(i) }, func(c *flow.Context, i int) (string, error) {
			_, err := flow.Call[any](c, "pay", "refund", refund{"77", i + 1})
			return "", err
		})
		return "", err
	})
	nap := flow.New("nap", 1, func(c *flow.Context, in any) (string, error) {
		flow.Sleep(c, "nap", 2*time.Minute)
		return "awake", nil
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{f, nap}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{OnTimeout: holdshort.TimeoutEscalate, ExpiresIn: time.Minute})})
	now := b.clock.now()
	ses := holdshort.NewSessionID(now)
	if err := b.store.Update(t.Context(), tenant, func(tx store.Tx) error {
		return tx.PutSession(holdshort.Session{ID: ses, User: "carl", CreatedAt: now, UpdatedAt: now, Mode: holdshort.ModeAI})
	}, store.SessionRow(ses)); err != nil {
		t.Fatal(err)
	}
	many, err := b.Start(t.Context(), tenant, engine.StartInput{Flow: "many", User: "carl", Session: ses})
	if err != nil {
		t.Fatal(err)
	}
	b.settle()
	t.Log(len(b.requests(many.ID)), b.run(many.ID).Error)
	run := b.start("nap", nil)
	b.restart(func(c *engine.Config) { c.Limits.OpenRequests = 2 })
	b.clock.move(10 * time.Minute)
	var last error
	for range 20 {
		_, last = b.Tick(t.Context())
		b.Settle(t.Context())
	}
	if got := b.run(run.ID); got.Status != holdshort.RunCompleted {
		t.Errorf("a sleep of 2 minutes after 10: run is %s; the timers loop: %.300v", got.Status, last)
	}
}

// graceful restarts are no reason to hold a run.
func TestAttackPoisonedByRestarts(t *testing.T) {
	stop := make(chan struct{})
	f := flow.New("long", 1, func(c *flow.Context, in any) (string, error) {
		return flow.Step(c, "think", func(ctx context.Context) (string, error) {
			select {
			case <-ctx.Done():
				return "", ctx.Err()
			case <-stop:
				return "done", nil
			}
		})
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{f}, Grace: time.Millisecond})
	run, err := b.Start(t.Context(), tenant, engine.StartInput{Flow: "long", User: "carl"})
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		if err := b.Drain(); err != nil {
			t.Fatal(err)
		}
		b.attach()
		if _, err := b.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.run(run.ID); got.Held != nil {
		t.Errorf("handed back 8 times: held %+v", got.Held)
	}
	close(stop)
	b.settle()
}

// part of a batch is asked again, another part is unknown and to be retried.
func TestAttackBatchAgainAndRetry(t *testing.T) {
	var pay counter
	wipe := counter{do: func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, errors.New("reset") }}
	f := flow.New("mixed", 1, func(c *flow.Context, in refund) (string, error) {
		_, err := flow.Calls(c, "both", []flow.Request{{Tool: "refund", Args: in}, {Tool: "wipe", Args: map[string]string{}}})
		return "", err
	})
	role := "reviewer"
	b := newBed(t, engine.Config{Flows: []flow.Flow{f}, Tools: []tool.Tool{refundTool(&pay), {Name: "wipe", Timeout: time.Second, Call: wipe.call}}, Policy: policy.Func(func(_ context.Context, c policy.Call) (policy.Verdict, error) {
		v := policy.Verdict{ExpiresIn: policy.Never, Audience: holdshort.Audience{Roles: []string{"reviewer"}}}
		if c.Tool == "refund" {
			v.Audience.Roles = []string{role}
		}
		return v, nil
	})})
	run := b.start("mixed", refund{"77", 120})
	req := b.request(run.ID)
	role = "board"
	b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana})
	b.advance(2 * time.Second)
	for _, r := range b.requests(run.ID) {
		if r.Kind == holdshort.Reconcile {
			b.decide(engine.DecideInput{Request: r.ID, Action: holdshort.Select, OptionIDs: []string{"retry"}, Actor: ana})
		}
	}
	if got := b.run(run.ID); got.Held != nil {
		t.Errorf("run is held: %+v", got.Held)
	}
}
