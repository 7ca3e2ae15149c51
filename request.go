package holdshort

import (
	"encoding/json"
	"time"
)

// RequestStatus is where a request stands.
type RequestStatus string

const (
	RequestOpen     RequestStatus = "open"
	RequestResolved RequestStatus = "resolved"
	RequestExpired  RequestStatus = "expired"
	RequestCanceled RequestStatus = "canceled"
)

// RequestInput is what can happen to a request.
type RequestInput string

const (
	RequestAsk    RequestInput = "ask"    // its prompt went out in chat
	RequestReask  RequestInput = "reask"  // a reply did not fit: the same question again
	RequestVote   RequestInput = "vote"   // an approval that a quorum still needs more of
	RequestDecide RequestInput = "decide" // the decision that wins
	RequestExpire RequestInput = "expire"
	RequestCancel RequestInput = "cancel"
)

var requestMachine = machine[RequestStatus, RequestInput]{
	noun:   "request",
	states: []RequestStatus{RequestOpen, RequestResolved, RequestExpired, RequestCanceled},
	inputs: []RequestInput{RequestAsk, RequestReask, RequestVote, RequestDecide, RequestExpire, RequestCancel},
	table: map[RequestStatus]map[RequestInput]RequestStatus{
		RequestOpen: {RequestAsk: RequestOpen, RequestReask: RequestOpen, RequestVote: RequestOpen, RequestDecide: RequestResolved,
			RequestExpire: RequestExpired, RequestCancel: RequestCanceled},
	},
}

// Outcome is what a resolved request came to.
type Outcome string

const (
	Approved Outcome = "approved"
	Rejected Outcome = "rejected"
	Edited   Outcome = "edited"
	Answered Outcome = "answered"
	Selected Outcome = "selected"
)

// Kind is what a request asks of a person.
type Kind string

const (
	Clarification  Kind = "clarification"
	Approval       Kind = "approval"
	Disambiguation Kind = "disambiguation"
	Confirmation   Kind = "confirmation"
	Escalation     Kind = "escalation"
	Takeover       Kind = "takeover"
	Proxy          Kind = "proxy"
	ErrorRecovery  Kind = "error_recovery"
	Reconcile      Kind = "reconcile"
)

// kindOfReason is fixed: a reason never asks for another kind than this.
var kindOfReason = map[string]Kind{
	"intent_unclear":       Clarification,
	"missing_fields":       Clarification,
	"ambiguous_scope":      Clarification,
	"low_confidence_plan":  Clarification,
	"confirmation":         Approval,
	"high_risk":            Approval,
	"needs_approval":       Approval,
	"tool_requires_review": Approval,
	"policy_violation":     Approval,
	"policy_error":         Approval,
	"disambiguation":       Disambiguation,
}

// KindOf gives the kind that a reason asks for.
func KindOf(reason string) (Kind, bool) {
	kind, ok := kindOfReason[reason]
	return kind, ok
}

// ExpectedInput is the shape of the reply.
type ExpectedInput string

const (
	YesNo        ExpectedInput = "yes_no"
	SingleChoice ExpectedInput = "single_choice"
	MultiChoice  ExpectedInput = "multi_choice"
	FreeText     ExpectedInput = "free_text"
	Form         ExpectedInput = "form"
)

// Priority orders the inbox.
type Priority string

const (
	PriorityLow      Priority = "low"
	PriorityNormal   Priority = "normal"
	PriorityHigh     Priority = "high"
	PriorityCritical Priority = "critical"
)

// OnTimeout is what happens to the run when its request expires.
type OnTimeout string

const (
	TimeoutFail     OnTimeout = "fail"
	TimeoutResume   OnTimeout = "resume"
	TimeoutClear    OnTimeout = "clear"
	TimeoutEscalate OnTimeout = "escalate"
	TimeoutApprove  OnTimeout = "approve" // only if a policy says so in so many words
)

// OnReject is what happens to the run when its request is rejected.
type OnReject string

