package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/repair"
	"github.com/holdshort/holdshort/tool"
)

// repairable gives the fault of a call that the user can put right, nil if there is none.
func (t *turn) repairable(r flow.Result) *tool.Fault {
	var failed *flow.StepError
	if t.a.config.Repair.Off || r.Err == nil || !errors.As(r.Err, &failed) || failed.Failure.Code != holdshort.ToolFailed || len(failed.Failure.Detail) == 0 {
		return nil
	}
	var fault tool.Fault
	if json.Unmarshal(failed.Failure.Detail, &fault) != nil || !fault.Repairable() {
		return nil
	}
	return &fault
}

// maxQuestions is how often the user is asked about one attempt before it is left.
const maxQuestions = 3

// repair asks the user what a refused call should have said, and tries that: as a new call, through policy and people like any other, in the
// place of the one that failed. What cannot be put right is left as the failure that it was.
func (t *turn) repair(c *flow.Context, w *wish) {
	args := w.Args
	if len(w.result.Ran) > 0 {
		args = w.result.Ran
	}
	for k := 1; k <= t.a.config.Repair.Attempts; k++ {
		fault := t.repairable(w.result)
		if fault == nil {
			return
		}
		if t.about.Session != "" {
			flow.Note(c, "error-"+strconv.Itoa(k), holdshort.Message{Role: holdshort.RoleSystem, Type: holdshort.TypeNotice, ModelVisible: true,
				Parts: []holdshort.Part{{Type: "text", Text: "API validation error occurred"}}})
		}
		full := repair.Complete(*fault, args, t.a.tools[w.Tool].Schema)
		better, changed := t.mend(c, k, w, full, args)
		if better == nil {
			return
		}
		results, err := flow.Calls(c, "try-"+strconv.Itoa(k), []flow.Request{{ID: w.ID, Tool: w.Tool, Args: better}})
		if err != nil {
			return // its arguments cannot be hashed: mend checked them
		}
		if w.mended != "" {
			w.mended += "; "
		}
		w.mended += changed
		w.result, args = results[0], better
		if len(w.result.Ran) > 0 {
			args = w.result.Ran
		}
	}
}

// mend gets better arguments from the user, nil if there are none to be had.
func (t *turn) mend(c *flow.Context, k int, w *wish, fault tool.Fault, args json.RawMessage) (better json.RawMessage, changed string) {
	language, schema := t.language(), t.a.tools[w.Tool].Schema
	question := repair.Message(fault, t.asked, language)
	text := question
	for q := 1; q <= maxQuestions; q++ {
		place := fmt.Sprintf("%d.%d", k, q)
		said, err := flow.Mend(c, "mend-"+place, flow.Question{Text: clip(text, 4000), Expires: t.a.config.InputTimeout, TakeCancel: true, Source: "agent", Language: language,
			ReturnTo: holdshort.ReturnTo{Node: "tool_call", Mode: "execute"},
			Context:  mending{Tool: w.Tool, CallID: w.ID, ErrorType: fault.Class, Field: fault.Field, CurrentValue: fault.Value, ValidValues: fault.Allowed, Attempt: k, Most: t.a.config.Repair.Attempts}})
		if err != nil {
			return nil, ""
		}
		history := t.lines(c, "history-"+place)
		patch, err := repair.Read(said, fault, args, schema, history, language)
		if holdshort.CodeOf(err) == holdshort.Canceled {
			return nil, ""
		}
		confirm := false
		if err != nil && t.a.config.Repair.Model != nil {
			confirm = true
			patch, err = t.propose(c, "read-"+place, said, fault, args, schema, history)
		}
		if err == nil {
			if better, err = patch.Apply(args); err == nil {
				err = t.a.tools[w.Tool].Validate(better)
			}
		}
		if err != nil {
			text = repair.Again(err, question, language)
			continue
		}
		changed = diff(repair.Diff(args, better))
		if confirm {
			yes, err := flow.Confirm(c, "sure-"+place, flow.Question{Text: repair.Confirm(repair.Diff(args, better), language), Expires: t.a.config.InputTimeout, TakeCancel: true, Source: "agent", Language: language})
			if err != nil {
				return nil, ""
			}
			if !yes {
				text = question
				continue
			}
		}
		return better, changed
	}
	return nil, ""
}

// mending is what a request for a correction shows besides its question. The other arguments are not in it: not everybody who may see the
// request may see them.
type mending struct {
	Tool         string            `json:"tool"`
	CallID       string            `json:"call_id"`
	ErrorType    tool.Class        `json:"error_type"`
	Field        string            `json:"field,omitempty"`
	CurrentValue json.RawMessage   `json:"current_value,omitempty"`
	ValidValues  []json.RawMessage `json:"valid_values,omitempty"`
	Attempt      int               `json:"attempt"`
	Most         int               `json:"of"`
}

// lines is what was said, fresh from the history: the answer that is being read is in it too, and whatever came with it.
func (t *turn) lines(c *flow.Context, key string) []repair.Line {
	if t.about.Session == "" {
		return []repair.Line{{Role: "user", Text: t.asked}}
	}
	history, err := flow.History(c, key)
	if err != nil {
		return nil
	}
	var lines []repair.Line
	for _, m := range history {
		if text := textOf(m.Parts); text != "" && m.Type != noteCalls && m.Type != noteResults {
			lines = append(lines, repair.Line{Role: string(m.Role), Text: text})
		}
	}
	return lines
}

// propose has a model read what the deterministic reader could not. Its proposal is checked like a person's words, and shown before it counts.
func (t *turn) propose(c *flow.Context, key, said string, fault tool.Fault, args, schema json.RawMessage, history []repair.Line) (repair.Patch, error) {
	brief := repair.Prompt(fault, args, schema, history, said)
	got, err := flow.Model(c, key, func(ctx context.Context) (answer, error) {
		r, err := generate(ctx, t.a.config.Repair.Model, model.Request{System: brief.System, Messages: []model.Message{{Role: model.User, Text: brief.User}}, Schema: brief.Schema}, nil)
		if err == nil {
			err = sane(r)
		}
		r.Calls = nil
		return answer{Response: r}, err
	})
	if err != nil {
		return repair.Patch{}, err
	}
	return repair.FromModel(json.RawMessage(strings.TrimSpace(got.Text)), said, fault, args, schema)
}

func diff(changes []repair.Change) string {
	texts := make([]string, len(changes))
	for i, c := range changes {
		texts[i] = fmt.Sprintf("%s: %s → %s", c.Field, orNone(c.Before), orNone(c.After))
	}
	return clip(strings.Join(texts, ", "), 1000)
}

func orNone(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "(none)"
	}
	return string(raw)
}
