package engine

import (
	"context"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

// Run also notes a run whose row is damaged: if the use case fails for it, the run is held.
func (c *change) Run(id holdshort.RunID) (holdshort.Run, error) {
	run, err := c.Tx.Run(id)
	if isDamaged(run, err) {
		c.damaged = &run
	}
	return run, err
}

// isDamaged reports whether a run was loaded as far as its damaged row allows.
func isDamaged(run holdshort.Run, err error) bool {
	return run.ID != "" && holdshort.CodeOf(err) == holdshort.Corrupt
}

// readRun loads a run for display. One whose row is damaged reads as held, with what is left of it.
func readRun(tx store.ReadTx, id holdshort.RunID) (holdshort.Run, error) {
	run, err := tx.Run(id)
	if isDamaged(run, err) {
		return withHold(run), nil
	}
	return run, err
}

// withHold fills in since when a damaged run counts as held, if no hold is stored yet.
func withHold(run holdshort.Run) holdshort.Run {
	if run.Held != nil && run.Held.Since.IsZero() {
		run.Held = &holdshort.Hold{Code: run.Held.Code, Since: run.UpdatedAt}
	}
	return run
}

// runFor loads a run that an actor wants to change. The actor's rights are checked first, also if the run is damaged: then the error is
// Corrupt, with the run as far as it can be read.
func (c *change) runFor(action policy.Action, actor holdshort.Actor, id holdshort.RunID) (holdshort.Run, error) {
	run, err := c.Run(id)
	if err != nil && !isDamaged(run, err) {
		return run, err
	}
	if refused := mayTouch(action, actor, run); refused != nil {
		return run, refused
	}
	return run, err
}

// holdDamaged stores the hold of a run whose row is damaged, so that operators see it.
func (e *Engine) holdDamaged(ctx context.Context, tenant holdshort.TenantID, run holdshort.Run) {
	if run.Held != nil && !run.Held.Since.IsZero() {
		return
	}
	err := e.update(unkeyed(context.WithoutCancel(ctx)), tenant, func(c *change) error {
		now, err := c.Tx.Run(run.ID)
		if err == nil && now.Held == nil && !now.Status.Ended() { // it can be read, and the digest of its journal does not fit
			return c.holdCorrupt(&now)
		}
		if !isDamaged(now, err) || now.Held == nil || !now.Held.Since.IsZero() {
			return nil // repaired, ended, or held meanwhile
		}
		return c.holdUnreadable(&now)
	}, store.RunRow(run.ID))
	if err != nil {
		e.log.Warn("a damaged run could not be held", "run_id", run.ID, "error", err)
	}
}

// holdCorrupt holds a run whose row can be read and whose journal, or digest of it, is damaged.
func (c *change) holdCorrupt(run *holdshort.Run) error {
	if err := c.hold(run, holdshort.Corrupt); err != nil {
		return err
	}
	c.logHeld(*run)
	return c.PutRun(run)
}

// holdUnreadable holds a run whose row is damaged.
func (c *change) holdUnreadable(run *holdshort.Run) error {
	if err := c.HoldRun(run.ID, holdshort.Hold{Code: holdshort.Corrupt, Since: c.now}); err != nil {
		return err
	}
	c.logHeld(*run)
	c.ring(runTopic(run.ID))
	if err := c.freeSession(*run); err != nil {
		return err
	}
	return c.event("run.held", run, nil, "system:worker", holdshort.Corrupt, nil)
}

func (c *change) logHeld(run holdshort.Run) {
	c.logs = append(c.logs, func() {
		c.e.log.Error("a run is held: its rows are damaged", "run_id", run.ID, "flow", run.Flow, "code", holdshort.Corrupt)
	})
}