const (
	RejectContinue OnReject = "continue"
	RejectCancel   OnReject = "cancel"
	RejectReturn   OnReject = "return"
)

// Option is one thing to choose.
type Option struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// ReturnTo is where the run goes on; there is no second copy of it.
type ReturnTo struct {
	Node string `json:"node"`
	Mode string `json:"mode"`
}

// Action is one tool call that waits for a person.
type Action struct {
	CallID        string          `json:"call_id"`
	Tool          string          `json:"tool"`
	Args          json.RawMessage `json:"args"` // canonical: exactly the bytes that were hashed and that will run
	ArgsHash      string          `json:"args_hash"`
	AskedHash     string          `json:"asked_hash,omitempty"` // of what the flow asked for, where a person edited it and others have to approve that
	SchemaHash    string          `json:"schema_hash,omitempty"`
	NeedsApproval bool            `json:"needs_approval"`
	Refused       bool            `json:"refused,omitempty"`    // it does not run, whatever is decided: a rule denies it, or its arguments do not fit
	Effect        string          `json:"effect,omitempty"`     // read or write, as the tool declares; "" if nobody knows the tool
	Reversible    string          `json:"reversible,omitempty"` // yes, no or external, where the tool declares it
	Editable      []string        `json:"editable,omitempty"`
	Redacted      []string        `json:"redacted,omitempty"`
	Blind         []string        `json:"blind,omitempty"` // redacted fields that may be approved unseen
}

// AskedFor is the hash of the arguments that the flow asked for.
func (a Action) AskedFor() string {
	if a.AskedHash != "" {
		return a.AskedHash
	}
	return a.ArgsHash
}

// RequestVersion is the schema version of the record.
const RequestVersion = 1

// Request is a question or action that waits for a person. Id, question and fingerprint are written once.
type Request struct {
	ID            RequestID       `json:"id"`
	Revision      int64           `json:"-"`
	Version       int             `json:"version"`
	Code          string          `json:"code,omitempty"` // short, for replies in chat
	Kind          Kind            `json:"kind"`
	Reason        string          `json:"reason,omitempty"`
	Source        string          `json:"source,omitempty"`
	PolicySource  string          `json:"policy_source,omitempty"`
	PolicyVersion string          `json:"policy_version,omitempty"`
	Rule          string          `json:"rule,omitempty"`
	Status        RequestStatus   `json:"status"`
	Outcome       Outcome         `json:"outcome,omitempty"`
	SessionID     SessionID       `json:"session_id,omitempty"`
	RunID         RunID           `json:"run_id,omitempty"`
	TraceID       string          `json:"trace_id,omitempty"`
	OriginStepID  string          `json:"origin_step_id,omitempty"`
	FlowVersion   int             `json:"flow_version,omitempty"`
	ReturnTo      ReturnTo        `json:"return_to,omitzero"`
	Question      string          `json:"question"`
	ExpectedInput ExpectedInput   `json:"expected_input"`
	Options       []Option        `json:"options,omitempty"`
	Schema        json.RawMessage `json:"schema,omitempty"`
	Actions       []Action        `json:"actions,omitempty"`
	Allowed       []Verb          `json:"allowed,omitempty"`
	Fingerprint   string          `json:"fingerprint"`
	Salt          string          `json:"-"` // shown only to those who may see all arguments
	Audience      Audience        `json:"audience"`
	Requester     Requester       `json:"requester,omitzero"`
	Assignee      string          `json:"assignee,omitempty"`
	Priority      Priority        `json:"priority"`
	Language      string          `json:"language,omitempty"`
	Context       json.RawMessage `json:"context,omitempty"`
	Reasks        int             `json:"reasks,omitempty"`
	CreatedAt     time.Time       `json:"created_at"`
	AskedAt       time.Time       `json:"asked_at,omitzero"`
	QueueUntil    time.Time       `json:"queue_until,omitzero"` // for a prompt that waits for its turn
	ExpiresAt     time.Time       `json:"expires_at,omitzero"`  // zero: never, because somebody wrote so
	ExpiresIn     time.Duration   `json:"-"`                    // becomes ExpiresAt when a queued prompt is asked
	ValidFor      time.Duration   `json:"-"`                    // how long an approval is good
	Undo          time.Duration   `json:"-"`                    // how long a page keeps a decision back so that it can be undone; 0: as the person likes, negative: not at all
	ClosedAt      time.Time       `json:"closed_at,omitzero"`
	OnTimeout     OnTimeout       `json:"on_timeout"`
	OnReject      OnReject        `json:"on_reject"`
	CancelReason  string          `json:"cancel_reason,omitempty"`
	Prompt        bool            `json:"-"` // asked in its session's chat, one at a time
	TakeCancel    bool            `json:"-"` // the flow gets a cancellation back; else it cancels the run
	CallbackURL   string          `json:"-"` // where its raiser is told that it closed; the raiser's alone to know
}

