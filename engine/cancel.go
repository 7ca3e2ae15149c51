package engine

import (
	"context"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

// Cancel ends a run that has not ended. Whoever executes it is fenced off; a call that is under way is not undone, and its outcome is still
// recorded.
func (e *Engine) Cancel(ctx context.Context, tenant holdshort.TenantID, id holdshort.RunID, actor holdshort.Actor, reason string) (run holdshort.Run, err error) {
	err = e.update(ctx, tenant, func(c *change) error {
		if run, err = c.runFor(policy.CancelRun, actor, id); err != nil && !isDamaged(run, err) {
			return err
		}
		return c.cancelRun(&run, holdshort.Canceled, actor.ID, reason)
	}, store.RunRow(id))
	if err == nil {
		e.stopSlice(tenant, id)
	} else if holdshort.CodeOf(err) == holdshort.Forbidden {
		e.denied(ctx, tenant, actor, "hitl.run.cancel", holdshort.Request{RunID: id, SessionID: run.SessionID, TraceID: run.TraceID})
	}
	return run, err
}

// cancelRun ends a run within a transaction and stores it. What a person wrote is no code: it is kept apart, where it can be erased.
func (c *change) cancelRun(run *holdshort.Run, code holdshort.Code, actor string, words ...string) error {
	var data any
	for _, text := range words {
		if text == "" {
			continue
		}
		digest, err := c.AddBody(run.SessionID, run.ID, []byte(clipLong(text)))
		if err != nil {
			return err
		}
		data = map[string]string{"reason": digest}
	}
	if err := c.end(run, holdshort.RunCancel, "run.canceled", actor, code, data); err != nil {
		return err
	}
	return c.PutRun(run)
}

// stopSlice tells a run that is executed here that it is over, without waiting for its next commit.
func (e *Engine) stopSlice(tenant holdshort.TenantID, id holdshort.RunID) {
	e.mu.Lock()
	s := e.running[runKey{tenant, id}]
	e.mu.Unlock()
	if s != nil {
		s.quit(errLeaseLost)
	}
}

func mayTouch(a policy.Action, actor holdshort.Actor, run holdshort.Run) error {
	r := policy.Resource{Owner: run.User, Requester: holdshort.Requester{User: run.User}}
	if ok, _ := policy.Can(a, actor, r); ok {
		return nil
	}
	if ok, _ := policy.Can(policy.View, actor, r); !ok {
		return &holdshort.Error{Code: holdshort.NotFound, Op: "load run " + string(run.ID), Message: "no such run", Hint: "check the id and the tenant"}
	}
	return &holdshort.Error{Code: holdshort.Forbidden, Op: string(a) + " " + string(run.ID), Message: clip(actor.ID) + " may not do that", Hint: "ask an operator"}
}
