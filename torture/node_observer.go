package torture

import (
	"context"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// A node observes its own engine, so that models and tools find in their context which process calls them.
var _ engine.Observer = (*node)(nil)

type onNode struct{}

func (n *node) Fact(holdshort.Event)     {}
func (n *node) Closed(holdshort.Request) {}

func (n *node) Slice(ctx context.Context, _ holdshort.Run) (context.Context, func(holdshort.Run, error)) {
	return context.WithValue(ctx, onNode{}, n), func(holdshort.Run, error) {}
}

func (n *node) Call(ctx context.Context, _ holdshort.RunID, _, _ string) (context.Context, func(error)) {
	return context.WithValue(ctx, onNode{}, n), func(error) {}
}

// nodeOf finds the process that calls a model or a tool, nil if none does.
func nodeOf(ctx context.Context) *node {
	n, _ := ctx.Value(onNode{}).(*node)
	return n
}

// late reports whether the process that calls stands still, or did.
func late(ctx context.Context) bool {
	n := nodeOf(ctx)
	return n != nil && n.isStill()
}

// leaves lets a call of a tool leave its process. From one that stands still nothing leaves. When the process goes on, and the time of the
// call is over, it sends nothing: like any client of a network it looks at its deadline first. Whoever takes over waits for calls that left.
func leaves(ctx context.Context) (arrived func(), err error) {
	n := nodeOf(ctx)
	if n == nil {
		return func() {}, nil
	}
	n.mu.Lock()
	if !n.stands {
		defer n.mu.Unlock()
		n.flights.Add(1)
		return n.flights.Done, nil
	}
	n.mu.Unlock()
	<-n.thaw
	return func() {}, ctx.Err()
}
