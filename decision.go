package holdshort

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Verb is what a person does with a request. Aliases exist only at the edges; an unknown word is never an approval.
type Verb string

const (
	Approve Verb = "approve"
	Reject  Verb = "reject"
	Edit    Verb = "edit"
	Answer  Verb = "answer"
	Select  Verb = "select"
	Respond Verb = "respond" // the person is the tool
	Cancel  Verb = "cancel"
)

// ParseVerb takes the seven words and nothing else.
func ParseVerb(s string) (Verb, error) {
	switch v := Verb(s); v {
	case Approve, Reject, Edit, Answer, Select, Respond, Cancel:
		return v, nil
	}
	return "", &Error{Code: Invalid, Field: "action", Message: fmt.Sprintf("unknown action %q", clip(s, 40)),
		Hint: "use approve, reject, edit, answer, select, respond or cancel"}
}

// CallDecision is what was decided about one call of a batch.
type CallDecision struct {
	CallID   string          `json:"call_id"`
	Action   Verb            `json:"action"`
	Message  string          `json:"message,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"`      // of an edit, canonical
	ArgsHash string          `json:"args_hash,omitempty"` // of what will run; set by the kernel, never by a caller
}

// Decision is a reply that the kernel accepted, with its actor. Its MAC binds it to one request and to exactly what was shown.
type Decision struct {
	ID           DecisionID      `json:"id"`
	RequestID    RequestID       `json:"request_id"`
	Action       Verb            `json:"action"`
	Actor        Actor           `json:"actor"`
	Message      string          `json:"message,omitempty"`
	OptionIDs    []string        `json:"option_ids,omitempty"`
	Value        json.RawMessage `json:"value,omitempty"`
	Calls        []CallDecision  `json:"calls,omitempty"`
	Raw          string          `json:"raw,omitempty"`
	Channel      string          `json:"channel,omitempty"`
	ResolvedBy   string          `json:"resolved_by,omitempty"` // a label for people, as the caller gave it; who decided is the actor
	SelfApproved bool            `json:"self_approved,omitempty"`
	Fingerprint  string          `json:"fingerprint"`
	Nonce        string          `json:"-"`
	KeyID        string          `json:"-"`
	MAC          string          `json:"-"`
	At           time.Time       `json:"at"`
}

// Vote is one of several approvals that a quorum needs: a decision that did not resolve the request yet.
type Vote = Decision

// Decide resolves the request with d, or says why not. It is the pure half of deciding: who may, quorum and schema are the kernel's checks
// before it; compare-and-set is the store's after it. A batch that names calls must name every one that needs a decision.
func (r Request) Decide(d Decision, now time.Time) (Request, error) {
	if err := r.open(now); err != nil {
		return r, err
	}
	if d.Fingerprint != "" && d.Fingerprint != r.Fingerprint {
		return r, &Error{Code: FingerprintMismatch, Message: "what was decided is not what stands", Hint: "load the request again and decide what it shows"}
	}
	if err := r.fits(d); err != nil {
		return r, err
	}
	if d.Action == Cancel {
		r.CancelReason = d.Message
		return r.close(RequestCancel, "", now)
	}
	return r.close(RequestDecide, r.outcome(d), now)
}

// fits checks the decision against what this request takes.
func (r Request) fits(d Decision) error {
	if d.Action != Cancel && !slices.Contains(r.Allowed, d.Action) {
		return misfit("action", fmt.Sprintf("this request does not take %q", d.Action), fmt.Sprintf("it takes %v", r.Allowed))
	}
	if len(d.Calls) > 0 {
		return r.fitsCalls(d)
	}
	switch d.Action {
	case Select:
		return r.fitsOptions(d.OptionIDs)
	case Answer, Respond:
		if len(d.Value) == 0 {
			return misfit("value", "an answer needs a value", "send the text or the form's fields as value")
		}
	case Edit:
		return misfit("calls", "an edit names the call and its new arguments", "send calls with call_id, action edit and args")
	case Approve, Reject, Cancel:
	default:
		return misfit("action", fmt.Sprintf("unknown action %q", clip(string(d.Action), 40)), "use approve, reject, edit, answer, select, respond or cancel")
	}
	return nil
}

func (r Request) fitsOptions(ids []string) error {
	if len(ids) == 0 || r.ExpectedInput == SingleChoice && len(ids) != 1 {
		return misfit("option_ids", fmt.Sprintf("%d options chosen of a %s", len(ids), r.ExpectedInput), "choose one of the options by its id")
	}
	for i, id := range ids {
		known := slices.ContainsFunc(r.Options, func(o Option) bool { return o.ID == id })
		if !known || slices.Contains(ids[:i], id) {
			return misfit("option_ids", fmt.Sprintf("option %q is unknown or named twice", clip(id, 60)), "choose from the request's options by id")
		}
	}
	return nil
}

func (r Request) fitsCalls(d Decision) error {
	switch d.Action {
	case Approve, Edit, Respond:
	case Reject: // the whole and its calls must not say opposite things
		if slices.ContainsFunc(d.Calls, func(c CallDecision) bool { return c.Action != Reject }) {
			return misfit("calls", "rejecting the whole runs nothing of it, but a call is decided otherwise", "leave calls out, or approve as a whole and reject some")
		}
	default:
		return misfit("calls", fmt.Sprintf("%q decides no calls", d.Action), "leave calls out, or use approve, reject, edit or respond")
	}
	named := map[string]bool{}
	for _, c := range d.Calls {
		i := slices.IndexFunc(r.Actions, func(a Action) bool { return a.CallID == c.CallID })
		if i < 0 || named[c.CallID] {
			return misfit("calls", fmt.Sprintf("call %q is unknown or named twice", clip(c.CallID, 60)), "name each call of the request once")
		}
		named[c.CallID] = true
		if !r.Actions[i].NeedsApproval {
			return misfit("calls", fmt.Sprintf("call %q needs no decision", clip(c.CallID, 60)), "leave it out: it runs when the others are decided")
		}
		switch c.Action {
		case Approve, Reject, Respond:
		case Edit:
			if len(c.Args) == 0 {
				return misfit("calls", "an edit needs new arguments", "send args")
			}
		default:
			return misfit("calls", fmt.Sprintf("a call cannot be decided by %q", clip(string(c.Action), 40)), "use approve, reject, edit or respond")
		}
		if !slices.Contains(r.Allowed, c.Action) {
			return misfit("calls", fmt.Sprintf("this request does not take %q", c.Action), fmt.Sprintf("it takes %v", r.Allowed))
		}
	}
	for _, a := range r.Actions {
		if a.NeedsApproval && !named[a.CallID] {
			return misfit("calls", fmt.Sprintf("call %q has no decision", clip(a.CallID, 60)), "decide every call that needs one, or the request as a whole")
		}
	}
	return nil
}

func misfit(field, message, hint string) error {
	return &Error{Code: DoesNotFit, Field: field, Message: message, Hint: hint}
}

// outcome of a mixed batch is the first of edited, approved, answered, rejected that occurs; its calls are authoritative.
func (r Request) outcome(d Decision) Outcome {
	if len(d.Calls) > 0 {
		for _, o := range []struct {
			verb    Verb
			outcome Outcome
		}{{Edit, Edited}, {Approve, Approved}, {Respond, Answered}, {Reject, Rejected}} {
			if slices.ContainsFunc(d.Calls, func(c CallDecision) bool { return c.Action == o.verb }) {
				return o.outcome
			}
		}
	}
	return map[Verb]Outcome{Approve: Approved, Reject: Rejected, Edit: Edited, Answer: Answered, Select: Selected, Respond: Answered}[d.Action]
}
