package agent

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/model"
)

// wish is one call of a model's answer on its way to a result.
type wish struct {
	model.Call
	result  flow.Result
	refused string // why it was not even asked about
	text    string // of a result that no tool gave
	mended  string // what a person changed after it had been refused
	failed  bool
}

// carryOut has the calls of one answer done. All of them stand before policy and people together: nothing of a batch runs before its decision.
// What was approved runs at the same time, each call with a commit of its own.
func (t *turn) carryOut(n int, said answer) error {
	wishes := t.read(said)
	t.noteCalls(n, wishes)
	var requests []flow.Request
	var asked []int
	for i, w := range wishes {
		if w.refused == "" && w.Tool != AskUser {
			requests, asked = append(requests, flow.Request{ID: w.ID, Tool: w.Tool, Args: w.Args}), append(asked, i)
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

// read takes what the model wrote for what it is: names that it may have made up, ids that it may have used twice, arguments that may be none.
func (t *turn) read(said answer) []*wish {
	most := t.a.config.Limits.Calls
	seen := map[string]bool{}
	wishes := make([]*wish, len(said.Calls))
	for i, c := range said.Calls {
		w := &wish{Call: c}
		wishes[i] = w
		if w.ID == "" || len(w.ID) > 100 || seen[w.ID] || strings.ContainsRune(w.ID, 0) {
			w.ID = fmt.Sprintf("call_%d", i+1)
			for seen[w.ID] {
				w.ID += "_"
			}
		}
		w.ID = strings.ToValidUTF8(w.ID, "_")
		seen[w.ID] = true
		_, known := t.a.tools[w.Tool]
		switch {
		case said.Stop == model.StopLength:
			w.refused = "your answer was cut off, so this call may not be whole: ask for it again, in a shorter answer"
		case len(said.Calls) > most:
			w.refused = fmt.Sprintf("an answer may ask for %d calls at most, this one asked for %d and none was run: ask for fewer", most, len(said.Calls))
		case !known && !(w.Tool == AskUser && t.a.config.AskUser):
			w.refused = fmt.Sprintf("there is no tool %q; there are: %s", clip(w.Tool, 80), t.names())
		case w.Malformed != "" || !isObject(w.Args):
			w.refused = "its arguments are not a JSON object"
		default:
			canonical, err := holdshort.Canonical(w.Args)
			if err != nil {
				w.refused = "its arguments cannot be taken: " + clip(err.Error(), 200)
				break
			}
			w.Args = canonical
		}
		if w.refused != "" {
			w.Tool = clip(w.Tool, 200)
		}
	}
	return wishes
}

func isObject(raw json.RawMessage) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(raw, &object) == nil && object != nil
}

func (t *turn) names() string {
	names := make([]string, len(t.a.offered))
	for i, o := range t.a.offered {
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
		t.usage = t.usage.Add(usageOf(wishes[i]))
	}
	return err
}

func (t *turn) goesOn(w *wish) bool {
	_, delegate := t.a.delegates[w.Tool]
	switch {
	case w.refused != "":
		return false
	case w.Tool == AskUser:
		return true
	case delegate:
		return w.result.Err == nil && w.result.By == ""
	}
	return t.repairable(w.result) != nil
}

func (t *turn) further(c *flow.Context, w *wish) {
	if w.Tool == AskUser {
		text, err := t.askUser(c, w.Args)
		w.text, w.result.Err = text, err
		return
	}
	if d, ok := t.a.delegates[w.Tool]; ok {
		w.result.Value, w.result.Err = d.work(c, w.result.Value)
		return
	}
	t.repair(c, w)
}

// usageOf is what a delegate that is an agent has used: it counts against the same limits.
func usageOf(w *wish) model.Usage {
	var r Result
	if w.result.Err != nil || json.Unmarshal(w.result.Value, &r) != nil {
		return model.Usage{}
	}
	return r.Usage
}
