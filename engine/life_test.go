package engine_test

import (
	"context"

	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/internal/testall"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

// TestRestart: id, question and fingerprint are byte-equal before and after a restart, and what was done before is not done again.
func TestRestart(t *testing.T) {
	var pay counter
	var models, steps atomic.Int32
	f := flow.New("desk", 1, func(c *flow.Context, in refund) (string, error) {
		if _, err := flow.Step(c, "look", func(context.Context) (int, error) { steps.Add(1); return 1, nil }); err != nil {
			return "", err
		}
		text, err := flow.Model(c, "write", func(context.Context) (string, error) { models.Add(1); return "Refund?", nil })
		if err != nil {
			return "", err
		}
		if a, err := flow.Approve(c, "ok", flow.Question{Text: text}); err != nil || !a.Approved() {
			return "no", err
		}
		_, err = flow.Call[any](c, "pay", "refund", in)
		return "paid", err
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{f}, Tools: []tool.Tool{refundTool(&pay)}})
	run := b.start("desk", refund{"77", 120})
	first := b.request(run.ID)
	b.restart(nil)
	b.advance(time.Minute)
	if again := b.request(run.ID); again.ID != first.ID || again.Question != first.Question || again.Fingerprint != first.Fingerprint || !again.ExpiresAt.Equal(first.ExpiresAt) {
		t.Errorf("it changed:\n%+v\n%+v", first, again)
	}
	b.approve(run.ID)
	b.restart(nil)
	b.approve(run.ID)
	b.restart(nil)
	b.want(run.ID, holdshort.RunCompleted, `"paid"`)
	if models.Load() != 1 || steps.Load() != 1 || pay.n() != 1 {
		t.Errorf("%d model calls, %d steps, %d payments", models.Load(), steps.Load(), pay.n())
	}
}

// TestBranchesWait: branches wait side by side, are answered in any order, and sleep and posts wake the run.
func TestBranchesWait(t *testing.T) {
	f := flow.New("branches", 1, func(c *flow.Context, _ int) ([]string, error) {
		return flow.All(c, "all",
			flow.Branch[string]{Key: "ask", Run: func(c *flow.Context) (string, error) {
				a, err := flow.Approve(c, "q", flow.Question{Text: "ok?", Expires: flow.Never})
				return string(a.Outcome), err
			}},
			flow.Branch[string]{Key: "nap", Run: func(c *flow.Context) (string, error) {
				flow.Sleep(c, "zzz", time.Hour)
				return "woke", nil
			}},
			flow.Branch[string]{Key: "post", Run: func(c *flow.Context) (string, error) { return flow.Wait[string](c, "mail", 0) }},
			flow.Branch[string]{Key: "time", Run: func(c *flow.Context) (string, error) {
				_, err := flow.Wait[string](c, "never", 2*time.Hour)
				return string(holdshort.CodeOf(err)), nil
			}})
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{f}})
	run := b.start("branches", 0)
	b.want(run.ID, holdshort.RunWaiting, "")
	for range 3 {
		if _, err := b.Post(t.Context(), tenant, engine.PostInput{Run: run.ID, ID: "m1", Name: "mail", Body: []byte(`"hello"`), Actor: ops}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Post(t.Context(), tenant, engine.PostInput{Run: run.ID, ID: "m1", Name: "mail", Body: []byte(`"other"`), Actor: ops}); code(err) != holdshort.Duplicate {
		t.Errorf("the same id with another body: %v", err)
	}
	b.settle()
	b.restart(nil)
	b.advance(time.Hour + time.Second)
	b.want(run.ID, holdshort.RunWaiting, "")
	b.decide(engine.DecideInput{Request: b.request(run.ID).ID, Action: holdshort.Approve, Actor: ana})
	b.want(run.ID, holdshort.RunWaiting, "")
	b.advance(time.Hour)
	b.want(run.ID, holdshort.RunCompleted, `["approved","woke","hello","timed_out"]`)
}

// TestTimeouts: what on_timeout says is what happens, and nothing runs.
func TestTimeouts(t *testing.T) {
	for _, tt := range []struct {
		on     holdshort.OnTimeout
		status holdshort.RunStatus
		result string
	}{
		{holdshort.TimeoutFail, holdshort.RunFailed, ""},
		{holdshort.TimeoutResume, holdshort.RunCompleted, `"expired"`},
		{holdshort.TimeoutClear, holdshort.RunCanceled, ""},
		{holdshort.TimeoutApprove, holdshort.RunFailed, ""}, // nothing shows that anybody was told
	} {
		t.Run(string(tt.on), func(t *testing.T) {
			var pay counter
			b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{OnTimeout: tt.on})})
			run := b.start("refunds", refund{"77", 120})
			b.advance(9 * time.Minute)
			b.want(run.ID, holdshort.RunWaiting, "")
			b.advance(2 * time.Minute)
			b.want(run.ID, tt.status, tt.result)
			if pay.n() != 0 {
				t.Error("it ran")
			}
		})
	}
	t.Run("escalate", func(t *testing.T) {
		var pay counter
		b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{OnTimeout: holdshort.TimeoutEscalate})})
		run := b.start("refunds", refund{"77", 120})
		b.advance(11 * time.Minute)
		req := b.request(run.ID)
		if req.Kind != holdshort.Escalation || req.Audience.Roles[0] != "operator" {
			t.Fatalf("%+v", req)
		}
		b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ops})
		b.want(run.ID, holdshort.RunCompleted, `"paid"`)
	})
	t.Run("retry after it", func(t *testing.T) {
		var pay counter
		b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}})
		run := b.start("refunds", refund{"77", 120})
		first := b.request(run.ID)
		b.advance(11 * time.Minute)
		b.want(run.ID, holdshort.RunFailed, "")
		if _, err := b.Retry(t.Context(), tenant, run.ID, ops); err != nil {
			t.Fatal(err)
		}
		b.settle()
		if again := b.request(run.ID); again.ID == first.ID {
			t.Error("the same request again")
		}
		b.approve(run.ID)
		b.want(run.ID, holdshort.RunCompleted, `"paid"`)
	})
}

