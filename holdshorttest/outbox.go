package holdshorttest

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/store"
)

// Channel is where sessions of a kit are, unless Options.Channels says otherwise.
const Channel = "test"

// outbox takes what the engine sends.
type outbox struct {
	mu     sync.Mutex
	sent   []holdshort.Delivery
	faults []error
}

// Send keeps a delivery, or fails as the test wants it.
func (o *outbox) Send(_ context.Context, _ holdshort.TenantID, d holdshort.Delivery) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.faults) > 0 {
		err := o.faults[0]
		o.faults = o.faults[1:]
		return err
	}
	d.Body = json.RawMessage(slices.Clone(d.Body))
	o.sent = append(o.sent, d)
	return nil
}

// Sent gives what was sent so far, in order.
func (k *Kit) Sent() []holdshort.Delivery {
	k.t.Helper()
	k.Settle()
	k.outbox.mu.Lock()
	defer k.outbox.mu.Unlock()
	return slices.Clone(k.outbox.sent)
}

// Said gives the texts among what was sent so far: what users read.
func (k *Kit) Said() (texts []string) {
	k.t.Helper()
	for _, d := range k.Sent() {
		var body engine.Outbound
		if json.Unmarshal(d.Body, &body) != nil {
			continue // a webhook's
		}
		for _, part := range body.Parts {
			if part.Type == "text" {
				texts = append(texts, part.Text)
			}
		}
	}
	return texts
}

// nextDelivery is when one that failed is tried again, zero if none is.
func (k *Kit) nextDelivery() (next time.Time) {
	k.t.Helper()
	for _, session := range k.sessions {
		k.view("load deliveries", func(tx store.ReadTx) error {
			waiting, err := tx.PendingDeliveries(session)
			for _, d := range waiting {
				if d.DueAt.After(k.Now()) && (next.IsZero() || d.DueAt.Before(next)) {
					next = d.DueAt
				}
			}
			return err
		})
	}
	return next
}

// FailSends makes the next deliveries fail, one for each error.
func (k *Kit) FailSends(errs ...error) {
	k.outbox.mu.Lock()
	defer k.outbox.mu.Unlock()
	k.outbox.faults = append(k.outbox.faults, errs...)
}
