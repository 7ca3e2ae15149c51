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

// late reports whether the process that calls a model or a tool stands still. Its store calls wait until it may go on, but a call of a
// tool that was on its way when the process froze still arrives, as late as the scheduler pleases.
func late(ctx context.Context) bool {
	n, ok := ctx.Value(onNode{}).(*node)
	if !ok {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stands
}
