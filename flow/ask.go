package flow

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
)

// Question is what a person is asked. Only Text is needed.
type Question struct {
	Text string
	// To says who may answer. Default: the session's owner for Ask, Confirm, Choose and Form; role reviewer for Approve, operator for Escalate.
	To holdshort.Audience
	// Expires after it was asked. Default: 5 minutes for questions to the user, 10 for Approve, 24 hours for Escalate. Never: never.
	Expires time.Duration
	// OnTimeout. Default: TimeoutResume, the flow gets an error with code expired. Fail ends the run as failed, Clear cancels it silently.
	OnTimeout holdshort.OnTimeout
	// OnReject. Default: RejectReturn, the flow gets the answer. Cancel cancels the run.
	OnReject holdshort.OnReject
	// TakeCancel gives a canceled request back as an error with code canceled. Default: a canceled request cancels its run.
	TakeCancel bool
	Priority   holdshort.Priority
	Reason     string // see holdshort.KindOf
	Source     string // default: flow
	ReturnTo   holdshort.ReturnTo
	Language   string
	// Context is shown to whoever decides. Default: nothing.
	Context any
}

// Answer is what became of a question.
type Answer struct {
	Request   holdshort.RequestID      `json:"request_id"`
	Status    holdshort.RequestStatus  `json:"status"`
	Outcome   holdshort.Outcome        `json:"outcome,omitempty"`
	Action    holdshort.Verb           `json:"action,omitempty"`
	Actor     holdshort.Actor          `json:"actor,omitzero"`
	Message   string                   `json:"message,omitempty"`
	OptionIDs []string                 `json:"option_ids,omitempty"`
	Value     json.RawMessage          `json:"value,omitempty"`
	Calls     []holdshort.CallDecision `json:"calls,omitempty"`
	Decision  holdshort.DecisionID     `json:"decision_id,omitempty"`
	OnTimeout holdshort.OnTimeout      `json:"on_timeout,omitempty"` // of one that expired
	At        time.Time                `json:"at"`
}

// Approved reports whether a person said yes. A timeout, a cancellation and an edit did not.
func (a Answer) Approved() bool {
	return a.Status == holdshort.RequestResolved && a.Outcome == holdshort.Approved
}

// Ask asks the user for a text.
func Ask(c *Context, name string, q Question) (string, error) {
	draft := q.draft(holdshort.Clarification, holdshort.FreeText, holdshort.Answer)
	return text(ask(c, name, q, draft, true, 5*time.Minute))
}

// Confirm asks the user yes or no.
func Confirm(c *Context, name string, q Question) (bool, error) {
	draft := q.draft(holdshort.Confirmation, holdshort.YesNo, holdshort.Approve, holdshort.Reject)
	draft.Options = []holdshort.Option{{ID: "approve", Label: "Yes"}, {ID: "reject", Label: "No"}}
	a, err := ask(c, name, q, draft, true, 5*time.Minute)
	return a.Approved(), err
}

// Choose lets the user choose one option and gives its id.
func Choose(c *Context, name string, q Question, options ...holdshort.Option) (string, error) {
	draft := q.draft(holdshort.Disambiguation, holdshort.SingleChoice, holdshort.Select)
	draft.Options = options
	a, err := ask(c, name, q, draft, true, 5*time.Minute)
	if err != nil || len(a.OptionIDs) == 0 {
		return "", err
	}
	return a.OptionIDs[0], nil
}

// ChooseMany lets the user choose any of the options and gives their ids in the options' order.
func ChooseMany(c *Context, name string, q Question, options ...holdshort.Option) ([]string, error) {
	draft := q.draft(holdshort.Disambiguation, holdshort.MultiChoice, holdshort.Select)
	draft.Options = options
	a, err := ask(c, name, q, draft, true, 5*time.Minute)
	place := func(id string) int {
		return slices.IndexFunc(options, func(o holdshort.Option) bool { return o.ID == id })
	}
	slices.SortStableFunc(a.OptionIDs, func(x, y string) int { return cmp.Compare(place(x), place(y)) })
	return a.OptionIDs, err
}

// Form asks the user for the fields of a JSON Schema.
func Form[T any](c *Context, name string, q Question, schema json.RawMessage) (value T, err error) {
	draft := q.draft(holdshort.Clarification, holdshort.Form, holdshort.Answer)
	draft.Schema = schema
	a, err := ask(c, name, q, draft, true, 5*time.Minute)
	if err != nil {
		return value, err
	}
	if err := json.Unmarshal(a.Value, &value); err != nil {
		return value, &holdshort.Error{Code: holdshort.DoesNotFit, Op: "read form " + name, Message: "the answer fits the schema but not the flow's type", Err: err,
			Hint: "let the schema demand what the type needs"}
	}
	return value, nil
}