// TestCancelRace: a cancellation and an approval at once; whoever wins, the call is made once or never, and the run ends.
func TestCancelRace(t *testing.T) {
	rounds := 6
	if testall.Enabled() {
		rounds = 20
	}
	for range rounds {
		var pay counter
		b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}})
		run := b.start("refunds", refund{"77", 120})
		req := b.request(run.ID)
		var wg sync.WaitGroup
		wg.Go(func() {
			b.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana})
		})
		wg.Go(func() { b.Cancel(t.Context(), tenant, run.ID, ops, "changed my mind") })
		wg.Wait()
		b.settle()
		b.advance(time.Minute)
		got, ops := b.run(run.ID), b.operations(run.ID)
		if got.Status != holdshort.RunCanceled && got.Status != holdshort.RunCompleted || pay.n() > 1 || pay.n() != len(ops) {
			t.Fatalf("%s %+v, ran %d times, %+v", got.Status, got.Held, pay.n(), ops)
		}
		for _, op := range ops {
			if op.Status != holdshort.OperationDone {
				t.Errorf("%+v", op)
			}
		}
	}
}

// TestLimits: a limit is reserved with the started row; past it the call asks, or is denied.
func TestLimits(t *testing.T) {
	three := flow.New("three", 1, func(c *flow.Context, _ int) ([]string, error) {
		return flow.Each(c, "each", []int{1, 2, 3}, func(n int) string { return string(rune('a' + n)) }, func(c *flow.Context, n int) (string, error) {
			_, err := flow.Call[any](c, "pay", "refund", refund{"77", n})
			return string(holdshort.CodeOf(err)), nil
		})
	})
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{three}, Tools: []tool.Tool{refundTool(&pay)},
		Policy: asking(policy.Verdict{Decision: policy.Allow, Limits: []policy.Limit{{Scope: policy.PerRun, Max: 2, Deny: true}}})})
	run := b.start("three", 0)
	if b.want(run.ID, holdshort.RunCompleted, ""); pay.n() != 2 {
		t.Errorf("ran %d times: %s", pay.n(), b.run(run.ID).Result)
	}
	b.restart(func(c *engine.Config) {
		c.Policy = asking(policy.Verdict{Decision: policy.Allow, Limits: []policy.Limit{{Scope: policy.PerDay, Name: "a day", Max: 2}}})
	})
	pay = counter{}
	run = b.start("three", 0)
	if req := b.request(run.ID); req.Reason != "policy_violation" || pay.n() != 2 {
		t.Fatalf("%+v, ran %d times", req, pay.n())
	}
	b.approve(run.ID)
	if b.want(run.ID, holdshort.RunCompleted, `["","",""]`); pay.n() != 3 {
		t.Errorf("ran %d times", pay.n())
	}
}

