package engine

import (
	"context"
	"slices"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

const sessionDeleted = "session_deleted"

// Deletion is how far the deletion of a session came.
type Deletion struct {
	// Erased: its messages, journals and the texts of its requests are gone. Otherwise a call is under way, or nobody knows what became of one:
	// everything is canceled and nothing new begins, but what a person needs to settle it stands. Delete it again when that is settled.
	Erased bool              `json:"erased"`
	Runs   []holdshort.RunID `json:"runs,omitempty"` // that were canceled
}

// DeleteSession cancels a session's open requests and runs, and erases what was said. Events and the ledger stay: they hold no text.
func (e *Engine) DeleteSession(ctx context.Context, tenant holdshort.TenantID, id holdshort.SessionID, actor holdshort.Actor) (done Deletion, err error) {
	erase := true
	for {
		err = e.update(ctx, tenant, func(c *change) error {
			done, err = c.deleteSession(id, actor, erase)
			return err
		}, store.SessionRow(id))
		if !erase || holdshort.CodeOf(err) != holdshort.WrongState {
			break
		}
		erase = false // something of it is under way: cancel what can be
	}
	if holdshort.CodeOf(err) == holdshort.Forbidden {
		e.denied(ctx, tenant, actor, "hitl.session.delete", holdshort.Request{SessionID: id})
	}
	if err != nil {
		return Deletion{}, err
	}
	for _, run := range done.Runs {
		e.stopSlice(tenant, run)
	}
	return done, nil
}

func (c *change) deleteSession(id holdshort.SessionID, actor holdshort.Actor, erase bool) (done Deletion, err error) {
	s, err := c.Session(id)
	if err != nil {
		return done, err
	}
	if erased(s) {
		return Deletion{Erased: true}, nil
	}
	if err := allowed(policy.CancelRun, actor, policy.Resource{Owner: s.User}, "session", string(id)); err != nil {
		return done, err
	}
	t, err := c.chat(id)
	if err != nil {
		return done, err
	}
	t.gone = true
	runs, err := c.cancelSession(id, actor.ID)
	if err != nil {
		return done, err
	}
	done.Runs, done.Erased = runs, erase
	if erase {
		return done, c.EraseSession(id, clip(actor.ID))
	}
	if err := c.dropAll(id); err != nil {
		return done, err
	}
	s.Prompt, s.ActiveRun, s.UpdatedAt = "", "", c.now
	if s.EndedAt.IsZero() {
		s.EndedAt = c.now
	}
	return done, c.PutSession(s)
}

// dropAll drops what was not sent yet.
func (c *change) dropAll(id holdshort.SessionID) error {
	waiting, err := c.PendingDeliveries(id)
	if err != nil {
		return err
	}
	for _, d := range waiting {
		if d.Status == holdshort.DeliverySending && c.now.Before(d.Lease.Until) {
			continue
		}
		if err := c.dropDelivery(d, sessionDeleted); err != nil {
			return err
		}
	}
	return nil
}

// cancelSession closes what a session asks, and ends its runs.
func (c *change) cancelSession(id holdshort.SessionID, actor string) ([]holdshort.RunID, error) {
	var runs []holdshort.Run
	for _, status := range []holdshort.RunStatus{holdshort.RunQueued, holdshort.RunRunning, holdshort.RunWaiting} {
		q := store.RunQuery{Session: id, Status: status}
		for {
			page, err := c.Runs(q)
			if err != nil {
				return nil, err
			}
			runs = append(runs, page.Items...)
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
	}
	var open []holdshort.Request
	err := eachRequest(c, store.RequestQuery{Session: id, Status: holdshort.RequestOpen, Order: store.ByNewest}, func(r holdshort.Request) bool {
		if r.Kind != holdshort.Reconcile { // what became of a call is to be known even then
			open = append(open, r)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	for _, req := range open {
		var run *holdshort.Run
		if i := slices.IndexFunc(runs, func(r holdshort.Run) bool { return r.ID == req.RunID }); i >= 0 {
			run = &runs[i]
		}
		next, err := req.Cancel(sessionDeleted, c.now)
		event, code := "hitl.request.canceled", holdshort.Code(sessionDeleted)
		if holdshort.CodeOf(err) == holdshort.Expired {
			next, err = req.Expire(c.now)
			event, code = "hitl.request.expired", "HITL_EXPIRED"
		}
		if err != nil {
			return nil, err
		}
		if err := c.shut(run, req, next, event, actor, code, nil); err != nil {
			return nil, err
		}
	}
	var ids []holdshort.RunID
	for i := range runs {
		if err := c.cancelRun(&runs[i], sessionDeleted, actor); err != nil {
			return nil, err
		}
		ids = append(ids, runs[i].ID)
	}
	return ids, nil
}