// Due is the moment from which an open request reads as expired, zero for never: its expiry once it was asked, the end of its queue before.
func (r Request) Due() time.Time {
	if r.AskedAt.IsZero() && !r.QueueUntil.IsZero() {
		return r.QueueUntil
	}
	return r.ExpiresAt
}

// StatusAt is the status as anybody must see it at now: past its time an open request reads as expired, swept or not.
func (r Request) StatusAt(now time.Time) RequestStatus {
	if due := r.Due(); r.Status == RequestOpen && !due.IsZero() && !now.Before(due) {
		return RequestExpired
	}
	return r.Status
}

// open refuses what came too late, in the order people must hear it: expired before closed.
func (r Request) open(now time.Time) error {
	switch r.StatusAt(now) {
	case RequestOpen:
		return nil
	case RequestExpired:
		return &Error{Code: Expired, Message: "the request expired", Hint: "ask the requester to try again"}
	case RequestCanceled:
		return &Error{Code: Closed, Message: "the request was canceled", Hint: "nothing is left to decide"}
	}
	return &Error{Code: Closed, Message: "the request is already decided: " + string(r.Outcome), Hint: "the standing decision is final"}
}

// Ask marks the prompt as sent in chat and starts its clock. Expiry is written once: asking again changes nothing.
func (r Request) Ask(now time.Time) (Request, error) {
	if err := r.open(now); err != nil {
		return r, err
	}
	if !r.AskedAt.IsZero() {
		return r, nil
	}
	r.AskedAt = now
	if r.ExpiresAt.IsZero() && r.ExpiresIn > 0 {
		r.ExpiresAt = now.Add(r.ExpiresIn)
	}
	return r, nil
}

// Reask counts a reply that did not fit; nothing else changes.
func (r Request) Reask(now time.Time) (Request, error) {
	if err := r.open(now); err != nil {
		return r, err
	}
	r.Reasks++
	return r, nil
}

// Expire closes a request whose time has come. Sweeper and decider make this same transition: one of them wins.
func (r Request) Expire(now time.Time) (Request, error) {
	if r.Status == RequestOpen && r.StatusAt(now) != RequestExpired {
		return r, &Error{Code: WrongState, Message: "the request is not past its time"}
	}
	return r.close(RequestExpire, "", now)
}

// Cancel closes a request that nobody needs any more.
func (r Request) Cancel(reason string, now time.Time) (Request, error) {
	if err := r.open(now); err != nil {
		return r, err
	}
	r.CancelReason = reason
	return r.close(RequestCancel, "", now)
}

func (r Request) close(input RequestInput, outcome Outcome, now time.Time) (Request, error) {
	to, err := requestMachine.next(r.Status, input)
	if err != nil {
		return r, &Error{Code: Closed, Message: "the request is " + string(r.Status)}
	}
	r.Status, r.Outcome, r.ClosedAt = to, outcome, now
	return r, nil
}
