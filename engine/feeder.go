package engine

import (
	"context"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

const (
	feederLease = 10 * time.Second
	feedAtOnce  = 1000 // webhooks in one round
	feedEvents  = 100  // events of each
	feedEvery   = 25 * time.Millisecond
)

// fact is what a webhook is told of an event: all but its place in the hash chain.
type fact struct {
	holdshort.Event
	Prev any `json:"prev,omitempty"` // hides the event's
}

// tickFeeder hands events to the webhooks that have not seen them, on the one node that has the lease, and says how many webhooks went on.
func (e *Engine) tickFeeder(ctx context.Context) (n int, err error) {
	ctx = store.Patient(ctx)
	lagging, err := e.store.System().LaggingWebhooks(ctx, feedAtOnce)
	if err != nil || len(lagging) == 0 {
		return 0, err
	}
	if ok, err := e.feeds(ctx); err != nil || !ok {
		return 0, err
	}
	for _, ref := range lagging {
		moved, err := e.feed(ctx, ref)
		if err != nil {
			if ctx.Err() != nil {
				return n, ctx.Err()
			}
			e.log.Warn("hand events to a webhook", "tenant", ref.Tenant, "webhook_id", ref.ID, "error", err) // the others go on
			continue
		}
		if moved {
			n++
		}
	}
	return n, nil
}

// feeds takes the lease, or renews it when half of it is over. It saves work: that no event is handed over twice is the compare-and-set's part.
func (e *Engine) feeds(ctx context.Context) (bool, error) {
	if e.feeder.Owner != "" && time.Since(e.fedAt) < feederLease/2 {
		return true, nil
	}
	lease, err := e.store.System().Acquire(ctx, store.FeederLease, e.owner, feederLease)
	if err != nil {
		e.feeder = holdshort.Lease{}
		if holdshort.CodeOf(err) == holdshort.LeaseLost {
			err = nil
		}
		return false, err
	}
	e.feeder, e.fedAt = lease, time.Now()
	return true, nil
}

// feed puts one delivery for each event that a webhook wants into the outbox, in the same transaction as the cursor that says so.
func (e *Engine) feed(ctx context.Context, ref store.WebhookRef) (moved bool, err error) {
	err = e.update(ctx, ref.Tenant, func(c *change) error {
		moved = false
		w, err := c.Webhook(ref.ID)
		if holdshort.CodeOf(err) == holdshort.NotFound {
			return nil
		}
		if err != nil || w.Disabled != "" {
			return err
		}
		events, err := c.Events(store.EventQuery{After: w.Cursor, Types: w.Events, Limit: feedEvents})
		if err != nil || events.Last == w.Cursor {
			return err
		}
		if events.Gap {
			gap := holdshort.NewEventID(c.now)
			if _, err := c.notify(deliveryKey(w.ID, gap), string(w.ID), "", Notice{Type: "events.gap", Timestamp: c.now, Data: map[string]any{"after": w.Cursor}}); err != nil {
				return err
			}
		}
		for _, event := range events.Items {
			if event.Channel == WebhookChannel { // what became of webhooks would feed itself
				continue
			}
			if _, err := c.notify(deliveryKey(w.ID, event.ID), string(w.ID), "", Notice{Type: event.Type, Timestamp: event.At, Data: fact{Event: event}}); err != nil {
				return err
			}
		}
		w.Cursor, moved = events.Last, true
		return c.PutWebhook(w)
	}, store.WebhookRow(ref.ID))
	return moved, err
}

func (e *Engine) feederLoop(ctx context.Context) (time.Duration, error) {
	n, err := e.tickFeeder(ctx)
	if n > 0 {
		return 0, err
	}
	return time.Second, err
}

// leaveFeeder gives the lease back, so that another node, or the next process, need not wait for its end.
func (e *Engine) leaveFeeder() {
	if e.feeder.Owner == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := e.store.System().Release(ctx, store.FeederLease, e.feeder); err != nil {
		e.log.Warn("give the feeder's lease back", "error", err)
	}
	e.feeder = holdshort.Lease{}
}
