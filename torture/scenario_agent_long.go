package torture

import (
	"context"
	"encoding/json"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/engine"
)

// AgentPauses: three times the same call under the same id, each with an approval of its own, the third refused; then a question to the user.
// No approval serves for the next call.
var AgentPauses = Scenario{
	Name: "agent, several pauses", Policy: reads,
	Agents: desks(wants(wish("b", "refund", `{"order":"1","amount":5}`)), wants(wish("b", "refund", `{"order":"1","amount":5}`)), wants(wish("b", "refund", `{"order":"1","amount":5}`)),
		wants(wish("q", agent.AskUser, `{"question":"Is that enough?"}`)), says("twice")),
	Drive: func(h *Hand) {
		run := h.Write("desk", "m1", "refund order 1, three times")
		h.Approve(run, "calls-1", Ana)
		h.Until("the first call is settled", func() bool { return h.honest(run, "calls-1") && !h.underWay(run) })
		h.Approve(run, "calls-2", Ben)
		h.Until("the second call is settled", func() bool { return h.honest(run, "calls-2") && !h.underWay(run) })
		h.Reject(run, "calls-3", Ana)
		h.Answer(run, "then-4/1/ask", "more than enough")
		h.Concludes(run, "calls-1", "calls-2")
		h.Until("the user has read the answer", func() bool { return count(h.outside.heard(), "twice") > 0 })
	},
	Check: func(w *World, f *Facts) {
		run := only(w, f)
		concluded(w, f, run, "twice", 5)
		did(w, f, run, "calls-1/1", 1)
		did(w, f, run, "calls-2/1", 1)
		did(w, f, run, "calls-3/1", 0)
		toldOnce(w, "twice")
	},
}

// work is where the journal keeps what the agent does that the other handed it to.
const work = "then-1/2/agent:payer/"

// SubAgent: an agent hands work to another, whose call is asked about on the outer run.
var SubAgent = Scenario{
	Name: "agent, sub-agent", Policy: reads,
	Agents: func(w *World) []*agent.Agent {
		tools := w.orderTools()
		payer := w.Agent(agent.Config{Name: "payer", Description: "Pays.", Tools: tools[1:],
			Model: w.Mind(work, wants(wish("i", "refund", `{"order":"1","amount":5}`)), wants(wish("i", "refund", `{"order":"1","amount":6}`)), says("paid"))})
		chief := w.Agent(agent.Config{Name: "chief", Tools: tools[:1], Delegates: []agent.Delegate{payer.Delegate()},
			Model: w.Mind("", wants(wish("r", "look", `{"order":"1"}`), wish("h", "payer", `{"task":"refund order 1"}`)), says("all done"))})
		return []*agent.Agent{chief}
	},
	Drive: func(h *Hand) {
		run := h.Write("chief", "m1", "refund order 1")
		h.Approve(run, work+"calls-1", Ana)
		h.Until("the first call is settled", func() bool { return h.honest(run, work+"calls-1") && !h.underWay(run) })
		h.Reject(run, work+"calls-2", Ben)
		h.Concludes(run, work+"calls-1")
		h.Until("the user has read the answer", func() bool { return count(h.outside.heard(), "all done") > 0 })
	},
	Check: func(w *World, f *Facts) {
		run := only(w, f)
		concluded(w, f, run, "all done", 2)
		did(w, f, run, work+"calls-1/1", 1)
		did(w, f, run, work+"calls-2/1", 0)
		toldOnce(w, "all done")
	},
}

// callerWaits is how long a caller may have to wait for the answer of a run that is over, by the real clock.
const callerWaits = 30 * time.Second

// Blocking: somebody calls an agent and waits for its answer, through the pause. Whatever engine they wait at may die: they turn to the one
// that comes after it, and have the answer of the run that they started.
var Blocking = Scenario{
	Name: "agent, blocking", Policy: reads,
	Agents: desks(wants(wish("r", "look", `{"order":"1"}`)), wants(wish("b", "refund", `{"order":"1","amount":5}`)), says("refunded")),
	Drive: func(h *Hand) {
		h.Tell("run_1", "desk", "refund order 1")
		ctx, hangUp := context.WithCancel(h.ctx)
		answered := make(chan holdshort.Run, 1)
		defer func() {
			hangUp()
			for range answered { // until nobody waits any more
			}
		}()
		go func() {
			defer close(answered)
			if run, err := h.Engine.AwaitRun(ctx, h.Tenant, "run_1", engine.Ended); err == nil {
				answered <- run
			}
		}()
		h.Approve("run_1", "calls-2", Ana)
		h.Concludes("run_1", "calls-2")
		select {
		case run, ok := <-answered:
			if ok {
				h.mu.Lock()
				h.answers = append(h.answers, run.Result)
				h.mu.Unlock()
			}
		case <-time.After(callerWaits):
			h.Violate(Progress, "whoever waits for run_1 was not told that it is over")
		}
	},
	Check: func(w *World, f *Facts) {
		concluded(w, f, "run_1", "refunded", 3)
		did(w, f, "run_1", "calls-2/1", 1)
		if len(w.answers) == 0 {
			w.Violate(Progress, "whoever called was never answered")
		}
		for _, a := range w.answers {
			if !json.Valid(a) || string(a) != string(f.Runs["run_1"].Result) {
				w.Violate(PauseKept, "whoever called was answered %s, and the run came to %s", a, f.Runs["run_1"].Result)
			}
		}
	},
}