// TestStopHandsBack: an engine that stops lets calls finish, begins nothing more, and hands its runs back at once.
func TestStopHandsBack(t *testing.T) {
	inside, release := make(chan struct{}), make(chan struct{})
	pay := counter{do: func(context.Context, tool.Call) (tool.Result, error) {
		close(inside)
		<-release
		return tool.Result{}, nil
	}}
	after := atomic.Int32{}
	f := flow.New("stop", 1, func(c *flow.Context, _ int) (string, error) {
		if _, err := flow.Call[any](c, "pay", "refund", refund{"77", 1}); err != nil {
			return "", err
		}
		return flow.Step(c, "after", func(context.Context) (string, error) { after.Add(1); return "done", nil })
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{f}, Tools: []tool.Tool{refundTool(&pay)}, Policy: allow})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Engine.Run(ctx) }()
	<-b.Ready()
	run, err := b.Start(t.Context(), tenant, engine.StartInput{Flow: "stop", Input: []byte("0"), User: "carl"})
	if err != nil {
		t.Fatal(err)
	}
	<-inside
	stop()
	for !b.Told(tenant, run.ID) {
		runtime.Gosched()
	}
	close(release)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got := b.run(run.ID); got.Status != holdshort.RunQueued || got.Lease.Owner != "" || after.Load() != 0 {
		t.Fatalf("%s, lease %+v, %d steps after", got.Status, got.Lease, after.Load())
	}
	if _, err := b.Start(t.Context(), tenant, engine.StartInput{Flow: "stop", Input: []byte("0"), User: "carl"}); err != nil {
		t.Errorf("a stopped engine still takes starts: %v", err)
	}
	pay = counter{}
	b.restart(nil)
	b.want(run.ID, holdshort.RunCompleted, `"done"`)
	if pay.n() != 1 || after.Load() != 2 { // that of the second run
		t.Errorf("%d calls, %d steps", pay.n(), after.Load())
	}
}

// TestSilence: a flow whose code does not come back is held, and its worker is free again.
func TestSilence(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	f := flow.New("hangs", 1, func(c *flow.Context, _ int) (string, error) {
		flow.Now(c, "then")
		<-release //flowcheck:allow the hazard that this test is about
		return "", nil
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{f}, Workers: 1, Grace: time.Millisecond, Limits: engine.Limits{Silence: time.Millisecond}, Lease: 30 * time.Millisecond})
	b.runEngine()
	run, err := b.Start(t.Context(), tenant, engine.StartInput{Flow: "hangs", Input: []byte("0"), User: "carl"})
	if err != nil {
		t.Fatal(err)
	}
	wait, cancel := context.WithTimeout(t.Context(), safetyLimit)
	defer cancel()
	held, err := b.AwaitRun(wait, tenant, run.ID, func(r holdshort.Run) bool { return r.Held != nil })
	if err != nil || held.Held.Code != holdshort.Stuck {
		t.Fatalf("%+v %v", held, err)
	}
}

// TestSleepOfAFailedRun: a sleep that ends while its run has failed is over when somebody retries the run.
func TestSleepOfAFailedRun(t *testing.T) {
	f := flow.New("both", 1, func(c *flow.Context, _ int) ([]string, error) {
		return flow.All(c, "all",
			flow.Branch[string]{Key: "ask", Run: func(c *flow.Context) (string, error) {
				a, err := flow.Approve(c, "q", flow.Question{Text: "ok?", Expires: time.Minute, OnTimeout: holdshort.TimeoutFail})
				return string(a.Outcome), err
			}},
			flow.Branch[string]{Key: "nap", Run: func(c *flow.Context) (string, error) {
				flow.Sleep(c, "zzz", time.Hour)
				return "woke", nil
			}})
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{f}})
	run := b.start("both", 0)
	b.advance(2 * time.Minute)
	b.want(run.ID, holdshort.RunFailed, "")
	b.advance(2 * time.Hour)
	if _, err := b.Retry(t.Context(), tenant, run.ID, ops); err != nil {
		t.Fatal(err)
	}
	b.settle()
	b.approve(run.ID)
	b.want(run.ID, holdshort.RunCompleted, `["approved","woke"]`)
}
