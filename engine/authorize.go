package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

// refusal is why a call does not start now.
type refusal struct {
	failure *holdshort.Failure // it never runs: this is its outcome
	hold    holdshort.Code     // a person has to look
	ask     *policy.Verdict    // it has to be asked about
	err     error
}

func (r *refusal) Error() string {
	switch {
	case r.err != nil:
		return r.err.Error()
	case r.failure != nil:
		return r.failure.Message
	}
	return "the call has to be asked about again"
}

func (r *refusal) Unwrap() error { return r.err }

func heldBy(err error) *refusal { return &refusal{hold: holdshort.CodeOf(err), err: err} }

// refused deals with a call that was not started: it is recorded as denied, asked about, or the run is held. The refusal itself is an event.
func (s *slice) refused(ctx context.Context, c *call, r *refusal) error {
	switch {
	case r.hold != "":
		s.mu.Lock()
		s.pending.refused = append(s.pending.refused, refusedCall{c.refusedFact(operationID(s.run, c.Key)), r.hold})
		s.mu.Unlock()
		return flow.Hold(r.hold, r.err)
	case r.failure != nil:
		return s.refuse(ctx, c, *r.failure, s.refusal(c, r.failure.Code))
	}
	c.again = r.ask
	return flow.Suspend
}

// authorize checks, at the moment of execution, that what runs is what was approved, and uses the approval up. It gives the arguments that
// run: byte for byte those that the decision's signature covers.
func (c *change) authorize(run *holdshort.Run, call *call, op *holdshort.Operation) (json.RawMessage, *refusal) {
	call.defined = call.tool.Defined()
	now := policy.Judge(c.e.hookContext(), c.e.config.Policy, c.e.judged(c.Tenant(), run, call.Key, call.Tool, call.Args, c.now))
	if call.decided == nil { // nobody had to approve it when it was asked for
		switch now.Decision {
		case policy.Allow:
			return call.Args, nil
		case policy.Deny:
			f := denial("the policy does not allow it (" + now.Rule + ")")
			return nil, &refusal{failure: &f}
		}
		return nil, &refusal{ask: &now}
	}
	req, d, decided, refused := c.verified(run, call)
	if refused != nil {
		return nil, refused
	}
	args := actionOf(req, call.ID).Args
	if decided.Action == holdshort.Edit {
		args = decided.Args
	}
	if string(args) != string(call.Args) {
		now = policy.Judge(c.e.hookContext(), c.e.config.Policy, c.e.judged(c.Tenant(), run, call.Key, call.Tool, args, c.now))
	}
	if holdshort.ArgsHash(args) != decided.ArgsHash {
		return nil, forged("the arguments are not those of the decision")
	}
	met, err := c.met(now, req, d, run)
	switch {
	case err != nil:
		return nil, heldBy(err)
	case now.Decision == policy.Deny:
		f := denial("the policy no longer allows it (" + now.Rule + ")")
		return nil, &refusal{failure: &f}
	case !met, c.now.After(d.At.Add(goodFor(req, now))):
		if now.Decision == policy.Allow { // the approval is too old, whatever the rule says today
			now = policy.Verdict{Decision: policy.Ask, Rule: req.Rule, Version: req.PolicyVersion, Reason: req.Reason, Audience: req.Audience, ValidFor: req.ValidFor,
				OnTimeout: req.OnTimeout, OnReject: req.OnReject, Priority: req.Priority, ExpiresIn: req.ExpiresIn}
		}
		return nil, &refusal{ask: &now}
	case call.tool.SchemaHash() != actionOf(req, call.ID).SchemaHash:
		return nil, &refusal{ask: &now}
	}
	if err := c.UseDecision(d.ID, call.ID, op.ID); err != nil {
		return nil, heldBy(err)
	}
	op.RequestID = req.ID
	return args, nil
}

// goodFor is how long an approval is good: what was said when it was asked, or less if a rule says so now.
func goodFor(req holdshort.Request, now policy.Verdict) time.Duration {
	if now.ValidFor > 0 {
		return min(req.ValidFor, now.ValidFor)
	}
	return req.ValidFor
}

