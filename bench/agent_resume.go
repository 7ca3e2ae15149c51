package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/tool"
)

// resumed is how many runs the time to go on is taken from.
const resumed = 8

// walker is a model that looks something up so many times before it wants the refund. It notes when it was asked what to do after that.
type walker struct {
	steps map[string]int // by what the user said
	mu    sync.Mutex
	after map[string]time.Time
}

func (w *walker) Generate(_ context.Context, req model.Request, _ func(string)) (model.Response, error) {
	now := time.Now()
	said, results := "", 0
	for _, m := range req.Messages {
		switch m.Role {
		case model.User:
			if said == "" {
				said = m.Text
			}
		case model.ToolRole:
			results++
		}
	}
	switch steps := w.steps[said]; {
	case results < steps:
		args := json.RawMessage(fmt.Sprintf(`{"order":"%d"}`, results))
		return model.Response{Calls: []model.Call{{ID: "look", Tool: lookTool.Name, Args: args}}, Stop: model.StopCalls}, nil
	case results == steps:
		return model.Response{Calls: []model.Call{{ID: "pay", Tool: refundTool.Name, Args: input}}, Stop: model.StopCalls}, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.after[said] = now
	return model.Response{Text: "refunded", Stop: model.StopEnd}, nil
}

// lookTool gives what such tools do: a record of some two hundred bytes.
var lookTool = tool.Tool{Name: "orders.look", Effect: tool.Read, Schema: json.RawMessage(`{"type":"object"}`), Call: func(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{Value: json.RawMessage(`{"customer":"ben","items":[{"amount":1,"name":"lamp","price":120},{"amount":2,"name":"bulb","price":8}],"order":"77","paid":true,"shipped":"2026-01-15","total":136}`)}, nil
}}

var lookPolicy = policy.Func(func(ctx context.Context, c policy.Call) (policy.Verdict, error) {
	if c.Effect == "read" {
		return policy.Verdict{Decision: policy.Allow, Rule: "reads"}, nil
	}
	return refundPolicy(ctx, c)
})

// measureResume parks runs of an agent that have a long way behind them, and sees how soon they go on in an engine that never saw them.
func measureResume(ctx context.Context, t *target, o Options, report *Report) error {
	if !o.Agents {
		return nil
	}
	own, drop, err := t.fresh(ctx, "resume")
	if err != nil {
		return err
	}
	defer drop()
	s, err := own.open(ctx, 256, 1)
	if err != nil {
		return err
	}
	defer s.Close()
	o.Progress(fmt.Sprintf("%s: runs of %d steps", report.Store, o.Steps))
	w := &walker{steps: map[string]int{}, after: map[string]time.Time{}}
	var long, short []string
	for i := range resumed {
		long, short = append(long, fmt.Sprintf("a long way %d", i)), append(short, fmt.Sprintf("a short way %d", i))
		w.steps[long[i]], w.steps[short[i]] = o.Steps, 0
	}
	asked, err := park(ctx, s, w, append(long, short...))
	if err != nil {
		return err
	}
	k, err := walking(ctx, s, w)
	if err != nil {
		return err
	}
	defer k.stop()
	if _, err := w.goOn(ctx, k, asked, short[:1]); err != nil { // connections and plans
		return err
	}
	times, err := w.goOn(ctx, k, asked, long)
	if err != nil {
		return err
	}
	soon, err := w.goOn(ctx, k, asked, short[1:])
	if err != nil {
		return err
	}
	report.Agents.Resume = &AgentResume{Steps: o.Steps, Runs: len(times), P50: quantile(times, 0.5), P99: quantile(times, 0.99), ShortP50: quantile(soon, 0.5)}
	return nil
}

// walking starts an engine with the agent of this part.
func walking(ctx context.Context, s store.Store, w *walker) (*kernel, error) {
	return startEngine(ctx, s, func(c *engine.Config) error {
		a, err := agent.New(agent.Config{Name: "clerk", Model: w, Instructions: "You refund orders.", Tools: []tool.Tool{lookTool, refundTool}, Limits: agent.Limits{Iterations: 1 << 20}})
		if err != nil {
			return err
		}
		c.Flows, c.Tools, c.Agents, c.Policy = []flow.Flow{a.Flow()}, a.Tools(), map[string]string{a.Name(): a.Flow().Name}, lookPolicy
		return nil
	})
}

// pending is a run that waits for its decision.
type pending struct {
	run     holdshort.RunID
	request holdshort.RequestID
}

// park has runs go as far as their request, each in a session.
func park(ctx context.Context, s store.Store, w *walker, texts []string) (map[string]pending, error) {
	k, err := walking(ctx, s, w)
	if err != nil {
		return nil, err
	}
	faults := make([]error, len(texts))
	parked := make([]pending, len(texts))
	var wg sync.WaitGroup
	for i, text := range texts {
		wg.Go(func() {
			run, err := k.write(ctx, engine.OpenSessionInput{Agent: "clerk"}, text)
			if err == nil {
				_, err = k.AwaitRun(ctx, tenant, run, engine.Resting)
			}
			request, ok := k.store.request(run)
			if err == nil && !ok {
				err = fmt.Errorf("run %s asks nothing", run)
			}
			parked[i], faults[i] = pending{run, request}, err
		})
	}
	wg.Wait()
	out := map[string]pending{}
	for i, text := range texts {
		out[text] = parked[i]
	}
	return out, errors.Join(errors.Join(faults...), k.stop())
}

// goOn decides one run after the other and gives how long each took from there to its model.
func (w *walker) goOn(ctx context.Context, k *kernel, asked map[string]pending, texts []string) (times []time.Duration, err error) {
	for _, text := range texts {
		p := asked[text]
		decided := time.Now()
		if _, err := k.Decide(ctx, tenant, engine.DecideInput{Request: p.request, Action: holdshort.Approve, Actor: reviewer}); err != nil {
			return nil, err
		}
		run, err := k.AwaitRun(ctx, tenant, p.run, engine.Ended)
		if err == nil && run.Status != holdshort.RunCompleted {
			err = fmt.Errorf("run %s is %s: %+v", p.run, run.Status, run.Error)
		}
		if err != nil {
			return nil, err
		}
		w.mu.Lock()
		times = append(times, w.after[text].Sub(decided))
		w.mu.Unlock()
	}
	return times, nil
}

// startEngine starts an engine of its own kind and returns when it is ready.
func startEngine(ctx context.Context, s store.Store, change func(*engine.Config) error) (*kernel, error) {
	k := &kernel{store: newCounted(s)}
	config := engine.Config{Keyring: s.(interface{ Keyring() *holdshort.Keyring }).Keyring(), Node: "bench", Workers: 64, Logger: slog.New(slog.DiscardHandler)}
	if err := change(&config); err != nil {
		return nil, err
	}
	var err error
	if k.Engine, err = engine.New(k.store, config); err != nil {
		return nil, err
	}
	return k.run(ctx)
}
