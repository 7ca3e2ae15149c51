package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/model"
)

// planned is what an agent makes of one call that its model asked for.
type planned struct {
	ID      string `json:"id"`                // its own, whatever the model wrote
	As      kind   `json:"as,omitempty"`      // default: a call of a tool
	Refused string `json:"refused,omitempty"` // why nobody is even asked about it
}

type kind string

const (
	asQuestion kind = "question" // to the user
	asWork     kind = "work"     // of a delegate
)

// wish is one call of a model's answer on its way to a result.
type wish struct {
	model.Call
	as      kind
	refused string
	result  flow.Result
	text    string      // of a result that no tool gave
	used    model.Usage // of a delegate that is an agent
	mended  string      // what a person changed after it had been refused
	begun   bool        // a delegate was at work on it
	failed  bool
}

// carryOut has the calls of one answer done. All of them stand before policy and people together: nothing of a batch runs before its decision.
// What was approved runs at the same time, each call with a commit of its own.
func (t *turn) carryOut(n int, said answer) error {
	wishes := read(said)
	t.noteCalls(n, wishes)
	var requests []flow.Request
	var asked []int
	for i, w := range wishes {
		if w.refused == "" && w.as != asQuestion {
			requests, asked = append(requests, flow.Request{ID: w.ID, Tool: w.Tool, Args: w.Args}), append(asked, i)
			if _, has := t.a.tools[w.Tool]; !has && !flow.Recorded(t.c, fmt.Sprintf("calls-%d/%d", n, len(requests))) {
				flow.Lacks(t.c, w.Tool) // it was taken away meanwhile: an approval must not be used up for nothing
			}
		}
	}
	results, err := flow.Calls(t.c, "calls-"+strconv.Itoa(n), requests)
	if err != nil {
		return err
	}
	for k, i := range asked {
		wishes[i].result = results[k]
	}
	if err := t.goOn(n, wishes); err != nil {
		return err
	}
	assistant := model.Message{Role: model.Assistant, Text: said.Text, Echo: said.Echo}
	for _, w := range wishes {
		call := w.Call
		if len(call.Args) == 0 {
			call.Args, call.Malformed = json.RawMessage("{}"), ""
		}
		assistant.Calls = append(assistant.Calls, call)
	}
	t.messages = append(t.messages, assistant)
	for _, w := range wishes {
		t.messages = append(t.messages, t.outcome(w))
	}
	t.noteResults(n, wishes)
	return nil
}

// plan takes what a model wrote for what it is: names that it may have made up, ids that it may have used twice, arguments that may be none.
func (a *Agent) plan(said model.Response) []planned {
	most := a.config.Limits.Calls
	seen := map[string]bool{}
	plan := make([]planned, len(said.Calls))
	for i, c := range said.Calls {
		p := planned{ID: strings.ToValidUTF8(c.ID, "_")}
		if p.ID == "" || len(p.ID) > 100 || seen[p.ID] || strings.ContainsRune(p.ID, 0) {
			p.ID = fmt.Sprintf("call_%d", i+1)
			for seen[p.ID] {
				p.ID += "_"
			}
		}
		seen[p.ID] = true
		_, known := a.tools[c.Tool]
		if _, ok := a.delegates[c.Tool]; ok {
			p.As = asWork
		}
		if c.Tool == AskUser && a.config.AskUser {
			p.As, known = asQuestion, true
		}
		switch {
		case said.Stop == model.StopLength:
			p.Refused = "your answer was cut off, so this call may not be whole: ask for it again, in a shorter answer"
		case len(said.Calls) > most:
			p.Refused = fmt.Sprintf("an answer may ask for %d calls at most, this one asked for %d and none was run: ask for fewer", most, len(said.Calls))
		case !known:
			p.Refused = fmt.Sprintf("there is no tool %q; there are: %s", clip(c.Tool, 80), a.names())
		case c.Malformed != "" || !isObject(c.Args):
			p.Refused = "its arguments are not a JSON object"
		default:
			if _, err := holdshort.Canonical(c.Args); err != nil {
				p.Refused = "its arguments cannot be taken: " + clip(err.Error(), 200)
			}
		}
		plan[i] = p
	}
	return plan
}

// read puts the calls of an answer together with what was made of them when it came.
func read(said answer) []*wish {
	wishes := make([]*wish, len(said.Calls))
	for i, c := range said.Calls {
		w := &wish{Call: c, as: said.Plan[i].As, refused: said.Plan[i].Refused}
		w.ID = said.Plan[i].ID
		if canonical, err := holdshort.Canonical(c.Args); err == nil && w.refused == "" {
			w.Args = canonical
		}
		if w.refused != "" {
			w.Tool = clip(w.Tool, 200)
		}
		wishes[i] = w
	}
	return wishes
}

func isObject(raw json.RawMessage) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(raw, &object) == nil && object != nil
}

func (a *Agent) names() string {
	names := make([]string, len(a.offered))
	for i, o := range a.offered {
		names[i] = o.Name
	}
	return clip(strings.Join(names, ", "), 1000)
}

// goOn does what follows on the gate: work is handed to delegates, the user is asked, calls that were refused because of their arguments are
// put right. Each in a branch of its own: while some wait for people, the others go on.
func (t *turn) goOn(n int, wishes []*wish) error {
	var open []int
	for i, w := range wishes {
		if t.goesOn(w) {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return nil
	}
	_, err := flow.Each(t.c, "then-"+strconv.Itoa(n), open, func(i int) string { return strconv.Itoa(i + 1) }, func(c *flow.Context, i int) (bool, error) {
		t.further(c, wishes[i])
		return true, nil
	})
	for _, i := range open {
		t.usage = t.usage.Add(wishes[i].used) // it counts against the same limits
	}
	return err
}

func (t *turn) goesOn(w *wish) bool {
	switch {
	case w.refused != "":
		return false
	case w.as == asQuestion:
		return true
	case w.as == asWork:
		return w.result.Err == nil && w.result.By == ""
	}
	return t.repairable(w.result) != nil
}

func (t *turn) further(c *flow.Context, w *wish) {
	switch w.as {
	case asQuestion:
		w.text, w.result.Err = t.askUser(c, w.Args)
	case asWork:
		d, has := t.a.delegates[w.Tool]
		if !has {
			flow.Lacks(c, w.Tool)
		}
		w.begun = true
		w.result.Value, w.result.Err = d.work(c, w.result.Value)
		w.used = usageOf(w.result)
	default:
		t.repair(c, w)
	}
}

// usageOf is what a delegate that is an agent has used, also of one that failed.
func usageOf(result flow.Result) model.Usage {
	var s *spent
	if errors.As(result.Err, &s) {
		return s.usage
	}
	var r Result
	if result.Err != nil || json.Unmarshal(result.Value, &r) != nil {
		return model.Usage{}
	}
	return r.Usage
}
