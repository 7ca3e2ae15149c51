package engine

import (
	"context"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// Expire closes a request whose time has come. The sweeper and whoever decides too late make the same transition: one wins.
func (e *Engine) Expire(ctx context.Context, tenant holdshort.TenantID, id holdshort.RequestID) (req holdshort.Request, err error) {
	at, _ := e.places.get(id) // what is not known is not named: compare-and-set finds out who else wrote it
	slot := e.slot()
	defer slot.spare()
	err = e.update(unkeyed(ctx), tenant, func(c *change) error { // whoever finds it so came to do something else
		if req, err = c.Request(id); err != nil {
			return err
		}
		run, err := c.runOf(req)
		if err != nil {
			return err
		}
		req, err = c.expire(req, run, slot)
		return err
	}, at.rows(id)...)
	return req, err
}

var timedOutEvents = map[holdshort.Kind]string{holdshort.Confirmation: "hitl.confirm.timed_out", holdshort.Escalation: "hitl.escalation.timed_out"}

func (c *change) expire(req holdshort.Request, run *holdshort.Run, slot *slot) (holdshort.Request, error) {
	if req.OnTimeout == holdshort.TimeoutApprove && req.StatusAt(c.now) == holdshort.RequestExpired {
		if approved, done, err := c.approveOnTimeout(req, run, slot); done || err != nil {
			return approved, err
		}
	}
	closed, err := req.Expire(c.now)
	if err != nil {
		return req, err
	}
	if err := c.shut(run, req, closed, "hitl.request.expired", "system:timeout", "HITL_EXPIRED", nil); err != nil {
		return closed, err
	}
	if name, ok := timedOutEvents[req.Kind]; ok {
		if err := c.event(name, run, &closed, "system:timeout", "", nil); err != nil {
			return closed, err
		}
	}
	c.logRequest("HITL_EXPIRED", req, "origin_step_id", req.OriginStepID)
	if run == nil {
		return closed, c.timeoutGate(closed)
	}
	if run.Status.Ended() {
		return closed, nil
	}
	return closed, c.timeout(closed, run, slot)
}

// timeout is what on_timeout says.
func (c *change) timeout(req holdshort.Request, run *holdshort.Run, slot *slot) error {
	switch req.OnTimeout {
	case holdshort.TimeoutClear:
		return c.cancelRun(run, "timeout", "system:timeout")
	case holdshort.TimeoutEscalate:
		return c.escalate(req, run)
	}
	fatal := req.OnTimeout != holdshort.TimeoutResume
	if fatal {
		req.OnTimeout = holdshort.TimeoutFail // approve, if it could not
	}
	entry, err := c.timeoutEntry(run, req)
	if err != nil {
		return err
	}
	if err := c.AddJournal(entry); err != nil {
		return err
	}
	if fatal && run.Status == holdshort.RunWaiting && run.Held == nil { // nothing of it runs: no need to wake it for that; one that is held fails when it is retried
		run.Error = entry.Error
		if err := c.end(run, holdshort.RunFail, "run.failed", "system:timeout", holdshort.Expired, nil); err != nil {
			return err
		}
		return c.PutRun(run)
	}
	return c.wake(run, slot, "system:timeout")
}

// escalate asks the people who look after the system in place of those who did not answer.
func (c *change) escalate(req holdshort.Request, run *holdshort.Run) error {
	draft := req
	draft.Kind, draft.Prompt, draft.Priority, draft.OnTimeout = holdshort.Escalation, false, holdshort.PriorityHigh, holdshort.TimeoutFail
	draft.Audience.Roles = []string{"operator"}
	draft.Audience.Owner, draft.Audience.Users = false, nil
	draft.ExpiresIn = escalationTime
	next, err := c.complete(run, unasked(draft))
	if err != nil {
		return err
	}
	run.Open++
	if err := c.open(run, &next); err != nil {
		return err
	}
	return c.PutRun(run)
}

// approveOnTimeout approves in the name of the clock: only where a policy says so in so many words, and only if the prompt surely arrived.
func (c *change) approveOnTimeout(req holdshort.Request, run *holdshort.Run, slot *slot) (holdshort.Request, bool, error) {
	if delivered, err := c.promptDelivered(req); err != nil || !delivered {
		return req, false, err
	}
	open := req
	open.ExpiresAt, open.QueueUntil = zero, zero // the clock decides at the very moment of expiry
	d := holdshort.Decision{RequestID: req.ID, Action: holdshort.Approve, Actor: holdshort.SystemActor("timeout"), At: c.now}
	closed, err := open.Decide(d, c.now)
	if err != nil {
		return req, false, err
	}
	closed.ExpiresAt, closed.QueueUntil = req.ExpiresAt, req.QueueUntil
	if d, err = c.normal(req, d); err != nil {
		return req, false, err
	}
	d.Fingerprint = req.Fingerprint
	var out Decided
	err = c.resolve(req, closed, d, run, nil, slot, &out)
	return closed, true, err
}

// fireSleep lets a run go on whose sleep, or wait, is over.
func (e *Engine) fireSleep(ctx context.Context, tenant holdshort.TenantID, t holdshort.Timer) error {
	slot := e.slot()
	defer slot.spare()
	id := holdshort.RunID(t.Subject)
	return e.update(ctx, tenant, func(c *change) error {
		run, err := c.Run(id)
		if err != nil && holdshort.CodeOf(err) != holdshort.NotFound {
			return err
		}
		if drop := c.DropTimer(t.Kind, t.Subject, t.Key); drop != nil || err != nil || run.Status == holdshort.RunCompleted || run.Status == holdshort.RunCanceled {
			return drop
		}
		if err := c.AddJournal(holdshort.JournalEntry{RunID: id, Key: firedKey(t.Key), Attempt: run.Attempt, Kind: kindTimer, Started: c.now, Ended: c.now}); err != nil {
			return err
		}
		if run.Status.Ended() { // failed: should somebody retry it, its sleep is over
			return c.PutRun(&run)
		}
		return c.wake(&run, slot, "system:timer")
	}, store.RunRow(id))
}
