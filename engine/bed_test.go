package engine_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/sqlite"
	"github.com/holdshort/holdshort/tool"
)

const tenant holdshort.TenantID = "acme"

var (
	ana = holdshort.Actor{ID: "ana", Kind: holdshort.Person, Roles: []string{"reviewer", "finance"}, Assurance: holdshort.AssuranceLogin}
	ben = holdshort.Actor{ID: "ben", Kind: holdshort.Person, Roles: []string{"reviewer"}, Assurance: holdshort.AssuranceLogin}
	eve = holdshort.Actor{ID: "eve", Kind: holdshort.Person, Assurance: holdshort.AssuranceLogin}
	ops = holdshort.Actor{ID: "ops", Kind: holdshort.Person, Roles: []string{"operator"}, Assurance: holdshort.AssuranceLogin}
)

// bed is an engine over a real SQLite file, with a clock that a test moves.
type bed struct {
	*testing.T
	*engine.Engine
	path  string
	store *sqlite.Store
	clock *clock
	conf  engine.Config
	facts *engine.FactLog // what the observer was told; after the test it must be what the log has
}

type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func newBed(t *testing.T, conf engine.Config) *bed {
	t.Helper()
	b := &bed{T: t, facts: &engine.FactLog{}, path: filepath.Join(t.TempDir(), "h.db"), clock: &clock{at: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}, conf: conf}
	b.open()
	t.Cleanup(func() {
		b.checkObserved()
		b.store.Close()
	})
	return b
}

func (b *bed) open() {
	b.Helper()
	s, err := sqlite.Open(b.Context(), b.path, sqlite.Options{Clock: b.clock.now})
	if err != nil {
		b.Fatal(err)
	}
	b.store = s
	b.attach()
}

func (b *bed) attach() {
	b.Helper()
	conf := b.conf
	conf.Clock = b.clock.now
	if conf.Observer == nil {
		conf.Observer = b.facts
	}
	if conf.Logger == nil {
		conf.Logger = slog.New(slog.DiscardHandler)
	}
	e, err := engine.New(b.store, conf)
	if err != nil {
		b.Fatal(err)
	}
	b.Engine = e
}

// runEngine runs the engine's loops until the test ends. The bed compares events only after the engine has stopped: a loop that still
// commits would tell the observer of events that the comparison did not read.
func (b *bed) runEngine() {
	b.Helper()
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Engine.Run(ctx) }()
	b.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			b.Errorf("stop the engine: %v", err)
		}
	})
	<-b.Ready()
}

// restart is what a new process would see: the file as it is, a new engine.
func (b *bed) restart(change func(*engine.Config)) {
	b.Helper()
	b.settle()
	if err := b.store.Close(); err != nil {
		b.Fatal(err)
	}
	if change != nil {
		change(&b.conf)
	}
	b.open()
	if err := b.Recover(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.settle()
}

func (b *bed) start(flow string, input any) holdshort.Run {
	b.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		b.Fatal(err)
	}
	run, err := b.Start(b.Context(), tenant, engine.StartInput{Flow: flow, User: "carl", Input: raw})
	if err != nil {
		b.Fatal(err)
	}
	b.settle()
	return b.run(run.ID)
}

// safetyLimit ends a wait for a signal that never comes. No test passes or fails by how long it takes.
const safetyLimit = 5 * time.Minute

