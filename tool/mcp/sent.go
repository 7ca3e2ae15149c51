package mcp

import (
	"context"
	"sync/atomic"
)

// sent notes whether the message of a call may have reached the server. What the SDK says about that is not proof.
type sent struct{ maybe atomic.Bool }

type sentInContext struct{}

// withSent gives a context whose one message is watched.
func withSent(ctx context.Context) (context.Context, *sent) {
	s := &sent{}
	return context.WithValue(ctx, sentInContext{}, s), s
}

func sentOf(ctx context.Context) *sent {
	s, _ := ctx.Value(sentInContext{}).(*sent)
	return s
}

func (s *sent) begin() {
	if s != nil {
		s.maybe.Store(true)
	}
}

func (s *sent) undo() {
	if s != nil {
		s.maybe.Store(false)
	}
}
