package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/tool"
)

var reviewer = holdshort.Actor{ID: "ana", Kind: holdshort.Person, Roles: []string{"reviewer"}, Assurance: holdshort.AssuranceLogin}

type order struct {
	Order  string `json:"order"`
	Amount int    `json:"amount"`
	Reason string `json:"reason"`
}

var input = json.RawMessage(`{"order":"77","amount":120,"reason":"arrived broken"}`)

// cycleFlow is the smallest whole life of a run: a step, a person, a step.
var cycleFlow = flow.New("cycle", 1, func(c *flow.Context, in order) (string, error) {
	total, err := flow.Step(c, "look up order", func(context.Context) (int, error) { return 340, nil })
	if err != nil {
		return "", err
	}
	a, err := flow.Approve(c, "approve", flow.Question{Text: fmt.Sprintf("Refund %d of %d EUR to order %s?", in.Amount, total, in.Order)})
	if err != nil || !a.Approved() {
		return "no", err
	}
	return flow.Step(c, "note", func(context.Context) (string, error) { return "refunded", nil })
})

// refundFlow waits for the approval of a call: what parked runs mostly wait for.
var refundFlow = flow.New("refund", 1, func(c *flow.Context, in order) (string, error) {
	if _, err := flow.Step(c, "look up order", func(context.Context) (order, error) { return in, nil }); err != nil {
		return "", err
	}
	return flow.Call[string](c, "refund", "orders.refund", in)
})

var refundPolicy = policy.Func(func(context.Context, policy.Call) (policy.Verdict, error) {
	return policy.Verdict{Decision: policy.Ask, Rule: "big refunds", Version: "3", Audience: holdshort.Audience{Roles: []string{"reviewer"}}, Editable: []string{"amount"},
		OnTimeout: holdshort.TimeoutFail, Question: "Refund 120 EUR to order 77?"}, nil
})

var refundTool = tool.Tool{Name: "orders.refund", Schema: json.RawMessage(`{"type":"object"}`), Call: func(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{Value: json.RawMessage(`"done"`)}, nil
}}

// sleepFlow notes when its sleep was over, in the store's time.
var sleepFlow = flow.New("sleep", 1, func(c *flow.Context, d time.Duration) (time.Time, error) {
	flow.Sleep(c, "nap", d)
	return flow.Now(c, "woke"), nil
})

// kernel is an engine on a counted store.
type kernel struct {
	*engine.Engine
	store *counted
	stop  func() error
}

// patient lets a run take its time to its first pause: where three commits are to be seen, however busy the machine is.
const patient = time.Minute

// newKernel makes an engine whose loops do not run. A grace of 0 is the engine's own.
func newKernel(s store.Store, workers int, grace time.Duration) (*kernel, error) {
	k := &kernel{store: newCounted(s), stop: func() error { return nil }}
	keyring := s.(interface{ Keyring() *holdshort.Keyring }).Keyring() // both drivers have one
	desk, err := newDesk(free, agent.Limits{})
	if err != nil {
		return nil, err
	}
	k.Engine, err = engine.New(k.store, engine.Config{Keyring: keyring, Flows: []flow.Flow{cycleFlow, refundFlow, sleepFlow, callFlow, talkFlow, desk.Flow()}, Tools: []tool.Tool{refundTool},
		Agents: map[string]string{desk.Name(): desk.Flow().Name}, Policy: refundPolicy, Node: "bench", Workers: workers, Grace: grace, Logger: slog.New(slog.DiscardHandler)})
	return k, err
}

// startKernel starts it and returns when it is ready.
func startKernel(ctx context.Context, s store.Store, workers int) (*kernel, error) {
	k, err := newKernel(s, workers, 0)
	if err != nil {
		return nil, err
	}
	return k.run(ctx)
}

// run starts its loops and returns when they are ready.
func (k *kernel) run(ctx context.Context) (*kernel, error) {
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan error, 1)
	go func() { over <- k.Run(ctx) }()
	k.stop = func() error {
		cancel()
		return <-over
	}
	select {
	case <-k.Ready():
		return k, nil
	case err := <-over:
		cancel()
		return nil, err
	}
}
