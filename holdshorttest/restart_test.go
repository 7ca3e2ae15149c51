package holdshorttest_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

func TestRestartInTheMiddle(t *testing.T) {
	for name, path := range map[string]string{"temporary": "", "file": filepath.Join(t.TempDir(), "kept.db")} {
		t.Run(name, func(t *testing.T) {
			steps := 0
			f := flow.New("long", 1, func(c *flow.Context, _ int) (string, error) {
				first, err := flow.Step(c, "first", func(context.Context) (string, error) { steps++; return "first", nil })
				if err != nil {
					return "", err
				}
				a, err := flow.Approve(c, "ok", flow.Question{Text: "Go on?", Expires: flow.Never})
				if err != nil {
					return "", err
				}
				flow.Sleep(c, "a day", 24*time.Hour)
				return first + " " + a.Actor.ID, nil
			})
			k := holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{f}, Path: path})
			k.WhenAsked(holdshorttest.Match{Step: "ok"}).By("ana", "reviewer").After(time.Hour).Approve()
			run := k.Start("long", 0)
			k.Restart()
			k.Wait(run)
			k.Restart()
			k.Advance(12 * time.Hour)
			k.Restart()
			k.Advance(12 * time.Hour)
			if got := holdshorttest.Result[string](k, run); got != "first ana" || steps != 1 {
				t.Errorf("result %q after %d first steps", got, steps)
			}
		})
	}
}

func TestDeploy(t *testing.T) {
	version := func(n int, says string) flow.Flow {
		return flow.New("greet", n, func(c *flow.Context, _ int) (string, error) {
			_, err := flow.Approve(c, "ok", flow.Question{Text: "Greet?"})
			return says, err
		})
	}
	k := holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{version(1, "hi")}})
	old := k.Start("greet", 0)
	k.Restart(func(o *holdshorttest.Options) { o.Flows = append(o.Flows, version(2, "hello")) })
	young, pinned := k.Start("greet", 0), k.Start("greet@1", 0)
	k.WhenAsked(holdshorttest.Match{Step: "ok"}).Approve()
	for run, want := range map[holdshort.RunID]string{old: "hi", young: "hello", pinned: "hi"} {
		if got := holdshorttest.Result[string](k, run); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

var allow = policy.Func(func(context.Context, policy.Call) (policy.Verdict, error) {
	return policy.Verdict{Decision: policy.Allow}, nil
})

func TestCrashAroundACall(t *testing.T) {
	tests := []struct {
		name       string
		idempotent bool
		crash      func(*holdshorttest.Kit)
		calls      int // when the dust has settled, before a person looks
		asks       bool
	}{
		{"after a write", false, func(k *holdshorttest.Kit) { k.CrashAfter("refund") }, 1, true},
		{"before a write", false, func(k *holdshorttest.Kit) { k.CrashBefore("refund") }, 0, true},
		{"after an idempotent write", true, func(k *holdshorttest.Kit) { k.CrashAfter("refund") }, 2, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			refund := holdshorttest.Counter("refund").Returning("re_1").Declared(func(t *tool.Tool) { t.Idempotent = tt.idempotent })
			k := holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{refunds, twoStep}, Tools: []tool.Tool{refund.Tool()}, Policy: allow})
			run := k.Start("two step", Refund{"77", 120})
			tt.crash(k)
			k.Post(run, "go", nil)
			if got := k.Operations(run); len(got) != 1 || got[0].Status != holdshort.OperationStarted {
				t.Fatalf("operations right after the crash: %+v", got)
			}
			k.Advance(tool.DefaultTimeout)
			if refund.Calls() != tt.calls || len(refund.Operations()) > 1 {
				t.Fatalf("%d calls of %v, want %d", refund.Calls(), refund.Operations(), tt.calls)
			}
			if tt.asks {
				if req := k.Request(run); req.Kind != holdshort.Reconcile {
					t.Errorf("%s is open, want a person asked what happened", req.Kind)
				}
				return
			}
			k.Result(run, new(string))
		})
	}
}

func TestCrashInTheFirstSlice(t *testing.T) {
	refund := holdshorttest.Counter("refund").Returning("re_1")
	k := holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refund.Tool()}, Policy: allow})
	k.CrashAfter("refund")
	run := k.Start("refund", Refund{"77", 120})
	k.Advance(tool.DefaultTimeout)
	if req := k.Request(run); req.Kind != holdshort.Reconcile || refund.Calls() != 1 {
		t.Errorf("%s is open after %d calls", req.Kind, refund.Calls())
	}
}

// twoStep waits before it pays, so that it is stored when it does.
var twoStep = flow.New("two step", 1, func(c *flow.Context, in Refund) (string, error) {
	if _, err := flow.Wait[any](c, "go", 0); err != nil {
		return "", err
	}
	return flow.Call[string](c, "pay", "refund", in)
})
