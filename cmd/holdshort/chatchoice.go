package main

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// choice is the decision that a line makes.
func (l line) choice() (c client.Choice, err error) {
	req := *l.req
	switch l.wish {
	case wishApprove:
		c = approveSome(req, l.text)
	case wishReject:
		c = client.Choice{Action: holdshort.Reject, Message: l.text}
	case wishEdit:
		if c, err = editLine(req, l.text); err != nil {
			return c, err
		}
	case wishAnswer:
		if l.text == "" {
			return c, &usageError{Message: "an answer is not empty", Hint: "write it behind the command"}
		}
		respond := slices.Contains(req.Allowed, holdshort.Respond) && !slices.Contains(req.Allowed, holdshort.Answer) && !slices.Contains(req.Allowed, holdshort.Select)
		words := []string{l.text}
		if req.ExpectedInput == holdshort.Form {
			var form struct {
				Properties json.RawMessage `json:"properties"`
			}
			_ = json.Unmarshal(req.Schema, &form) // a schema without fields has none to find
			words = fieldWords(l.text, keysOfObject(form.Properties))
		}
		if c, err = answerTo(req, words, respond); err != nil {
			return c, err
		}
	}
	c.Fingerprint = req.Fingerprint
	return c, nil
}

// callNamed is the call that a word names: by its number on the card, or by its id.
func callNamed(req client.Request, word string) string {
	word = strings.Trim(word, ",;:")
	for i, a := range req.Actions {
		if a.CallID == word || len(req.Actions) > 1 && word == strconv.Itoa(i+1) {
			return a.CallID
		}
	}
	return ""
}

// approveSome approves all calls, or those that are named and rejects the others.
func approveSome(req client.Request, words string) client.Choice {
	var these []string
	rest := words
	for {
		word, after, _ := strings.Cut(strings.TrimSpace(rest), " ")
		call := callNamed(req, word)
		if call == "" {
			break
		}
		these, rest = append(these, call), after
	}
	c := client.Choice{Action: holdshort.Approve, Message: strings.TrimSpace(rest)}
	if len(these) == 0 {
		return c
	}
	for _, a := range req.Actions {
		if !a.NeedsApproval {
			continue
		}
		does := holdshort.CallDecision{CallID: a.CallID, Action: holdshort.Reject}
		if slices.Contains(these, a.CallID) {
			does.Action = holdshort.Approve
		}
		c.Calls = append(c.Calls, does)
	}
	return c
}

// editLine reads what an edit changes: [CALL] field=value … [-- words].
func editLine(req client.Request, words string) (c client.Choice, err error) {
	words, message, _ := strings.Cut(words, " -- ")
	first, rest, _ := strings.Cut(words, " ")
	call := callNamed(req, first)
	if call == "" {
		rest = words
	}
	if strings.TrimSpace(rest) == "" {
		return c, &usageError{Message: "say what changes", Hint: "write field=value"}
	}
	var known []string
	for _, a := range req.Actions {
		if call == "" || a.CallID == call {
			known = slices.Concat(known, keysOfObject(a.Args), a.Editable)
		}
	}
	fields := fieldWords(rest, known)
	if call == "" {
		call = callWith(req, fields[0])
	}
	i, err := callOf(req, call)
	if err != nil {
		return c, &usageError{Message: "which call?", Hint: "write its number first: /edit 1 " + fields[0]}
	}
	edited, err := (&editCommand{Fields: fields}).edited(req.Actions[i].Args)
	if err != nil {
		return c, err
	}
	c = editChoice(req, i, edited)
	c.Message = strings.TrimSpace(message)
	return c, nil
}

// callWith is the only call that may be edited in that field.
func callWith(req client.Request, field string) string {
	name, _, _ := strings.Cut(field, "=")
	found := ""
	for _, a := range req.Actions {
		if !a.NeedsApproval || !slices.Contains(a.Editable, name) && !slices.Contains(a.Editable, "*") {
			continue
		}
		if found != "" {
			return ""
		}
		found = a.CallID
	}
	return found
}

var fieldName = regexp.MustCompile(`(?:^|\s)([\pL_][\pL\pN_.-]*)=`)

// fieldWords cuts a line into field=value. A value goes on until the next field that is known, and may stand in quotes.
func fieldWords(text string, known []string) (fields []string) {
	text = strings.TrimSpace(text)
	var starts [][]int
	for _, at := range fieldName.FindAllStringSubmatchIndex(maskQuotes(text), -1) {
		if len(starts) == 0 && at[0] == 0 || slices.Contains(known, text[at[2]:at[3]]) {
			starts = append(starts, at)
		}
	}
	if len(starts) == 0 || starts[0][0] > 0 {
		return []string{text} // whoever takes it says what is wrong
	}
	for i, at := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		value := strings.TrimSpace(text[at[1]:end])
		if n := len(value); n > 1 && value[0] == value[n-1] && (value[0] == '"' || value[0] == '\'') {
			value = value[1 : n-1]
		}
		fields = append(fields, text[at[2]:at[3]]+"="+value)
	}
	return fields
}

// keysOfObject are the names of a JSON object's fields.
func keysOfObject(raw json.RawMessage) []string {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return nil
	}
	return slices.Collect(maps.Keys(object))
}

// maskQuotes makes what stands in double quotes unable to look like a field; lengths stay.
func maskQuotes(text string) string {
	masked, inside := []byte(text), false
	for i, b := range masked {
		switch {
		case b == '"':
			inside = !inside
		case inside && b == '=':
			masked[i] = '_'
		}
	}
	return string(masked)
}
