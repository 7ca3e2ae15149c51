package engine

import (
	"context"
	"time"

	"github.com/holdshort/holdshort"
)

// Sender carries deliveries of one channel out.
type Sender interface {
	// Send hands a delivery to the channel. Its key is the same for every attempt.
	Send(ctx context.Context, tenant holdshort.TenantID, d holdshort.Delivery) error
}

func (e *Engine) firePark(ctx context.Context, tenant holdshort.TenantID, t holdshort.Timer) error {
	return nil
}

func (e *Engine) tickOutbox(ctx context.Context) (int, error) { return 0, nil }

func (c *change) promptDelivered(req holdshort.Request) (bool, error) { return false, nil }

func (e *Engine) tickInbound(ctx context.Context) (int, error) { return 0, nil }

const topicInbound = "inbound"

func (e *Engine) inboundLoop(ctx context.Context) (time.Duration, error) { return time.Second, nil }
