package torture

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

// reads lets tools run that change nothing, and asks a reviewer about all others, who may change what they like.
var reads = policy.Func(func(_ context.Context, c policy.Call) (policy.Verdict, error) {
	if c.Effect == "read" {
		return policy.Verdict{Decision: policy.Allow, Rule: "reads"}, nil
	}
	return policy.Verdict{Decision: policy.Ask, Rule: "torture", Editable: []string{"*"}}, nil
})

var orderSchema = json.RawMessage(`{"type":"object","properties":{"order":{"type":"string"},"amount":{"type":"number"}},"required":["order"],"additionalProperties":false}`)

// desk is an agent that looks orders up and refunds them.
func (w *World) desk(lines ...utterance) *agent.Agent {
	return w.Agent(agent.Config{Name: "desk", Model: w.Mind("", lines...), Tools: w.orderTools(), AskUser: true, InputTimeout: 24 * time.Hour})
}

func (w *World) orderTools() []tool.Tool {
	look, pay := w.Reader("look"), w.Tool("refund", Works)
	look.Schema, pay.Schema = orderSchema, orderSchema
	return []tool.Tool{look, pay}
}

func desks(lines ...utterance) func(w *World) []*agent.Agent {
	return func(w *World) []*agent.Agent { return []*agent.Agent{w.desk(lines...)} }
}

// Tell makes sure that a run of an agent has been started with what its user wants.
func (h *Hand) Tell(id holdshort.RunID, agent, text string) {
	input, _ := json.Marshal(map[string]string{"text": text})
	_, err := h.Engine.Start(h.ctx, h.Tenant, engine.StartInput{ID: id, Agent: agent, User: User.ID, Input: input})
	h.must(err, "start "+string(id))
	h.mu.Lock()
	h.started[id] = true
	h.mu.Unlock()
	h.settle()
}

// Write makes sure that the user has written to an agent, and gives the run that took it.
func (h *Hand) Write(agent, id, text string) (run holdshort.RunID) {
	_, err := h.Engine.OpenSession(h.ctx, h.Tenant, engine.OpenSessionInput{User: User.ID, Channel: "chat", Address: User.ID, Agent: agent})
	h.must(err, "open the session")
	h.Until(id+" is routed", func() bool {
		got, err := h.Engine.Receive(h.ctx, h.Tenant, engine.Inbound{Channel: "chat", Address: User.ID, ID: id, Text: text})
		h.must(err, "receive "+id)
		h.settle()
		run = got.Run
		return run != ""
	})
	return run
}

// Answer has the user answer the question of a step in the chat, in bare words, once they have read it. It does nothing if there is none.
func (h *Hand) Answer(run holdshort.RunID, step, text string) {
	req, ok := h.Asked(run, step)
	open := func() bool {
		r, err := h.Engine.RequestByID(h.ctx, h.Tenant, req.ID)
		h.must(err, "look at "+string(req.ID))
		req = r
		return r.Status == holdshort.RequestOpen
	}
	if !ok || !open() {
		return
	}
	h.Until(step+" is read out", func() bool { return !open() || !req.AskedAt.IsZero() })
	for n := 1; n <= 6 && open(); n++ {
		h.Pass(15 * time.Second) // past the time in which a reply may have been meant for what stood there before
		in := engine.Inbound{Channel: "chat", Address: User.ID, ID: fmt.Sprint(step, " ", n), Text: text}
		if h.frozen { // two hands speak for one user
			in.ReplyTo = string(req.ID)
		}
		_, err := h.Engine.Receive(h.ctx, h.Tenant, in)
		h.must(err, "receive the answer to "+step)
		h.Settle()
	}
}

// Concludes waits until a run is over, with honest answers to whatever is asked about the calls of the steps given.
func (h *Hand) Concludes(id holdshort.RunID, steps ...string) {
	h.Until(string(id)+" concludes", func() bool {
		quiet := true
		for _, step := range steps {
			quiet = h.honest(id, step) && quiet
		}
		return quiet && h.Run(id).Status.Ended() && !h.underWay(id)
	})
}

// concluded wants a run of an agent to have come to its last line, and every line to have been said once.
func concluded(w *World, f *Facts, run holdshort.RunID, text string, lines int) {
	r := f.Runs[run]
	var got agent.Result
	if r.Status != holdshort.RunCompleted || json.Unmarshal(r.Result, &got) != nil || got.Text != text || got.Iterations != lines {
		w.Violate(Progress, "%s is %s with %s (%+v, held %+v), should be completed with %q after %d answers", run, r.Status, r.Result, r.Error, r.Held, text, lines)
	}
}

// told once: what the user was sent, exactly.
func toldOnce(w *World, texts ...string) {
	for _, text := range texts {
		if n := count(w.outside.heard(), text); n != 1 {
			w.Violate(NotRepeated, "the user read %q %d times: %q", text, n, w.outside.heard())
		}
	}
}

