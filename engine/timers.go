package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

const (
	escalationTime = 24 * time.Hour
	timersAtOnce   = 8
	// stale is how long after its time a timer whose subject cannot be read is looked at again.
	stale = time.Minute
)

// alarm sets a timer, and tells this node's timers loop if it would sleep too long. Other nodes look by themselves.
func (c *change) alarm(t holdshort.Timer) error {
	if t.DueAt.UnixMicro() < c.e.nextDue.Load() {
		c.ring(topicTimers)
	}
	return c.SetTimer(t)
}

// tickTimers fires what is due, each in its own transaction, and says when the next one is.
func (e *Engine) tickTimers(ctx context.Context) (fired int, next time.Time, err error) {
	due, next, err := e.store.System().DueTimers(ctx, timersAtOnce)
	if err != nil {
		return 0, next, err
	}
	ctx = store.Patient(ctx) // a hundred thousand of them must not stand before the one that a person decides
	faults := make([]error, len(due))
	var wg sync.WaitGroup
	for i, d := range due {
		wg.Go(func() { faults[i] = e.fire(ctx, d) })
	}
	wg.Wait()
	return len(due), next, errors.Join(faults...)
}

// fire does what a timer is for. One whose subject is gone or closed is dropped; one whose subject cannot be read is put off.
func (e *Engine) fire(ctx context.Context, d store.Due) error {
	var err error
	t := d.Timer
	switch t.Kind {
	case holdshort.TimerExpiry, holdshort.TimerQueue:
		err = e.fireExpiry(ctx, d.Tenant, t)
	case holdshort.TimerSleep:
		err = e.fireSleep(ctx, d.Tenant, t)
	case holdshort.TimerOperation:
		err = e.fireOperation(ctx, d.Tenant, t)
	case holdshort.TimerPark:
		err = e.firePark(ctx, d.Tenant, t)
	default: // of a newer release: another node knows it
		err = &holdshort.Error{Code: holdshort.Internal, Message: "unknown timer " + clip(string(t.Kind))}
	}
	switch holdshort.CodeOf(err) {
	case "":
		return nil
	case holdshort.NotFound, holdshort.Closed, holdshort.Duplicate: // another node was faster
		return e.update(ctx, d.Tenant, func(c *change) error { return c.DropTimer(t.Kind, t.Subject, t.Key) })
	case holdshort.Conflict, holdshort.LeaseLost, holdshort.StoreUnavailable, holdshort.StoreFull, holdshort.StoreLocked, holdshort.StoreClosed, holdshort.StoreReadOnly,
		holdshort.OutcomeUnknown, holdshort.Quarantined:
		return err
	default: // it must not stand before the others for ever
		if ctx.Err() != nil {
			return err
		}
		e.log.Error("a timer cannot be carried out", "kind", t.Kind, "subject", t.Subject, "error", err)
		return e.update(ctx, d.Tenant, func(c *change) error {
			t.DueAt = c.now.Add(stale)
			return c.SetTimer(t)
		})
	}
}

// fireExpiry expires a request whose time has come, and puts the timer right if its time is another.
func (e *Engine) fireExpiry(ctx context.Context, tenant holdshort.TenantID, t holdshort.Timer) error {
	id := holdshort.RequestID(t.Subject)
	_, refusal := e.Expire(ctx, tenant, id)
	if holdshort.CodeOf(refusal) != holdshort.WrongState {
		return refusal
	}
	return e.update(ctx, tenant, func(c *change) error {
		req, err := c.Request(id)
		if err != nil {
			return err
		}
		if err := c.DropTimer(t.Kind, t.Subject, t.Key); err != nil || req.Status != holdshort.RequestOpen {
			return err
		}
		if !req.Due().IsZero() && !req.Due().After(c.now) { // its time has come, and something else is in the way
			return refusal
		}
		return c.due(req)
	}, store.RequestRow(id))
}

// fireOperation looks at an operation whose deadline has passed. Its run settles it when it goes on; if the run is over, a person is asked.
func (e *Engine) fireOperation(ctx context.Context, tenant holdshort.TenantID, t holdshort.Timer) error {
	if t.Key == "" {
		return e.fireClaim(ctx, tenant, t)
	}
	slot := e.slot()
	defer slot.spare()
	id := holdshort.RunID(t.Key)
	return e.update(ctx, tenant, func(c *change) error {
		op, err := c.Operation(t.Subject)
		if err != nil {
			return err
		}
		run, err := c.Run(id)
		if err != nil {
			return err
		}
		if op.Status != holdshort.OperationStarted {
			if err := c.DropTimer(t.Kind, t.Subject, t.Key); err != nil || run.Status != holdshort.RunWaiting {
				return err
			}
			return c.wake(&run, slot, "system:timer") // it may wait for what became of the operation
		}
		if c.now.Before(op.Deadline) {
			return c.SetTimer(holdshort.Timer{Kind: t.Kind, Subject: t.Subject, Key: t.Key, DueAt: op.Deadline})
		}
		if run.Status.Ended() {
			if err := c.lost(&run, op, stepOf(op)); err != nil {
				return err
			}
			return c.PutRun(&run)
		}
		// Whoever executes the run has the answer, or will find that there is none; should it die, the timer is there again.
		if err := c.SetTimer(holdshort.Timer{Kind: t.Kind, Subject: t.Subject, Key: t.Key, DueAt: c.now.Add(e.config.Lease)}); err != nil {
			return err
		}
		return c.wake(&run, slot, "system:timer")
	}, store.RunRow(id), store.OperationRow(t.Subject))
}
