package engine

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/schema"
	"github.com/holdshort/holdshort/policy"
)

// withArgs lets an edit of a request with one call name only its new arguments.
func withArgs(d holdshort.Decision, req holdshort.Request, args json.RawMessage) holdshort.Decision {
	if d.Action == holdshort.Edit && len(d.Calls) == 0 && len(args) > 0 && len(req.Actions) == 1 {
		d.Calls = []holdshort.CallDecision{{CallID: req.Actions[0].CallID, Action: holdshort.Edit, Args: args, Message: d.Message}}
	}
	return d
}

// normal spells a decision out: which calls, with the hash of exactly what will run; which options, in their order; yes and no as a value.
// It refuses an answer that does not fit the form.
func (c *change) normal(req holdshort.Request, d holdshort.Decision) (holdshort.Decision, error) {
	if req.ExpectedInput == holdshort.YesNo && len(d.Value) == 0 {
		switch d.Action {
		case holdshort.Approve:
			d.Value = json.RawMessage("true")
		case holdshort.Reject:
			d.Value = json.RawMessage("false")
		}
	}
	if d.Action == holdshort.Answer {
		if err := answerFits(req, d.Value); err != nil {
			return d, err
		}
	}
	if len(d.OptionIDs) > 0 {
		d.OptionIDs = inOrder(req.Options, d.OptionIDs)
	}
	if len(req.Actions) == 0 || d.Action == holdshort.Cancel {
		return d, nil
	}
	calls := slices.Clone(d.Calls)
	if len(calls) == 0 {
		for _, a := range req.Actions {
			if a.NeedsApproval {
				calls = append(calls, holdshort.CallDecision{CallID: a.CallID, Action: d.Action, Message: responseText(d)})
			}
		}
	}
	for i := range calls {
		action := actionOf(req, calls[i].CallID)
		if action == nil {
			return d, &holdshort.Error{Code: holdshort.DoesNotFit, Field: "calls", Message: "there is no call " + clip(calls[i].CallID), Hint: "name calls as the request does"}
		}
		calls[i].ArgsHash = ""
		switch calls[i].Action {
		case holdshort.Approve:
			calls[i].Args, calls[i].ArgsHash = nil, action.ArgsHash
		case holdshort.Edit:
			args, err := holdshort.Canonical(calls[i].Args)
			if err != nil {
				return d, err
			}
			calls[i].Args, calls[i].ArgsHash = args, holdshort.ArgsHash(args)
		default:
			calls[i].Args = nil
		}
		if calls[i].Action == holdshort.Respond && calls[i].Message == "" {
			return d, &holdshort.Error{Code: holdshort.DoesNotFit, Field: "calls", Message: "a response in place of the tool needs a text", Hint: "send it as message"}
		}
	}
	d.Calls = calls
	return d, nil
}

func responseText(d holdshort.Decision) string {
	if d.Action != holdshort.Respond {
		return d.Message
	}
	var text string
	if json.Unmarshal(d.Value, &text) == nil {
		return text
	}
	return string(d.Value)
}

func answerFits(req holdshort.Request, value json.RawMessage) error {
	switch req.ExpectedInput {
	case holdshort.Form:
		form, err := schema.Compile(req.Schema)
		if err != nil {
			return err
		}
		return form.Validate(value)
	case holdshort.FreeText:
		var text string
		if json.Unmarshal(value, &text) == nil && text == "" {
			return &holdshort.Error{Code: holdshort.DoesNotFit, Field: "value", Message: "the answer is empty", Hint: "write something, or cancel"}
		}
	}
	return nil
}

func inOrder(options []holdshort.Option, ids []string) []string {
	var out []string
	for _, o := range options {
		if slices.Contains(ids, o.ID) {
			out = append(out, o.ID)
		}
	}
	return out
}

func actionOf(req holdshort.Request, callID string) *holdshort.Action {
	i := slices.IndexFunc(req.Actions, func(a holdshort.Action) bool { return a.CallID == callID })
	if i < 0 {
		return nil
	}
	return &req.Actions[i]
}

