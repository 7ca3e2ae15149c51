package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/tool"
)

// call is one call of a batch on its way to its outcome.
type call struct {
	flow.Invocation
	step     string // of the batch: where its request is
	tool     tool.Tool
	known    bool
	verdict  policy.Verdict
	prior    *holdshort.Operation // what the ledger has of it
	ran      json.RawMessage      // what its last attempt ran with, where a person had edited that
	approval *flow.Answer         // what a person said about the batch
	decided  *holdshort.CallDecision
	retried  bool            // a person had the failed step tried again
	again    *policy.Verdict // it has to be asked about once more
	entry    *holdshort.JournalEntry
}

// Calls carries out the calls of one batch. If any needs a person, nothing of the batch runs before the decision.
func (s *slice) Calls(ctx context.Context, key string, invocations []flow.Invocation) ([]holdshort.JournalEntry, error) {
	calls, err := s.look(ctx, key, invocations)
	if err != nil {
		return nil, err
	}
	if draft := s.needsPerson(key, calls); draft != nil {
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
			wg.Go(func() { faults[i] = s.carryOut(ctx, c) })
		}
	}
	wg.Wait()
	if err := s.askAgain(ctx, key, calls); err != nil {
		return nil, err
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

// look gathers what is known of the calls: journal, ledger, decision, policy.
func (s *slice) look(ctx context.Context, key string, invocations []flow.Invocation) ([]*call, error) {
	calls := make([]*call, len(invocations))
	approvals, err := s.approvalsOf(key)
	if err != nil {
		return nil, err
	}
	for i, in := range invocations {
		c := &call{Invocation: in, step: key, retried: s.journal.voided[key] || s.journal.voided[in.Key]}
		if e, ok := s.journal.get(in.Key); ok {
			c.entry = &e
		}
		c.tool, c.known = s.e.tools[in.Tool]
		c.decide(approvals)
		calls[i] = c
	}
	if s.isFresh() {
		s.judge(calls)
		return calls, nil
	}
	err = s.e.store.View(ctx, s.tenant, func(tx store.ReadTx) error {
		for _, c := range calls {
			c.prior = nil
			if c.entry != nil {
				continue
			}
			op, err := tx.Operation(s.operationID(c.Key))
			if err == nil {
				c.prior = &op
				err = errors.Join(c.recall(tx), s.reread(tx, c))
			}
			if err != nil && c.prior != nil {
				return err
			} else if err != nil && holdshort.CodeOf(err) != holdshort.NotFound {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.judge(calls)
	return calls, nil
}

// reread looks whether the outcome of an operation that is closed came into the journal after that was loaded: a process that lost the run
// still records what its call brought.
func (s *slice) reread(tx store.ReadTx, c *call) error {
	if c.prior.Status != holdshort.OperationDone && c.prior.Status != holdshort.OperationFailed {
		return nil
	}
	entries, err := tx.Journal(s.id)
	if err != nil {
		return err
	}
	if e, ok := newJournal(entries).get(c.Key); ok {
		s.journal.add(e)
		c.entry = &e
	}
	return nil
}

// recall finds what the last attempt ran with: what is tried again is that, whatever the flow had asked for.
func (c *call) recall(tx store.ReadTx) error {
	if c.prior.Status != holdshort.OperationFailed || c.prior.RequestID == "" {
		return nil
	}
	req, err := tx.Request(c.prior.RequestID)
	if err != nil {
		return err
	}
	d, err := tx.Decision(req.ID)
	if err != nil {
		return err
	}
	if action := actionOf(req, c.ID); action != nil {
		c.ran = action.Args
	}
	for _, decided := range d.Calls {
		if decided.CallID == c.ID && decided.Action == holdshort.Edit {
			c.ran = decided.Args
		}
	}
	if string(c.ran) == string(c.Args) {
		c.ran = nil
	}
	return nil
}

func (s *slice) isFresh() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fresh
}

// approvalsOf gives the decisions about a batch, oldest first. One that expired and fails its run does so here, before anything runs.
func (s *slice) approvalsOf(key string) ([]flow.Answer, error) {
	var answers []flow.Answer
	for _, entry := range s.journal.approvals(key) {
		if flow.Fatal(entry) {
			return nil, flow.Fail(*entry.Error)
		}
		var a flow.Answer
		if err := json.Unmarshal(entry.Outcome, &a); err != nil {
			return nil, flow.Hold(holdshort.Corrupt, err)
		}
		answers = append(answers, a)
	}
	return answers, nil
}

// decide finds what people said about the call: the newest decision that names it, else the newest about its batch.
func (c *call) decide(answers []flow.Answer) {
	for i := range answers {
		a := &answers[i]
		named := slices.IndexFunc(a.Calls, func(d holdshort.CallDecision) bool { return d.CallID == c.ID })
		switch {
		case named >= 0:
			c.approval, c.decided = a, &a.Calls[named]
		case c.decided == nil || len(a.Calls) == 0 && len(answers) == 1:
			c.approval = a
		}
	}
}

// askAgain raises one request for all calls that can no longer run on what was decided.
func (s *slice) askAgain(ctx context.Context, key string, calls []*call) error {
	calls = slices.DeleteFunc(slices.Clone(calls), func(c *call) bool { return c.again == nil })
	if len(calls) == 0 {
		return nil
	}
	if err := s.mayPause(key); err != nil {
		return err
	}
	for _, c := range calls {
		c.verdict = *c.again
	}
	return s.Ask(ctx, key, *s.draft(key, calls, calls[0].verdict, func(*call) bool { return true }))
}

func (s *slice) judge(calls []*call) {
	now, run := s.Now(), s.snapshot()
	for _, c := range calls {
		if c.entry == nil {
			c.verdict = policy.Judge(s.e.hookContext(), s.e.config.Policy, s.e.judged(s.tenant, &run, c.Tool, c.Args, now))
		}
	}
}

// hookContext is for a policy: it computes, it does not wait.
func (e *Engine) hookContext() context.Context { return context.Background() }

// judged is what a policy is asked about a call.
func (e *Engine) judged(tenant holdshort.TenantID, run *holdshort.Run, name string, args json.RawMessage, now time.Time) policy.Call {
	t, known := e.tools[name]
	c := policy.Call{Tenant: tenant, Tool: name, Args: args, Known: known, Effect: string(t.Effect), Reversible: string(t.Reversible), Idempotent: t.Idempotent, Now: now}
	if t.Cost != nil {
		c.Cost = t.Cost(args)
	}
	if run != nil {
		c.Agent, c.Flow, c.User, c.Session, c.Run = run.Agent, run.Flow, run.User, run.SessionID, run.ID
	}
	return c
}

// settled: nothing more is to be asked about the call before it is carried out.
func (c *call) settled() bool {
	if c.entry != nil || c.verdict.Decision == policy.Deny && c.prior == nil {
		return true
	}
	if c.prior != nil {
		return c.prior.Status != holdshort.OperationFailed || c.freshlyApproved() || c.retried && c.prior.RequestID == "" && c.verdict.Decision == policy.Allow
	}
	return c.approval != nil || c.verdict.Decision == policy.Allow
}

// freshlyApproved: what failed is tried again only under a decision that is not the one which was used for it.
func (c *call) freshlyApproved() bool {
	return c.approval != nil && c.approval.Request > c.prior.RequestID
}

// needsPerson gives the request that has to be decided first: one for all calls of the batch.
func (s *slice) needsPerson(key string, calls []*call) *holdshort.Request {
	var asks *call
	for _, c := range calls {
		if !c.settled() && c.fits() == nil && asks == nil {
			asks = c
		}
	}
	if asks == nil {
		return nil
	}
	return s.draft(key, calls, asks.verdict, func(c *call) bool { return !c.settled() && c.fits() == nil })
}

// draft asks about a batch. The verdict is that of the call which asks for the most.
func (s *slice) draft(key string, calls []*call, v policy.Verdict, asks func(*call) bool) *holdshort.Request {
	r := &holdshort.Request{Kind: holdshort.Approval, Source: "agent", PolicySource: "tool_policy", OriginStepID: key, ReturnTo: holdshort.ReturnTo{Node: "tool_call", Mode: "execute"},
		ExpectedInput: holdshort.YesNo, Options: []holdshort.Option{{ID: "approve", Label: "Approve"}, {ID: "reject", Label: "Reject"}},
		Allowed: []holdshort.Verb{holdshort.Approve, holdshort.Edit, holdshort.Reject, holdshort.Respond}}
	for _, c := range calls {
		a := holdshort.Action{CallID: c.ID, Tool: c.Tool, Args: c.Args, ArgsHash: holdshort.ArgsHash(c.Args), SchemaHash: c.tool.SchemaHash(), NeedsApproval: asks(c)}
		if len(c.ran) > 0 {
			a.Args, a.ArgsHash, a.AskedHash = c.ran, holdshort.ArgsHash(c.ran), a.ArgsHash
		}
		if c.prior != nil { // the same operation again: the same arguments
			r.Allowed = []holdshort.Verb{holdshort.Approve, holdshort.Reject, holdshort.Respond}
		}
		if a.NeedsApproval {
			a.Editable, a.Redacted, a.Blind = c.verdict.Editable, c.verdict.Redacted, c.verdict.Blind
			v = moreOf(v, c.verdict)
		}
		r.Actions = append(r.Actions, a)
	}
	r.Reason, r.Rule, r.PolicyVersion, r.Audience, r.ValidFor, r.OnTimeout, r.OnReject, r.Priority = v.Reason, v.Rule, v.Version, v.Audience, v.ValidFor, v.OnTimeout, v.OnReject, v.Priority
	if v.ExpiresIn != policy.Never {
		r.ExpiresIn = v.ExpiresIn
	}
	r.Question = v.Question
	if r.Question == "" {
		r.Question = template(r.Actions)
	}
	return r
}

// moreOf gives the stricter of two verdicts: more people, then the shorter time.
func moreOf(a, b policy.Verdict) policy.Verdict {
	if b.Audience.Needed() > a.Audience.Needed() || b.Audience.Needed() == a.Audience.Needed() && b.Audience.Separate && !a.Audience.Separate {
		return b
	}
	return a
}

// template asks in plain words when no rule does.
func template(actions []holdshort.Action) string {
	var lines []string
	for _, a := range actions {
		if a.NeedsApproval {
			args := string(a.Args)
			if len(args) > 300 {
				args = args[:300] + "…"
			}
			lines = append(lines, fmt.Sprintf("%s %s", a.Tool, args))
		}
	}
	if len(lines) == 1 {
		return "Run " + lines[0] + "?"
	}
	return fmt.Sprintf("Run these %d calls?\n%s", len(lines), strings.Join(lines, "\n"))
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
	case c.prior != nil && !(c.prior.Status == holdshort.OperationFailed && c.freshlyApproved()):
		return s.takeUp(ctx, c)
	case len(c.Args) > s.e.config.Limits.Args:
		return s.refuse(ctx, c, holdshort.Failure{Code: holdshort.TooLarge, Message: fmt.Sprintf("arguments of more than %d bytes", s.e.config.Limits.Args)})
	}
	if failure := c.fits(); failure != nil {
		return s.refuse(ctx, c, *failure)
	}
	if c.verdict.Decision == policy.Deny {
		s.mu.Lock()
		s.pending.refused = append(s.pending.refused, operationFact{Operation: operationID(s.run, c.Key), Capability: c.Tool})
		s.mu.Unlock()
		return s.refuse(ctx, c, denial("the policy does not allow it ("+c.verdict.Rule+")"))
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
func (s *slice) refuse(ctx context.Context, c *call, f holdshort.Failure) error {
	f.Step = c.Key
	now := s.Now()
	c.entry = &holdshort.JournalEntry{Key: c.Key, Kind: flow.KindCall, Hash: c.Hash, Error: &f, Started: now, Ended: now}
	return s.Record(ctx, *c.entry)
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

// snapshot is the run as it was last stored.
func (s *slice) snapshot() holdshort.Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run
}

// operationID is never chosen by a model or a caller.
func operationID(run holdshort.Run, key string) string {
	return run.TraceID + ":" + string(run.ID) + "/" + key
}
