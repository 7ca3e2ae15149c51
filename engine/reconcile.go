package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/tool"
)

const reconcileSuffix = "!reconcile"

// What a person can say about a call whose outcome nobody knows.
const (
	happenedOption = "happened"
	retryOption    = "retry"
	giveUpOption   = "give_up"
)

// takeUp goes on with a call that the ledger knows: it was under way when its process died, its answer was lost, or it is tried again.
func (s *slice) takeUp(ctx context.Context, c *call) error {
	op := *c.prior
	switch op.Status {
	case holdshort.OperationDone:
		s.e.log.Error(string(holdshort.MissingResult), s.callFields(c, op, holdshort.MissingResult)...)
		return s.refuse(ctx, c, holdshort.Failure{Code: holdshort.MissingResult, Message: "it was done, but its result is no longer kept: it is not done again"})
	case holdshort.OperationFailed:
		return s.perform(ctx, c)
	case holdshort.OperationUnknown:
		if op.Settled {
			return s.refuse(ctx, c, holdshort.Failure{Code: holdshort.OutcomeUnknown, Message: "nobody knows whether the call took effect, and a person gave up asking"})
		}
		return flow.Suspend // the request to a person is open
	}
	if !c.known {
		return flow.Hold(holdshort.ToolUnknown, &holdshort.Error{Code: holdshort.ToolUnknown, Op: "call " + c.Key, Message: "this node has no tool " + clip(c.Tool), Hint: "register it, then retry the run"})
	}
	if now := s.Now(); now.Before(op.Deadline) {
		return flow.Suspend // it may still be under way; its timer wakes the run
	}
	if c.tool.RepeatSafe() && op.Attempt < s.e.config.Limits.Calls && c.verdict.Decision != policy.Deny {
		return s.attempts(ctx, c, holdshort.OperationRerun)
	}
	return s.lose(ctx, c, attempt{op: op, args: c.Args})
}

// lose marks an operation whose outcome nobody knows, and finds out: by the tool's own Reconcile, else by asking a person.
func (s *slice) lose(ctx context.Context, c *call, a attempt) error {
	finding := s.ask(ctx, c, a)
	switch finding.State {
	case tool.Happened, tool.NotHappened:
		return s.reconciled(c, a, finding)
	}
	faster := false
	err := s.commit(context.WithoutCancel(ctx), func(ch *change, run *holdshort.Run) error {
		op, err := ch.Operation(a.op.ID)
		if err != nil {
			return err
		}
		if faster = op.Nonce != a.op.Nonce || op.Status != holdshort.OperationStarted; faster {
			return nil
		}
		return ch.lost(run, op, c.Key)
	}, store.OperationRow(a.op.ID))
	if err != nil && holdshort.CodeOf(err) != holdshort.WrongState { // by the store's clock its deadline has not passed: its timer comes again
		return err
	}
	if faster {
		return s.lookAgain()
	}
	return flow.Suspend
}

// lookAgain lets the run go through its journal once more in place of waiting: what it would wait for is there.
func (s *slice) lookAgain() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = true
	return flow.Suspend
}

// ask lets the tool look what became of the call.
func (s *slice) ask(ctx context.Context, c *call, a attempt) (f tool.Finding) {
	f.State = tool.Unclear
	if c.tool.Reconcile == nil {
		return f
	}
	ctx, cancel := context.WithTimeout(s.e.hard, c.tool.Timeout)
	found := make(chan tool.Finding, 1)
	s.e.wg.Go(func() {
		defer cancel()
		finding := tool.Finding{State: tool.Unclear}
		defer func() {
			if p := recover(); p != nil {
				finding = tool.Finding{State: tool.Unclear}
			}
			found <- finding
		}()
		got, err := c.tool.Reconcile(ctx, tool.Call{Tenant: s.tenant, RunID: s.id, OperationID: a.op.ID, Attempt: a.op.Attempt, Args: a.args, Deadline: a.op.Deadline})
		if err == nil {
			finding = got
		} else {
			s.e.log.Warn("a tool could not say what became of a call", append(s.callFields(c, a.op, holdshort.CodeOf(err)), "error", err)...)
		}
	})
	select {
	case f = <-found:
	case <-ctx.Done():
		select {
		case f = <-found: // it ended the context itself, by returning
		default:
		}
	}
	return f
}

