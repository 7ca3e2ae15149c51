package api

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// pageForm is what a person can do with a request, as the parts of a form that works without scripts.
type pageForm struct {
	Message string
	Approve string // what the button says; "": there is none
	Reject  string
	Each    bool // several calls, decided one by one
	Edit    bool
	Respond bool
	Text    bool // a free answer
	Value   string
	Choices []pageChoice
	Many    bool // more than one may be chosen
	Fields  []pageField
	JSON    bool // a form whose schema is more than fields: written as JSON
}

type pageChoice struct {
	ID, Label string
	Chosen    bool
}

// pageField is one field of a form.
type pageField struct {
	Name, Label, Help, Value string
	Input                    string // text, number, select, long or json
	Choices                  []pageChoice
	Required                 bool
}

func pageFormOf(req holdshort.Request, form url.Values) pageForm {
	may := func(v holdshort.Verb) bool { return slices.Contains(req.Allowed, v) }
	out := pageForm{Message: form.Get("message"), Value: form.Get("value"), Edit: may(holdshort.Edit) && len(req.Actions) > 0, Respond: may(holdshort.Respond) && len(req.Actions) > 0}
	asked := 0
	for _, a := range req.Actions {
		if a.NeedsApproval {
			asked++
		}
	}
	if may(holdshort.Approve) {
		out.Approve = buttonText("Approve", "approve", asked, req)
	}
	if may(holdshort.Reject) {
		out.Reject = buttonText("Reject", "reject", asked, req)
	}
	out.Each = asked > 1 && out.Approve != ""
	if may(holdshort.Select) {
		out.Many = req.ExpectedInput == holdshort.MultiChoice
		for _, o := range req.Options {
			out.Choices = append(out.Choices, pageChoice{o.ID, o.Label, slices.Contains(form["option"], o.ID)})
		}
	}
	if may(holdshort.Answer) {
		if req.ExpectedInput == holdshort.Form {
			out.Fields = pageFields(req.Schema, form)
			out.JSON = len(out.Fields) == 0
		} else {
			out.Text = true
		}
	}
	return out
}

// buttonText says what the button does.
func buttonText(word, id string, calls int, req holdshort.Request) string {
	for _, o := range req.Options {
		if o.ID == id && o.Label != "" && !strings.EqualFold(o.Label, word) && calls == 0 && len(o.Label) <= 40 && !hasOdd(o.Label) {
			return word + ": " + o.Label
		}
	}
	switch {
	case calls > 1:
		return word + " all " + strconv.Itoa(calls) + " calls"
	case calls == 1 && len(req.Actions[0].Tool) <= 40 && !hasOdd(req.Actions[0].Tool):
		return word + " " + req.Actions[0].Tool
	}
	return word
}

