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

var allow = asking(policy.Verdict{Decision: policy.Allow})

// TestFaults: what a tool's error proves decides what becomes of its operation.
func TestFaults(t *testing.T) {
	lost := errors.New("connection reset")
	for _, tt := range []struct {
		name   string
		fault  error
		panics bool
		tool   func(*tool.Tool)
		calls  int // in all, after the deadline too
		status holdshort.OperationStatus
		result string // empty: it waits for a person
	}{
		{name: "refused", fault: tool.StatusError(422, "no"), calls: 1, status: holdshort.OperationFailed, result: `"tool_failed"`},
		{name: "refused, tried again", fault: tool.StatusError(429, "later"), tool: func(t *tool.Tool) { t.Retries = 2 }, calls: 3, status: holdshort.OperationFailed, result: `"tool_failed"`},
		{name: "declared definite", fault: lost, tool: func(t *tool.Tool) { t.Definite = func(err error) bool { return err == lost } }, calls: 1, status: holdshort.OperationFailed, result: `"tool_failed"`},
		{name: "lost", fault: lost, calls: 1, status: holdshort.OperationUnknown},
		{name: "server error", fault: tool.StatusError(503, "busy"), calls: 1, status: holdshort.OperationUnknown},
		{name: "panic", panics: true, calls: 1, status: holdshort.OperationUnknown},
		{name: "lost, idempotent", fault: lost, tool: func(t *tool.Tool) { t.Idempotent = true }, calls: 5, status: holdshort.OperationUnknown},
		{name: "lost, reads", fault: lost, tool: func(t *tool.Tool) { t.Effect = tool.Read }, calls: 1, result: `"tool_failed"`},
		{name: "lost, reconciled as happened", fault: lost, tool: func(t *tool.Tool) {
			t.Reconcile = func(context.Context, tool.Call) (tool.Finding, error) {
				return tool.Finding{State: tool.Happened, Result: tool.Result{Value: json.RawMessage(`{"ok":true}`)}}, nil
			}
		}, calls: 1, status: holdshort.OperationDone, result: `"paid"`},
		{name: "lost, reconciled as not", fault: lost, tool: func(t *tool.Tool) {
			t.Reconcile = func(context.Context, tool.Call) (tool.Finding, error) {
				return tool.Finding{State: tool.NotHappened}, nil
			}
		}, calls: 1, status: holdshort.OperationFailed, result: `"not_happened"`},
		{name: "lost, nobody can tell", fault: lost, tool: func(t *tool.Tool) {
			t.Reconcile = func(context.Context, tool.Call) (tool.Finding, error) { panic("no") }
		}, calls: 1, status: holdshort.OperationUnknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pay := counter{do: func(context.Context, tool.Call) (tool.Result, error) {
				if tt.panics {
					panic("boom")
				}
				return tool.Result{}, tt.fault
			}}
			rt := refundTool(&pay)
			if tt.tool != nil {
				tt.tool(&rt)
			}
			b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{rt}, Policy: allow})
			run := b.start("refunds", refund{"77", 120})
			if tt.status == holdshort.OperationUnknown || rt.Reconcile != nil { // nobody asks before the deadline
				if op := b.operations(run.ID)[0]; op.Status != holdshort.OperationStarted || len(b.requests(run.ID)) != 0 || pay.n() != 1 {
					t.Fatalf("before the deadline: %+v, %d calls", op, pay.n())
				}
			}
			for range 6 {
				b.advance(11 * time.Second)
			}
			if pay.n() != tt.calls {
				t.Errorf("called %d times, want %d", pay.n(), tt.calls)
			}
			if ops := b.operations(run.ID); tt.status == "" && len(ops) != 0 || tt.status != "" && ops[0].Status != tt.status {
				t.Errorf("ledger: %+v", ops)
			}
			if tt.result != "" {
				b.want(run.ID, holdshort.RunCompleted, tt.result)
				return
			}
			req := b.request(run.ID)
			if req.Kind != holdshort.Reconcile || !req.Due().IsZero() || req.Audience.Roles[0] != "operator" {
				t.Errorf("%+v", req)
			}
		})
	}
}

