package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/schema"
	"github.com/holdshort/holdshort/policy"
)

// What a raiser can send at most.
const (
	mostActions = 128
	mostOptions = 200
	mostNames   = 100 // of an audience
	mostName    = 200 // bytes of an id or a name
	leastExpiry = time.Second
	mostExpiry  = 366 * 24 * time.Hour
)

func wrongAsk(code holdshort.Code, field, message, hint string) error {
	return &holdshort.Error{Code: code, Op: "raise request", Field: field, Message: message, Hint: hint}
}

// draft checks everything that can be said without a look at the store, and gives the request as far as its raiser makes it.
func (in AskInput) draft(e *Engine) (holdshort.Request, error) {
	r := holdshort.Request{Kind: in.Kind, Question: in.Question, ExpectedInput: in.ExpectedInput, Priority: in.Priority, Language: in.Language, SessionID: in.Session, Source: "gate",
		ReturnTo: holdshort.ReturnTo{Node: "gate", Mode: "answer"}, OnTimeout: in.OnTimeout, OnReject: holdshort.RejectReturn, ExpiresIn: in.ExpiresIn, ValidFor: 24 * time.Hour}
	if ok, _ := policy.Can(policy.Raise, in.Actor, policy.Resource{Requester: holdshort.Requester{RaisedBy: in.Actor.ID}}); !ok {
		return r, wrongAsk(holdshort.Forbidden, "", "nobody knows who raises it", "authenticate first")
	}
	for _, check := range []func(*Engine, *holdshort.Request) error{in.checkKind, in.checkTexts, in.checkActions, in.checkForm, in.checkTime, in.checkAudience, in.checkCallback} {
		if err := check(e, &r); err != nil {
			return r, err
		}
	}
	return r, nil
}

// usualInput is what a kind takes unless its raiser says otherwise; usualReason why it is asked.
var (
	usualInput = map[holdshort.Kind]holdshort.ExpectedInput{holdshort.Approval: holdshort.YesNo, holdshort.Confirmation: holdshort.YesNo,
		holdshort.Clarification: holdshort.FreeText, holdshort.Escalation: holdshort.FreeText, holdshort.Disambiguation: holdshort.SingleChoice}
	usualReason = map[holdshort.Kind]string{holdshort.Approval: "needs_approval", holdshort.Clarification: "missing_fields", holdshort.Disambiguation: "disambiguation"}
)

func (in AskInput) checkKind(_ *Engine, r *holdshort.Request) error {
	input, ok := usualInput[in.Kind]
	if !ok {
		return wrongAsk(holdshort.Invalid, "kind", fmt.Sprintf("a request of kind %q cannot be raised", clip(string(in.Kind))), "use clarification, approval, disambiguation, confirmation or escalation")
	}
	if r.ExpectedInput == "" {
		r.ExpectedInput = input
	}
	r.Reason = usualReason[in.Kind]
	switch r.ExpectedInput {
	case holdshort.YesNo, holdshort.SingleChoice, holdshort.MultiChoice, holdshort.FreeText, holdshort.Form:
	default:
		return wrongAsk(holdshort.Invalid, "expected_input", fmt.Sprintf("unknown input %q", clip(string(r.ExpectedInput))), "use yes_no, single_choice, multi_choice, free_text or form")
	}
	switch r.Priority {
	case "", holdshort.PriorityLow, holdshort.PriorityNormal, holdshort.PriorityHigh, holdshort.PriorityCritical:
	default:
		return wrongAsk(holdshort.Invalid, "priority", fmt.Sprintf("unknown priority %q", clip(string(r.Priority))), "use low, normal, high or critical")
	}
	return nil
}

func (in AskInput) checkTexts(e *Engine, r *holdshort.Request) error {
	limits := e.config.Limits
	switch {
	case strings.TrimSpace(in.Question) == "" && len(in.Actions) == 0:
		return wrongAsk(holdshort.Invalid, "question", "the question is empty", "say what is to be decided")
	case len(in.Question) > limits.Text:
		return wrongAsk(holdshort.TooLarge, "question", fmt.Sprintf("the question has more than %d bytes", limits.Text), "shorten it; what explains it goes into context")
	case !utf8.ValidString(in.Question):
		return wrongAsk(holdshort.Invalid, "question", "the question is not text", "send UTF-8")
	case !isName(in.Language, 0):
		return wrongAsk(holdshort.Invalid, "language", "it is not a language", "send a tag such as en or pt-BR")
	case !isName(in.ID, 0):
		return wrongAsk(holdshort.Invalid, "id", fmt.Sprintf("an id is text of at most %d bytes", mostName), "shorten it")
	}
	if len(in.Context) == 0 {
		return nil
	}
	if len(in.Context) > limits.Args {
		return wrongAsk(holdshort.TooLarge, "context", fmt.Sprintf("the context has more than %d bytes", limits.Args), "send what a person needs to decide, and links to the rest")
	}
	canonical, err := holdshort.Canonical(in.Context)
	if err != nil {
		return inField("context", err)
	}
	if canonical[0] != '{' {
		return wrongAsk(holdshort.Invalid, "context", "the context is not an object", `send {"…": …}`)
	}
	r.Context = canonical
	return nil
}

