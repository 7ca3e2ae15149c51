package torture

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/tool"
)

// Picky is a tool that takes effect only if one of its arguments has the right value, and says which may be.
func (w *World) Picky(name, field string, allowed ...string) tool.Tool {
	fault := &tool.Fault{Class: tool.Validation, Status: 422, Field: field, Message: field + " must be one of the values listed"}
	for _, v := range allowed {
		raw, _ := json.Marshal(v)
		fault.Allowed = append(fault.Allowed, raw)
	}
	return tool.Tool{Name: name, Timeout: w.timeout, Call: func(ctx context.Context, c tool.Call) (tool.Result, error) {
		var args map[string]json.RawMessage
		_ = json.Unmarshal(c.Args, &args) // what cannot be read has no such value
		for _, v := range fault.Allowed {
			if bytes.Equal(args[field], v) {
				return w.outside.call(ctx, name, c, Works, false)
			}
		}
		return w.outside.call(ctx, name, c, func(int) (bool, error) { return false, fault }, false)
	}}
}

// painter is an agent whose tool does not take what the model asks for.
func painter(w *World) []*agent.Agent {
	paint := w.Picky("paint", "aspect_ratio", "1:1", "16:9", "9:16")
	paint.Schema = json.RawMessage(`{"type":"object","properties":{"prompt":{"type":"string"},"aspect_ratio":{"type":"string"}},"required":["prompt"],"additionalProperties":false}`)
	return []*agent.Agent{w.Agent(agent.Config{Name: "painter", Tools: []tool.Tool{paint}, InputTimeout: 24 * time.Hour,
		Model: w.Mind("", wants(wish("b", "paint", `{"prompt":"a cat","aspect_ratio":"2:1"}`)), says("painted"))})}
}

// Repair: the other side refuses an argument and says what it may be; the user says in the chat what to take. That, and nothing else, is
// asked about again, reaches the tool once, and the run comes to its end.
var Repair = Scenario{
	Name: "agent, repair", Policy: reads, Agents: painter,
	Drive: func(h *Hand) {
		run := h.Write("painter", "m1", "paint a cat")
		h.Approve(run, "calls-1", Ana)
		h.Until("the first call is settled", func() bool { return h.honest(run, "calls-1") && !h.underWay(run) })
		h.Answer(run, "then-1/1/mend-1.1", "use 1:1")
		h.Approve(run, "then-1/1/try-1", Ben)
		h.Concludes(run, "calls-1", "then-1/1/try-1")
		h.Until("the user has read the answer", func() bool { return count(h.outside.heard(), "painted") > 0 })
	},
	Check: func(w *World, f *Facts) {
		run := only(w, f)
		concluded(w, f, run, "painted", 2)
		did(w, f, run, "calls-1/1", 0)
		mended := f.Operation(run, "then-1/1/try-1/1")
		if mended.ID == "" && w.frozen { // the first call was too late to be refused
			return
		}
		did(w, f, run, "then-1/1/try-1/1", 1)
		ranWith(w, f, run, "then-1/1/try-1/1", `{"aspect_ratio":"1:1","prompt":"a cat"}`)
		toldOnce(w, "painted")
	},
}

// RepairFails: what the user says first does not fit, what they say next is refused by a reviewer: nothing runs, and the run comes to its end.
var RepairFails = Scenario{
	Name: "agent, repair refused", Policy: reads, Agents: painter,
	Drive: func(h *Hand) {
		run := h.Write("painter", "m1", "paint a cat")
		h.Approve(run, "calls-1", Ana)
		h.Until("the first call is settled", func() bool { return h.honest(run, "calls-1") && !h.underWay(run) })
		h.Answer(run, "then-1/1/mend-1.1", "aspect_ratio=3:1")
		h.Answer(run, "then-1/1/mend-1.2", "use 9:16")
		h.Reject(run, "then-1/1/try-1", Ben)
		h.Concludes(run, "calls-1")
	},
	Check: func(w *World, f *Facts) {
		run := only(w, f)
		concluded(w, f, run, "painted", 2)
		did(w, f, run, "calls-1/1", 0)
		if _, effects := w.outside.seen(); len(effects) > 0 {
			w.Violate(NeverUnasked, "something took effect that was refused: %v", effects)
		}
		if r := f.Request(run, "then-1/1/try-1"); r.Status != holdshort.RequestResolved && !w.frozen {
			w.Violate(PauseKept, "what the user put right was never asked about")
		}
	},
}