// TestReconcileByHand: each thing that a person can say about a call whose outcome nobody knows.
func TestReconcileByHand(t *testing.T) {
	unknown := func(t *testing.T) (*bed, *counter, holdshort.Run, holdshort.Request) {
		pay := &counter{do: func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, errors.New("reset") }}
		b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(pay)}, Policy: asking(policy.Verdict{Audience: holdshort.Audience{Roles: []string{"finance"}}})})
		run := b.start("refunds", refund{"77", 120})
		b.approve(run.ID)
		b.advance(11 * time.Second)
		req := b.request(run.ID)
		if req.Kind != holdshort.Reconcile || req.Audience.Roles[0] != "finance" {
			t.Fatalf("%+v", req)
		}
		if _, err := b.Retry(t.Context(), tenant, run.ID, ops); code(err) != holdshort.WrongState {
			t.Errorf("retried while unknown: %v", err)
		}
		if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Cancel, Actor: ana}); code(err) != holdshort.DoesNotFit {
			t.Errorf("canceled: %v", err)
		}
		return b, pay, run, req
	}
	choose := func(b *bed, id holdshort.RequestID, option string, value string) {
		b.Helper()
		b.decide(engine.DecideInput{Request: id, Action: holdshort.Select, OptionIDs: []string{option}, Value: json.RawMessage(value), Actor: ana})
	}
	t.Run("happened", func(t *testing.T) {
		b, pay, run, req := unknown(t)
		choose(b, req.ID, "happened", `{"ok":true}`)
		b.want(run.ID, holdshort.RunCompleted, `"paid"`)
		if op := b.operations(run.ID)[0]; op.Status != holdshort.OperationDone || pay.n() != 1 {
			t.Errorf("%+v after %d calls", op, pay.n())
		}
	})
	t.Run("retry", func(t *testing.T) {
		b, pay, run, req := unknown(t)
		choose(b, req.ID, "retry", "")
		again := b.request(run.ID)
		if again.Kind != holdshort.Approval || again.Actions[0].ArgsHash == "" || pay.n() != 1 {
			t.Fatalf("no new approval: %+v, %d calls", again, pay.n())
		}
		pay.do = nil
		b.approve(run.ID)
		b.want(run.ID, holdshort.RunCompleted, `"paid"`)
		if op := b.operations(run.ID)[0]; op.Status != holdshort.OperationDone || op.Attempt != 2 || pay.n() != 2 {
			t.Errorf("%+v after %d calls", op, pay.n())
		}
	})
	t.Run("give up", func(t *testing.T) {
		b, pay, run, req := unknown(t)
		choose(b, req.ID, "give_up", "")
		b.want(run.ID, holdshort.RunCompleted, `"outcome_unknown"`)
		if op := b.operations(run.ID)[0]; op.Status != holdshort.OperationUnknown || !op.Settled || pay.n() != 1 {
			t.Errorf("%+v after %d calls", op, pay.n())
		}
	})
}

// TestLateAnswer: a tool that answers after its deadline settles what nobody knew; one that nobody waits for any more changes nothing.
func TestLateAnswer(t *testing.T) {
	release := make(chan struct{})
	pay := &counter{do: func(context.Context, tool.Call) (tool.Result, error) {
		<-release // whatever its context says
		return tool.Result{Value: json.RawMessage(`{"ok":true}`)}, nil
	}}
	rt := refundTool(pay)
	rt.Timeout = 20 * time.Millisecond
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{rt}, Policy: allow})
	run := b.start("refunds", refund{"77", 120})
	b.advance(time.Second)
	if req := b.request(run.ID); req.Kind != holdshort.Reconcile {
		t.Fatalf("%+v", req)
	}
	close(release)
	ctx, cancel := context.WithTimeout(t.Context(), safetyLimit)
	defer cancel()
	if _, err := b.AwaitRun(ctx, tenant, run.ID, func(r holdshort.Run) bool { return r.Status != holdshort.RunWaiting }); err != nil {
		t.Fatal(err)
	}
	b.settle()
	b.want(run.ID, holdshort.RunCompleted, `"paid"`)
	if open := b.requests(run.ID); len(open) != 0 || b.operations(run.ID)[0].Status != holdshort.OperationDone {
		t.Errorf("left: %+v %+v", open, b.operations(run.ID))
	}
}

// TestRerunProvesNothing: an error of a second attempt is no proof about the first, whose answer was lost.
func TestRerunProvesNothing(t *testing.T) {
	pay := &counter{}
	pay.do = func(_ context.Context, c tool.Call) (tool.Result, error) {
		if c.Attempt == 1 {
			return tool.Result{}, errors.New("reset")
		}
		return tool.Result{}, tool.StatusError(429, "later")
	}
	rt := refundTool(pay)
	rt.Idempotent = true
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{rt}, Policy: allow})
	run := b.start("refunds", refund{"77", 120})
	for range 8 {
		b.advance(11 * time.Second)
	}
	if op := b.operations(run.ID)[0]; op.Status != holdshort.OperationUnknown || pay.n() != 5 {
		t.Errorf("%s after %d calls", op.Status, pay.n())
	}
}
