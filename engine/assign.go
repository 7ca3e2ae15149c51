package engine

import (
	"context"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// AssignInput says who should look at a request first.
type AssignInput struct {
	Request holdshort.RequestID
	Actor   holdshort.Actor
	To      string // the id of a person; empty: nobody in particular
}

// Assign routes an open request to somebody and tells them, by its event. It never restricts who may decide, nor lets anybody who may not.
func (e *Engine) Assign(ctx context.Context, tenant holdshort.TenantID, in AssignInput) (req holdshort.Request, err error) {
	if !isName(in.To, 0) {
		return req, &holdshort.Error{Code: holdshort.Invalid, Op: "assign " + string(in.Request), Field: "to", Message: "it is not the id of a person", Hint: "send the actor's id"}
	}
	place, err := e.place(ctx, tenant, in.Request)
	if err != nil {
		return req, err
	}
	err = e.update(ctx, tenant, func(c *change) error {
		if req, err = c.Request(in.Request); err != nil {
			return err
		}
		run, err := c.runOf(req)
		if err != nil {
			return err
		}
		if err := mayDo(policy.Assign, in.Actor, req, run); err != nil {
			return err
		}
		if err := stillOpen("assign", req, c.now); err != nil {
			return err
		}
		if req.Assignee == in.To {
			return nil
		}
		req.Assignee = in.To
		if err := c.PutRequest(req); err != nil {
			return err
		}
		c.ring(requestTopic(req.ID))
		return c.event("hitl.request.assigned", run, &req, in.Actor.ID, "", map[string]string{"assignee": in.To})
	}, place.rows(in.Request)...)
	if holdshort.CodeOf(err) == holdshort.Forbidden {
		e.denied(ctx, tenant, in.Actor, "hitl.request.assign", req)
	}
	if err != nil {
		req = holdshort.Request{}
	}
	return req, err
}