type schemaOf struct {
	Type        json.RawMessage   `json:"type"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Enum        []json.RawMessage `json:"enum"`
	Format      string            `json:"format"`
	MaxLength   int               `json:"maxLength"`
}

// pageFields are the inputs of a simple JSON Schema: an object of texts, numbers, choices and yes or no. Any other field is written as JSON.
func pageFields(schema json.RawMessage, form url.Values) (fields []pageField) {
	var object struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	var properties map[string]schemaOf
	if json.Unmarshal(schema, &object) != nil || json.Unmarshal(object.Properties, &properties) != nil {
		return nil
	}
	for _, name := range members(object.Properties) {
		p := properties[name]
		f := pageField{Name: name, Label: name, Help: p.Description, Value: form.Get("field." + name), Required: slices.Contains(object.Required, name), Input: inputOf(p)}
		if p.Title != "" {
			f.Label = p.Title
		}
		choices := p.Enum
		if f.Input == "select" && len(choices) == 0 {
			choices = []json.RawMessage{json.RawMessage("true"), json.RawMessage("false")}
		}
		for _, raw := range choices {
			label, text := string(raw), ""
			if json.Unmarshal(raw, &text) == nil {
				label = text
			}
			switch string(raw) {
			case "true":
				label = "yes"
			case "false":
				label = "no"
			}
			f.Choices = append(f.Choices, pageChoice{string(raw), label, string(raw) == f.Value})
		}
		fields = append(fields, f)
	}
	return fields
}

func inputOf(p schemaOf) string {
	var name string
	json.Unmarshal(p.Type, &name) // a list of types is none that an input has
	switch {
	case len(p.Enum) > 0, name == "boolean":
		return "select"
	case name == "string" && p.MaxLength > 200:
		return "long"
	case name == "string":
		return "text"
	case name == "number", name == "integer":
		return "number"
	}
	return "json"
}

func wrong(field, message, hint string) error {
	return &holdshort.Error{Code: holdshort.DoesNotFit, Field: field, Message: message, Hint: hint}
}

// decisionForm reads what the form says. A button that is not known decides nothing.
func decisionForm(form url.Values, req holdshort.Request) (in engine.DecideInput, err error) {
	in = engine.DecideInput{Fingerprint: form.Get("fingerprint"), Message: form.Get("message")}
	if in.Fingerprint == "" { // without it nobody knows what the person saw
		return in, bad("fingerprint", "it is missing", "open the page again")
	}
	action := form.Get("action")
	if action == "each" {
		in.Action = holdshort.Approve
		in.Calls, err = eachCall(form, req)
		if !slices.ContainsFunc(in.Calls, func(c holdshort.CallDecision) bool { return c.Action != holdshort.Reject }) {
			in.Action = holdshort.Reject
		}
		return in, err
	}
	if in.Action, err = holdshort.ParseVerb(action); err != nil {
		return in, err
	}
	switch in.Action {
	case holdshort.Select:
		in.OptionIDs = form["option"]
	case holdshort.Answer:
		in.Value, err = answerOf(form, req)
	case holdshort.Respond:
		in.Value, err = textOf(form.Get("respond"))
	case holdshort.Edit:
		if len(req.Actions) != 1 {
			return in, wrong("args", "there is more than one call", "decide each call on its own")
		}
		in.Args, err = argsOf(form, 0)
	}
	return in, err
}

func eachCall(form url.Values, req holdshort.Request) (calls []holdshort.CallDecision, err error) {
	for i, a := range req.Actions {
		if !a.NeedsApproval {
			continue
		}
		d := holdshort.CallDecision{CallID: a.CallID}
		switch choice := form.Get("call." + strconv.Itoa(i)); choice {
		case "approve", "reject":
			d.Action = holdshort.Verb(choice)
		case "edit":
			d.Action = holdshort.Edit
			if d.Args, err = argsOf(form, i); err != nil {
				return nil, err
			}
		default:
			return nil, wrong("calls", "call "+strconv.Itoa(i+1)+" is not decided", "choose for each call whether it may run")
		}
		calls = append(calls, d)
	}
	return calls, nil
}

func argsOf(form url.Values, i int) (json.RawMessage, error) {
	raw := []byte(form.Get("args." + strconv.Itoa(i)))
	if !json.Valid(raw) {
		return nil, wrong("args", "the changed arguments are not JSON", "check quotes, commas and brackets")
	}
	return raw, nil
}

func textOf(text string) (json.RawMessage, error) {
	text = strings.ReplaceAll(strings.TrimSpace(text), "\r\n", "\n")
	if text == "" {
		return nil, wrong("value", "the answer is empty", "write one")
	}
	return json.Marshal(text)
}

func answerOf(form url.Values, req holdshort.Request) (json.RawMessage, error) {
	if req.ExpectedInput != holdshort.Form {
		return textOf(form.Get("value"))
	}
	fields := pageFields(req.Schema, form)
	if len(fields) == 0 {
		raw := []byte(form.Get("value"))
		if !json.Valid(raw) {
			return nil, wrong("value", "the answer is not JSON", "check quotes, commas and brackets")
		}
		return raw, nil
	}
	out := map[string]json.RawMessage{}
	for _, f := range fields {
		raw, err := f.read()
		if err != nil {
			return nil, err
		}
		if raw != nil {
			out[f.Name] = raw
		}
	}
	return json.Marshal(out)
}

// read gives the field's value as JSON, nil if it was left empty. Whether it fits is the schema's matter.
func (f pageField) read() (json.RawMessage, error) {
	text := strings.ReplaceAll(f.Value, "\r\n", "\n")
	if text == "" && !(f.Required && (f.Input == "text" || f.Input == "long")) {
		if f.Required {
			return nil, wrong(f.Name, f.Label+" is missing", "fill it in")
		}
		return nil, nil
	}
	switch f.Input {
	case "text", "long":
		return json.Marshal(text)
	case "number":
		text = strings.TrimSpace(text)
		var n json.Number
		if json.Unmarshal([]byte(text), &n) != nil || strings.HasPrefix(text, `"`) {
			return nil, wrong(f.Name, f.Label+" is not a number", "write it like 12 or 12.5")
		}
		return json.RawMessage(text), nil
	}
	if !json.Valid([]byte(text)) {
		return nil, wrong(f.Name, f.Label+" is not JSON", "check quotes, commas and brackets")
	}
	return bytes.TrimSpace([]byte(text)), nil
}
