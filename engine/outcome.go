package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/tool"
)

// conclude commits what became of an attempt: its outcome in ledger and journal, or that it is tried again, or that nobody knows. Closing
// checks the attempt's nonce, not the run's lease: what happened, happened.
func (s *slice) conclude(ctx context.Context, c *call, a attempt, result tool.Result, fault error) (again holdshort.OperationInput, err error) {
	switch {
	case fault == nil:
		return "", s.close(c, a, true, result, nil)
	case errors.Is(fault, errTooLate) && !a.rerun && a.op.Attempt < s.e.config.Limits.Calls: // a proven non-start, and nobody's fault
		return holdshort.OperationRetry, s.failed(a)
	case c.tool.IsDefinite(fault) && !a.rerun:
		if a.op.Attempt <= c.tool.Retries {
			return holdshort.OperationRetry, s.failed(a)
		}
		return "", s.close(c, a, false, result, fault)
	}
	// Until the deadline it may still be under way somewhere: nobody reruns, reconciles or asks earlier. The operation's timer wakes the run.
	s.e.log.Warn("the outcome of a call is not known", s.callFields(c, a.op, holdshort.CodeOf(fault))...)
	s.e.log.Debug("why the outcome of a call is not known", append(s.callFields(c, a.op, holdshort.CodeOf(fault)), "error", fault)...) // the other side may have said something personal
	return "", flow.Suspend
}

// close stores a known outcome. The tool has answered: while the store is away there is nothing better to do than to try again.
func (s *slice) close(c *call, a attempt, happened bool, result tool.Result, fault error) error {
	var entry *holdshort.JournalEntry
	run := s.snapshot()
	err := s.settle(a.op.ID, func(ch *change, op holdshort.Operation) (err error) {
		entry, err = ch.outcome(&run, op, a.op.Nonce, c, happened, result, fault)
		return err
	})
	if err != nil {
		return err
	}
	if entry == nil {
		return errLeaseLost // another attempt has been made since: the run is no longer ours
	}
	s.journal.add(*entry)
	c.entry = entry
	return nil
}

// settle commits what was learned of an operation, whether the run is still ours or not. If it is not, whoever has it may have looked before
// this commit and be about to wait for what is here now: then the run is woken.
func (s *slice) settle(id string, learn func(ch *change, op holdshort.Operation) error) error {
	ours := true
	err := s.e.persist(func(ctx context.Context) error {
		if ours {
			err := s.settleOurs(ctx, id, learn)
			if !errors.Is(err, holdshort.LeaseLost) {
				return err
			}
			ours = false
		}
		return s.e.update(ctx, s.tenant, func(ch *change) error {
			if err := ch.learnOf(id, learn); err != nil {
				return err
			}
			run, err := ch.Run(s.id)
			switch {
			case err != nil:
				return err
			case run.Status.Ended() && ch.allSigned() == nil:
				return nil
			case run.Status.Ended():
				return ch.PutRun(&run)
			}
			return ch.wake(&run, nil, "system:worker")
		}, store.OperationRow(id), store.RunRow(s.id))
	})
	if errors.Is(err, holdshort.Corrupt) {
		return errors.Join(err, s.settleLedger(id, learn))
	}
	return err
}

// settleLedger records what was learned of an operation of a damaged run. The run is held, so its journal is left alone;
// the ledger must know that the call took effect.
func (s *slice) settleLedger(id string, learn func(ch *change, op holdshort.Operation) error) error {
	return s.e.persist(func(ctx context.Context) error {
		return s.e.update(ctx, s.tenant, func(ch *change) error {
			ch.ledgerOnly = true
			return ch.learnOf(id, learn)
		}, store.OperationRow(id))
	})
}

// settleOurs commits what was learned while the run is this node's: LeaseLost if it is not. An entry in the journal changes the digest in
// the run's row, so the run is stored with it, as this slice knows it.
func (s *slice) settleOurs(ctx context.Context, id string, learn func(ch *change, op holdshort.Operation) error) error {
	s.commits.Lock()
	defer s.commits.Unlock()
	base := s.snapshot()
	var run holdshort.Run
	var stored bool
	look := false // the first look is at what this slice stored last
	err := s.e.update(ctx, s.tenant, func(ch *change) (err error) {
		run, stored = base, false
		if look {
			if run, err = ch.Run(s.id); err != nil {
				return err
			}
		}
		look = true
		if run.Lease.Epoch != s.epoch || run.Status != holdshort.RunRunning {
			return errLeaseLost
		}
		if err := ch.learnOf(id, learn); err != nil {
			return err
		}
		if ch.stored[s.id] || ch.allSigned() == nil {
			return ch.FenceRun(s.id, run.Lease.Epoch)
		}
		stored = true
		return ch.PutRun(&run)
	}, store.OperationRow(id), store.RunRow(s.id))
	if err == nil && stored {
		run.Revision++
		s.mu.Lock()
		s.run = run
		s.mu.Unlock()
	}
	return err
}

func (c *change) learnOf(id string, learn func(ch *change, op holdshort.Operation) error) error {
	op, err := c.Operation(id)
	if err != nil {
		return err
	}
	return learn(c, op)
}

// persist repeats a commit that must not be given up while the store is away.
func (e *Engine) persist(commit func(context.Context) error) error {
	wait := 20 * time.Millisecond
	for {
		err := commit(context.Background())
		switch holdshort.CodeOf(err) {
		case holdshort.StoreUnavailable, holdshort.StoreFull, holdshort.OutcomeUnknown, holdshort.StoreLocked, holdshort.Conflict:
		default:
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
			wait = min(2*wait, 2*time.Second)
		case <-e.hard.Done():
			timer.Stop()
			return err
		}
	}
}

