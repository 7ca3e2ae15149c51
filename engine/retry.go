package engine

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

// Retry lets a failed or held run go on: it replays, and the step that failed is tried once more. It is refused while the outcome of an
// operation is not known, and after the journal was pruned: it would do everything again.
func (e *Engine) Retry(ctx context.Context, tenant holdshort.TenantID, id holdshort.RunID, actor holdshort.Actor) (run holdshort.Run, err error) {
	slot := e.slot()
	defer slot.spare()
	err = e.update(ctx, tenant, func(c *change) error {
		if run, err = c.runFor(policy.RetryRun, actor, id); err != nil {
			return err
		}
		if err := c.nothingUnknown(run); err != nil {
			return err
		}
		return c.retry(&run, slot, actor.ID)
	}, store.RunRow(id))
	if holdshort.CodeOf(err) == holdshort.Forbidden {
		e.denied(ctx, tenant, actor, "hitl.run.retry", holdshort.Request{RunID: id, SessionID: run.SessionID, TraceID: run.TraceID})
	}
	return run, err
}

func (c *change) nothingUnknown(run holdshort.Run) error {
	ops, err := c.Operations(run.ID)
	if err != nil {
		return err
	}
	for _, op := range ops {
		if op.Status == holdshort.OperationUnknown && !op.Settled {
			return &holdshort.Error{Code: holdshort.WrongState, Op: "retry " + string(run.ID), Message: "nobody knows yet what became of " + clip(op.ID), Hint: "answer its reconcile request first"}
		}
	}
	return nil
}

func (c *change) retry(run *holdshort.Run, slot *slot, actor string) error {
	var steps []string
	event := "run.resumed"
	var next holdshort.Run
	var err error
	switch {
	case run.Held != nil:
		event = "run.released"
		next, err = run.Release(c.now)
	default:
		if run.Error != nil {
			steps = run.Error.FailedSteps()
		}
		next, err = run.Apply(holdshort.RunRetry, c.now)
	}
	if err != nil {
		return err
	}
	if len(steps) > 0 {
		raw, err := json.Marshal(retried{Steps: steps})
		if err != nil {
			return err
		}
		entry := holdshort.JournalEntry{RunID: run.ID, Key: "!retry!" + strconv.Itoa(next.Attempt), Attempt: next.Attempt, Kind: kindRetry, Outcome: raw, Started: c.now, Ended: c.now}
		if err := c.AddJournal(entry); err != nil {
			return err
		}
	}
	ours, err := c.claim(&next, c.room(slot))
	if err != nil {
		return err
	}
	if err := c.PutRun(&next); err != nil {
		return err
	}
	next.Revision++
	*run = next
	if ours {
		c.taken = append(c.taken, claimed{run: next, slot: slot})
	} else {
		c.ring(topicRuns)
	}
	c.ring(runTopic(run.ID))
	return c.event(event, run, nil, actor, "retry", nil)
}
