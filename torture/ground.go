package torture

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/tool"
)

// ground is what the world saw. No crash of ours makes it forget.
type ground struct {
	tenant  holdshort.TenantID // whose world it is: what an earlier pass left unsent is not its business
	mu      sync.Mutex
	calls   []seenCall
	effects map[string]int                     // by operation
	steps   map[holdshort.RunID]map[string]int // how often a step's own code ran
	pinned  map[holdshort.RunID]map[string]int // how often it had when its run came to rest
	sent    map[string]string                  // texts by the key of their delivery
	order   []string                           // in the order in which they first came
	still   bool                               // a process stands still and may be given up: two may do a step now, and nothing new is pinned
	zombie  bool                               // a process that was given up goes on: its steps are its own affair, its calls are not
	thawed  bool                               // one did

	thoughts map[string]int               // how often a model was asked for an answer, by the key that the journal has for it
	learned  map[string]int               // how often it had been when the answer was in the journal
	marked   map[holdshort.RunID]busy     // what a run had done when its model last answered or somebody last decided
	hushed   map[holdshort.RequestID]busy // and when it began to wait for an approval
	asked    map[holdshort.RequestID]holdshort.Request

	lateThoughts int // questions to a model by a process that stood still
}

type seenCall struct {
	tool      string
	operation string
	run       holdshort.RunID
	attempt   int
	args      []byte
	effect    bool
	lost      bool // nobody heard of what became of it
	late      bool // its process stood still at the time: another one has the run
}

func newGround(tenant holdshort.TenantID) *ground {
	return &ground{tenant: tenant, effects: map[string]int{}, steps: map[holdshort.RunID]map[string]int{}, pinned: map[holdshort.RunID]map[string]int{},
		sent: map[string]string{}, thoughts: map[string]int{}, learned: map[string]int{}, marked: map[holdshort.RunID]busy{}, hushed: map[holdshort.RequestID]busy{},
		asked: map[holdshort.RequestID]holdshort.Request{}}
}

// errLost is the answer of a call that may or may not have taken effect.
var errLost = errors.New("connection reset")

// Conduct is how a tool answers its nth call for an operation (from 1): whether it takes effect, and with which error.
type Conduct func(nth int) (effect bool, err error)

// Works takes effect and says so.
func Works(int) (bool, error) { return true, nil }

// LosesAnswer takes effect the first time, and nobody hears of it.
func LosesAnswer(nth int) (bool, error) {
	if nth == 1 {
		return true, errLost
	}
	return true, nil
}

// LosesCall does nothing the first time, and nobody hears of that.
func LosesCall(nth int) (bool, error) {
	if nth == 1 {
		return false, errLost
	}
	return true, nil
}

// Refuses provably does nothing the first times.
func Refuses(times int) Conduct {
	return func(nth int) (bool, error) {
		if nth <= times {
			return false, tool.Definite(errors.New("no"))
		}
		return true, nil
	}
}

// Tool counts what is asked of it.
func (w *World) Tool(name string, conduct Conduct) tool.Tool {
	return tool.Tool{Name: name, Timeout: w.timeout, Call: func(ctx context.Context, c tool.Call) (tool.Result, error) {
		return w.outside.call(ctx, name, c, conduct, false)
	}}
}

// Idempotent is a tool that takes effect once for each operation, however often it is called.
func (w *World) Idempotent(name string, conduct Conduct) tool.Tool {
	return tool.Tool{Name: name, Timeout: w.timeout, Idempotent: true, Call: func(ctx context.Context, c tool.Call) (tool.Result, error) {
		return w.outside.call(ctx, name, c, conduct, true)
	}}
}

// Reader is a tool that changes nothing.
func (w *World) Reader(name string) tool.Tool {
	return tool.Tool{Name: name, Timeout: w.timeout, Effect: tool.Read, Call: func(ctx context.Context, c tool.Call) (tool.Result, error) {
		return w.outside.call(ctx, name, c, func(int) (bool, error) { return false, nil }, false)
	}}
}

