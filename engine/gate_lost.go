package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// reconcileRef is the name in the ledger under which an unknown operation of the gate names the question about it.
const reconcileRef = "reconcile_request"

// fireClaim looks at a claimed call whose lease has ended. A claimer that vanished leaves it unknown, and a person is asked.
func (e *Engine) fireClaim(ctx context.Context, tenant holdshort.TenantID, t holdshort.Timer) error {
	return e.update(ctx, tenant, func(c *change) error {
		op, err := c.Operation(t.Subject)
		if err != nil {
			return err
		}
		if op.Status != holdshort.OperationStarted {
			return c.DropTimer(t.Kind, t.Subject, t.Key)
		}
		if c.now.Before(op.Deadline) { // extended meanwhile
			return c.SetTimer(holdshort.Timer{Kind: t.Kind, Subject: t.Subject, Key: t.Key, DueAt: op.Deadline})
		}
		req, err := c.Request(op.RequestID)
		if err != nil {
			return err
		}
		return c.lostGate(req, op)
	}, e.gateRows(t.Subject)...)
}

// gateRows names what settling an operation of the gate writes.
func (e *Engine) gateRows(operation string) []store.Row {
	id, _, _ := strings.Cut(operation, "/")
	rows := []store.Row{store.RequestRow(holdshort.RequestID(id)), store.OperationRow(operation)}
	if at, ok := e.places.get(holdshort.RequestID(id)); ok && at.session != "" {
		rows = append(rows, store.SessionRow(at.session))
	}
	return rows
}

// lostGate marks a claimed call as unknown and asks those who approved it what became of it. The question never expires.
func (c *change) lostGate(req holdshort.Request, op holdshort.Operation) error {
	next, err := op.Apply(holdshort.OperationLose, op.Nonce, c.now)
	if err != nil {
		return err
	}
	context, err := json.Marshal(map[string]string{"operation_id": op.ID, "tool": op.Capability, "request_id": string(req.ID)})
	if err != nil {
		return err
	}
	draft := holdshort.Request{Kind: holdshort.Reconcile, Reason: "outcome_unknown", Source: "gate", OriginStepID: op.ID + reconcileSuffix, SessionID: req.SessionID, TraceID: req.TraceID,
		ReturnTo: holdshort.ReturnTo{Node: "gate", Mode: "reconcile"}, ExpectedInput: holdshort.SingleChoice, Context: context, Requester: req.Requester,
		Question: fmt.Sprintf("%s was handed to %s, which never said what became of it. Look there: did it happen?", op.Capability, clip(req.Requester.RaisedBy)),
		Options:  []holdshort.Option{{ID: happenedOption, Label: "It happened"}, {ID: retryOption, Label: "It did not happen: it may be asked for again"}, {ID: giveUpOption, Label: "Give up: nobody can tell"}},
		Allowed:  []holdshort.Verb{holdshort.Select}, Audience: req.Audience, Priority: holdshort.PriorityHigh, OnTimeout: holdshort.TimeoutResume, OnReject: holdshort.RejectReturn}
	question, err := c.complete(nil, draft)
	if err != nil {
		return err
	}
	next.ExternalIDs = map[string][]string{reconcileRef: {string(question.ID)}}
	if err := c.closeGate(next); err != nil {
		return err
	}
	if err := c.gateEvent("operation.unknown", req, next, "system:timer", ""); err != nil {
		return err
	}
	c.ring(requestTopic(req.ID))
	_, err = c.openGate(question, "system:timer")
	return err
}

// answered closes the question about an operation whose claimer spoke after all.
func (c *change) answered(op holdshort.Operation, actor string) error {
	for _, id := range op.ExternalIDs[reconcileRef] {
		question, err := c.Request(holdshort.RequestID(id))
		if holdshort.CodeOf(err) == holdshort.NotFound {
			continue
		}
		if err != nil {
			return err
		}
		if question.Status != holdshort.RequestOpen {
			continue
		}
		closed, err := question.Cancel("settled", c.now)
		if err != nil {
			return err
		}
		if err := c.shut(nil, question, closed, "hitl.request.canceled", actor, "settled", nil); err != nil {
			return err
		}
	}
	return nil
}

// settleGateByHand carries out what a person said about a claimed call whose outcome nobody knew. Of any other request that has no run there
// is nothing to carry out: its raiser reads the decision.
func (c *change) settleGateByHand(req holdshort.Request, d holdshort.Decision) error {
	if req.Kind != holdshort.Reconcile || req.RunID != "" {
		return nil
	}
	op, err := c.Operation(strings.TrimSuffix(req.OriginStepID, reconcileSuffix))
	if err != nil {
		return err
	}
	if op.Status != holdshort.OperationUnknown || op.Settled || !slices.Contains(op.ExternalIDs[reconcileRef], string(req.ID)) {
		return &holdshort.Error{Code: holdshort.Closed, Op: "decide " + string(req.ID), Message: "the operation is " + string(op.Status) + " meanwhile", Hint: "nothing is left to decide"}
	}
	approval, err := c.Request(op.RequestID)
	if err != nil {
		return err
	}
	input, code := holdshort.OperationGiveUp, giveUpOption
	switch {
	case slices.Contains(d.OptionIDs, happenedOption):
		input, code = holdshort.OperationSettleDone, happenedOption
	case slices.Contains(d.OptionIDs, retryOption):
		input, code = holdshort.OperationSettleNot, retryOption
	}
	next, err := op.Apply(input, op.Nonce, c.now)
	if err != nil {
		return err
	}
	next.ResultHash = c.resultHash(d.Value, next.Status == holdshort.OperationDone)
	if err := c.closeGate(next); err != nil {
		return err
	}
	c.ring(requestTopic(approval.ID))
	return c.gateEvent("operation.reconciled", approval, next, d.Actor.ID, holdshort.Code(code))
}
