package engine

import (
	"encoding/json"
	"slices"
	"unicode"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/reply"
)

// questionOf is a request as the reader of replies sees it.
func questionOf(req holdshort.Request, languages []string) reply.Question {
	q := reply.Question{Expected: reply.Expected(req.ExpectedInput), Languages: languages, Actions: len(req.Actions) > 0 || req.Kind == holdshort.Approval}
	for _, o := range req.Options {
		q.Options = append(q.Options, reply.Option{ID: o.ID, Label: o.Label})
	}
	if len(q.Options) == 2 {
		a, b := scopeOf(q.Options[0].ID), scopeOf(q.Options[1].ID)
		if a != reply.NoScope && b != reply.NoScope && a != b { // "the whole series, or only this one?"
			q.Options[0].Scope, q.Options[1].Scope = a, b
		}
	}
	if req.ExpectedInput == holdshort.Form {
		q.Fields = formFields(req.Schema)
	}
	return q
}

func scopeOf(id string) reply.Scope {
	switch id {
	case "all", "all_occurrences", "series":
		return reply.AllOccurrences
	case "this", "this_one", "single", "occurrence":
		return reply.ThisOne
	}
	return reply.NoScope
}

// decisionOf is what a reading says about a request; false if it says nothing.
func decisionOf(r reply.Reading, req holdshort.Request, q *reply.Question) (DecideInput, bool) {
	in := DecideInput{Request: req.ID}
	switch r.Verdict {
	case reply.Yes:
		in.Action = holdshort.Approve
	case reply.No:
		in.Action = holdshort.Reject
	case reply.Cancel:
		in.Action = holdshort.Cancel
	case reply.Selected:
		in.Action = holdshort.Select
		for i := range r.Selected.All() {
			in.OptionIDs = append(in.OptionIDs, req.Options[i].ID)
		}
	case reply.Text:
		in.Action = holdshort.Answer
		in.Value, _ = json.Marshal(r.Text) // a string that is UTF-8: it cannot fail
	case reply.Filled:
		in.Action = holdshort.Answer
		fields := map[string]json.RawMessage{}
		for _, v := range r.Values {
			fields[q.Fields[v.Field].Name] = v.JSON
		}
		raw, err := json.Marshal(fields)
		if err != nil {
			return in, false
		}
		in.Value = raw
	default:
		return in, false
	}
	if in.Action == holdshort.Answer && !slices.Contains(req.Allowed, holdshort.Answer) && slices.Contains(req.Allowed, holdshort.Respond) {
		in.Action = holdshort.Respond
	}
	return in, true
}

// languagesOf are the languages in which a reply is read and answered: the request's, the session's, else the one whose script it is in.
func languagesOf(req *holdshort.Request, s holdshort.Session, text string) []string {
	var tags []string
	if req != nil && req.Language != "" {
		tags = append(tags, req.Language)
	}
	if s.Language != "" {
		tags = append(tags, s.Language)
	}
	if len(tags) > 0 {
		return tags
	}
	for _, r := range text {
		if unicode.Is(unicode.Hebrew, r) {
			return []string{"he"}
		}
	}
	return nil
}
