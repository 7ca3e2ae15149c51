package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

// call is one call of a batch on its way to its outcome.
type call struct {
	flow.Invocation
	step     string // of the batch: where its request is
	tool     tool.Tool
	known    bool
	defined  string // the tool's definition, as it was judged
	verdict  policy.Verdict
	prior    *holdshort.Operation // what the ledger has of it
	ran      json.RawMessage      // what its last attempt ran with, where a person had edited that
	approval *flow.Answer         // what a person said about the batch
	decided  *holdshort.CallDecision
	waits    bool            // people are looking at it
	retried  bool            // a person had the failed step tried again
	again    *policy.Verdict // it has to be asked about once more
	entry    *holdshort.JournalEntry
}

// Calls carries out the calls of one batch. If any needs a person, nothing of the batch runs before the decision.
func (s *slice) Calls(ctx context.Context, key string, invocations []flow.Invocation) ([]holdshort.JournalEntry, error) {
	calls, open, err := s.look(ctx, key, invocations)
	if err != nil {
		return nil, err
	}
	if err := awaits(calls, open); err != nil {
		return nil, err
	}
	if draft := s.needsPerson(key, calls); draft != nil && open == nil {
		if err := s.mayPause(key); err != nil {
			return nil, err
		}
		if err := s.Ask(ctx, key, *draft); err != nil {
			return nil, err
		}
		return nil, flow.Suspend
	}
	faults := make([]error, len(calls))
	var wg sync.WaitGroup
	for i, c := range calls {
		if c.entry == nil {
			wg.Go(func() {
				defer func() {
					if p := recover(); p != nil { // outside of the flow's own goroutine nobody else would catch it
						faults[i] = flow.Hold(holdshort.Internal, panicError(p, clipLong(string(debug.Stack()))))
					}
				}()
				faults[i] = s.carryOut(ctx, c)
			})
		}
	}
	wg.Wait()
	if open == nil { // else what has to be asked comes after what is asked now
		if err := s.askAgain(ctx, key, calls); err != nil {
			return nil, err
		}
	}
	if err := gravest(faults); err != nil {
		return nil, err
	}
	entries := make([]holdshort.JournalEntry, len(calls))
	for i, c := range calls {
		entries[i] = *c.entry
	}
	return entries, nil
}

// gravest: what stops the run comes before what only makes it wait.
func gravest(faults []error) error {
	var waits error
	for _, err := range faults {
		var signal *flow.Signal
		if errors.As(err, &signal) && signal.State == flow.Suspended {
			waits = err
		} else if err != nil {
			return err
		}
	}
	return waits
}

// fits checks the arguments before anybody is asked about them.
func (c *call) fits() *holdshort.Failure {
	if c.prior != nil {
		return nil
	}
	if !c.known {
		return nil // the policy denies it
	}
	if err := c.tool.Validate(c.Args); err != nil {
		return &holdshort.Failure{Code: holdshort.CodeOf(err), Message: err.Error(), Step: c.Key}
	}
	return nil
}

// carryOut brings one call to its outcome.
func (s *slice) carryOut(ctx context.Context, c *call) error {
	switch {
	case c.waits, !c.settled() && c.fits() == nil:
		return flow.Suspend
	case c.prior != nil && !(c.prior.Status == holdshort.OperationFailed && c.freshlyApproved()):
		return s.takeUp(ctx, c)
	case len(c.Args) > s.e.config.Limits.Args:
		return s.refuse(ctx, c, holdshort.Failure{Code: holdshort.TooLarge, Message: fmt.Sprintf("arguments of more than %d bytes", s.e.config.Limits.Args)})
	}
	if failure := c.fits(); failure != nil {
		return s.refuse(ctx, c, *failure)
	}
	if c.verdict.Decision == policy.Deny {
		return s.refuse(ctx, c, denial("the policy does not allow it ("+c.verdict.Rule+")"), s.refusal(c, holdshort.Denied))
	}
	if c.approval == nil {
		return s.perform(ctx, c)
	}
	switch a := c.approval; {
	case a.Status == holdshort.RequestExpired:
		return s.refuse(ctx, c, holdshort.Failure{Code: holdshort.Expired, Message: "nobody decided in time: it was not run"})
	case a.Status != holdshort.RequestResolved:
		return s.refuse(ctx, c, holdshort.Failure{Code: holdshort.Canceled, Message: "the request was canceled: it was not run"})
	case c.decided == nil && a.Action == holdshort.Reject:
		return s.refuse(ctx, c, denial("the calls beside it were rejected as a whole"))
	case c.decided == nil:
		return s.perform(ctx, c)
	case c.decided.Action == holdshort.Approve, c.decided.Action == holdshort.Edit:
		return s.perform(ctx, c)
	case c.decided.Action == holdshort.Respond:
		return s.respond(ctx, c)
	}
	return s.refuse(ctx, c, denial("rejected by "+c.approval.Actor.ID+reason(c.decided.Message, c.approval.Message)))
}

// changed gives the arguments that it runs with where a person has changed them.
func (c *call) changed() json.RawMessage {
	if c.decided != nil && c.decided.Action == holdshort.Edit {
		return c.decided.Args
	}
	return c.ran
}

func reason(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return ": " + t
		}
	}
	return ""
}

// denial is what stands in place of a result: whoever reads it must not invent one.
func denial(why string) holdshort.Failure {
	return holdshort.Failure{Code: holdshort.Denied, Message: "not run: " + why}
}

// refuse records an outcome of a call that never ran.
func (s *slice) refuse(ctx context.Context, c *call, f holdshort.Failure, facts ...refusedCall) error {
	f.Step = c.Key
	now := s.Now()
	c.entry = &holdshort.JournalEntry{Key: c.Key, Kind: flow.KindCall, Hash: c.Hash, Error: &f, Started: now, Ended: now}
	return s.record(ctx, func(p *pending) { p.refused = append(p.refused, facts...) }, *c.entry)
}

func (s *slice) refusal(c *call, code holdshort.Code) refusedCall {
	return refusedCall{c.refusedFact(s.operationID(c.Key)), code}
}

// refusedFact identifies a call that is not made, with the request under which it was approved.
func (c *call) refusedFact(operation string) operationFact {
	fact := operationFact{Operation: operation, Capability: c.Tool}
	if c.approval != nil {
		fact.Request = string(c.approval.Request)
	}
	return fact
}

// respond takes what a person wrote as the call's result. The decision is verified like an approval: a forged one must not speak for a tool.
func (s *slice) respond(ctx context.Context, c *call) error {
	value, err := json.Marshal(c.decided.Message)
	if err != nil {
		return err
	}
	return s.byPerson(ctx, c, value)
}

func (s *slice) operationID(key string) string { return operationID(s.snapshot(), key) }

// operationID is never chosen by a model or a caller.
func operationID(run holdshort.Run, key string) string {
	return run.TraceID + ":" + string(run.ID) + "/" + key
}
