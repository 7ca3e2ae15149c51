package agent

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/model"
)

// outcome is what the model is told of a call. What was not run has no result, and it is told not to make one up.
func (t *turn) outcome(w *wish) model.Message {
	m := model.Message{Role: model.ToolRole, CallID: w.ID, Tool: w.Tool}
	switch {
	case w.refused != "":
		m.Failed, m.Text = true, "Not run: "+w.refused+"."
	case w.result.Err != nil && w.begun:
		m.Failed, m.Untrusted = true, true
		m.Text = "It did not finish: " + clip(reasonOf(w.result.Err), 2000) + ". What it had done by then is done: do not say that nothing was, and look before you ask for the same again."
	case w.result.Err != nil:
		m.Failed, m.Text, m.Untrusted = true, refusal(w.result.Err), outside(w.result.Err)
	case w.as == asQuestion:
		m.Text = "The user answered: " + clip(w.text, t.a.config.Limits.Result)
	case w.result.By != "":
		m.Text = "Not run: " + w.result.By + " answered in the tool's place: " + clip(plain(w.result.Value), t.a.config.Limits.Result)
	default:
		m.Text, m.Untrusted = clip(t.given(w), t.a.config.Limits.Result), true
	}
	if note := changes(w); note != "" {
		m.Text = note + "\n" + m.Text
	}
	w.failed = m.Failed
	return m
}

// given is what a tool or a delegate returned.
func (t *turn) given(w *wish) string {
	if w.as == asWork {
		var r Result
		if json.Unmarshal(w.result.Value, &r) == nil && r.Text != "" {
			return r.Text
		}
	}
	return plain(w.result.Value)
}

// plain is a JSON string as its text, everything else as it is.
func plain(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	if len(value) == 0 {
		return "null"
	}
	return string(value)
}

// changes says what people changed before it ran: the model asked for something else.
func changes(w *wish) string {
	if w.mended != "" {
		return "Its arguments were put right by the user: " + w.mended + "."
	}
	if len(w.result.Ran) > 0 && w.refused == "" {
		return "A person changed its arguments; it ran with " + clip(string(w.result.Ran), 2000) + "."
	}
	return ""
}

func reasonOf(err error) string {
	var failed *flow.StepError
	if errors.As(err, &failed) {
		return failed.Failure.Message
	}
	return err.Error()
}

// outside reports whether the text of an error may be the other side's: it is data as much as a result.
func outside(err error) bool {
	code := holdshort.CodeOf(err)
	return code == holdshort.ToolFailed || code == holdshort.OutcomeUnknown
}

// refusal tells a model why there is no result, and what not to make of it.
func refusal(err error) string {
	why := strings.TrimPrefix(clip(reasonOf(err), 2000), "not run: ")
	switch holdshort.CodeOf(err) {
	case holdshort.Denied:
		return "Not run: " + why + ". There is no result: do not make one up and do not ask for the same call again. Tell the user that it was not done, and what else could be."
	case holdshort.Expired, holdshort.TimedOut:
		return "Not run: " + why + ". There is no result: do not make one up. Tell the user that nobody decided in time."
	case holdshort.Canceled:
		return "Not run: " + why + ". There is no result: do not make one up."
	case holdshort.OutcomeUnknown, holdshort.MissingResult:
		return "Nobody knows what came of it: " + why + ". Do not ask for it again, and say neither that it was done nor that it was not."
	case holdshort.LimitReached:
		return "Not run: " + why + ". There is no result: do not make one up."
	case holdshort.TooLarge: // its arguments, or what it gave
		return "There is no result: " + why + ". Do not make one up."
	case holdshort.DoesNotFit, holdshort.Invalid, holdshort.NotCanonical:
		return "Not run, its arguments do not fit: " + why + "."
	}
	return "It failed, and did nothing: " + why + ". There is no result: do not make one up."
}

// Types of the notes that an agent leaves in its session's history.
const (
	noteCalls   = "tool_calls"
	noteResults = "tool_results"
)

// note is what the history keeps of a call: never its arguments or its result, which not everybody who reads the session may see.
type note struct {
	ID      string `json:"call_id"`
	Tool    string `json:"tool"`
	Outcome string `json:"outcome,omitempty"` // done, answered, or the code of why not
}

func (t *turn) noteCalls(n int, wishes []*wish) {
	t.note("note-calls-"+strconv.Itoa(n), holdshort.RoleAssistant, noteCalls, wishes, func(*wish) string { return "" })
}

func (t *turn) noteResults(n int, wishes []*wish) {
	t.note("note-results-"+strconv.Itoa(n), holdshort.RoleTool, noteResults, wishes, func(w *wish) string {
		switch {
		case w.refused != "":
			return string(holdshort.Invalid)
		case w.result.Err != nil:
			return string(holdshort.CodeOf(w.result.Err))
		case w.result.By != "" || w.as == asQuestion:
			return "answered"
		}
		return "done"
	})
}

func (t *turn) note(key string, role holdshort.Role, kind string, wishes []*wish, outcome func(*wish) string) {
	if t.about.Session == "" || t.sub {
		return
	}
	notes := make([]note, 0, len(wishes))
	for _, w := range wishes {
		notes = append(notes, note{ID: w.ID, Tool: w.Tool, Outcome: outcome(w)})
	}
	raw, err := json.Marshal(notes)
	if err != nil || len(raw) > maxSaid { // strings
		return
	}
	flow.Note(t.c, key, holdshort.Message{Role: role, Type: kind, Parts: []holdshort.Part{{Type: "data", Name: kind, Data: raw}}})
}