// isName reports whether s is text of least to mostName bytes.
func isName(s string, least int) bool {
	return len(s) >= least && len(s) <= mostName && utf8.ValidString(s) && !strings.ContainsRune(s, 0)
}

// inField tells in which part of the input something is wrong.
func inField(field string, err error) error {
	if e, ok := err.(*holdshort.Error); ok {
		named := *e
		named.Op, named.Field = "raise request", field+e.Field
		return &named
	}
	return err
}

func (in AskInput) checkActions(e *Engine, r *holdshort.Request) error {
	if len(in.Actions) == 0 {
		return nil
	}
	switch {
	case in.Kind != holdshort.Approval || r.ExpectedInput != holdshort.YesNo:
		return wrongAsk(holdshort.Invalid, "actions", "only an approval with yes_no has actions", "raise actions as kind approval")
	case len(in.Actions) > mostActions:
		return wrongAsk(holdshort.TooLarge, "actions", fmt.Sprintf("more than %d actions", mostActions), "raise several requests")
	}
	ids := map[string]bool{}
	for i, a := range in.Actions {
		field := "actions/" + strconv.Itoa(i)
		if a.CallID == "" {
			a.CallID = "call_" + strconv.Itoa(i+1)
		}
		switch {
		case !isName(a.Tool, 1):
			return wrongAsk(holdshort.Invalid, field+"/tool", fmt.Sprintf("a tool has a name of 1 to %d bytes", mostName), "name the tool")
		case !isName(a.CallID, 1):
			return wrongAsk(holdshort.Invalid, field+"/call_id", fmt.Sprintf("a call's id is text of at most %d bytes", mostName), "leave it out to get call_1, call_2 …")
		case ids[a.CallID]:
			return wrongAsk(holdshort.Invalid, field+"/call_id", fmt.Sprintf("two calls are named %q", clip(a.CallID)), "give every call of a request its own id")
		case len(a.Args) > e.config.Limits.Args:
			return wrongAsk(holdshort.TooLarge, field+"/args", fmt.Sprintf("arguments of more than %d bytes", e.config.Limits.Args), "send a reference in place of the content")
		}
		ids[a.CallID] = true
		args := json.RawMessage("{}")
		if len(a.Args) > 0 {
			canonical, err := holdshort.Canonical(a.Args)
			if err != nil {
				return inField(field+"/args", err)
			}
			args = canonical
		}
		action := holdshort.Action{CallID: a.CallID, Tool: a.Tool, Args: args, ArgsHash: holdshort.ArgsHash(args)}
		if t, known := e.tools[a.Tool]; known {
			if err := t.Validate(args); err != nil {
				return inField(field+"/args/", err)
			}
			action.SchemaHash, action.Effect, action.Reversible = t.SchemaHash(), string(t.Effect), string(t.Declared())
		}
		r.Actions = append(r.Actions, action)
	}
	r.ReturnTo.Mode = "claim"
	return nil
}

