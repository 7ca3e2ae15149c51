package engine

import (
	"context"
	"encoding/json"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

// CheckEditInput is an edit that somebody thinks of making.
type CheckEditInput struct {
	Request holdshort.RequestID
	Actor   holdshort.Actor
	CallID  string
	Args    json.RawMessage
}

// EditCheck is what would come of it.
type EditCheck struct {
	Same     bool               // nothing is changed by it
	Rule     string             // that speaks of the new arguments
	Decision policy.Decision    // what it says of them, were they asked for afresh
	Audience holdshort.Audience // whom it asks
	Again    bool               // the actor alone is not enough: the edited form is asked about again
}

// CheckEdit says what would come of an edit, without making it: DoesNotFit if it would be refused. It looks at the same things in the same
// order as Decide, and changes nothing.
func (e *Engine) CheckEdit(ctx context.Context, tenant holdshort.TenantID, in CheckEditInput) (out EditCheck, err error) {
	args, err := holdshort.Canonical(in.Args)
	if err != nil {
		return out, err
	}
	if len(args) > e.config.Limits.Args {
		return out, &holdshort.Error{Code: holdshort.TooLarge, Op: "check edit of " + string(in.Request), Message: "the arguments are too long", Hint: "shorten them"}
	}
	return view(ctx, e, tenant, func(tx store.ReadTx) (EditCheck, error) {
		req, err := tx.Request(in.Request)
		if err != nil {
			return out, err
		}
		var run *holdshort.Run
		if req.RunID != "" {
			r, err := tx.Run(req.RunID)
			if err != nil {
				return out, err
			}
			run = &r
		}
		if err := mayDo(policy.Decide, in.Actor, req, run); err != nil {
			return out, err
		}
		action := actionOf(req, in.CallID)
		if action == nil {
			return out, &holdshort.Error{Code: holdshort.DoesNotFit, Field: "calls", Message: "there is no call " + clip(in.CallID), Hint: "name calls as the request does"}
		}
		return e.checkEdit(tx, req, run, *action, args, in.Actor)
	})
}

func (e *Engine) checkEdit(tx store.ReadTx, req holdshort.Request, run *holdshort.Run, action holdshort.Action, args json.RawMessage, actor holdshort.Actor) (out EditCheck, err error) {
	if out.Same = string(args) == string(action.Args); out.Same {
		return out, nil
	}
	t, ok := e.tools[action.Tool]
	if !ok && run != nil {
		return out, &holdshort.Error{Code: holdshort.DoesNotFit, Field: "calls", Message: "nobody here can check arguments of " + clip(action.Tool), Hint: "approve or reject it as it is"}
	}
	if ok && t.SchemaHash() != action.SchemaHash {
		return out, &holdshort.Error{Code: holdshort.DoesNotFit, Field: "calls", Message: "the tool's arguments have another form now than when this was asked", Hint: "reject it, and let it be asked again"}
	}
	if err := t.Validate(args); err != nil {
		return out, err
	}
	if err := mayChange(action, args); err != nil {
		return out, err
	}
	var v policy.Verdict
	if run == nil {
		v = e.judgeGate(tx.Tenant(), req, action.Tool, args, tx.Now())
	} else {
		v = policy.Judge(e.hookContext(), e.config.Policy, e.judged(tx.Tenant(), run, req.OriginStepID, action.Tool, args, tx.Now()))
	}
	if v.Decision == policy.Deny {
		return out, &holdshort.Error{Code: holdshort.DoesNotFit, Field: "calls", Message: "the policy does not allow the new arguments (" + clip(v.Rule) + ")", Hint: "change them, or reject"}
	}
	out.Rule, out.Decision, out.Audience = v.Rule, v.Decision, v.Audience
	stricter := v.Decision == policy.Ask && (v.Audience.Needed() > 1 || !v.Audience.Includes(actor, ownerOf(req, run)) || v.Audience.Excludes(actor, req.Requester))
	out.Again = req.Audience.Needed() > 1 || stricter
	return out, nil
}

// ToolSchema is the schema of a tool's arguments, nil if this node has no such tool or it takes anything.
func (e *Engine) ToolSchema(name string) json.RawMessage { return e.tools[name].Schema }
