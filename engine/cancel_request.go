package engine

import (
	"context"
	"unicode/utf8"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// CancelRequestInput says which request nobody needs any more.
type CancelRequestInput struct {
	Request holdshort.RequestID
	Actor   holdshort.Actor
	Reason  string
}

// CancelRequest closes an open request without a decision: nothing of it runs. Its run is canceled too, unless the step that asked wants to
// get a cancellation back. What became of a call must be known, so a question about that cannot be canceled.
func (e *Engine) CancelRequest(ctx context.Context, tenant holdshort.TenantID, in CancelRequestInput) (out Decided, err error) {
	if err := checkText("cancel "+string(in.Request), "reason", in.Reason, e.config.Limits.Text); err != nil {
		return out, err
	}
	place, err := e.place(ctx, tenant, in.Request)
	if err != nil {
		return out, err
	}
	slot := e.slot()
	defer slot.spare()
	err = e.update(ctx, tenant, func(c *change) error {
		out = Decided{}
		return c.cancelRequest(in, slot, &out)
	}, place.rows(in.Request)...)
	switch code := holdshort.CodeOf(err); {
	case code == holdshort.Forbidden:
		e.denied(ctx, tenant, in.Actor, "hitl.request.cancel", out.Request)
		out = Decided{}
	case code == holdshort.NotFound: // also for those who may not know that it is there
		out = Decided{}
	case err == nil && out.Run != nil && out.Run.Status == holdshort.RunCanceled:
		e.stopSlice(tenant, out.Run.ID)
	}
	return out, err
}

func (c *change) cancelRequest(in CancelRequestInput, slot *slot, out *Decided) error {
	req, err := c.Request(in.Request)
	if err != nil {
		return err
	}
	run, err := c.runOf(req)
	if err != nil {
		return err
	}
	out.Request = req
	if err := mayDo(policy.CancelRequest, in.Actor, req, run); err != nil {
		return err
	}
	if req.Kind == holdshort.Reconcile && req.Status == holdshort.RequestOpen {
		return &holdshort.Error{Code: holdshort.WrongState, Op: "cancel " + string(req.ID), Message: "somebody has to say what became of the call", Hint: "answer it; give_up says that nobody can tell"}
	}
	closed, err := req.Cancel(in.Reason, c.now)
	if err != nil {
		return c.standing(req, err, out)
	}
	if err := c.shut(run, req, closed, "hitl.request.canceled", in.Actor.ID, "canceled", nil); err != nil {
		return err
	}
	out.Request, out.Run = closed, run
	if run == nil || run.Status.Ended() {
		return nil
	}
	return c.answer(run, closed, holdshort.Decision{RequestID: req.ID, Action: holdshort.Cancel, Actor: in.Actor, Message: in.Reason, At: c.now}, slot)
}

// checkText refuses what is too long, or no text.
func checkText(op, field, text string, most int) error {
	if len(text) > most {
		return &holdshort.Error{Code: holdshort.TooLarge, Op: op, Field: field, Message: "the " + field + " is too long", Hint: "shorten it"}
	}
	if !utf8.ValidString(text) {
		return &holdshort.Error{Code: holdshort.Invalid, Op: op, Field: field, Message: "the " + field + " is not text", Hint: "send UTF-8"}
	}
	return nil
}
