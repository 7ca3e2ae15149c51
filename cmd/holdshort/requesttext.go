package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// describe shows all of a request that a decision needs, as lines without anything that cannot be seen.
func describe(req client.Request, now time.Time) []string {
	var lines []string
	add := func(format string, args ...any) {
		lines = append(lines, strings.Split(fmt.Sprintf(format, args...), "\n")...)
	}
	question := visible(req.Question)
	if strings.Contains(question, "\n") { // what a question says must not look like what will run
		question = "| " + strings.ReplaceAll(question, "\n", "\n| ")
	}
	add("%s", question)
	for i, a := range req.Actions {
		add("")
		need := ""
		if a.Refused {
			need = "  (does not run, whatever is decided: a rule denies it, or its arguments do not fit)"
		} else if !a.NeedsApproval {
			need = "  (needs no decision, runs with the others)"
		}
		add("call %d of %d: %s  [%s]%s", i+1, len(req.Actions), oneLine(a.Tool), oneLine(a.CallID), need)
		add("%s", visibleJSON(a.Args))
		if len(a.Editable) > 0 {
			add("may be edited: %s", oneLine(strings.Join(a.Editable, ", ")))
		}
		if len(a.Redacted) > 0 {
			add("redacted: %s", oneLine(strings.Join(a.Redacted, ", ")))
		}
	}
	if req.ExpectedInput != holdshort.YesNo { // yes and no need no list
		for i, o := range req.Options {
			if i == 0 {
				add("")
				add("options")
			}
			add("  %d. %s  (%s)", i+1, oneLine(o.Label), oneLine(o.ID))
		}
	}
	if len(req.Schema) > 0 {
		add("")
		add("answer as JSON of this form")
		add("%s", visibleJSON(req.Schema))
	}
	if len(req.Context) > 0 {
		add("")
		add("context")
		add("%s", visibleJSON(req.Context))
	}
	for _, v := range req.Votes {
		add("")
		add("vote: %s by %s%s", v.Action, oneLine(v.Actor.Who()), said(v.Message))
	}
	if d := req.Decision; d != nil {
		add("")
		add("decided: %s by %s at %s%s", d.Action, oneLine(d.Actor.Who()), d.At.UTC().Format(time.RFC3339), said(d.Message))
		lines = append(lines, changes(req)...)
		if len(d.Value) > 0 {
			add("%s", visibleJSON(d.Value))
		}
	}
	for _, op := range req.Operations {
		add("operation %s: %s", oneLine(op.ID), op.Status)
	}
	add("")
	for _, row := range facts(req, now) {
		if row[1] != "" {
			add("%-12s %s", row[0], oneLine(row[1]))
		}
	}
	return lines
}

func said(message string) string {
	if message == "" {
		return ""
	}
	return ": " + oneLine(message)
}

// facts are the small print of a request.
func facts(req client.Request, now time.Time) [][2]string {
	who := slices.Concat(req.Audience.Users, prefixed("role ", req.Audience.Roles))
	if req.Audience.Owner {
		who = append(who, "the session's user")
	}
	audience := strings.Join(who, ", ")
	if n := req.Audience.Needed(); n > 1 {
		audience += fmt.Sprintf(" (%d of them, %d so far)", n, len(req.Votes))
	}
	due := ""
	if at := req.Due(); !at.IsZero() && req.Status == holdshort.RequestOpen {
		due = at.UTC().Format(time.RFC3339) + ", in " + age(at.Sub(now))
	}
	status := string(req.Status)
	if req.Outcome != "" {
		status += ", " + string(req.Outcome)
	}
	return [][2]string{
		{"id", string(req.ID)}, {"code", req.Code}, {"status", status}, {"kind", string(req.Kind)}, {"priority", string(req.Priority)},
		{"asked", req.CreatedAt.UTC().Format(time.RFC3339) + ", " + age(now.Sub(req.CreatedAt)) + " ago"}, {"expires", due},
		{"for", audience}, {"assigned to", req.Assignee}, {"rule", req.Rule}, {"reason", req.Reason},
		{"on behalf of", req.Requester.User}, {"raised by", req.Requester.RaisedBy}, {"run", string(req.RunID)}, {"session", string(req.SessionID)},
		{"takes", verbs(req.Allowed)}, {"fingerprint", req.Fingerprint}, {"next", string(req.Next)},
	}
}

func verbs(list []holdshort.Verb) string {
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = string(v)
	}
	return strings.Join(words, ", ")
}

func prefixed(prefix string, list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = prefix + s
	}
	return out
}

// changes shows what an edit changed.
func changes(req client.Request) []string {
	var lines []string
	for _, c := range req.Decision.Calls {
		if c.Action != holdshort.Edit {
			continue
		}
		for _, a := range req.Actions {
			if a.CallID == c.CallID {
				lines = append(lines, diff(a.Args, c.Args)...)
			}
		}
	}
	return lines
}

// diff shows two JSON values line by line: - what was, + what would be.
func diff(old, edited json.RawMessage) []string {
	a, b := strings.Split(visibleJSON(old), "\n"), strings.Split(visibleJSON(edited), "\n")
	if len(a)*len(b) > 1<<22 { // too large to compare: all that was, then all that would be
		return slices.Concat(prefixed("- ", a), prefixed("+ ", b))
	}
	// The longest common lines, by the usual table: arguments are short.
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var lines []string
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			lines = append(lines, "  "+a[i])
			i, j = i+1, j+1
		case j >= len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			lines = append(lines, "- "+a[i])
			i++
		default:
			lines = append(lines, "+ "+b[j])
			j++
		}
	}
	return lines
}

// age is a time span as people say it.
func age(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
