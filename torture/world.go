package torture

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/tool"
)

// Bed is a database under torture, with a clock that can be moved.
type Bed interface {
	Name() string
	// Store gives the database as the next process sees it. beside: the one before still has it open.
	Store(beside bool) (store.Store, error)
	// Now is its time, Advance moves it.
	Now() time.Time
	Advance(d time.Duration)
	// Close gives everything back.
	Close() error
}

// World is one pass of a scenario: what outlives every crash.
type World struct {
	*Report
	Tenant   holdshort.TenantID
	scenario Scenario
	bed      Bed
	outside  *ground
	witness  *witness
	timeout  time.Duration // of tools
	frozen   bool          // an engine stands still: a call may be too late to be made at all

	mu      sync.Mutex
	nodes   int
	acked   map[holdshort.RequestID]holdshort.DecisionID // what deciders were told
	shown   map[holdshort.RequestID]holdshort.DecisionID // what those who came too late were shown
	started map[holdshort.RunID]bool                     // runs that were acknowledged
	paused  map[holdshort.RequestID]holdshort.Request    // as they were when they were first committed
	lost    map[attempt]bool                             // calls of which nobody heard what became of them
	before  map[string]int                               // events that are older than what the witness saw
	answers []json.RawMessage                            // what those were answered who waited for a run
	stage   int                                          // what is deployed, for scenarios that deploy
}

func newWorld(s Scenario, bed Bed, tenant holdshort.TenantID) *World {
	w := &World{Report: &Report{}, Tenant: tenant, scenario: s, bed: bed, outside: newGround(tenant), witness: &witness{tenant: tenant}, acked: map[holdshort.RequestID]holdshort.DecisionID{},
		shown: map[holdshort.RequestID]holdshort.DecisionID{}, started: map[holdshort.RunID]bool{}, paused: map[holdshort.RequestID]holdshort.Request{},
		lost: map[attempt]bool{}, timeout: toolTimeout}
	w.witness.saved, w.witness.asking, w.witness.deciding = w.watch, w.outside.asking, w.outside.deciding
	return w
}

// attempt is one try of an operation.
type attempt struct {
	operation string
	number    int
}

// committed notes what every later look must find.
func (w *World) committed(t *transaction) {
	for _, r := range t.runs {
		if r.Status == holdshort.RunWaiting || r.Status.Ended() {
			w.outside.pin(r.ID)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range t.requests {
		if _, ok := w.paused[r.ID]; !ok {
			w.paused[r.ID] = r
		}
	}
}

// watch is what the witness calls for each transaction that was committed.
func (w *World) watch(t *transaction) {
	w.committed(t)
	if w.scenario.Agents != nil {
		w.watchAgents(t)
	}
}

// flowName keeps passes that share a database apart: none runs another's runs.
func (w *World) flowName(name string) string { return name + "." + string(w.Tenant) }

// Hand is whoever drives a scenario at one engine.
type Hand struct {
	*World
	Engine *engine.Engine
	node   *node
	ctx    context.Context
	booted int // the stage that its engine has
}

// seat starts an engine, with a fault that waits for it.
func (w *World) seat(f Fault, beside bool) (*Hand, error) {
	s, err := w.bed.Store(beside)
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	h := &Hand{World: w, node: newNode(s, w.witness, f, w.scenario.Nodes || beside || f.Mode.frozen()), ctx: context.Background()}
	return h, h.boot()
}

// boot makes the engine of what is deployed now.
func (h *Hand) boot() (err error) {
	w := h.World
	w.mu.Lock()
	w.nodes++
	h.booted = w.stage
	name := fmt.Sprintf("node-%s-%d", w.Tenant, w.nodes)
	w.mu.Unlock()
	config := engine.Config{Policy: w.scenario.Policy, Node: name, Workers: 8, Lease: leaseTime, Grace: time.Minute, Drain: time.Minute, Logger: slog.New(slog.DiscardHandler)}
	if w.scenario.Flows != nil {
		config.Flows = w.scenario.Flows(w)
	}
	config.Tools, config.Agents = w.tools(), map[string]string{}
	for _, a := range w.agents() {
		f := a.Flow()
		config.Flows = append(config.Flows, f)
		config.Agents[a.Name()] = w.flowName(f.Name)
	}
	for i := range config.Flows {
		config.Flows[i].Name = w.flowName(config.Flows[i].Name)
	}
	config.Observer = h.node
	config.Senders = map[string]engine.Sender{"chat": w.outside}
	h.Engine, err = engine.New(h.node, config)
	return err
}

func (w *World) agents() []*agent.Agent {
	if w.scenario.Agents == nil {
		return nil
	}
	return w.scenario.Agents(w)
}

// tools of the scenario and of its agents.
func (w *World) tools() (list []tool.Tool) {
	if w.scenario.Tools != nil {
		list = w.scenario.Tools(w)
	}
	for _, a := range w.agents() {
		list = append(list, a.Tools()...)
	}
	return list
}

// Stage is how often something new was deployed.
func (w *World) Stage() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stage
}

// Deploy stops the engine, hands its runs back, and starts one with what the stage has. A crash does not undo a deployment.
func (h *Hand) Deploy(stage int) {
	if h.booted >= stage {
		return
	}
	h.must(h.Engine.Drain(), "stop the engine")
	h.mu.Lock()
	h.stage = max(h.stage, stage)
	h.mu.Unlock()
	h.must(h.boot(), "start the engine")
}

// died ends a drive whose engine is dead; wrong ends one that cannot go on.
type (
	died  struct{}
	wrong struct{}
)

// drive plays the scenario until its end, or the engine's.
func (h *Hand) drive() (alive bool) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case died, wrong:
			alive = !h.node.isDead()
		default:
			panic(p)
		}
	}()
	h.scenario.Drive(h)
	h.Settle()
	return true
}

// must ends the drive when the engine is dead, and counts every other error.
func (h *Hand) must(err error, doing string) {
	if h.node.isDead() {
		panic(died{})
	}
	if err != nil {
		h.Violate(Progress, "%s: %v", doing, err)
		panic(wrong{})
	}
}