// met reports whether those who approved are enough for what the policy says now. A batch shows one audience, and rules change: each call is
// held to its own. Where nobody answered, those who look after the system, or the clock, stand in for them.
func (c *change) met(now policy.Verdict, req holdshort.Request, d holdshort.Decision, run *holdshort.Run) (bool, error) {
	if req.Kind == holdshort.Escalation || d.Actor.Kind == holdshort.System && now.OnTimeout == holdshort.TimeoutApprove {
		return now.Meets(req.Audience), nil
	}
	approvers := []holdshort.Actor{d.Actor}
	if now.Audience.Needed() > 1 {
		votes, err := c.Votes(req.ID)
		if err != nil {
			return false, err
		}
		for _, v := range votes {
			if c.e.keyring.VerifyVote(c.Tenant(), v) == nil && v.Fingerprint == req.Fingerprint {
				approvers = append(approvers, v.Actor)
			}
		}
	}
	return now.MetBy(ownerOf(req, run), req.Requester, approvers...), nil
}

func forged(message string) *refusal {
	return &refusal{hold: holdshort.MACInvalid, err: &holdshort.Error{Code: holdshort.MACInvalid, Op: "verify decision", Message: message,
		Hint: "nothing ran; look into the database's access log, then cancel the run"}}
}

// verified loads the decision that a call waits for and checks that it is ours, about this request, this run, this step and this call.
func (c *change) verified(run *holdshort.Run, call *call) (req holdshort.Request, d holdshort.Decision, decided holdshort.CallDecision, refused *refusal) {
	req, err := c.Request(call.approval.Request)
	if err == nil {
		d, err = c.Decision(req.ID)
	}
	if err != nil {
		if holdshort.CodeOf(err) == holdshort.NotFound {
			return req, d, decided, forged("the journal speaks of a decision that nobody made")
		}
		return req, d, decided, heldBy(err)
	}
	if err := c.e.keyring.VerifyDecision(c.Tenant(), d); err != nil {
		return req, d, decided, heldBy(err)
	}
	fingerprint, err := req.ComputeFingerprint(c.Tenant())
	if err != nil {
		return req, d, decided, heldBy(err)
	}
	i := slices.IndexFunc(d.Calls, func(cd holdshort.CallDecision) bool { return cd.CallID == call.ID })
	action := actionOf(req, call.ID)
	switch {
	case fingerprint != req.Fingerprint || d.Fingerprint != req.Fingerprint || d.RequestID != req.ID:
		return req, d, decided, forged("the decision is about something else than the request")
	case req.RunID != run.ID || req.OriginStepID != call.step || action == nil || i < 0:
		return req, d, decided, forged("the decision is about another call")
	case action.Tool != call.Tool || action.AskedFor() != holdshort.ArgsHash(call.Args) || holdshort.ArgsHash(action.Args) != action.ArgsHash:
		return req, d, decided, &refusal{hold: holdshort.JournalMismatch, err: &holdshort.Error{Code: holdshort.JournalMismatch, Op: "call " + call.Key,
			Message: "the flow now calls something else than what was approved", Hint: "deploy the version again under which it was asked, then retry the run"}}
	case req.Status != holdshort.RequestResolved:
		return req, d, decided, forged("the request is " + string(req.Status))
	}
	decided = d.Calls[i]
	if call.decided != nil && decided.Action != call.decided.Action || decided.Action != holdshort.Approve && decided.Action != holdshort.Edit && decided.Action != holdshort.Respond {
		return req, d, decided, forged("the journal says something else than the decision")
	}
	return req, d, decided, nil
}

