package engine

import (
	"context"

	"github.com/holdshort/holdshort"
)

// Observer is told what this node did, for metrics and traces. It must be quick and safe for use by several goroutines; nothing depends on
// what it does.
type Observer interface {
	// Fact is an event that this engine committed: each one, once. Those that the store wrote on its behalf are among them.
	Fact(e holdshort.Event)
	// Closed is a request that came to its end here: decided, expired or canceled.
	Closed(req holdshort.Request)
	// Slice begins when a run is executed and ends when it rests, or is lost to another node. Steps and tools get the context.
	Slice(ctx context.Context, run holdshort.Run) (context.Context, func(rested holdshort.Run, err error))
	// Call begins when a tool is called and ends when it came back.
	Call(ctx context.Context, run holdshort.RunID, tool, operation string) (context.Context, func(error))
}

// unobserved is the Observer of who wants none.
type unobserved struct{}

func (unobserved) Fact(holdshort.Event)     {}
func (unobserved) Closed(holdshort.Request) {}
func (unobserved) Slice(ctx context.Context, _ holdshort.Run) (context.Context, func(holdshort.Run, error)) {
	return ctx, func(holdshort.Run, error) {}
}
func (unobserved) Call(ctx context.Context, _ holdshort.RunID, _, _ string) (context.Context, func(error)) {
	return ctx, func(error) {}
}

// grafted has the life of one context and the values of another: a tool's call outlives its slice, and belongs to its trace.
type grafted struct {
	context.Context
	values context.Context
}

func (g grafted) Value(key any) any {
	if v := g.Context.Value(key); v != nil {
		return v
	}
	return g.values.Value(key)
}
