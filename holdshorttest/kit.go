package holdshorttest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/sqlite"
	"github.com/holdshort/holdshort/tool"
)

// TB is what a kit needs of a *testing.T.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Options of a kit. Flows are all that most tests need besides their tools.
type Options struct {
	Flows []flow.Flow
	Tools []tool.Tool
	// Agents, beside the flows and tools that they need. Their own tools come with them.
	Agents []*agent.Agent
	// Policy. Default: every call needs a reviewer.
	Policy policy.Policy
	// Tenant whose runs these are. Default: test.
	Tenant holdshort.TenantID
	// Start of the clock. Default: Monday.
	Start time.Time
	// Path of a SQLite file. Default: a temporary store that is gone after the test.
	Path string
	// Channels whose deliveries Sent shows. Default: test.
	Channels []string
	// Patience is how long, in real time, code of a flow or tool may take to come back. Default: 30 seconds.
	Patience time.Duration
	// Logger of engine and store. Default: none.
	Logger *slog.Logger
	// Configure changes whatever else an engine can be told. Default: nothing.
	Configure func(*engine.Config)
}

func (o Options) withDefaults() Options {
	if o.Tenant == "" {
		o.Tenant = "test"
	}
	if o.Start.IsZero() {
		o.Start = Monday
	}
	if len(o.Channels) == 0 {
		o.Channels = []string{Channel}
	}
	if o.Patience <= 0 {
		o.Patience = 30 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Kit is an engine in a test. Only the goroutine of the test uses it; Now, CrashBefore and CrashAfter may be called from steps and tools too.
type Kit struct {
	t       TB
	options Options
	clock   *clock
	store   *sqlite.Store
	engine  *engine.Engine
	fence   *fence           // between the engine and its store
	past    []*engine.Engine // those that crashed
	scripts []*Script
	outbox  outbox
	posts   int
	closed  bool

	sessions []holdshort.SessionID

	mu     sync.Mutex
	crash  map[string]crashPoint // by tool: where the process dies at its next call
	broken bool                  // it died, and nobody started it again yet
}

// New makes a kit for a test and closes it when the test is over. The test fails if something of it still runs then.
func New(t TB, o Options) *Kit {
	t.Helper()
	o = o.withDefaults()
	k := &Kit{t: t, options: o, clock: &clock{now: o.Start.UTC()}, crash: map[string]crashPoint{}}
	t.Cleanup(k.Close)
	k.open()
	k.begin()
	return k
}

// Example makes a kit without a test, for Examples and small programs: it panics where a test would fail. Close it.
func Example(o Options) *Kit { return New(panics{}, o) }

type panics struct{}

func (panics) Helper()                           {}
func (panics) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (panics) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (panics) Cleanup(func())                    {}

func (k *Kit) open() {
	k.t.Helper()
	o := sqlite.Options{Clock: k.clock.read, Logger: k.options.Logger}
	var err error
	if k.options.Path != "" {
		k.store, err = sqlite.Open(context.Background(), k.options.Path, o)
	} else {
		k.store, err = sqlite.OpenTemporary(context.Background(), o)
	}
	k.must("open the store", err)
}

// begin makes an engine over the store, as a process that starts does.
func (k *Kit) begin() {
	k.t.Helper()
	o := k.options
	k.fence = &fence{Store: k.store}
	config := engine.Config{Keyring: k.store.Keyring(), Flows: o.Flows, Policy: o.Policy, Senders: map[string]engine.Sender{}, Logger: o.Logger,
		Node: fmt.Sprintf("test-%d", len(k.past)+1), Clock: k.clock.read, Grace: time.Second, Drain: o.Patience}
	for _, t := range o.Tools {
		config.Tools = append(config.Tools, k.crashable(t))
	}
	for _, a := range o.Agents {
		if config.Agents == nil {
			config.Agents = map[string]string{}
		}
		config.Agents[a.Name()] = agent.FlowName(a.Name())
		config.Flows = append(slices.Clip(config.Flows), a.Flow())
		for _, t := range a.Tools() {
			if !slices.ContainsFunc(config.Tools, func(known tool.Tool) bool { return known.Name == t.Name }) {
				config.Tools = append(config.Tools, k.crashable(t))
			}
		}
	}
	for _, name := range o.Channels {
		config.Senders[name] = &k.outbox
	}
	if o.Configure != nil {
		o.Configure(&config)
	}
	var err error
	k.engine, err = engine.New(k.fence, config)
	k.must("make the engine", err)
	k.must("start the engine", k.engine.Recover(context.Background()))
	k.settle()
}

// Close stops the engine and checks that nothing is left running. A test's kit is closed by itself.
func (k *Kit) Close() {
	k.t.Helper()
	if k.closed {
		return
	}
	k.closed = true
	for _, s := range k.scripts {
		if s.reply == nil {
			k.t.Errorf("holdshorttest: a script says who, and not what: end WhenAsked(%s) with Approve, Reject, Edit, Answer, Choose, Respond, Cancel or Ignore", s.match)
		}
	}
	for _, e := range append(k.past, k.engine) {
		if e == nil {
			continue
		}
		if err := e.Drain(); err != nil {
			k.t.Errorf("holdshorttest: something still runs when the test is over: %v: let the steps and tools of the test come back", err)
		}
	}
	if k.store != nil {
		if err := k.store.Close(); err != nil {
			k.t.Errorf("holdshorttest: close the store: %v", err)
		}
	}
}

// Engine is the engine itself, for what the kit has no word for. Call Settle afterwards.
func (k *Kit) Engine() *engine.Engine { return k.engine }

// Store is the store itself.
func (k *Kit) Store() store.Store { return k.store }

// Tenant whose runs these are.
func (k *Kit) Tenant() holdshort.TenantID { return k.options.Tenant }

// Now is the time of the test.
func (k *Kit) Now() time.Time { return k.clock.read() }

func (k *Kit) must(what string, err error) {
	k.t.Helper()
	if err != nil {
		k.t.Fatalf("holdshorttest: %s: %v%s", what, err, hint(err))
	}
}
