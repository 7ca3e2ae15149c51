package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// outbox counts the sends under way on this node, all and by channel.
type outbox struct {
	flying atomic.Int64
	mu     sync.Mutex
	by     map[string]int
}

// fly counts a send that begins (1) or ends (-1).
func (o *outbox) fly(channel string, n int) {
	o.flying.Add(int64(n))
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.by == nil {
		o.by = map[string]int{}
	}
	o.by[channel] += n
}

// open leaves out channels that have as much under way as one may: their receivers hang, and the others need not wait for that.
func (o *outbox) open(channels []string) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.DeleteFunc(channels, func(c string) bool { return o.by[c] >= mostOfChannel })
}

const (
	sendsAtOnce = 64
	// mostFlying bounds what hanging channels can pile up; past it the rest waits.
	mostFlying    = 1024
	mostOfChannel = mostFlying / 2
	// leaseMargin is how much longer than a send its lease is: nobody else sends what may still be under way.
	leaseMargin = 30 * time.Second
	// silenceLook is how long a question waits until it is looked at again while a person speaks in its session.
	silenceLook = 30 * time.Second
)

// letter is a delivery that this node claimed.
type letter struct {
	tenant holdshort.TenantID
	holdshort.Delivery
	parked bool // it was: whatever comes of this attempt, it does not go back to the head
	send   bool // else it was settled in the claim
}

// tickOutbox sends what is due and waits until that is settled.
func (e *Engine) tickOutbox(ctx context.Context) (int, error) {
	n, wait, err := e.dispatch(ctx)
	wait()
	return n, err
}

// dispatch claims what is due and sends it, each in a goroutine of its own, so that one channel, session or tenant never waits for another.
func (e *Engine) dispatch(ctx context.Context) (n int, wait func(), err error) {
	var sends sync.WaitGroup
	if e.draining.Load() || len(e.config.Senders) == 0 {
		return 0, sends.Wait, nil
	}
	room := min(sendsAtOnce, mostFlying-int(e.outbox.flying.Load()))
	if room <= 0 {
		return 0, sends.Wait, nil
	}
	letters, err := e.claimDeliveries(ctx, room)
	for _, l := range letters {
		if !l.send {
			continue
		}
		sends.Add(1)
		e.outbox.fly(l.Channel, 1)
		e.wg.Go(func() {
			defer sends.Done()
			defer e.outbox.fly(l.Channel, -1)
			e.carry(l)
		})
	}
	return len(letters), sends.Wait, err
}

// claimDeliveries takes what is due for this node's channels in one transaction.
func (e *Engine) claimDeliveries(ctx context.Context, limit int) ([]letter, error) {
	claim := store.DeliveryClaim{Channels: e.outbox.open(slices.Sorted(maps.Keys(e.config.Senders))), Limit: limit}
	var handed []letter
	var changes []*change
	n, err := e.store.System().ClaimDeliveries(ctx, claim, func(tx store.Tx, d holdshort.Delivery) error {
		c := &change{Tx: tx, e: e, now: tx.Now()}
		e.clock.saw(c.now)
		l, err := c.take(d)
		handed, changes = append(handed, l), append(changes, c)
		return err
	})
	if err != nil || n == 0 {
		return nil, err
	}
	// The function may have run for nothing before: what counts are the last n.
	handed, changes = handed[len(handed)-n:], changes[len(changes)-n:]
	e.report(changes...)
	var topics []string
	for _, c := range changes {
		topics = append(topics, c.topics...)
	}
	e.wake(topics)
	return handed, nil
}

// take claims one delivery, unless it is not to be sent any more, or not now.
func (c *change) take(d holdshort.Delivery) (letter, error) {
	l := letter{tenant: c.Tenant(), Delivery: d, parked: d.Status == holdshort.DeliveryParked}
	if d.RequestID != "" {
		req, err := c.Request(d.RequestID)
		if err != nil && holdshort.CodeOf(err) != holdshort.NotFound {
			return l, err
		}
		if err != nil || req.StatusAt(c.now) != holdshort.RequestOpen {
			return l, c.dropDelivery(d, codeRequestClosed)
		}
	}
	if d.RunID != "" && d.SessionID != "" {
		if silent, err := c.silenced(d); silent || err != nil {
			return l, err
		}
	}
	// From its first attempt on it is the head of its session. A node that died with it may have had it parked: then it is the head again.
	if d.Ordered && (d.Status == holdshort.DeliveryQueued && d.Attempt == 0 || d.Status == holdshort.DeliverySending) {
		if err := c.SetTimer(holdshort.Timer{Kind: holdshort.TimerPark, Subject: string(d.ID), DueAt: c.now.Add(parkAfter)}); err != nil {
			return l, err
		}
	}
	next, err := c.deliver(d, holdshort.DeliveryClaim)
	if err != nil {
		return l, err
	}
	next.Lease.Owner, next.Lease.Until = c.e.owner, c.now.Add(timeoutOf(c.e.config.Senders[d.Channel])+leaseMargin)
	if err := c.PutDelivery(next); err != nil {
		return l, err
	}
	next.Revision++
	l.Delivery, l.send = next, true
	return l, nil
}

// silenced keeps what runs say from a session in which a person speaks: that is never sent. What they ask stays open, so it waits beside the
// order until the person hands the session back.
func (c *change) silenced(d holdshort.Delivery) (bool, error) {
	s, err := c.Session(d.SessionID)
	if holdshort.CodeOf(err) == holdshort.NotFound {
		return false, nil
	}
	if err != nil || s.Mode != holdshort.ModeTakeover {
		return false, err
	}
	if d.RequestID == "" {
		if err := c.unsay(d); err != nil {
			return true, err
		}
		return true, c.dropDelivery(d, codeTakeover)
	}
	if d.Status != holdshort.DeliveryParked {
		if d, err = c.deliver(d, holdshort.DeliveryPark); err != nil {
			return true, err
		}
		if err := c.deliveryEvent("delivery.parked", d, codeTakeover); err != nil {
			return true, err
		}
	}
	d.DueAt = c.now.Add(silenceLook)
	return true, c.PutDelivery(d)
}

// carry sends a letter and stores what came of it. If that cannot be stored the lease ends, and it is sent again under the same key.
func (e *Engine) carry(l letter) {
	fault := e.send(l)
	var err error
	for range 3 { // the store may be away for a moment
		if err = e.settleDelivery(l, fault); err == nil {
			return
		}
	}
	e.log.Warn("store what became of a delivery", "delivery_id", l.ID, "channel", l.Channel, "sent", fault == nil, "error", err)
}

// send calls the channel. One that neither answers nor ends with its context is left behind.
func (e *Engine) send(l letter) error {
	sender := e.config.Senders[l.Channel]
	patience := timeoutOf(sender)
	ctx, cancel := context.WithTimeout(e.hard, patience)
	answer := make(chan error, 1)
	e.wg.Go(func() {
		defer cancel()
		defer func() {
			if p := recover(); p != nil {
				answer <- fmt.Errorf("the sender panicked: %v", p)
			}
		}()
		answer <- sender.Send(ctx, l.tenant, l.Delivery)
	})
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
	}
	last := time.NewTimer(50 * time.Millisecond) // it may be about to say what became of it
	defer last.Stop()
	select {
	case err := <-answer:
		return err
	case <-last.C:
		return &holdshort.Error{Code: holdshort.TimedOut, Op: "send over " + l.Channel, Message: fmt.Sprintf("no answer within %v", patience)}
	}
}
