package torture

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/model"
)

// mind is a language model, which is a part of the world outside: what it was asked is counted there, and no crash of ours makes it forget.
// It says its lines in order. Which one is next it knows from the conversation alone, as a real one does.
type mind struct {
	w     *World
	path  string // under which the journal of the run keeps its answers
	lines []utterance
}

// utterance is what it says to a conversation.
type utterance func(req model.Request) model.Response

// Mind makes a model. path is empty for the agent of a run; that of one to which another hands work is the path of that work.
func (w *World) Mind(path string, lines ...utterance) model.Model { return &mind{w, path, lines} }

// wants asks for calls.
func wants(calls ...model.Call) utterance {
	return func(model.Request) model.Response { return model.Response{Calls: calls, Stop: model.StopCalls} }
}

// says ends the turn.
func says(text string) utterance {
	return func(model.Request) model.Response { return model.Response{Text: text, Stop: model.StopEnd} }
}

func wish(id, tool, args string) model.Call {
	return model.Call{ID: id, Tool: tool, Args: json.RawMessage(args)}
}

// Generate says the next line.
func (m *mind) Generate(ctx context.Context, req model.Request, say func(string)) (model.Response, error) {
	n := 1
	for _, msg := range req.Messages {
		if msg.Role == model.Assistant {
			n++
		}
	}
	m.w.outside.thinks(ctx, fmt.Sprintf("%smodel-%d", m.path, n))
	if n > len(m.lines) {
		return model.Response{}, &model.Error{Kind: model.Rejected, Message: fmt.Sprintf("it has %d lines, and was asked for the next", len(m.lines))}
	}
	r := m.lines[n-1](req)
	if say != nil {
		for _, word := range strings.Fields(r.Text) {
			say(word + " ")
		}
	}
	return r, nil
}

// thinks counts a question to a model.
func (o *ground) thinks(ctx context.Context, step string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.zombie {
		return
	}
	o.thoughts[step]++
	if late(ctx) {
		o.lateThoughts++
	}
}

// learn notes that an answer of a model is in the journal: it may never be asked for again.
func (o *ground) learn(step string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.learned[step]; !ok && !o.still {
		o.learned[step] = o.thoughts[step]
	}
}

// busy is all that a run has done to the world so far: how often models were asked, and tools called. What a process does that stands
// still is left out: another one has its runs, and the two keep no order.
type busy struct{ thoughts, calls int }

func (o *ground) busy(run holdshort.RunID) (b busy) {
	for _, n := range o.thoughts {
		b.thoughts += n
	}
	b.thoughts -= o.lateThoughts
	for _, c := range o.calls {
		if c.run == run && !c.late {
			b.calls++
		}
	}
	return b
}

// mark notes what a run had done when its model answered, or somebody decided: what it does next that shows.
func (o *ground) mark(run holdshort.RunID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.marked[run] = o.busy(run)
}

// asking returns the work that the run of a request has done so far, and remembers the request.
func (o *ground) asking(r holdshort.Request) busy {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked[r.ID] = r
	return o.busy(r.RunID)
}

// hush notes what a run had done when it began to wait for an approval: until somebody decides it does nothing more. It gives how many calls
// it made that it should have asked about first, or that had to wait for those.
func (o *ground) hush(r holdshort.Request, done busy) (early int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.hushed[r.ID]; ok {
		return 0
	}
	o.hushed[r.ID] = done
	if o.thawed {
		return 0
	}
	return done.calls - o.marked[r.RunID].calls
}

// woke returns the work that a run did while it waited: from its request to just before the decision.
func (o *ground) woke(r holdshort.Request, decided busy) (did busy) {
	o.mu.Lock()
	defer o.mu.Unlock()
	asked, ok := o.hushed[r.ID]
	if !ok || o.thawed { // of a process that went on after it had been given up nobody knows when it does what
		return busy{}
	}
	delete(o.hushed, r.ID)
	return busy{decided.thoughts - asked.thoughts, decided.calls - asked.calls}
}

// request returns a request as it was last written.
func (o *ground) request(id holdshort.RequestID) holdshort.Request {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asked[id]
}

// deciding returns the work that the run of a decision has done so far.
func (o *ground) deciding(d holdshort.Decision) busy {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.busy(o.asked[d.RequestID].RunID)
}

// watchAgents follows what a transaction says about runs of agents.
func (w *World) watchAgents(t *transaction) {
	for _, e := range t.journal {
		if e.Kind == flow.KindModel && e.Error == nil {
			w.outside.learn(e.Key)
			w.outside.mark(e.RunID)
		}
	}
	for i, r := range t.requests {
		if r.Status == holdshort.RequestOpen && r.Kind == holdshort.Approval && len(r.Actions) > 0 {
			if early := w.outside.hush(r, t.asking[i]); early > 0 {
				w.Violate(NeverUnasked, "%s made %d calls before it asked at %s", r.RunID, early, r.OriginStepID)
			}
		}
	}
	for i, d := range t.decisions {
		r := w.outside.request(d.RequestID)
		if did := w.outside.woke(r, t.before[i]); did.thoughts > 0 || did.calls > 0 {
			w.Violate(NeverUnasked, "while %s waited at %s for %s its model was asked %d times and %d calls were made", r.RunID, r.OriginStepID, r.ID, did.thoughts, did.calls)
		}
		w.outside.mark(r.RunID)
	}
}

// checkThoughts: no model was asked again for an answer that was in the journal, and for the others no more often than engines ended.
func (w *World) checkThoughts() {
	o := w.outside
	o.mu.Lock()
	defer o.mu.Unlock()
	asked, deaths := 0, w.nodes-1-w.stage
	for step, n := range o.thoughts {
		asked += n
		if known, ok := o.learned[step]; ok && n != known {
			w.Violate(NotRepeated, "%s was in the journal after the model had been asked %d times for it, and it was asked %d times in the end", step, known, n)
		}
	}
	if most := len(o.thoughts) + deaths; asked > most {
		w.Violate(NotRepeated, "models were asked %d times for %d answers, and %d engines ended: %v", asked, len(o.thoughts), deaths, o.thoughts)
	}
}

// Agent makes an agent. What is wrong with one is wrong with the scenario.
func (w *World) Agent(c agent.Config) *agent.Agent {
	a, err := agent.New(c)
	if err != nil {
		panic(err)
	}
	return a
}
