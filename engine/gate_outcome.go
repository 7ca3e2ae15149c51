package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// OutcomeInput is what a claimer reports of one call.
type OutcomeInput struct {
	Request holdshort.RequestID
	Token   string                    // of the claim
	CallID  string                    // default: the only call
	Status  holdshort.OperationStatus // done, or failed: proof that nothing happened
	// ExternalIDs name what was made outside. They go to the ledger, so they must not be personal.
	ExternalIDs map[string][]string
	Result      json.RawMessage // only its hash is kept
	Actor       holdshort.Actor
}

// Outcome closes the operation of a claimed call. The same report again changes nothing; one that comes after the lease ended settles what
// was unknown, and closes the question to a person; one that contradicts what stands is Conflict, and both facts stay.
func (e *Engine) Outcome(ctx context.Context, tenant holdshort.TenantID, in OutcomeInput) (op holdshort.Operation, err error) {
	name := "report outcome of " + string(in.Request)
	if in.Status != holdshort.OperationDone && in.Status != holdshort.OperationFailed {
		return op, &holdshort.Error{Code: holdshort.Invalid, Op: name, Field: "status", Message: fmt.Sprintf("unknown outcome %q", clip(string(in.Status))), Hint: "use done, or failed if nothing happened; report nothing if you do not know"}
	}
	if len(in.Result) > e.config.Limits.Args {
		return op, &holdshort.Error{Code: holdshort.TooLarge, Op: name, Field: "result", Message: fmt.Sprintf("a result of more than %d bytes", e.config.Limits.Args), Hint: "only its hash is kept: send a digest"}
	}
	if len(in.Result) > 0 {
		if in.Result, err = holdshort.Canonical(in.Result); err != nil {
			return op, err
		}
	}
	at, err := e.place(ctx, tenant, in.Request)
	if err != nil {
		return op, err
	}
	var contradicts error
	err = e.update(ctx, tenant, func(c *change) error {
		contradicts = nil
		req, index, err := c.claimedCall(in.Request, in.CallID, in.Actor)
		if err != nil {
			return err
		}
		if op, err = c.claimedBy(req, index, in.Token, in.Actor); err != nil {
			return err
		}
		op, contradicts, err = c.reported(req, op, in)
		return err
	}, at.rows(in.Request)...)
	if err == nil {
		err = contradicts
	}
	return op, err
}

// claimedCall finds the call that a claimer speaks of.
func (c *change) claimedCall(id holdshort.RequestID, callID string, actor holdshort.Actor) (holdshort.Request, int, error) {
	req, err := c.Request(id)
	if err != nil {
		return req, 0, err
	}
	if callID == "" && len(req.Actions) == 1 {
		return req, 0, nil
	}
	i := slices.IndexFunc(req.Actions, func(a holdshort.Action) bool { return a.CallID == callID })
	if i < 0 {
		if err := mayDo(policy.View, actor, req, nil); err != nil {
			return req, i, err
		}
		return req, i, &holdshort.Error{Code: holdshort.Invalid, Op: "report outcome of " + string(id), Field: "call_id", Message: "there is no call " + clip(callID), Hint: "name it as the claim does"}
	}
	return req, i, nil
}

// claimedBy gives the operation of a call if token is that of the claim which got it.
func (c *change) claimedBy(req holdshort.Request, index int, token string, actor holdshort.Actor) (holdshort.Operation, error) {
	op, err := c.Operation(gateOperation(req.ID, index))
	if err != nil && holdshort.CodeOf(err) != holdshort.NotFound {
		return op, err
	}
	if err == nil {
		same, err := c.e.keyring.SameTenantHash(c.Tenant(), "claim token", token, []byte(string(req.ID)+"\x00"+op.Nonce))
		if same {
			return op, nil
		}
		if code := holdshort.CodeOf(err); code != "" && code != holdshort.Corrupt && code != holdshort.KeyUnknown { // what is no token at all is a wrong one
			return op, err
		}
	}
	if err := mayDo(policy.View, actor, req, nil); err != nil {
		return holdshort.Operation{}, err
	}
	return holdshort.Operation{}, &holdshort.Error{Code: holdshort.Forbidden, Op: "report on " + string(req.ID), Field: "claim_token", Message: "the token is not that of the claim", Hint: "send the token that the claim answered with"}
}

