package engine

import (
	"context"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

func stillOpen(verb string, req holdshort.Request, now time.Time) error {
	switch req.StatusAt(now) {
	case holdshort.RequestOpen:
		return nil
	case holdshort.RequestExpired:
		return &holdshort.Error{Code: holdshort.Expired, Op: verb + " " + string(req.ID), Message: "the request expired", Hint: "ask the requester to try again"}
	}
	return &holdshort.Error{Code: holdshort.Closed, Op: verb + " " + string(req.ID), Message: "the request is " + string(req.Status), Hint: "nothing is left to do"}
}

// CommentInput is what somebody says about a request without deciding it.
type CommentInput struct {
	Request holdshort.RequestID
	Actor   holdshort.Actor
	Text    string
}

// Comment notes what somebody says about a request, open or closed. The text is kept apart from the event, which names its digest; it goes
// with the session or run that it belongs to.
func (e *Engine) Comment(ctx context.Context, tenant holdshort.TenantID, in CommentInput) (digest string, err error) {
	op := "comment on " + string(in.Request)
	if err := checkText(op, "text", in.Text, e.config.Limits.Text); err != nil {
		return "", err
	}
	if strings.TrimSpace(in.Text) == "" {
		return "", &holdshort.Error{Code: holdshort.Invalid, Op: op, Field: "text", Message: "the comment is empty", Hint: "write something"}
	}
	err = e.note(ctx, tenant, in.Request, in.Actor, policy.Comment, func(c *change, req holdshort.Request, run *holdshort.Run) error {
		if digest, err = c.AddBody(req.SessionID, req.RunID, []byte(in.Text)); err != nil {
			return err
		}
		return c.event("hitl.request.commented", run, &req, in.Actor.ID, "", map[string]string{"body": digest})
	})
	return digest, err
}

// Viewed notes that somebody looked at a request.
func (e *Engine) Viewed(ctx context.Context, tenant holdshort.TenantID, id holdshort.RequestID, actor holdshort.Actor) error {
	return e.note(ctx, tenant, id, actor, policy.View, func(c *change, req holdshort.Request, run *holdshort.Run) error {
		return c.event("hitl.request.viewed", run, &req, actor.ID, "", nil)
	})
}

// Reveal gives a request to somebody who may decide it, with what is redacted for others, and notes who looked. It is noted before it is
// shown.
func (e *Engine) Reveal(ctx context.Context, tenant holdshort.TenantID, id holdshort.RequestID, actor holdshort.Actor) (shown holdshort.Request, err error) {
	err = e.note(ctx, tenant, id, actor, policy.Decide, func(c *change, req holdshort.Request, run *holdshort.Run) error {
		shown = readAt(req, c.now)
		return c.event("hitl.request.revealed", run, &req, actor.ID, "", nil)
	})
	if err != nil {
		shown = holdshort.Request{}
	}
	return shown, err
}

// note leaves a fact about a request that does not change it.
func (e *Engine) note(ctx context.Context, tenant holdshort.TenantID, id holdshort.RequestID, actor holdshort.Actor, a policy.Action,
	write func(*change, holdshort.Request, *holdshort.Run) error) error {
	place, err := e.place(ctx, tenant, id)
	if err != nil {
		return err
	}
	var req holdshort.Request
	err = e.update(ctx, tenant, func(c *change) error {
		if req, err = c.Request(id); err != nil {
			return err
		}
		run, err := c.runOf(req)
		if err != nil {
			return err
		}
		if err := mayDo(a, actor, req, run); err != nil {
			return err
		}
		return write(c, req, run)
	}, place.rows(id)...)
	if holdshort.CodeOf(err) == holdshort.Forbidden {
		e.denied(ctx, tenant, actor, "hitl.request."+string(a), req)
	}
	return err
}