// settle does everything that can be done now.
func (b *bed) settle() {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), safetyLimit)
	defer cancel()
	for {
		if err := b.Settle(ctx); err != nil {
			b.Fatal(err)
		}
		n, err := b.Tick(ctx)
		if err != nil {
			b.Fatal(err)
		}
		if err := b.Settle(ctx); err != nil {
			b.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
}

func (b *bed) advance(d time.Duration) {
	b.Helper()
	b.clock.move(d)
	b.settle()
}

func (b *bed) run(id holdshort.RunID) holdshort.Run {
	b.Helper()
	run, err := b.RunByID(b.Context(), tenant, id)
	if err != nil {
		b.Fatal(err)
	}
	return run
}

// open requests of a run.
func (b *bed) requests(id holdshort.RunID) []holdshort.Request {
	b.Helper()
	page, err := b.Requests(b.Context(), tenant, engine.RequestQuery{Run: id, Status: holdshort.RequestOpen})
	if err != nil {
		b.Fatal(err)
	}
	return page.Items
}

func (b *bed) request(id holdshort.RunID) holdshort.Request {
	b.Helper()
	open := b.requests(id)
	if len(open) != 1 {
		b.Fatalf("%d open requests, want 1; the run is %s %+v", len(open), b.run(id).Status, b.run(id).Error)
	}
	return open[0]
}

func (b *bed) decide(in engine.DecideInput) engine.Decided {
	b.Helper()
	out, err := b.Decide(b.Context(), tenant, in)
	if err != nil {
		b.Fatal(err)
	}
	b.settle()
	return out
}

func (b *bed) approve(id holdshort.RunID) {
	b.Helper()
	b.decide(engine.DecideInput{Request: b.request(id).ID, Action: holdshort.Approve, Actor: ana})
}

func (b *bed) operations(id holdshort.RunID) []holdshort.Operation {
	b.Helper()
	var ops []holdshort.Operation
	err := b.store.View(b.Context(), tenant, func(tx store.ReadTx) (err error) {
		ops, err = tx.Operations(id)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return ops
}

func (b *bed) want(id holdshort.RunID, status holdshort.RunStatus, result string) {
	b.Helper()
	run := b.run(id)
	if run.Status != status || result != "" && string(run.Result) != result {
		b.Fatalf("run is %s (held %+v, error %+v, result %s), want %s %s", run.Status, run.Held, run.Error, run.Result, status, result)
	}
}

func (b *bed) wantHeld(id holdshort.RunID, code holdshort.Code) {
	b.Helper()
	if run := b.run(id); run.Held == nil || run.Held.Code != code {
		b.Fatalf("run is %s, held %+v, error %+v; want held %s", run.Status, run.Held, run.Error, code)
	}
}

// counter is a tool that counts what it did, per operation.
type counter struct {
	mu    sync.Mutex
	calls []tool.Call
	do    func(ctx context.Context, c tool.Call) (tool.Result, error)
}

func (c *counter) call(ctx context.Context, call tool.Call) (tool.Result, error) {
	c.mu.Lock()
	c.calls = append(c.calls, call)
	do := c.do
	c.mu.Unlock()
	if do != nil {
		return do(ctx, call)
	}
	return tool.Result{Value: json.RawMessage(`{"ok":true}`), ExternalIDs: map[string][]string{"refund": {"r1"}}}, nil
}

func (c *counter) n() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.calls)
}

func (c *counter) args() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []string
	for _, call := range c.calls {
		all = append(all, string(call.Args))
	}
	return all
}

type refund struct {
	Order  string `json:"order"`
	Amount int    `json:"amount"`
}

var refundSchema = json.RawMessage(`{"type":"object","properties":{"order":{"type":"string"},"amount":{"type":"integer","minimum":1}},"required":["order","amount"],"additionalProperties":false}`)

// refunds is a flow with one call.
var refunds = flow.New("refunds", 1, func(c *flow.Context, in refund) (string, error) {
	type answer struct {
		OK bool `json:"ok"`
	}
	a, err := flow.Call[answer](c, "pay", "refund", in)
	switch {
	case err != nil:
		return string(holdshort.CodeOf(err)), nil
	case !a.OK:
		return "answered", nil
	}
	return "paid", nil
})

func refundTool(c *counter) tool.Tool {
	return tool.Tool{Name: "refund", Schema: refundSchema, Timeout: 10 * time.Second, Call: c.call}
}

// asking asks people of a role about every call.
func asking(v policy.Verdict) policy.Policy {
	return policy.Func(func(context.Context, policy.Call) (policy.Verdict, error) { return v, nil })
}

func code(err error) holdshort.Code { return holdshort.CodeOf(err) }

// checkObserved compares what the observer of this bed's engines was told with the event log. A test that closed the store itself has it
// opened once more.
func (b *bed) checkObserved() {
	_, err := b.store.System().Now(context.Background())
	if code(err) == holdshort.StoreClosed {
		b.store, err = sqlite.Open(context.Background(), b.path, sqlite.Options{Clock: b.clock.now})
	}
	if err != nil {
		b.Errorf("open the store to compare its events: %v", err)
		return
	}
	engine.CheckObserved(b.T, b.store, b.facts)
}

// reported is the context for calls of the store that a test makes in the engine's place.
func (b *bed) reported() context.Context {
	return store.WithEvents(b.Context(), func(_ holdshort.TenantID, events []holdshort.Event) {
		for _, e := range events {
			b.facts.Fact(e)
		}
	})
}