// reconciled stores what the tool found out.
func (s *slice) reconciled(c *call, a attempt, f tool.Finding) error {
	var entry *holdshort.JournalEntry
	run := s.snapshot()
	err := s.settle(a.op.ID, func(ch *change, op holdshort.Operation) (err error) {
		entry = nil
		if op.Nonce != a.op.Nonce || op.Status != holdshort.OperationStarted && op.Status != holdshort.OperationUnknown {
			return nil
		}
		if op.Status == holdshort.OperationStarted {
			if op, err = op.Apply(holdshort.OperationLose, op.Nonce, ch.now); err != nil {
				return err
			}
			if err := ch.operationEvent("operation.unknown", &run, op, "system:worker", ""); err != nil {
				return err
			}
		}
		entry, err = ch.settle(&run, op, c.Key, c.Hash, f.State == tool.Happened, f.Result, "", "system:reconcile")
		return err
	})
	if err != nil && holdshort.CodeOf(err) != holdshort.WrongState {
		return err
	}
	if err != nil {
		return flow.Suspend
	}
	if entry == nil {
		return s.lookAgain() // somebody was faster
	}
	s.journal.add(*entry)
	c.entry = entry
	return nil
}

// settle closes an operation that is unknown, with the journal entry that its run reads.
func (c *change) settle(run *holdshort.Run, op holdshort.Operation, key, hash string, happened bool, result tool.Result, by, actor string) (*holdshort.JournalEntry, error) {
	input, code := holdshort.OperationSettleDone, holdshort.Code(happenedOption)
	if !happened {
		input, code = holdshort.OperationSettleNot, holdshort.NotHappened
	}
	next, err := op.Apply(input, op.Nonce, c.now)
	if err != nil {
		return nil, err
	}
	entry := holdshort.JournalEntry{RunID: op.RunID, Key: key, Attempt: run.Attempt, Kind: flow.KindCall, Hash: hash, Started: op.StartedAt, Ended: c.now}
	if happened {
		next.ResultHash, next.ExternalIDs = c.e.keyring.TenantHash(c.Tenant(), "result", result.Value), storable(result.ExternalIDs)
		if entry.Outcome, err = callValue(result, by, nil); err != nil {
			return nil, err
		}
	} else {
		entry.Error = &holdshort.Failure{Code: holdshort.NotHappened, Message: "the call turned out not to have taken effect", Step: key}
	}
	if err := c.PutOperation(next); err != nil {
		return nil, err
	}
	if err := c.DropTimer(holdshort.TimerOperation, op.ID, string(op.RunID)); err != nil {
		return nil, err
	}
	if err := c.AddJournal(entry); err != nil {
		return nil, err
	}
	return &entry, c.operationEvent("operation.reconciled", run, op, actor, code)
}

