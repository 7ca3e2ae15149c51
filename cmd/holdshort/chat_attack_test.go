package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

const nasty = "a\x1b]0;owned\x07\x1b[2J\u202eevil\u2066\u200b\r\u009b31m\u2028\x00"

// poison puts control characters into every text of a value, however deep.
func poison(v reflect.Value, depth int) {
	if depth > 12 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() && v.CanSet() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		if !v.IsNil() {
			poison(v.Elem(), depth+1)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				poison(v.Field(i), depth+1)
			}
		}
	case reflect.String:
		v.SetString(nasty)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			raw, _ := json.Marshal(map[string]any{nasty: nasty, "type": nasty, "properties": map[string]any{nasty: map[string]any{"type": nasty, "description": nasty, "enum": []any{nasty}}}})
			v.SetBytes([]byte(strings.ReplaceAll(string(raw), `\u202e`, "\u202e"))) // some of it as it is
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			poison(v.Index(i), depth+1)
		}
	case reflect.Map:
		if v.Type().Key().Kind() == reflect.String {
			m := reflect.MakeMap(v.Type())
			value := reflect.New(v.Type().Elem()).Elem()
			poison(value, depth+1)
			m.SetMapIndex(reflect.ValueOf(nasty).Convert(v.Type().Key()), value)
			v.Set(m)
		}
	}
}

// Whatever a model, a tool or another person writes, nothing of it reaches the terminal but what can be seen.
func TestNothingOfTheChatReachesTheTerminalRaw(t *testing.T) {
	var base client.Request
	poison(reflect.ValueOf(&base).Elem(), 0)
	me := client.Me{Actor: holdshort.Actor{ID: "ana", Kind: holdshort.Person}}
	c := newConversation(nil, "ses_1", me)
	poison(reflect.ValueOf(&c.session).Elem(), 0)
	tell := newTeller(c, c.session, false)
	clean := func(what string, lines []string) {
		t.Helper()
		for _, line := range lines {
			for part := range strings.SplitSeq(line, "\n") {
				if i := strings.IndexFunc(part, hides); i >= 0 {
					t.Errorf("%s shows %q", what, line)
					return
				}
			}
		}
	}
	inputs := []holdshort.ExpectedInput{holdshort.YesNo, holdshort.SingleChoice, holdshort.MultiChoice, holdshort.FreeText, holdshort.Form, "?"}
	for _, input := range inputs {
		for _, kind := range []holdshort.Kind{holdshort.Approval, holdshort.ErrorRecovery, holdshort.Escalation} {
			req := base
			req.ExpectedInput, req.Kind, req.Code = input, kind, "K7"
			req.Allowed = []holdshort.Verb{holdshort.Approve, holdshort.Edit, holdshort.Reject}
			for _, width := range []int{0, 40} {
				tell.width = width
				clean("a card", tell.tell(happening{opened: &req}))
				for _, status := range []holdshort.RequestStatus{holdshort.RequestResolved, holdshort.RequestExpired, holdshort.RequestCanceled} {
					closed := req
					closed.Status = status
					for i := range closed.Decision.Calls {
						closed.Decision.Calls[i].Action = holdshort.Edit
					}
					clean("a verdict", tell.tell(happening{closed: &closed, missed: true}))
					for _, outcome := range []holdshort.Outcome{holdshort.Answered, holdshort.Edited, holdshort.Approved} {
						closed.Outcome = outcome
						clean("a verdict", tell.tell(happening{closed: &closed}))
					}
				}
				clean("a vote", tell.tell(happening{voted: &req}))
			}
		}
	}
	for _, role := range []holdshort.Role{holdshort.RoleUser, holdshort.RoleAssistant, holdshort.RoleSystem, holdshort.RoleTool} {
		for _, kind := range []string{"", noteOfResults, "tool_calls", holdshort.TypeNotice, holdshort.TypeHandback} {
			var m holdshort.Message
			poison(reflect.ValueOf(&m).Elem(), 0)
			m.Role, m.Type = role, kind
			for _, part := range []string{"text", "data", "file"} {
				for i := range m.Parts {
					m.Parts[i].Type = part
					m.Parts[i].Data, _ = json.Marshal([]map[string]string{{"tool": nasty, "outcome": nasty}})
				}
				clean("a message", tell.tell(happening{message: &m}))
			}
		}
	}
	var run client.Run
	poison(reflect.ValueOf(&run).Elem(), 0)
	for _, status := range []holdshort.RunStatus{holdshort.RunFailed, holdshort.RunCompleted, holdshort.RunCanceled} {
		for _, held := range []bool{true, false} {
			ended := run
			if ended.Status = status; !held {
				ended.Held = nil
			}
			clean("an end", tell.tell(happening{ended: &ended}))
		}
	}
	_, err := reader{open: []client.Request{base}, may: func(client.Request) bool { return true }}.read("/" + nasty)
	if err == nil || strings.IndexFunc(err.Error(), hides) >= 0 {
		t.Errorf("the error is %v", err)
	}
}