// edited checks new arguments: the tool's schema, the fields that may change, and the policy. It gives the request that has to be asked
// instead when the policy wants other or more people for them, or when several had to approve: what they approve is then the edited form.
func (c *change) edited(req holdshort.Request, run *holdshort.Run, d holdshort.Decision) (*holdshort.Request, error) {
	next, again := req, req.Audience.Needed() > 1
	next.Actions = slices.Clone(req.Actions)
	any := false
	for _, call := range d.Calls {
		if call.Action != holdshort.Edit {
			continue
		}
		any = true
		i := slices.IndexFunc(req.Actions, func(a holdshort.Action) bool { return a.CallID == call.CallID })
		action := req.Actions[i]
		t, ok := c.e.tools[action.Tool]
		if !ok && run != nil {
			return nil, &holdshort.Error{Code: holdshort.DoesNotFit, Field: "calls", Message: "nobody here can check arguments of " + clip(action.Tool), Hint: "approve or reject it as it is"}
		}
		if ok && t.SchemaHash() != action.SchemaHash {
			return nil, &holdshort.Error{Code: holdshort.DoesNotFit, Field: "calls", Message: "the tool's arguments have another form now than when this was asked", Hint: "reject it, and let it be asked again"}
		}
		if err := t.Validate(call.Args); err != nil {
			return nil, err
		}
		if err := mayChange(action, call.Args); err != nil {
			return nil, err
		}
		v := c.judgeEdit(req, run, action.Tool, call.Args)
		switch {
		case v.Decision == policy.Deny:
			return nil, &holdshort.Error{Code: holdshort.DoesNotFit, Field: "calls", Message: "the policy does not allow the new arguments (" + clip(v.Rule) + ")", Hint: "change them, or reject"}
		case v.Decision == policy.Ask && (v.Audience.Needed() > 1 || !v.Audience.Includes(d.Actor, ownerOf(req, run)) || v.Audience.Excludes(d.Actor, req.Requester)):
			again = true
			next.Audience = stricter(next.Audience, v.Audience)
			next.Rule, next.PolicyVersion = v.Rule, v.Version
		}
		next.Question = v.Question
		next.Actions[i].Args, next.Actions[i].ArgsHash, next.Actions[i].AskedHash = call.Args, call.ArgsHash, action.AskedFor()
	}
	if !any || !again {
		return nil, nil
	}
	if slices.ContainsFunc(d.Calls, func(call holdshort.CallDecision) bool {
		return call.Action != holdshort.Edit && call.Action != holdshort.Approve
	}) {
		return nil, &holdshort.Error{Code: holdshort.DoesNotFit, Field: "calls", Message: "others have to approve the edited form: nothing of it can be rejected or answered at once",
			Hint: "edit and approve only, or reject the whole"}
	}
	if next.Question == "" { // what is shown is what will run
		next.Question = template(next.Actions, nil)
	}
	return &next, nil
}

// judgeEdit asks the policy about edited arguments. Tools of the gate live outside: nobody here need know them.
func (c *change) judgeEdit(req holdshort.Request, run *holdshort.Run, tool string, args json.RawMessage) policy.Verdict {
	if run == nil {
		return c.judgeGate(req, tool, args)
	}
	return policy.Judge(c.e.hookContext(), c.e.config.Policy, c.e.judged(c.Tenant(), run, req.OriginStepID, tool, args, c.now))
}

func stricter(a, b holdshort.Audience) holdshort.Audience {
	if b.Needed() >= a.Needed() {
		b.Separate = a.Separate || b.Separate
		return b
	}
	a.Users, a.Roles, a.Owner = b.Users, b.Roles, b.Owner
	a.Separate = a.Separate || b.Separate
	return a
}

func ownerOf(req holdshort.Request, run *holdshort.Run) string {
	if run != nil {
		return run.User
	}
	return req.Requester.User
}

// mayChange refuses an edit of a field that the rule did not list.
func mayChange(action holdshort.Action, args json.RawMessage) error {
	if slices.Contains(action.Editable, "*") {
		return nil
	}
	var was, is map[string]json.RawMessage
	if json.Unmarshal(action.Args, &was) != nil || json.Unmarshal(args, &is) != nil {
		return &holdshort.Error{Code: holdshort.DoesNotFit, Field: "calls", Message: "only fields of an object can be edited", Hint: "approve or reject it as it is"}
	}
	for _, fields := range []map[string]json.RawMessage{was, is} {
		for name := range fields {
			if string(was[name]) != string(is[name]) && !slices.Contains(action.Editable, name) {
				return &holdshort.Error{Code: holdshort.DoesNotFit, Field: "calls", Message: fmt.Sprintf("field %q may not be edited", clip(name)),
					Hint: fmt.Sprintf("fields that may be: %v", action.Editable)}
			}
		}
	}
	return nil
}

// reopen asks about the edited form, with the editor's vote if the editor is one of those who may decide it.
func (c *change) reopen(run *holdshort.Run, draft holdshort.Request, d holdshort.Decision, out *Decided) error {
	next, err := c.complete(run, unasked(draft))
	if err != nil {
		return err
	}
	if run != nil {
		run.Open++
	} else if err := c.spend(draft, d, next.ID); err != nil { // or both could be claimed
		return err
	}
	if err := c.open(run, &next); err != nil {
		return err
	}
	if run != nil {
		if err := c.PutRun(run); err != nil {
			return err
		}
	}
	out.Next, out.Run = &next, run
	if !next.Audience.Includes(d.Actor, ownerOf(next, run)) || next.Audience.Excludes(d.Actor, next.Requester) {
		return nil
	}
	vote := holdshort.Vote{RequestID: next.ID, Action: holdshort.Approve, Actor: d.Actor, Message: d.Message, Channel: d.Channel, Fingerprint: next.Fingerprint, At: c.now}
	return c.vote(next, run, vote)
}