// AgentBatch: one answer of a model with seven calls: one is approved, one edited, one rejected, one answered by a person; one needs nobody
// and waits all the same; one names no tool, and one has no arguments.
var AgentBatch = Scenario{
	Name: "agent, batch", Policy: reads,
	Agents: desks(
		wants(wish("r", "look", `{"order":"1"}`), wish("a", "refund", `{"order":"1","amount":1}`), wish("e", "refund", `{"order":"2","amount":2}`), wish("n", "refund", `{"order":"3","amount":3}`),
			wish("p", "refund", `{"order":"4","amount":4}`), wish("u", "nothing", `{}`), model.Call{ID: "m", Tool: "refund", Malformed: "{"}),
		says("done")),
	Drive: func(h *Hand) {
		h.Tell("run_1", "desk", "refund them")
		if req, ok := h.Asked("run_1", "calls-1"); ok {
			h.Intrude(req.ID, holdshort.Approve, User)
			h.Decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: Ana, Fingerprint: req.Fingerprint, Calls: []holdshort.CallDecision{
				{CallID: "a", Action: holdshort.Approve}, {CallID: "e", Action: holdshort.Edit, Args: json.RawMessage(`{"order":"2","amount":1.5}`)},
				{CallID: "n", Action: holdshort.Reject, Message: "not that one"}, {CallID: "p", Action: holdshort.Respond, Message: "paid in cash"}}})
		}
		h.Concludes("run_1", "calls-1")
	},
	Check: func(w *World, f *Facts) {
		concluded(w, f, "run_1", "done", 2)
		for step, times := range map[string]int{"calls-1/2": 1, "calls-1/3": 1, "calls-1/4": 0, "calls-1/5": 0} {
			did(w, f, "run_1", step, times)
		}
		ranWith(w, f, "run_1", "calls-1/3", `{"amount":1.5,"order":"2"}`)
		if req := f.Request("run_1", "calls-1"); len(req.Actions) != 5 && len(f.Requests) == 1 {
			w.Violate(PauseKept, "one request should show the five calls that can be made: %+v", req.Actions)
		}
	},
}

// AgentEdit: the user writes, a reviewer changes the arguments; those run, the model is told, and the user reads the answer once.
var AgentEdit = Scenario{
	Name: "agent, edit", Policy: reads,
	Agents: desks(wants(wish("b", "refund", `{"order":"77","amount":120}`)), says("refunded")),
	Drive: func(h *Hand) {
		run := h.Write("desk", "m1", "refund order 77")
		if req, ok := h.Asked(run, "calls-1"); ok {
			h.Decide(engine.DecideInput{Request: req.ID, Action: holdshort.Edit, Actor: Ana, Args: json.RawMessage(`{"amount":99,"order":"77"}`), Fingerprint: req.Fingerprint})
		}
		h.Concludes(run, "calls-1")
		h.Until("the user has read the answer", func() bool { return count(h.outside.heard(), "refunded") > 0 })
	},
	Check: func(w *World, f *Facts) {
		run := only(w, f)
		concluded(w, f, run, "refunded", 2)
		did(w, f, run, "calls-1/1", 1)
		ranWith(w, f, run, "calls-1/1", `{"amount":99,"order":"77"}`)
		toldOnce(w, "refunded")
	},
}

// only wants one message to have made one run.
func only(w *World, f *Facts) (id holdshort.RunID) {
	if len(f.Runs) != 1 {
		w.Violate(InboundOnce, "one conversation has %d runs", len(f.Runs))
	}
	for run := range f.Runs {
		id = run
	}
	return id
}

// AgentWords: the user writes twice more while a batch waits for its approval; that wakes the run, and nothing of the batch. The model hears each once, in order, not before the decision, and
// has not forgotten it after the next pause.
var AgentWords = Scenario{
	Name: "agent, words while it waits", Policy: reads,
	Agents: func(w *World) []*agent.Agent {
		return []*agent.Agent{w.desk(wants(wish("r", "look", `{"order":"1"}`), wish("b", "refund", `{"order":"1"}`)), w.heard(wants(wish("b", "refund", `{"order":"2"}`))), w.heard(says("refunded in a hurry")))}
	},
	Drive: func(h *Hand) {
		run := h.Write("desk", "m1", "refund orders 1 and 2")
		h.Asked(run, "calls-1")
		h.receive("m2", "please hurry")
		h.receive("m2", "please hurry")
		h.receive("m3", "they were broken")
		h.Settle()
		h.Approve(run, "calls-1", Ana)
		h.Until("the first call is settled", func() bool { return h.honest(run, "calls-1") && !h.underWay(run) })
		h.Approve(run, "calls-2", Ana)
		h.Concludes(run, "calls-1", "calls-2")
		h.Until("the user has read the answer", func() bool { return count(h.outside.heard(), "refunded") > 0 })
	},
	Check: func(w *World, f *Facts) {
		run := only(w, f)
		concluded(w, f, run, "refunded in a hurry", 3)
		did(w, f, run, "calls-1/2", 1)
		did(w, f, run, "calls-2/1", 1)
		toldOnce(w, "refunded in a hurry")
		w.Count(Line{Inbound: 3})
	},
}

// heard says a line if the model has heard what the user wrote, each once and in order.
func (w *World) heard(next utterance) utterance {
	return func(req model.Request) model.Response {
		var heard []string
		for _, m := range req.Messages {
			if m.Role == model.User {
				heard = append(heard, m.Text)
			}
		}
		if got := strings.Join(heard, " | "); got != "refund orders 1 and 2 | please hurry | they were broken" {
			w.Violate(InboundOnce, "the model heard %q", got)
		}
		return next(req)
	}
}