// reported applies what a claimer says.
func (c *change) reported(req holdshort.Request, op holdshort.Operation, in OutcomeInput) (_ holdshort.Operation, contradicts, err error) {
	happened := in.Status == holdshort.OperationDone
	who := reporter(in.Actor, req)
	switch {
	case op.Status == in.Status:
		return op, nil, nil
	case op.Status == holdshort.OperationDone, op.Status == holdshort.OperationFailed, op.Settled:
		stands := string(op.Status)
		if op.Settled {
			stands = "given up as unknown"
		}
		contradicts = &holdshort.Error{Code: holdshort.Conflict, Op: "report outcome of " + op.ID, Message: "the operation is " + stands, Hint: "what stands stays; the report is in the log"}
		return op, contradicts, c.event("operation.reconciled", nil, &req, who, "late_conflict", disagreement(op, happened))
	}
	input, event, late := holdshort.OperationFinish, "operation.done", op.Status == holdshort.OperationUnknown
	switch {
	case late && happened:
		input, event = holdshort.OperationSettleDone, "operation.reconciled"
	case late:
		input, event = holdshort.OperationSettleNot, "operation.reconciled"
	case !happened:
		input, event = holdshort.OperationProveFailed, "operation.failed"
	}
	next, err := op.Apply(input, op.Nonce, c.now)
	if err != nil {
		return op, nil, err
	}
	if late {
		if err := c.answered(op, who); err != nil {
			return op, nil, err
		}
	}
	next.ResultHash, next.ExternalIDs = c.resultHash(in.Result, happened), in.ExternalIDs
	if err := c.closeGate(next); err != nil {
		return op, nil, err
	}
	c.ring(requestTopic(req.ID))
	code := holdshort.Code("")
	if late {
		code = "late_" + holdshort.Code(in.Status)
	}
	return next, nil, c.gateEvent(event, req, next, who, code)
}

// reporter names who speaks for a claim: the token is what counts, so it may be somebody whom the raiser handed it to.
func reporter(actor holdshort.Actor, req holdshort.Request) string {
	if actor.ID == "" {
		return req.Requester.RaisedBy
	}
	return clip(actor.ID)
}

func (c *change) resultHash(result []byte, happened bool) string {
	if !happened {
		return ""
	}
	return c.e.keyring.TenantHash(c.Tenant(), "result", result)
}

// closeGate stores an operation that is over.
func (c *change) closeGate(op holdshort.Operation) error {
	if err := c.PutOperation(op); err != nil {
		return err
	}
	return c.DropTimer(holdshort.TimerOperation, op.ID, "")
}

// ExtendInput asks for more time.
type ExtendInput struct {
	Request holdshort.RequestID
	Token   string        // of the claim
	Lease   time.Duration // from now. Default: 5 minutes; 1 hour at most
	Actor   holdshort.Actor
}

// Extend prolongs the lease of a claim that has not ended, for every call that is still under way. LeaseLost tells a claimer who came too
// late: its outcome is still taken.
func (e *Engine) Extend(ctx context.Context, tenant holdshort.TenantID, in ExtendInput) (until time.Time, err error) {
	if in.Lease, err = checkLease("extend "+string(in.Request), in.Lease); err != nil {
		return until, err
	}
	at, err := e.place(ctx, tenant, in.Request)
	if err != nil {
		return until, err
	}
	err = e.update(ctx, tenant, func(c *change) error {
		until, err = c.extend(in)
		return err
	}, at.rows(in.Request)...)
	return until, err
}

func (c *change) extend(in ExtendInput) (until time.Time, err error) {
	req, err := c.Request(in.Request)
	if err != nil {
		return until, err
	}
	wrong := func(code holdshort.Code, message, hint string) error {
		return &holdshort.Error{Code: code, Op: "extend " + string(req.ID), Message: message, Hint: hint}
	}
	ours, open, ended := false, []holdshort.Operation{}, false
	for i := range req.Actions {
		op, err := c.claimedBy(req, i, in.Token, in.Actor)
		switch {
		case holdshort.CodeOf(err) == holdshort.Forbidden, holdshort.CodeOf(err) == holdshort.NotFound:
			continue // a call that was not handed out
		case err != nil:
			return until, err
		}
		ours = true
		ended = ended || op.Status == holdshort.OperationUnknown || op.Status == holdshort.OperationStarted && !c.now.Before(op.Deadline)
		if op.Status == holdshort.OperationStarted {
			open = append(open, op)
		}
	}
	switch {
	case !ours:
		if err := mayDo(policy.View, in.Actor, req, nil); err != nil {
			return until, err
		}
		return until, wrong(holdshort.Forbidden, "the token is not that of the claim", "send the token that the claim answered with")
	case ended:
		return until, wrong(holdshort.LeaseLost, "the lease has ended", "stop; report what you know as outcome, it is still taken")
	case len(open) == 0:
		return until, wrong(holdshort.WrongState, "every call has its outcome", "nothing is left to do")
	}
	for _, op := range open {
		op.Deadline = latest(op.Deadline, c.now.Add(in.Lease))
		until = latest(until, op.Deadline)
		if err := c.PutOperation(op); err != nil {
			return until, err
		}
		if err := c.SetTimer(holdshort.Timer{Kind: holdshort.TimerOperation, Subject: op.ID, DueAt: op.Deadline}); err != nil {
			return until, err
		}
	}
	c.ring(topicTimers)
	return until, c.event("hitl.request.claimed", nil, &req, reporter(in.Actor, req), "extended", nil)
}