func (o *ground) call(ctx context.Context, name string, c tool.Call, conduct Conduct, once bool) (tool.Result, error) {
	arrived, err := leaves(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	defer arrived()
	o.mu.Lock()
	defer o.mu.Unlock()
	nth := 1
	for _, before := range o.calls {
		if before.operation == c.OperationID {
			nth++
		}
	}
	effect, err := conduct(nth)
	if once && o.effects[c.OperationID] > 0 {
		effect = false
	}
	o.calls = append(o.calls, seenCall{tool: name, operation: c.OperationID, run: c.RunID, attempt: c.Attempt, args: slices.Clone(c.Args), effect: effect, lost: err == errLost, late: late(ctx)})
	if effect {
		o.effects[c.OperationID]++
	}
	if err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Value: json.RawMessage(`{"ok":true}`)}, nil
}

// Happened is what an honest person, or the other side's own records, say of an operation.
func (w *World) Happened(operation string) bool {
	w.outside.mu.Lock()
	defer w.outside.mu.Unlock()
	return w.outside.effects[operation] > 0
}

// Looks is a Reconcile that looks at the other side's records.
func (w *World) Looks(_ context.Context, c tool.Call) (tool.Finding, error) {
	if w.Happened(c.OperationID) {
		return tool.Finding{State: tool.Happened, Result: tool.Result{Value: json.RawMessage(`{"ok":true}`)}}, nil
	}
	return tool.Finding{State: tool.NotHappened}, nil
}

// Step counts that a step's own code ran.
func (w *World) Step(run, name string) {
	o := w.outside
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.zombie {
		return
	}
	if o.steps[holdshort.RunID(run)] == nil {
		o.steps[holdshort.RunID(run)] = map[string]int{}
	}
	o.steps[holdshort.RunID(run)][name]++
}

// pin notes what a run that now rests has done: none of it may be done again.
func (o *ground) pin(run holdshort.RunID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.still {
		return
	}
	if o.pinned[run] == nil {
		o.pinned[run] = map[string]int{}
	}
	for step, n := range o.steps[run] {
		if _, ok := o.pinned[run][step]; !ok {
			o.pinned[run][step] = n
		}
	}
}

func (o *ground) seen() (calls []seenCall, effects map[string]int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.calls), maps.Clone(o.effects)
}

func (o *ground) setStill() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.still = true
}

func (o *ground) setZombie(on bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.zombie, o.thawed = on, true
}

func cannotTell(context.Context, tool.Call) (tool.Finding, error) {
	return tool.Finding{State: tool.Unclear}, nil
}

// Send receives a delivery. One with a key that came before is the same one again.
func (o *ground) Send(_ context.Context, tenant holdshort.TenantID, d holdshort.Delivery) error {
	if tenant != o.tenant {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var body engine.Outbound
	if err := json.Unmarshal(d.Body, &body); err != nil {
		return err
	}
	text := ""
	for _, p := range body.Parts {
		text += p.Text
	}
	if _, again := o.sent[d.Key]; !again {
		o.order = append(o.order, text)
	}
	o.sent[d.Key] = text
	return nil
}

// heard gives the texts that a user has read, each delivery once.
func (o *ground) heard() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.order)
}

// Act is a program outside that makes a call which it has claimed, unless it remembers that it did, or its time is over.
func (w *World) Act(c engine.Claimed) {
	a := c.Actions[0]
	w.outside.mu.Lock()
	defer w.outside.mu.Unlock()
	if w.outside.effects[a.OperationID] > 0 || !w.bed.Now().Before(c.LeaseUntil) {
		return
	}
	w.outside.calls = append(w.outside.calls, seenCall{tool: a.Tool, operation: a.OperationID, attempt: 1, args: slices.Clone(a.Args), effect: true})
	w.outside.effects[a.OperationID]++
}
