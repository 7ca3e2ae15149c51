package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// handle is how people name a request in a chat: its short code, else the end of its id.
func handle(req client.Request) string {
	if req.Code != "" {
		return req.Code
	}
	return string(req.ID[max(len(req.ID)-4, 0):])
}

// named reports whether a word is the name of a request.
func named(req client.Request, word string) bool {
	return word != "" && (strings.EqualFold(word, handle(req)) || word == string(req.ID) || len(word) >= 4 && strings.HasSuffix(string(req.ID), strings.ToLower(word)))
}

// card shows a pause: exactly what will happen, why somebody is asked, who may say so, until when, and what to type; whyNot is why whoever
// reads it may not decide, "" if they may. Nothing of it is hidden, and nothing that a question says can look like what will run.
func card(req client.Request, whyNot string, now time.Time) []string {
	title := string(req.Kind) + " " + handle(req)
	if req.Priority != holdshort.PriorityNormal && req.Priority != "" {
		title += ", " + string(req.Priority)
	}
	lines := []string{"┌ " + oneLine(title)}
	add := func(format string, args ...any) {
		for line := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
			lines = append(lines, strings.TrimRight("│ "+line, " "))
		}
	}
	question := visible(shortly(req))
	if strings.Contains(question, "\n") {
		question = "| " + strings.ReplaceAll(question, "\n", "\n| ")
	}
	add("%s", question)
	for i, a := range req.Actions {
		add("\n%s", action(req, i))
		add("%s", indent(visibleJSON(a.Args)))
		if len(a.Editable) > 0 && slices.Contains(req.Allowed, holdshort.Edit) {
			add("  may be edited: %s", oneLine(strings.Join(a.Editable, ", ")))
		}
		switch names := oneLine(strings.Join(a.Redacted, ", ")); {
		case withheld(a):
			add("  not shown: %s  (/show reveals it to who may decide)", names)
		case names != "":
			add("  shown to you alone: %s", names)
		}
	}
	if req.ExpectedInput == holdshort.SingleChoice || req.ExpectedInput == holdshort.MultiChoice {
		add("")
		for i, o := range req.Options {
			add("  %d. %s", i+1, oneLine(o.Label))
		}
	}
	if fields := formFields(req.Schema); len(fields) > 0 {
		add("\n%s", strings.Join(fields, "\n"))
	}
	if len(req.Context) > 0 && req.Kind != holdshort.ErrorRecovery { // what is wrong with a call is in the question
		add("\ncontext\n%s", indent(visibleJSON(req.Context)))
	}
	add("")
	for _, row := range cardFacts(req, now) {
		if row[1] != "" {
			add("%-8s %s", row[0], oneLine(row[1]))
		}
	}
	return append(lines, "└ "+whatToType(req, whyNot))
}

// shortly is the question without the calls that stand below it in full.
func shortly(req client.Request) string {
	first, _, more := strings.Cut(req.Question, "\n")
	switch n := len(req.Actions); {
	case more && n > 1 && strings.HasPrefix(first, "Run these ") && strings.HasSuffix(first, " calls?"):
		return first
	case !more && n == 1 && strings.HasPrefix(first, "Run "+req.Actions[0].Tool+" {"):
		return "Run " + req.Actions[0].Tool + "?"
	}
	return req.Question
}

// action is the heading of one call.
func action(req client.Request, i int) string {
	a := req.Actions[i]
	head := "runs if approved: " + oneLine(a.Tool)
	if len(req.Actions) > 1 {
		head = fmt.Sprintf("call %d of %d: %s", i+1, len(req.Actions), oneLine(a.Tool))
	}
	switch {
	case a.Refused:
		head += "  (does not run, whatever is decided)"
	case !a.NeedsApproval:
		head += "  (needs no decision)"
	}
	return head
}