// checkForm checks that what is asked for can be answered, and says by which verbs.
func (in AskInput) checkForm(_ *Engine, r *holdshort.Request) error {
	choice := r.ExpectedInput == holdshort.SingleChoice || r.ExpectedInput == holdshort.MultiChoice
	switch {
	case len(in.Schema) > 0 && r.ExpectedInput != holdshort.Form:
		return wrongAsk(holdshort.Invalid, "schema", "only a form has a schema", "use expected_input form, or leave it out")
	case choice && len(in.Options) == 0:
		return wrongAsk(holdshort.Invalid, "options", "a choice needs options", "send options with id and label")
	case !choice && r.ExpectedInput != holdshort.YesNo && len(in.Options) > 0:
		return wrongAsk(holdshort.Invalid, "options", fmt.Sprintf("%s has no options", r.ExpectedInput), "use single_choice or multi_choice, or leave them out")
	case len(in.Options) > mostOptions:
		return wrongAsk(holdshort.TooLarge, "options", fmt.Sprintf("more than %d options", mostOptions), "ask in two steps")
	}
	options := slices.Clone(in.Options)
	for i := range options {
		o := &options[i]
		if o.Label == "" {
			o.Label = o.ID
		}
		if !isName(o.ID, 1) || len(o.Label) > 10*mostName || !utf8.ValidString(o.Label) {
			return wrongAsk(holdshort.Invalid, "options/"+strconv.Itoa(i), "an option has an id and a label, and they are text", "send both, and short ones")
		}
		if slices.ContainsFunc(options[:i], func(other holdshort.Option) bool { return other.ID == o.ID }) {
			return wrongAsk(holdshort.Invalid, "options/"+strconv.Itoa(i), fmt.Sprintf("two options have the id %q", clip(o.ID)), "give every option its own id")
		}
	}
	switch r.ExpectedInput {
	case holdshort.YesNo:
		if len(options) == 0 {
			options = []holdshort.Option{{ID: "approve", Label: "Approve"}, {ID: "reject", Label: "Reject"}}
		} else if len(options) != 2 || options[0].ID != "approve" || options[1].ID != "reject" {
			return wrongAsk(holdshort.Invalid, "options", "yes_no has the options approve and reject, in this order", "leave them out, or change their labels only")
		}
		r.Allowed = []holdshort.Verb{holdshort.Approve, holdshort.Reject}
	case holdshort.SingleChoice, holdshort.MultiChoice:
		r.Allowed = []holdshort.Verb{holdshort.Select}
	default:
		r.Allowed = []holdshort.Verb{holdshort.Answer}
	}
	r.Options = options
	if in.Kind == holdshort.Escalation && r.ExpectedInput == holdshort.FreeText {
		r.Allowed = []holdshort.Verb{holdshort.Approve, holdshort.Reject, holdshort.Answer, holdshort.Respond}
	}
	if r.ExpectedInput != holdshort.Form {
		return nil
	}
	if len(in.Schema) == 0 {
		return wrongAsk(holdshort.Invalid, "schema", "a form needs a schema", "send a JSON Schema of its fields")
	}
	if _, err := schema.Compile(in.Schema); err != nil {
		return inField("", err)
	}
	canonical, err := holdshort.Canonical(in.Schema)
	r.Schema = canonical
	return err
}

func (in AskInput) checkTime(_ *Engine, r *holdshort.Request) error {
	switch in.OnTimeout {
	case "", holdshort.TimeoutFail, holdshort.TimeoutResume, holdshort.TimeoutClear, holdshort.TimeoutEscalate:
	case holdshort.TimeoutApprove:
		return wrongAsk(holdshort.Forbidden, "on_timeout", "only a policy can say that silence approves", "leave on_timeout out, or write a rule")
	default:
		return wrongAsk(holdshort.Invalid, "on_timeout", fmt.Sprintf("unknown value %q", clip(string(in.OnTimeout))), "use fail, resume, clear or escalate")
	}
	if in.ExpiresIn != 0 && in.ExpiresIn != policy.Never && (in.ExpiresIn < leastExpiry || in.ExpiresIn > mostExpiry) {
		return wrongAsk(holdshort.Invalid, "expires_in", fmt.Sprintf("a request expires after %s to %s", leastExpiry, mostExpiry), "send a duration such as 10m")
	}
	return nil
}

func (in AskInput) checkCallback(e *Engine, r *holdshort.Request) error {
	if in.CallbackURL == "" {
		return nil
	}
	r.CallbackURL = in.CallbackURL
	return e.checkURL("callback_url", in.CallbackURL)
}

func (in AskInput) checkAudience(_ *Engine, r *holdshort.Request) error {
	a := in.Audience
	if len(a.Users) > mostNames || len(a.Roles) > mostNames || a.Quorum < 0 || a.Quorum > mostNames {
		return wrongAsk(holdshort.Invalid, "audience", fmt.Sprintf("an audience has at most %d users and %d roles, and a quorum of 1 to %d", mostNames, mostNames, mostNames), "name a role in place of many users")
	}
	for _, who := range slices.Concat(a.Users, a.Roles) {
		if !isName(who, 1) {
			return wrongAsk(holdshort.Invalid, "audience", "a user or role has no name", "leave it out")
		}
	}
	if a.Needed() > 1 && r.ExpectedInput != holdshort.YesNo {
		return wrongAsk(holdshort.Invalid, "audience/quorum", "only a yes_no is decided by several people", "use yes_no, or a quorum of one")
	}
	return nil
}
