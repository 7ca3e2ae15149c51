package engine

import (
	"context"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

// RequestQuery selects requests.
type RequestQuery = store.RequestQuery

// RunQuery selects runs.
type RunQuery = store.RunQuery

// view reads something over one snapshot.
func view[T any](ctx context.Context, e *Engine, tenant holdshort.TenantID, read func(store.ReadTx) (T, error)) (v T, err error) {
	err = e.store.View(ctx, tenant, func(tx store.ReadTx) error {
		v, err = read(tx)
		return err
	})
	return v, err
}

// RunByID gives a run as it stands.
func (e *Engine) RunByID(ctx context.Context, tenant holdshort.TenantID, id holdshort.RunID) (holdshort.Run, error) {
	return view(ctx, e, tenant, func(tx store.ReadTx) (holdshort.Run, error) { return readRun(tx, id) })
}

// Runs lists runs, newest first.
func (e *Engine) Runs(ctx context.Context, tenant holdshort.TenantID, q RunQuery) (store.Page[holdshort.Run], error) {
	return view(ctx, e, tenant, func(tx store.ReadTx) (store.Page[holdshort.Run], error) {
		page, err := tx.Runs(q)
		for i := range page.Items {
			page.Items[i] = withHold(page.Items[i])
		}
		return page, err
	})
}

// Journal gives what a run recorded.
func (e *Engine) Journal(ctx context.Context, tenant holdshort.TenantID, id holdshort.RunID) ([]holdshort.JournalEntry, error) {
	return view(ctx, e, tenant, func(tx store.ReadTx) ([]holdshort.JournalEntry, error) { return tx.Journal(id) })
}

// Operations gives what a run did to the world.
func (e *Engine) Operations(ctx context.Context, tenant holdshort.TenantID, id holdshort.RunID) ([]holdshort.Operation, error) {
	return view(ctx, e, tenant, func(tx store.ReadTx) ([]holdshort.Operation, error) { return tx.Operations(id) })
}

// RequestByID gives a request as anybody must see it now: past its time it reads as expired, swept or not.
func (e *Engine) RequestByID(ctx context.Context, tenant holdshort.TenantID, id holdshort.RequestID) (holdshort.Request, error) {
	return settled(ctx, e, tenant, id, func(tx store.ReadTx) (holdshort.Request, bool, error) {
		req, err := tx.Request(id)
		return readAt(req, tx.Now()), overdue(req, tx.Now()), err
	})
}

// settled reads something of a request. One whose time has come is expired first: a decision that began in time may be committed this very
// moment, and nobody may be told "expired" before one of the two has won.
func settled[T any](ctx context.Context, e *Engine, tenant holdshort.TenantID, id holdshort.RequestID, read func(store.ReadTx) (T, bool, error)) (v T, err error) {
	var late bool
	look := func(tx store.ReadTx) (T, error) {
		v, late, err = read(tx)
		return v, err
	}
	if v, err = view(ctx, e, tenant, look); err != nil || !late {
		return v, err
	}
	if _, err := e.Expire(context.WithoutCancel(ctx), tenant, id); err != nil && ctx.Err() != nil {
		return v, ctx.Err()
	}
	return view(ctx, e, tenant, look) // whoever won; if nothing can be written, nobody decides either
}

// overdue reports whether a request stands open past its time.
func overdue(req holdshort.Request, now time.Time) bool {
	return req.Status == holdshort.RequestOpen && readAt(req, now).Status != holdshort.RequestOpen
}

// readAt gives the request as it reads at now. What the clock approves is not known before it did.
func readAt(req holdshort.Request, now time.Time) holdshort.Request {
	if req.OnTimeout != holdshort.TimeoutApprove {
		req.Status = req.StatusAt(now)
	}
	return req
}

// Decision gives the decision that resolved a request.
func (e *Engine) Decision(ctx context.Context, tenant holdshort.TenantID, id holdshort.RequestID) (holdshort.Decision, error) {
	return view(ctx, e, tenant, func(tx store.ReadTx) (holdshort.Decision, error) { return tx.Decision(id) })
}

// Votes gives the approvals that a quorum has gathered.
func (e *Engine) Votes(ctx context.Context, tenant holdshort.TenantID, id holdshort.RequestID) ([]holdshort.Vote, error) {
	return view(ctx, e, tenant, func(tx store.ReadTx) ([]holdshort.Vote, error) { return tx.Votes(id) })
}

// Requests lists requests: the inbox. One that is past its time is not among the open.
func (e *Engine) Requests(ctx context.Context, tenant holdshort.TenantID, q RequestQuery) (store.Page[holdshort.Request], error) {
	return view(ctx, e, tenant, func(tx store.ReadTx) (store.Page[holdshort.Request], error) {
		page, err := tx.Requests(q)
		for i := range page.Items {
			page.Items[i] = readAt(page.Items[i], tx.Now())
		}
		if q.Status != "" {
			page.Items = slices.DeleteFunc(page.Items, func(r holdshort.Request) bool { return r.Status != q.Status })
		}
		return page, err
	})
}

// RequestView is a request with everything that hangs on it.
type RequestView struct {
	Request    holdshort.Request     `json:"request"`
	Decision   *holdshort.Decision   `json:"decision,omitempty"`
	Votes      []holdshort.Vote      `json:"votes,omitempty"`
	Operations []holdshort.Operation `json:"operations,omitempty"` // of calls that were claimed
	Next       holdshort.RequestID   `json:"next,omitempty"`       // what is asked in its place: after an edit that needs more people, or an escalation
}

// RequestFor gives a request to somebody who may see it; to anybody else there is no such request.
func (e *Engine) RequestFor(ctx context.Context, tenant holdshort.TenantID, id holdshort.RequestID, actor holdshort.Actor) (RequestView, error) {
	return settled(ctx, e, tenant, id, func(tx store.ReadTx) (v RequestView, late bool, err error) {
		req, err := tx.Request(id)
		if err != nil {
			return v, false, err
		}
		var run *holdshort.Run
		if req.RunID != "" {
			r, err := readRun(tx, req.RunID)
			if err != nil {
				return v, false, err
			}
			run = &r
		}
		if !e.Visible(actor, &req, run) {
			return v, false, mayDo(policy.View, actor, req, run)
		}
		v.Request, late = readAt(req, tx.Now()), overdue(req, tx.Now())
		if d, err := tx.Decision(id); err == nil {
			v.Decision = &d
		} else if holdshort.CodeOf(err) != holdshort.NotFound {
			return v, false, err
		}
		if v.Votes, err = tx.Votes(id); err != nil {
			return v, late, err
		}
		if req.RunID != "" {
			v.Next, err = inPlaceOf(tx, req)
			return v, late, err
		}
		if v.Next, err = successor(tx, id); err != nil {
			return v, false, err
		}
		for i := range req.Actions {
			op, err := tx.Operation(gateOperation(id, i))
			if err == nil {
				v.Operations = append(v.Operations, op)
			} else if holdshort.CodeOf(err) != holdshort.NotFound {
				return v, false, err
			}
		}
		return v, late, nil
	})
}

// RunFor gives a run to somebody who may see it; to anybody else there is no such run.
func (e *Engine) RunFor(ctx context.Context, tenant holdshort.TenantID, id holdshort.RunID, actor holdshort.Actor) (holdshort.Run, error) {
	run, err := e.RunByID(ctx, tenant, id)
	if err == nil && !e.Visible(actor, nil, &run) {
		return holdshort.Run{}, mayTouch(policy.View, actor, run)
	}
	return run, err
}

// Visible reports whether somebody may look at a request, or at a run when there is no request.
func (e *Engine) Visible(actor holdshort.Actor, req *holdshort.Request, run *holdshort.Run) bool {
	var r policy.Resource
	switch {
	case req != nil:
		r = resource(*req, run)
	case run != nil:
		r = policy.Resource{Owner: run.User, Requester: holdshort.Requester{User: run.User}}
	}
	ok, _ := policy.Can(policy.View, actor, r)
	return ok
}

// RequestsFor lists the requests that somebody may see.
func (e *Engine) RequestsFor(ctx context.Context, tenant holdshort.TenantID, q RequestQuery, actor holdshort.Actor) (store.Page[holdshort.Request], error) {
	return visible(q.Limit, q.Cursor, func(cursor string, limit int) (store.Page[holdshort.Request], error) {
		q.Cursor, q.Limit = cursor, limit
		return e.Requests(ctx, tenant, q)
	}, func(r holdshort.Request) bool { return e.Visible(actor, &r, nil) })
}

// RunsFor lists the runs that somebody may see.
func (e *Engine) RunsFor(ctx context.Context, tenant holdshort.TenantID, q RunQuery, actor holdshort.Actor) (store.Page[holdshort.Run], error) {
	return visible(q.Limit, q.Cursor, func(cursor string, limit int) (store.Page[holdshort.Run], error) {
		q.Cursor, q.Limit = cursor, limit
		return e.Runs(ctx, tenant, q)
	}, func(r holdshort.Run) bool { return e.Visible(actor, nil, &r) })
}

// mostLooks is how many pages are read for one that somebody may see. After that the page is short, and its cursor goes on.
const mostLooks = 10

func visible[T any](limit int, cursor string, next func(cursor string, limit int) (store.Page[T], error), may func(T) bool) (out store.Page[T], err error) {
	if limit <= 0 || limit > store.MaxPage {
		limit = store.MaxPage
	}
	for range mostLooks {
		page, err := next(cursor, limit-len(out.Items))
		if err != nil {
			return out, err
		}
		for _, item := range page.Items {
			if may(item) {
				out.Items = append(out.Items, item)
			}
		}
		out.Next, cursor = page.Next, page.Next
		if page.Next == "" || len(out.Items) >= limit {
			break
		}
	}
	return out, nil
}
