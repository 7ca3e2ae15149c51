package engine

import (
	"context"
	"errors"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

// settleDelivery stores what became of an attempt.
func (e *Engine) settleDelivery(l letter, fault error) error {
	return e.update(context.Background(), l.tenant, func(c *change) error {
		d, err := c.Delivery(l.ID)
		if err != nil {
			return err
		}
		if d.Status != holdshort.DeliverySending || d.Lease.Epoch != l.Lease.Epoch {
			return nil // somebody else has it, or it is over: theirs is the word
		}
		c.originOf(d.RunID) // its event names it: read before anything is written
		c.ring(topicOutbox) // for those behind it
		if fault == nil {
			return c.sent(d)
		}
		return c.unsent(d, l.parked, fault)
	}, store.DeliveryRow(l.ID))
}

func (c *change) sent(d holdshort.Delivery) error {
	next, err := c.deliver(d, holdshort.DeliveryConfirm)
	if err != nil {
		return err
	}
	next.LastError = ""
	if err := c.PutDelivery(next); err != nil {
		return err
	}
	return c.deliveryEvent("response:sent", next, "")
}

// unsent tries again later, gives up, or drops what nobody needs any more.
func (c *change) unsent(d holdshort.Delivery, parked bool, fault error) error {
	if d.RequestID != "" {
		req, err := c.Request(d.RequestID)
		if err == nil && req.StatusAt(c.now) != holdshort.RequestOpen {
			return c.dropDelivery(d, codeRequestClosed)
		}
		if err != nil && holdshort.CodeOf(err) != holdshort.NotFound {
			return err
		}
	}
	d = d.Note(holdshort.Attempt{At: c.now, Status: statusOf(fault), Error: clipTo(fault.Error(), 500)})
	input, code := holdshort.DeliveryRetry, holdshort.CodeOf(fault)
	again, more := nextAttempt(c.e.config.Senders[d.Channel], d, fault, c.now)
	switch {
	case !more:
		input = holdshort.DeliveryGiveUp
	case parked:
		input = holdshort.DeliveryPark
	}
	next, err := c.deliver(d, input)
	if err != nil {
		return err
	}
	next.DueAt = again
	if err := c.PutDelivery(next); err != nil {
		return err
	}
	if err := c.deliveryEvent("response:failed", next, code); err != nil || input != holdshort.DeliveryGiveUp {
		return err
	}
	c.logs = append(c.logs, func() {
		c.e.log.Error("a delivery is given up", "delivery_id", d.ID, "channel", d.Channel, "session_id", d.SessionID, "attempts", d.Attempt, "error", fault)
	})
	return c.deliveryEvent("delivery.dead", next, code)
}

// statusOf is what the receiver answered, where the fault knows.
func statusOf(fault error) int {
	var s interface{ Status() int }
	if errors.As(fault, &s) {
		return s.Status()
	}
	return 0
}

// firePark takes a delivery that has been at the head too long out of the way of those behind it. It is still tried.
func (e *Engine) firePark(ctx context.Context, tenant holdshort.TenantID, t holdshort.Timer) error {
	id := holdshort.DeliveryID(t.Subject)
	return e.update(ctx, tenant, func(c *change) error {
		d, err := c.Delivery(id)
		if err != nil {
			return err
		}
		if d.Status == holdshort.DeliverySending && c.now.Before(d.Lease.Until) { // let it have its answer first
			t.DueAt = d.Lease.Until
			return c.SetTimer(t)
		}
		if d.Status != holdshort.DeliveryQueued && d.Status != holdshort.DeliverySending {
			return c.DropTimer(t.Kind, t.Subject, t.Key)
		}
		next, err := c.deliver(d, holdshort.DeliveryPark)
		if err != nil {
			return err
		}
		if err := c.PutDelivery(next); err != nil {
			return err
		}
		c.ring(topicOutbox)
		return c.deliveryEvent("delivery.parked", next, "")
	}, store.DeliveryRow(id))
}

// Redeliver has a delivery that was sent, parked or given up sent once more, under the same key.
func (e *Engine) Redeliver(ctx context.Context, tenant holdshort.TenantID, id holdshort.DeliveryID, actor holdshort.Actor) (d holdshort.Delivery, err error) {
	err = e.update(ctx, tenant, func(c *change) error {
		if d, err = c.Delivery(id); err != nil {
			return err
		}
		owner, err := c.ownerOfSession(d.SessionID)
		if err != nil {
			return err
		}
		if err := allowed(policy.Redeliver, actor, policy.Resource{Owner: owner}, "delivery", string(id)); err != nil {
			return err
		}
		if d.RequestID != "" {
			req, err := c.Request(d.RequestID)
			if err != nil {
				return err
			}
			if req.StatusAt(c.now) != holdshort.RequestOpen {
				return &holdshort.Error{Code: holdshort.Closed, Op: "redeliver " + string(id), Message: "what it asks is closed", Hint: "nothing is left to send"}
			}
		}
		about := holdshort.Request{ID: d.RequestID, SessionID: d.SessionID, RunID: d.RunID}
		c.originOf(d.RunID) // its event names it: read before anything is written
		if d, err = c.deliver(d, holdshort.DeliveryRedeliver); err != nil {
			return err
		}
		if err := c.PutDelivery(d); err != nil {
			return err
		}
		c.ring(topicOutbox)
		return c.eventOver(d.Channel, "response:prepared", c.originOf(d.RunID), &about, actor.ID, "redeliver", map[string]string{"delivery": string(id)})
	}, store.DeliveryRow(id))
	if holdshort.CodeOf(err) == holdshort.Forbidden {
		e.denied(ctx, tenant, actor, "hitl.delivery.redeliver", holdshort.Request{RunID: d.RunID, SessionID: d.SessionID})
	}
	return d, err
}

// ownerOfSession is the user of a session, nobody's if there is none.
func (c *change) ownerOfSession(id holdshort.SessionID) (string, error) {
	if id == "" {
		return "", nil
	}
	s, err := c.Session(id)
	if holdshort.CodeOf(err) == holdshort.NotFound {
		return "", nil
	}
	return s.User, err
}

// allowed hides from those who may not look, and refuses those who may look and no more.
func allowed(a policy.Action, actor holdshort.Actor, r policy.Resource, noun, id string) error {
	if ok, _ := policy.Can(a, actor, r); ok {
		return nil
	}
	if ok, _ := policy.Can(policy.View, actor, r); !ok {
		return &holdshort.Error{Code: holdshort.NotFound, Op: "load " + noun + " " + clip(id), Message: "no such " + noun, Hint: "check the id and the tenant"}
	}
	return &holdshort.Error{Code: holdshort.Forbidden, Op: string(a) + " " + clip(id), Message: clip(actor.ID) + " may not do that", Hint: "ask an operator"}
}

// OutboxOf gives the deliveries of a session that are still to be sent, in their order.
func (e *Engine) OutboxOf(ctx context.Context, tenant holdshort.TenantID, session holdshort.SessionID) (list []holdshort.Delivery, err error) {
	err = e.store.View(ctx, tenant, func(tx store.ReadTx) error {
		list, err = tx.PendingDeliveries(session)
		return err
	})
	return list, err
}

// DeliveryByID gives a delivery as it stands.
func (e *Engine) DeliveryByID(ctx context.Context, tenant holdshort.TenantID, id holdshort.DeliveryID) (d holdshort.Delivery, err error) {
	err = e.store.View(ctx, tenant, func(tx store.ReadTx) error {
		d, err = tx.Delivery(id)
		return err
	})
	return d, err
}