func indent(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

// cardFacts are the small print of a card.
func cardFacts(req client.Request, now time.Time) [][2]string {
	due := "never"
	if at := req.Due(); !at.IsZero() {
		due = "in " + age(at.Sub(now)) + ", " + at.UTC().Format(time.RFC3339)
	}
	votes := make([]string, len(req.Votes))
	for i, v := range req.Votes {
		votes[i] = string(v.Action) + " by " + v.Actor.Who() + said(v.Message)
	}
	return [][2]string{{"rule", req.Rule}, {"for", audience(req)}, {"so far", strings.Join(votes, "; ")}, {"expires", due}, {"id", string(req.ID)}}
}

// audience says who may decide, and how many it takes.
func audience(req client.Request) string {
	who := slices.Concat(req.Audience.Users, prefixed("role ", req.Audience.Roles))
	if req.Audience.Owner {
		who = append(who, "the session's user")
	}
	text := strings.Join(who, ", ")
	if n := req.Audience.Needed(); n > 1 {
		text += fmt.Sprintf(" (%d of them, %d so far)", n, len(req.Votes))
	}
	return text
}

// formFields are the fields of a form, one line each.
func formFields(schema json.RawMessage) []string {
	var s struct {
		Properties map[string]struct {
			Type        any               `json:"type"`
			Enum        []json.RawMessage `json:"enum"`
			Description string            `json:"description"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if len(schema) == 0 {
		return nil
	}
	if json.Unmarshal(schema, &s) != nil || len(s.Properties) == 0 {
		return strings.Split("answer as JSON of this form\n"+visibleJSON(schema), "\n")
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		kind := fmt.Sprint(p.Type)
		if len(p.Enum) > 0 {
			values := make([]string, len(p.Enum))
			for i, v := range p.Enum {
				values[i] = string(v)
			}
			kind = strings.Join(values, " or ")
		}
		if !slices.Contains(s.Required, name) {
			kind += ", may be left out"
		}
		line := "  " + name + ": " + kind
		if p.Description != "" {
			line += " (" + p.Description + ")"
		}
		lines = append(lines, oneLine(line))
	}
	return lines
}

// whatToType is the last line of a card.
func whatToType(req client.Request, whyNot string) string {
	takes := func(v holdshort.Verb) bool { return slices.Contains(req.Allowed, v) }
	if whyNot != "" {
		return "waits for " + oneLine(audience(req)) + "; " + whyNot
	}
	switch req.ExpectedInput {
	case holdshort.SingleChoice:
		return "write a number or a name"
	case holdshort.MultiChoice:
		return "write numbers or names, or all"
	case holdshort.Form:
		return "write field=value for each field"
	case holdshort.FreeText:
		if req.Kind == holdshort.Escalation {
			return "/answer TEXT, /approve or /reject WHY"
		}
		return "write your answer"
	}
	words := []string{"yes", "no", "/reject WHY"}
	if field := editable(req); takes(holdshort.Edit) && field != "" {
		words = append(words, "/edit "+oneLine(field)+"=…")
	}
	return strings.Join(words, "  ")
}

// editable is a field that may be edited, as an example.
func editable(req client.Request) string {
	for _, a := range req.Actions {
		if a.NeedsApproval && len(a.Editable) > 0 {
			if a.Editable[0] == "*" {
				return "FIELD"
			}
			return a.Editable[0]
		}
	}
	return ""
}

// verdictOn tells how a pause ended, in one line and what an edit changed. me is who reads it.
func verdictOn(req client.Request, me holdshort.Actor, missed bool) []string {
	name := handle(req)
	if missed { // nobody saw it open
		name += " (" + clip(firstLine(req.Question), 60) + ")"
	}
	switch {
	case req.Status == holdshort.RequestExpired:
		return []string{name + " expired: nothing of it ran"}
	case req.Status == holdshort.RequestCanceled:
		return []string{name + " was called off" + said(req.CancelReason)}
	case req.Decision == nil:
		return []string{name + " is " + string(req.Outcome)}
	}
	d := req.Decision
	who := d.Actor.Who()
	if d.Actor.Same(me) {
		who = "you"
	}
	line := fmt.Sprintf("%s %s by %s%s", name, req.Outcome, oneLine(who), said(d.Message))
	switch {
	case len(d.OptionIDs) > 0:
		line += ": " + oneLine(strings.Join(labels(req.Options, d.OptionIDs), ", "))
	case req.Outcome == holdshort.Answered && len(d.Value) > 0:
		line += ": " + clip(oneLine(plainText(d.Value)), 200)
	}
	lines := []string{line}
	if len(req.Actions) > 1 {
		lines = append(lines, eachCall(req)...)
	}
	for _, change := range changes(req) {
		if !strings.HasPrefix(change, " ") {
			lines = append(lines, change)
		}
	}
	if req.Next != "" {
		lines = append(lines, "more people are asked about the new arguments")
	}
	return lines
}

// eachCall tells what became of the calls of a batch where that is not the same for all.
func eachCall(req client.Request) (lines []string) {
	same := true
	for _, c := range req.Decision.Calls {
		same = same && c.Action == req.Decision.Calls[0].Action
		for i, a := range req.Actions {
			if a.CallID == c.CallID {
				lines = append(lines, fmt.Sprintf("call %d, %s: %s", i+1, oneLine(a.Tool), c.Action))
			}
		}
	}
	if same {
		return nil
	}
	return lines
}

func labels(options []holdshort.Option, ids []string) (out []string) {
	for _, o := range options {
		if slices.Contains(ids, o.ID) {
			out = append(out, o.Label)
		}
	}
	return out
}

// plainText is a JSON text without its quotes, or the JSON.
func plainText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