// sameArgs is for a further attempt of an operation: it runs what the first one ran, under the decision that was used for it.
func (c *change) sameArgs(run *holdshort.Run, call *call, op holdshort.Operation) (json.RawMessage, *refusal) {
	args := call.Args
	if op.RequestID != "" {
		used := *call // the decision that it was started under, whatever was asked since
		if used.approval == nil || used.approval.Request != op.RequestID {
			used.approval, used.decided = &flow.Answer{Request: op.RequestID}, nil
		}
		req, _, decided, refused := c.verified(run, &used)
		if refused != nil {
			return nil, refused
		}
		action := actionOf(req, call.ID)
		if args = action.Args; decided.Action == holdshort.Edit {
			args = decided.Args
		}
		if now := call.tool.Defined(); now != "" && !strings.HasSuffix(action.SchemaHash, ":"+now) {
			return nil, &refusal{hold: holdshort.ToolUnknown, err: &holdshort.Error{Code: holdshort.ToolUnknown, Op: "call " + call.Key,
				Message: "the tool is another now than the one that was approved, and nobody knows what became of the call", Hint: "bring the server back that it was, then retry the run; or cancel it"}}
		}
	}
	return args, c.sameAsBefore(call, op, args)
}

// sameAsBefore refuses another attempt of an operation with other arguments.
func (c *change) sameAsBefore(call *call, op holdshort.Operation, args json.RawMessage) *refusal {
	if op.Attempt == 1 {
		return nil
	}
	same, err := c.e.keyring.SameTenantHash(c.Tenant(), "args", op.ArgsHash, args)
	if err != nil {
		return heldBy(err)
	}
	if !same {
		return &refusal{hold: holdshort.ArgsChanged, err: &holdshort.Error{Code: holdshort.ArgsChanged, Op: "call " + call.Key,
			Message: "the operation was started with other arguments", Hint: "deploy the version again that started it, then retry the run"}}
	}
	return nil
}

// reserve counts a call against the policy's limits. Past one it asks or is denied; a person's approval lets it pass.
func (c *change) reserve(call *call, limits []limit, args json.RawMessage) *refusal {
	for _, l := range limits {
		n := int64(1)
		if l.Spend {
			n = costOf(call.tool, args)
		}
		used, err := c.Counter(l.counter)
		if err != nil {
			return heldBy(err)
		}
		if n > l.Max-used && (call.decided == nil || l.Deny) { // a person may let it pass, unless the rule denies
			if l.Deny {
				f := holdshort.Failure{Code: holdshort.LimitReached, Message: "not run: the limit of " + l.Name + " is reached"}
				return &refusal{failure: &f}
			}
			ask := call.verdict
			ask.Decision, ask.Reason = policy.Ask, "policy_violation"
			return &refusal{ask: &ask}
		}
		if err := c.AddCounter(l.counter, n); err != nil {
			return heldBy(err)
		}
	}
	return nil
}

// limits names the counters of a call's limits, and their rows: who reserves must have them to himself.
func (s *slice) limits(c *call) (limits []limit, rows []store.Row) {
	run, now, v, args := s.snapshot(), s.Now(), c.verdict, c.Args
	if len(c.ran) > 0 {
		args = c.ran
	}
	if c.decided != nil && c.decided.Action == holdshort.Edit { // those of what will run
		v = policy.Judge(s.e.hookContext(), s.e.config.Policy, s.e.judged(s.tenant, &run, c.Key, c.Tool, c.decided.Args, now))
		args = c.decided.Args
	}
	for _, l := range v.Limits {
		name := l.Name
		if name == "" {
			name = c.Tool
		}
		name += s.e.apart(l, s.tenant, c.Tool, args)
		switch l.Scope {
		case policy.PerSession:
			name = "limit/session/" + cmp.Or(string(run.SessionID), string(run.ID)) + "/" + name
		case policy.PerDay:
			name = "limit/day/" + now.UTC().Format("2006-01-02") + "/" + name
		default:
			name = "limit/run/" + string(run.ID) + "/" + name
		}
		if l.Spend {
			name += "/spend"
		} else {
			name += "/calls"
		}
		limits, rows = append(limits, limit{l, name}), append(rows, store.CounterRow(name))
	}
	return limits, rows
}

// apart names the arguments of a limit that counts equal calls. The counter outlives what it counts, so nobody may guess them from it.
func (e *Engine) apart(l policy.Limit, tenant holdshort.TenantID, tool string, args json.RawMessage) string {
	if !l.Repeats {
		return ""
	}
	return "/" + e.keyring.TenantHash(tenant, "repeat", []byte(tool+"\x00"+string(args)))
}

type limit struct {
	policy.Limit
	counter string
}
