package engine_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

func (b *bed) why(id holdshort.RunID) engine.Why {
	b.Helper()
	why, err := b.Why(b.Context(), tenant, id)
	if err != nil {
		b.Fatal(err)
	}
	return why
}

// says checks that one of the reasons has the code and the words.
func says(t *testing.T, why engine.Why, code string, words ...string) engine.Reason {
	t.Helper()
	for _, r := range why.Reasons {
		found := r.Code == code
		for _, w := range words {
			found = found && strings.Contains(r.Text+" / "+r.Hint, w)
		}
		if found {
			return r
		}
	}
	t.Errorf("no reason %s with %q in %+v", code, words, why.Reasons)
	return engine.Reason{}
}

// TestWhy: of every run that does not move, somebody can be told why, and what to do.
func TestWhy(t *testing.T) {
	sleeps := flow.New("sleeps", 1, func(c *flow.Context, _ string) (string, error) { flow.Sleep(c, "nap", time.Hour); return "", nil })
	waits := flow.New("waits", 1, func(c *flow.Context, _ string) (string, error) { return flow.Wait[string](c, "parcel", 0) })
	fails := flow.New("fails", 1, func(c *flow.Context, _ string) (string, error) {
		return flow.Step(c, "bad", func(context.Context) (string, error) {
			return "", &holdshort.Error{Code: holdshort.ToolFailed, Message: "no"}
		})
	})
	var pay counter
	pay.do = func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, context.DeadlineExceeded }
	b := newBed(t, engine.Config{Flows: []flow.Flow{sleeps, waits, fails, refunds}, Tools: []tool.Tool{refundTool(&pay)},
		Policy: asking(policy.Verdict{Decision: policy.Ask, Audience: holdshort.Audience{Roles: []string{"finance"}, Users: []string{"dan"}, Quorum: 2}})})

	nap := b.start("sleeps", "")
	if r := says(t, b.why(nap.ID), "sleep", "nap"); !r.Until.Equal(b.clock.now().Add(time.Hour)) {
		t.Errorf("%+v", r)
	}
	says(t, b.why(b.start("waits", "").ID), "post", "parcel", "post what it waits for")
	says(t, b.why(b.start("fails", "").ID), "ended", "bad", "tool_failed", "retry")

	run := b.start("refunds", refund{"77", 120})
	req := b.request(run.ID)
	if r := says(t, b.why(run.ID), "request", "2 of role finance or dan", string(req.ID), "decide it"); r.Request != req.ID || !r.Until.Equal(req.ExpiresAt) || !r.Since.Equal(req.CreatedAt) {
		t.Errorf("%+v", r)
	}
	if _, err := b.Assign(t.Context(), tenant, engine.AssignInput{Request: req.ID, Actor: ops, To: "dan"}); err != nil {
		t.Fatal(err)
	}
	says(t, b.why(run.ID), "request", "assigned to dan")
	b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: dan})
	b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana})
	b.advance(time.Minute) // past the call's deadline
	why := b.why(run.ID)
	says(t, why, "operation", "nobody knows", "refund", "reconcile")
	says(t, why, "request", "reconcile")

	b.restart(func(c *engine.Config) { c.Flows, c.Tools = []flow.Flow{refunds}, nil })
	b.advance(time.Hour) // the nap is over, and nobody here has its flow
	says(t, b.why(nap.ID), "queued", "no sleeps@1", "deploy")
	if _, err := b.Why(t.Context(), tenant, "run_none"); code(err) != holdshort.NotFound {
		t.Errorf("a run that is not there: %v", err)
	}
	b.restart(func(c *engine.Config) { c.Flows = []flow.Flow{sleeps} })
	says(t, b.why(nap.ID), "ended", "completed")
}

// TestWhyQueued: a run that could go on and does not is told about the caps that keep it.
func TestWhyQueued(t *testing.T) {
	for name, c := range map[string]struct {
		conf  engine.Config
		cap   int
		words string
	}{
		"workers": {engine.Config{Workers: 1}, 0, "all 1 workers are busy"},
		"flow":    {engine.Config{}, 1, "1 runs of holds@1"},
		"tenant":  {engine.Config{Limits: engine.Limits{TenantRuns: 1}}, 0, "1 runs of its tenant"},
	} {
		t.Run(name, func(t *testing.T) {
			entered, leave := make(chan struct{}), make(chan struct{})
			var once sync.Once
			holds := flow.New("holds", 1, func(fc *flow.Context, _ string) (string, error) {
				return flow.Step(fc, "hold", func(context.Context) (string, error) {
					once.Do(func() { close(entered) })
					<-leave
					return "", nil
				})
			})
			holds.Concurrency = c.cap
			c.conf.Flows = []flow.Flow{holds}
			b := newBed(t, c.conf)
			first, err := b.Start(t.Context(), tenant, engine.StartInput{Flow: "holds", User: "carl"})
			if err != nil {
				t.Fatal(err)
			}
			<-entered
			second, err := b.Start(t.Context(), tenant, engine.StartInput{Flow: "holds", User: "carl"})
			if err != nil {
				t.Fatal(err)
			}
			says(t, b.why(first.ID), "leased", "node "+b.Node())
			says(t, b.why(second.ID), "queued", c.words)
			close(leave)
			b.settle()
			says(t, b.why(second.ID), "ended", "completed")
		})
	}
}

// TestWhyHeld: a held run says its code and what to do; one whose node no longer speaks says that.
func TestWhyHeld(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}})
	run := b.start("refunds", refund{"77", 120})
	req := b.request(run.ID)
	b.restart(func(c *engine.Config) { c.Flows = nil })
	b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana})
	b.forge(`UPDATE decisions SET key_id = 'k00000000' WHERE request_id = ?`, string(req.ID))
	b.restart(func(c *engine.Config) { c.Flows = []flow.Flow{refunds} })
	says(t, b.why(run.ID), "held", "key_unknown", "keyring")
	if got := b.why(run.ID).Reasons[0].Code; got != "held" {
		t.Errorf("the first reason is %s", got)
	}
}
