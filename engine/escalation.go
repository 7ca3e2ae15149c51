package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

// ResolveInput is how an escalation ends. It is named by its request, or by its session if that has only one.
type ResolveInput struct {
	Session    holdshort.SessionID
	Request    holdshort.RequestID
	Approved   bool
	Message    string
	Data       json.RawMessage // for the flow: the answer's value
	ResolvedBy string          // a label for people; who resolved it is the actor
	Actor      holdshort.Actor
	Channel    string
}

// Several is the cause of a SeveralOpen: more than one escalation of the session is open, and these are they. Find it with errors.As.
type Several struct{ IDs []holdshort.RequestID }

func (s *Several) Error() string { return fmt.Sprintf("%v are open", s.IDs) }

// ResolveEscalation resolves an open escalation: the run goes on with whether it was approved, the message and the data. By session it needs
// exactly one: none is NotFound, several are SeveralOpen with their ids (Several).
func (e *Engine) ResolveEscalation(ctx context.Context, tenant holdshort.TenantID, in ResolveInput) (out Decided, err error) {
	if err := in.checked(); err != nil {
		return out, err
	}
	req, err := e.escalation(ctx, tenant, in)
	if err != nil {
		return out, err
	}
	d := DecideInput{Request: req.ID, Action: holdshort.Reject, Actor: in.Actor, Message: in.Message, Value: in.Data, ResolvedBy: in.ResolvedBy, Channel: in.Channel}
	if in.Approved {
		d.Action = holdshort.Approve
		if !slices.Contains(req.Allowed, holdshort.Approve) { // it asks for something else than yes or no
			d.Action = holdshort.Answer
			if len(d.Value) == 0 && in.Message != "" {
				if d.Value, err = json.Marshal(in.Message); err != nil {
					return out, err
				}
			}
		}
	}
	return e.Decide(ctx, tenant, d)
}

func (in ResolveInput) checked() error {
	bad := func(field, message, hint string) error {
		return &holdshort.Error{Code: holdshort.Invalid, Op: "resolve escalation", Field: field, Message: message, Hint: hint}
	}
	switch {
	case in.Session == "" && in.Request == "":
		return bad("escalation_id", "nothing says which escalation", "send the escalation's id, or its session's")
	case len(in.ResolvedBy) > maxName:
		return bad("resolved_by", "the label is too long", "use at most 200 bytes")
	case len(in.Data) > 0 && !json.Valid(in.Data):
		return bad("action_data", "it is not JSON", "send a JSON value")
	}
	return checkText("resolve escalation", "resolved_by", in.ResolvedBy, maxName)
}

// escalation finds the one that is meant, among those that the actor may see.
func (e *Engine) escalation(ctx context.Context, tenant holdshort.TenantID, in ResolveInput) (holdshort.Request, error) {
	none := &holdshort.Error{Code: holdshort.NotFound, Op: "resolve escalation", Message: "no such escalation", Hint: "check the id; it may be resolved already"}
	if in.Request != "" {
		req, err := e.RequestByID(ctx, tenant, in.Request)
		if err != nil {
			return req, err
		}
		if req.Kind != holdshort.Escalation || in.Session != "" && req.SessionID != in.Session {
			return req, none
		}
		return req, nil // who may decide it, the decision finds out
	}
	open, hidden, err := e.openEscalations(ctx, tenant, in)
	switch {
	case err != nil:
		return holdshort.Request{}, err
	case len(open) == 0:
		if hidden {
			e.denied(ctx, tenant, in.Actor, actResolve, holdshort.Request{SessionID: in.Session})
		}
		return holdshort.Request{}, none
	case len(open) > 1:
		several := &Several{}
		for _, req := range open {
			several.IDs = append(several.IDs, req.ID)
		}
		return holdshort.Request{}, &holdshort.Error{Code: holdshort.SeveralOpen, Op: "resolve escalation of " + string(in.Session), Field: "escalation_id", Err: several,
			Message: fmt.Sprintf("%d escalations of the session are open", len(open)), Hint: "name one of them by its id"}
	}
	return open[0], nil
}

// openEscalations gives those of a session, oldest first. hidden: there are some that the actor may not see.
func (e *Engine) openEscalations(ctx context.Context, tenant holdshort.TenantID, in ResolveInput) (open []holdshort.Request, hidden bool, err error) {
	err = e.store.View(ctx, tenant, func(tx store.ReadTx) error {
		open, hidden = nil, false
		s, err := tx.Session(in.Session)
		if err != nil {
			return err
		}
		page, err := tx.Requests(store.RequestQuery{Session: in.Session, Status: holdshort.RequestOpen, Kind: holdshort.Escalation, Order: store.ByNewest})
		for _, req := range page.Items {
			if readAt(req, tx.Now()).Status != holdshort.RequestOpen {
				continue
			}
			r := resource(req, nil)
			r.Owner = s.User
			if ok, _ := policy.Can(policy.View, in.Actor, r); !ok {
				hidden = true
				continue
			}
			open = append(open, req)
		}
		slices.Reverse(open)
		return err
	})
	return open, hidden, err
}
