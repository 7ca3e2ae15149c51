package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"time"
	"unicode/utf8"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/tool"
)

// attempt is one try of an operation: what the ledger has of it, and exactly what runs.
type attempt struct {
	op    holdshort.Operation
	args  json.RawMessage
	tool  string    // the definition that it was judged by
	rerun bool      // of the attempt before nobody knows what became: an error of this one proves nothing about it
	since time.Time // by this process's clock, before the started row was written: its deadline is counted from here, or later
}

// perform calls the tool. What changes nothing and nobody had to approve is only journaled; everything else goes through the ledger.
func (s *slice) perform(ctx context.Context, c *call) error {
	room := s.e.rooms[c.Tool]
	if room != nil {
		select {
		case room <- struct{}{}:
			defer func() { <-room }()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if c.tool.Effect == tool.Read && c.decided == nil && c.prior == nil && c.verdict.Decision == policy.Allow && len(c.verdict.Limits) == 0 {
		return s.readOnly(ctx, c)
	}
	return s.attempts(ctx, c, holdshort.OperationRetry)
}

// attempts starts the operation, calls the tool, and again as long as that is safe.
func (s *slice) attempts(ctx context.Context, c *call, again holdshort.OperationInput) error {
	a, err := s.begin(ctx, c, again)
	for {
		if err != nil || c.entry != nil {
			return err
		}
		result, fault := s.e.invoke(ctx, c.tool, a, s.tenant, s.snapshot())
		again, err := s.conclude(ctx, c, a, result, fault)
		if err != nil || c.entry != nil {
			return err
		}
		if a, err = s.begin(ctx, c, again); err != nil {
			return err
		}
	}
}

// readOnly calls a tool that changes nothing, and again if it asks for that.
func (s *slice) readOnly(ctx context.Context, c *call) error {
	started := s.Now()
	var result tool.Result
	var fault error
	for n := 0; n <= c.tool.Retries; n++ {
		a := attempt{op: holdshort.Operation{ID: s.operationID(c.Key), Attempt: n + 1, Deadline: s.Now().Add(c.tool.Timeout)}, args: c.Args, tool: c.defined, since: time.Now()}
		if result, fault = s.e.invoke(ctx, c.tool, a, s.tenant, s.snapshot()); fault == nil {
			break
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	c.entry = &holdshort.JournalEntry{Key: c.Key, Kind: flow.KindCall, Hash: c.Hash, Started: started, Ended: s.Now()}
	if fault != nil {
		c.entry.Error = toolFailure(c.Key, fault)
	} else if c.entry.Outcome, fault = callValue(result, "", nil); fault != nil {
		return fault
	}
	return s.Record(ctx, *c.entry)
}

func callValue(r tool.Result, by string, ran json.RawMessage) (json.RawMessage, error) {
	if !utf8.Valid(r.Value) {
		r.Value = bytes.ToValidUTF8(r.Value, []byte("\uFFFD"))
	}
	if len(r.Value) > 0 && !json.Valid(r.Value) {
		r.Value, _ = json.Marshal(string(r.Value)) // text is not lost because it is no JSON
	}
	return json.Marshal(flow.CallOutcome{Value: r.Value, By: by, Args: ran})
}

// begin commits the `started` row: the moment of execution. In the same transaction it checks that the run is still ours and not canceled,
// verifies the signed decision and uses it up, judges once more, and reserves limits. It gives nothing to call when the call is refused
// (c.entry), or has to be asked about (Suspend).
func (s *slice) begin(ctx context.Context, c *call, again holdshort.OperationInput) (a attempt, err error) {
	var refusal *refusal // why it does not start, if it does not
	limits, rows := s.limits(c)
	since := time.Now()
	err = s.commit(context.WithoutCancel(ctx), func(ch *change, run *holdshort.Run) error {
		a, refusal = attempt{args: c.Args, since: since, rerun: again == holdshort.OperationRerun}, nil
		if run.Held != nil {
			return errLeaseLost
		}
		if run.Wake != s.wake { // something arrived since the journal was loaded: it may be a rejection
			return errMoved
		}
		op, err := s.nextAttempt(ch, c, again)
		if err != nil {
			return err
		}
		if op.Attempt == 1 || again == holdshort.OperationRetry && c.decided != nil && c.approval.Request != op.RequestID {
			if a.args, refusal = ch.authorize(run, c, &op); refusal != nil {
				return refusal
			}
			if refusal = ch.sameAsBefore(c, op, a.args); refusal != nil {
				return refusal
			}
			if refusal = ch.reserve(c, limits, a.args); refusal != nil {
				return refusal
			}
		} else if a.args, refusal = ch.sameArgs(run, c, op); refusal != nil {
			return refusal
		}
		op.Nonce, op.StartedAt, op.Deadline = holdshort.NewSalt(), ch.now, ch.now.Add(c.tool.Timeout)
		op.ArgsHash = s.e.keyring.TenantHash(s.tenant, "args", a.args)
		a.op, a.tool = op, c.defined
		run.Lease.Until = latest(run.Lease.Until, op.Deadline.Add(s.e.config.Lease))
		if op.Attempt == 1 { // so that whoever settles it later knows what the flow asked for
			entry := holdshort.JournalEntry{RunID: run.ID, Key: startedKey(c.Key), Attempt: run.Attempt, Kind: kindStarted, Hash: c.Hash, Started: ch.now, Ended: ch.now}
			if err := ch.AddJournal(entry); err != nil {
				return err
			}
		}
		return ch.start(run, op)
	}, append(rows, store.OperationRow(s.operationID(c.Key)))...)
	if refusal == nil && errors.Is(err, holdshort.DecisionUsed) {
		refusal = heldBy(err)
	}
	if errors.Is(err, errMoved) {
		return a, s.lookAgain()
	}
	if again == holdshort.OperationRerun && errors.Is(err, holdshort.WrongState) { // by the store's clock its deadline has not passed: its timer comes again
		return a, flow.Suspend
	}
	if refusal != nil && err != nil {
		return a, s.refused(ctx, c, refusal)
	}
	if err == nil {
		a.op.Revision++
		c.prior = &a.op
	}
	return a, err
}

// nextAttempt gives the operation that is about to start: a new one, or the one that is tried again.
func (s *slice) nextAttempt(ch *change, c *call, again holdshort.OperationInput) (holdshort.Operation, error) {
	id := s.operationID(c.Key)
	op, err := ch.Operation(id)
	if err == nil && op.RunID != s.id {
		return op, flow.Hold(holdshort.ArgsChanged, &holdshort.Error{Code: holdshort.ArgsChanged, Op: "call " + c.Key, Message: "the operation id belongs to another run", Hint: "start it again with ids of its own"})
	}
	if holdshort.CodeOf(err) == holdshort.NotFound {
		return holdshort.Operation{ID: id, RunID: s.id, StepID: string(s.id) + "/" + c.Key, Capability: c.Tool, Status: holdshort.OperationStarted, Attempt: 1}, nil
	}
	if err != nil {
		return op, err
	}
	if c.prior == nil || c.prior.Nonce != op.Nonce {
		return op, errMoved
	}
	return op.Apply(again, op.Nonce, ch.now)
}

// errMoved: another node has made an attempt since this one looked.
var errMoved = errors.New("another node has made an attempt")

// start stores the row and its timer.
func (c *change) start(run *holdshort.Run, op holdshort.Operation) error {
	if err := c.PutOperation(op); err != nil {
		return err
	}
	if err := c.alarm(holdshort.Timer{Kind: holdshort.TimerOperation, Subject: op.ID, Key: string(op.RunID), DueAt: op.Deadline}); err != nil {
		return err
	}
	return c.operationEvent("operation.started", run, op, "system:worker", "")
}

// invoke calls the tool until its deadline. A tool that does not come back then is left behind; what it answers later is still taken. A
// process that was frozen since it wrote the started row may come back after the deadline: then it calls nothing, for others have taken over.
func (e *Engine) invoke(within context.Context, t tool.Tool, a attempt, tenant holdshort.TenantID, run holdshort.Run) (tool.Result, error) {
	left := t.Timeout - time.Since(a.since)
	if left <= 0 {
		return tool.Result{}, tool.NotSent(errTooLate)
	}
	ctx, cancel := context.WithDeadline(grafted{e.hard, within}, a.since.Add(t.Timeout))
	type answer struct {
		result tool.Result
		err    error
	}
	answers := make(chan answer, 1)
	var late lateness
	e.wg.Go(func() {
		defer cancel()
		var got answer
		func() {
			defer func() {
				if p := recover(); p != nil {
					stack := clipLong(string(debug.Stack()))
					e.log.Error("a tool panicked", append(runFields(run), "code", holdshort.Panicked, "request_id", a.op.RequestID,
						"operation_id", a.op.ID, "tool", t.Name, "stack", stack)...)
					got = answer{err: panicError(p, stack)}
				}
			}()
			ctx, done := e.config.Observer.Call(ctx, run.ID, t.Name, a.op.ID)
			defer func() { done(got.err) }()
			got.result, got.err = t.Call(ctx, tool.Call{Tenant: tenant, RunID: run.ID, OperationID: a.op.ID, Attempt: a.op.Attempt, Args: a.args, Deadline: a.op.Deadline, Definition: a.tool})
		}()
		answers <- got
		if late.arrive() && a.op.Nonce != "" {
			e.tooLate(tenant, a, got.result, got.err, t)
		}
	})
	patience := time.NewTimer(left + 50*time.Millisecond)
	defer patience.Stop()
	select {
	case got := <-answers:
		return got.result, got.err
	case <-patience.C:
	}
	if !late.leave() { // it came at the last moment
		got := <-answers
		return got.result, got.err
	}
	return tool.Result{}, errHangs
}

var errTooLate = &holdshort.Error{Code: holdshort.TimedOut, Message: "the deadline had passed before the tool could be called"}

var errHangs = &holdshort.Error{Code: holdshort.TimedOut, Message: "the tool did not answer before its deadline"}
