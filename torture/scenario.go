package torture

import (
	"time"

	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

// Scenario is a story with people, flows and tools that always comes to the same end.
type Scenario struct {
	Name  string
	Flows func(w *World) []flow.Flow
	Tools func(w *World) []tool.Tool
	// Agents, with their tools. While a run waits for the approval of a call it does nothing else: the models and tools outside would see it.
	Agents func(w *World) []*agent.Agent
	// Policy. Default: a reviewer for every call.
	Policy policy.Policy
	// Drive does what people and programs outside do. It is called again from the top after a crash, so everything in it makes sure of
	// something that may be so already.
	Drive func(h *Hand)
	// Claimers: calls are made by programs outside, which die by themselves.
	Claimers bool
	// Before is what happened before the first engine of the pass, past the witness; nil: nothing.
	Before func(w *World) error
	// Only names the one store that the scenario is for. Default: all.
	Only string
	// Nodes: several processes share the database, on SQLite too: a lease has to end before another takes over.
	Nodes bool
	// Crowded: so many act at the same moment that the number of calls depends on the machine: only the first half of them is sure to be met.
	Crowded bool
	// Check looks at the end: what must be so besides the promises.
	Check func(w *World, f *Facts)
}

// Times of the engines under torture, by the clock that the torture moves.
const (
	toolTimeout = 5 * time.Second
	// A process that stands still must see by its own clock that the time of a call is over: the torture really waits for that.
	shortTimeout = 300 * time.Millisecond
	leaseTime    = 10 * time.Second
	stride       = 8 * time.Second // how far the clock is moved at a time when nothing happens any more
)