// lost marks an operation as unknown and asks a person what became of it. The question never expires. The run is stored by the caller.
func (c *change) lost(run *holdshort.Run, op holdshort.Operation, key string) error {
	next, err := op.Apply(holdshort.OperationLose, op.Nonce, c.now)
	if err != nil {
		return err
	}
	audience := holdshort.Audience{Roles: []string{"operator"}, Quorum: 1}
	if op.RequestID != "" {
		req, err := c.Request(op.RequestID)
		if err != nil {
			return err
		}
		audience = req.Audience
	}
	if err := c.PutOperation(next); err != nil {
		return err
	}
	if err := c.DropTimer(holdshort.TimerOperation, op.ID, string(op.RunID)); err != nil {
		return err
	}
	if err := c.operationEvent("operation.unknown", run, op, "system:worker", ""); err != nil {
		return err
	}
	context, err := json.Marshal(map[string]string{"operation_id": op.ID, "tool": op.Capability})
	if err != nil {
		return err
	}
	draft := holdshort.Request{Kind: holdshort.Reconcile, Reason: "outcome_unknown", Source: "engine", OriginStepID: key + reconcileSuffix,
		ReturnTo: holdshort.ReturnTo{Node: "tool_call", Mode: "reconcile"}, ExpectedInput: holdshort.SingleChoice, Context: context,
		Question: fmt.Sprintf("%s was called and its answer was lost. Look there: did it happen?", op.Capability),
		Options:  []holdshort.Option{{ID: happenedOption, Label: "It happened"}, {ID: retryOption, Label: "It did not happen: ask again and retry"}, {ID: giveUpOption, Label: "Give up: nobody can tell"}},
		Allowed:  []holdshort.Verb{holdshort.Select}, Audience: audience, Priority: holdshort.PriorityHigh, OnTimeout: holdshort.TimeoutResume, OnReject: holdshort.RejectReturn}
	req, err := c.complete(run, draft)
	if err != nil {
		return err
	}
	run.Open++
	return c.open(run, &req)
}

// settleByHand carries out what a person said about a call whose outcome nobody knew.
func (c *change) settleByHand(run *holdshort.Run, req holdshort.Request, d holdshort.Decision, slot *slot) error {
	key := strings.TrimSuffix(req.OriginStepID, reconcileSuffix)
	op, err := c.Operation(operationID(*run, key))
	if err != nil {
		return err
	}
	if op.Status != holdshort.OperationUnknown || op.Settled {
		return &holdshort.Error{Code: holdshort.Closed, Op: "decide " + string(req.ID), Message: "the operation is " + string(op.Status) + " meanwhile", Hint: "nothing is left to decide"}
	}
	hash, err := c.callHash(run, key, op)
	if err != nil {
		return err
	}
	switch {
	case slices.Contains(d.OptionIDs, happenedOption):
		_, err = c.settle(run, op, key, hash, true, tool.Result{Value: d.Value}, d.Actor.ID, d.Actor.ID)
	case slices.Contains(d.OptionIDs, retryOption):
		err = c.notHappened(run, op, d.Actor.ID)
	default:
		err = c.giveUp(run, op, key, hash, d.Actor.ID)
	}
	if err != nil {
		return err
	}
	if run.Status.Ended() {
		return c.PutRun(run)
	}
	return c.wake(run, slot, d.Actor.ID)
}

// notHappened lets a call be tried again, under a new approval of the same arguments.
func (c *change) notHappened(run *holdshort.Run, op holdshort.Operation, actor string) error {
	next, err := op.Apply(holdshort.OperationSettleNot, op.Nonce, c.now)
	if err != nil {
		return err
	}
	if err := c.PutOperation(next); err != nil {
		return err
	}
	return c.operationEvent("operation.reconciled", run, op, actor, retryOption)
}

// giveUp leaves an operation unknown for ever, and lets its run go on with that.
func (c *change) giveUp(run *holdshort.Run, op holdshort.Operation, key, hash, actor string) error {
	next, err := op.Apply(holdshort.OperationGiveUp, op.Nonce, c.now)
	if err != nil {
		return err
	}
	if err := c.PutOperation(next); err != nil {
		return err
	}
	entry := holdshort.JournalEntry{RunID: op.RunID, Key: key, Attempt: run.Attempt, Kind: flow.KindCall, Hash: hash, Started: op.StartedAt, Ended: c.now,
		Error: &holdshort.Failure{Code: holdshort.OutcomeUnknown, Message: "nobody knows whether the call took effect", Step: key}}
	if err := c.AddJournal(entry); err != nil {
		return err
	}
	return c.operationEvent("operation.reconciled", run, op, actor, giveUpOption)
}