// Mend asks the user how to put a call right that was refused because of its arguments, and gives what they wrote.
func Mend(c *Context, name string, q Question) (string, error) {
	draft := q.draft(holdshort.ErrorRecovery, holdshort.FreeText, holdshort.Answer)
	return text(ask(c, name, q, draft, true, 10*time.Minute))
}

func text(a Answer, err error) (string, error) {
	if err != nil {
		return "", err
	}
	var s string
	if json.Unmarshal(a.Value, &s) != nil {
		s = string(a.Value)
	}
	return s, nil
}

// Approve asks a reviewer. It returns a decision and grants nothing: a Call asks by itself when policy says so.
func Approve(c *Context, name string, q Question) (Answer, error) {
	draft := q.draft(holdshort.Approval, holdshort.YesNo, holdshort.Approve, holdshort.Reject)
	draft.Options = []holdshort.Option{{ID: "approve", Label: "Approve"}, {ID: "reject", Label: "Reject"}}
	draft.Audience = audienceOr(q.To, holdshort.Audience{Roles: []string{"reviewer"}})
	return ask(c, name, q, draft, false, 10*time.Minute)
}

// Escalate hands a matter to the people who look after the system and waits for what they say.
func Escalate(c *Context, name string, q Question) (Answer, error) {
	draft := q.draft(holdshort.Escalation, holdshort.FreeText, holdshort.Approve, holdshort.Reject, holdshort.Answer, holdshort.Respond)
	draft.Audience = audienceOr(q.To, holdshort.Audience{Roles: []string{"operator"}})
	return ask(c, name, q, draft, false, 24*time.Hour)
}

func audienceOr(to, other holdshort.Audience) holdshort.Audience {
	if !to.Owner && len(to.Users) == 0 && len(to.Roles) == 0 {
		to.Owner, to.Users, to.Roles = other.Owner, other.Users, other.Roles
	}
	return to
}

func (q Question) draft(kind holdshort.Kind, input holdshort.ExpectedInput, allowed ...holdshort.Verb) holdshort.Request {
	r := holdshort.Request{Kind: kind, Reason: q.Reason, Source: q.Source, ReturnTo: q.ReturnTo, Question: q.Text, ExpectedInput: input, Allowed: allowed,
		Audience: audienceOr(q.To, holdshort.Audience{Owner: true}), Priority: q.Priority, Language: q.Language, OnTimeout: q.OnTimeout, OnReject: q.OnReject}
	if r.Source == "" {
		r.Source = "flow"
	}
	if r.OnTimeout == "" {
		r.OnTimeout = holdshort.TimeoutResume
	}
	if r.OnReject == "" {
		r.OnReject = holdshort.RejectReturn
	}
	return r
}

// ask waits for the answer. A question to the user is a prompt in their session's chat.
func ask(c *Context, name string, q Question, draft holdshort.Request, prompt bool, expires time.Duration) (Answer, error) {
	entry := c.perform(KindAsk, name, "", func(key string) (holdshort.JournalEntry, error) {
		switch {
		case q.Expires == Never:
		case q.Expires > 0:
			draft.ExpiresIn = q.Expires
		default:
			draft.ExpiresIn = expires
		}
		draft.OriginStepID, draft.Prompt, draft.TakeCancel = key, prompt, q.TakeCancel
		if q.Context != nil {
			raw, err := encode("context of "+key, q.Context)
			if err != nil {
				return holdshort.JournalEntry{}, Fail(*failureOf(err))
			}
			draft.Context = raw
		}
		err := c.x.recorder.Ask(c.x.ctx, key, draft)
		if err == nil {
			err = Suspend
		}
		return holdshort.JournalEntry{}, err
	})
	if Fatal(entry) {
		c.obey(Fail(*entry.Error))
	}
	return outcome[Answer](c, entry)
}

// Fatal reports whether an entry is a timeout that fails its run.
func Fatal(entry holdshort.JournalEntry) bool {
	var a Answer
	return entry.Error != nil && entry.Error.Code == holdshort.Expired && json.Unmarshal(entry.Outcome, &a) == nil && a.OnTimeout == holdshort.TimeoutFail
}