// outcome closes an operation that is started, or settles one that is unknown, with its journal entry and its event. No entry: another
// attempt has been made meanwhile, and this one's answer is only a fact in the log.
func (c *change) outcome(run *holdshort.Run, op holdshort.Operation, nonce string, call *call, happened bool, result tool.Result, fault error) (*holdshort.JournalEntry, error) {
	entry := &holdshort.JournalEntry{RunID: op.RunID, Key: call.Key, Attempt: run.Attempt, Kind: flow.KindCall, Hash: call.Hash, Started: op.StartedAt, Ended: c.now}
	if err := fill(entry, result, fault, call.changed()); err != nil {
		return nil, err
	}
	switch {
	case op.Nonce != nonce && !happened:
		return nil, nil
	case op.Nonce != nonce:
		return nil, c.disagree(run, op, happened)
	case op.Status == holdshort.OperationDone || op.Status == holdshort.OperationFailed: // a commit whose answer was lost went through, or somebody settled it
		if (op.Status == holdshort.OperationDone) == happened {
			return entry, nil
		}
		return nil, c.disagree(run, op, happened)
	}
	input, event := holdshort.OperationFinish, "operation.done"
	if !happened {
		input, event = holdshort.OperationProveFailed, "operation.failed"
	}
	if op.Status == holdshort.OperationUnknown {
		return nil, c.learn(op, happened, result, fault, "system:late") // it wakes the run, which reads it from its journal
	}
	next, err := op.Apply(input, nonce, c.now)
	if err != nil {
		return nil, err
	}
	if happened {
		next.ResultHash, next.ExternalIDs = c.e.keyring.TenantHash(c.Tenant(), "result", result.Value), storable(result.ExternalIDs)
	}
	if err := c.PutOperation(next); err != nil {
		return nil, err
	}
	if err := c.AddJournal(*entry); err != nil {
		return nil, err
	}
	if err := c.DropTimer(holdshort.TimerOperation, op.ID, string(op.RunID)); err != nil {
		return nil, err
	}
	return entry, c.operationEvent(event, run, op, "system:worker", "")
}

func fill(entry *holdshort.JournalEntry, result tool.Result, fault error, ran json.RawMessage) (err error) {
	if len(ran) > 0 {
		if entry.Outcome, err = json.Marshal(flow.CallOutcome{Args: ran}); err != nil {
			return err
		}
	}
	if fault != nil {
		entry.Error = toolFailure(entry.Key, fault)
		return nil
	}
	if len(result.Value) > maxResult { // it happened: that is recorded, whatever it brought
		entry.Error = &holdshort.Failure{Code: holdshort.TooLarge, Message: fmt.Sprintf("it was done, but its result has more than %d bytes and was not kept", maxResult), Step: entry.Key}
		return nil
	}
	entry.Outcome, err = callValue(result, "", ran)
	return err
}

// toolFailure keeps what the other side said about the arguments, for whoever puts them right.
func toolFailure(step string, fault error) *holdshort.Failure {
	f := &holdshort.Failure{Code: holdshort.ToolFailed, Message: clipLong(fault.Error()), Step: step}
	var known *tool.Fault
	if errors.As(fault, &known) {
		if raw, err := json.Marshal(known); err == nil && len(raw) <= maxDetail {
			f.Detail = raw
		}
	}
	return f
}

const maxDetail = 16 << 10

const maxResult = store.MaxBody / 2

// storable drops external ids that no row can hold.
func storable(ids map[string][]string) map[string][]string {
	out := map[string][]string{}
	for name, list := range ids {
		for _, id := range list {
			if len(out) < 100 && len(out[clip(name)]) < 100 {
				out[clip(name)] = append(out[clip(name)], clip(id))
			}
		}
	}
	return out
}

// failed closes an attempt that provably did nothing and that is tried again.
func (s *slice) failed(a attempt) error {
	run := s.snapshot()
	return s.settle(a.op.ID, func(c *change, op holdshort.Operation) error {
		if op.Nonce != a.op.Nonce || op.Status != holdshort.OperationStarted {
			return nil
		}
		next, err := op.Apply(holdshort.OperationProveFailed, a.op.Nonce, c.now)
		if err != nil {
			return err
		}
		if err := c.PutOperation(next); err != nil {
			return err
		}
		return c.operationEvent("operation.failed", &run, op, "system:worker", holdshort.ToolFailed)
	})
}

// byPerson records what a person answered in the tool's place, once the decision is verified and used up.
func (s *slice) byPerson(ctx context.Context, c *call, value json.RawMessage) error {
	var refused *refusal
	err := s.commit(context.WithoutCancel(ctx), func(ch *change, run *holdshort.Run) error {
		refused = nil
		_, d, decided, r := ch.verified(run, c)
		if r == nil && decided.Message != c.decided.Message {
			r = forged("the journal says something else than the decision")
		}
		if r != nil {
			refused = r
			return r
		}
		if err := ch.UseDecision(d.ID, c.ID, s.operationID(c.Key)); err != nil {
			return err
		}
		now := ch.now
		entry := holdshort.JournalEntry{RunID: run.ID, Key: c.Key, Attempt: run.Attempt, Kind: flow.KindCall, Hash: c.Hash, Started: now, Ended: now}
		raw, err := json.Marshal(flow.CallOutcome{Value: value, By: d.Actor.ID})
		entry.Outcome = raw
		c.entry = &entry
		return errors.Join(err, ch.AddJournal(entry))
	})
	if err != nil {
		c.entry = nil
		if refused == nil && errors.Is(err, holdshort.DecisionUsed) {
			refused = heldBy(err)
		}
		if refused != nil {
			return s.refused(ctx, c, refused)
		}
		return err
	}
	s.journal.add(*c.entry)
	return nil
}
