package engine

import (
	"context"
	"log/slog"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/tool"
)

// Engine is the kernel over one store. Its use cases can be called before Run and without it; what waits is carried on by Run's loops.
type Engine struct {
	store   store.Store
	config  Config
	keyring *holdshort.Keyring
	owner   string // of leases: the node's name and what tells this process from the one before it
	log     *slog.Logger
	flows   map[store.FlowVersion]flow.Flow
	latest  map[string]int
	agents  map[string]string // by their flows
	tools   map[string]tool.Tool
	rooms   map[string]chan struct{} // of tools that may not be called by everybody at once
	places  *places                  // which run and session a request belongs to

	hard      context.Context // of tool calls: it ends when they have had their time to finish
	cut       context.CancelFunc
	slots     chan struct{} // one for each run that is being executed
	draining  atomic.Bool
	ready     chan struct{}
	started   atomic.Bool
	nextDue   atomic.Int64 // when the timers loop looks again, in microseconds
	denials   denials
	starts    starts
	opened    opened
	clock     clock
	memory    memory
	deltas    deltas
	overview  overviews
	unrouted  unrouted
	outbox    outbox // sends under way
	sealed    time.Time
	seat      holdshort.Lease // of the sequencer
	seated    time.Time
	feeder    holdshort.Lease // of whoever hands events to webhooks
	fedAt     time.Time
	indexer   holdshort.Lease // of whoever keeps the index of words
	indexedAt time.Time

	mu      sync.Mutex
	running map[runKey]*slice
	busy    map[string]int // runs being executed, by flow and by tenant
	wg      sync.WaitGroup // slots, slices and tool calls
}

type runKey struct {
	tenant holdshort.TenantID
	id     holdshort.RunID
}

// New makes an engine. Invalid says what is wrong with the configuration.
func New(s store.Store, config Config) (*Engine, error) {
	config = config.withDefaults()
	e := &Engine{store: observedBy(config.Observer, s), config: config, keyring: config.Keyring, log: config.Logger,
		flows: map[store.FlowVersion]flow.Flow{}, latest: map[string]int{}, agents: map[string]string{}, tools: map[string]tool.Tool{}, rooms: map[string]chan struct{}{}, places: newPlaces(),
		slots: make(chan struct{}, config.Workers), ready: make(chan struct{}), running: map[runKey]*slice{}, busy: map[string]int{}}
	e.owner = config.Node + "/" + holdshort.NewSalt()[:8]
	e.nextDue.Store(math.MaxInt64)
	e.hard, e.cut = context.WithCancel(context.Background())
	if e.keyring == nil {
		own, ok := s.(interface{ Keyring() *holdshort.Keyring })
		if !ok || own.Keyring() == nil {
			return nil, &holdshort.Error{Code: holdshort.Invalid, Field: "keyring", Message: "there is no keyring: nobody could tell a decision from a forged one",
				Hint: "set Config.Keyring, or open the store with its keyring file"}
		}
		e.keyring = own.Keyring()
	}
	for _, t := range config.Tools {
		if err := e.addTool(t); err != nil {
			return nil, err
		}
	}
	for _, f := range config.Flows {
		if err := e.addFlow(f); err != nil {
			return nil, err
		}
	}
	for name, flow := range config.Agents {
		if other, twice := e.agents[flow]; twice {
			return nil, &holdshort.Error{Code: holdshort.Invalid, Field: "agents", Op: "register agent " + name, Message: "its flow is that of " + other, Hint: "give each agent a flow of its own"}
		}
		e.agents[flow] = name
		if e.latest[flow] == 0 {
			return nil, &holdshort.Error{Code: holdshort.Invalid, Field: "agents", Op: "register agent " + name, Message: "there is no flow " + flow, Hint: "register the agent's flow too"}
		}
	}
	for _, s := range config.Senders {
		if a, ok := s.(Attached); ok {
			a.Attach(e)
		}
	}
	return e, nil
}

func (e *Engine) addTool(t tool.Tool) error {
	t, err := t.Prepare()
	if err != nil {
		return err
	}
	if _, twice := e.tools[t.Name]; twice {
		return &holdshort.Error{Code: holdshort.Invalid, Op: "register tool " + t.Name, Message: "the name is taken", Hint: "give each tool its own name"}
	}
	e.tools[t.Name] = t
	if t.Concurrency > 0 {
		e.rooms[t.Name] = make(chan struct{}, t.Concurrency)
	}
	return nil
}

func (e *Engine) addFlow(f flow.Flow) error {
	if err := f.Check(); err != nil {
		return err
	}
	v := store.FlowVersion{Flow: f.Name, Version: f.Version}
	if _, twice := e.flows[v]; twice {
		return &holdshort.Error{Code: holdshort.Invalid, Op: "register flow " + f.Title(), Message: "this version is there already", Hint: "give the changed flow the next version"}
	}
	e.flows[v] = f
	e.latest[f.Name] = max(e.latest[f.Name], f.Version)
	return nil
}

// flowFor gives the flow of a run if this node has its version and all of its tools.
func (e *Engine) flowFor(run holdshort.Run) (flow.Flow, bool) {
	f, ok := e.flows[store.FlowVersion{Flow: run.Flow, Version: run.FlowVersion}]
	return f, ok && !slices.ContainsFunc(f.Tools, func(name string) bool { _, ok := e.tools[name]; return !ok })
}

// Node names this process among those that share the store.
func (e *Engine) Node() string { return e.config.Node }

// Ready is closed when Run's loops are up.
func (e *Engine) Ready() <-chan struct{} { return e.ready }
