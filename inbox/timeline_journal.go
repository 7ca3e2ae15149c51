package inbox

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
)

// reading makes marks of a run's records.
type reading struct {
	tl         engine.Timeline
	now        time.Time
	operations map[string]holdshort.Operation // by the step's key
	requests   map[holdshort.RequestID]bool   // drawn from the request itself
	asked      map[string]bool                // steps whose request is
	drawn      map[string]bool                // steps that are drawn
	tools      map[string]string              // by step, as far as the model's answers say
	begun      map[int]time.Time              // when steps began of which only the end is recorded
	marks      []mark
}

// Kinds of entries that the kernel itself writes.
const (
	entryApproval = "approval"
	entryTimer    = "timer"
	entryPost     = "post"
	entryRetry    = "retry"
)

// smallStep is how long a step of an agent's own loop takes at least to be drawn.
const smallStep = 20 * time.Millisecond

// entry draws what one entry of the journal stands for. What takes no time and says nothing to people is left to the journal's table.
func (r *reading) entry(n int, e holdshort.JournalEntry) {
	m := mark{branch: branchOf(e.Key), key: e.Key, step: n, label: nameOfStep(e.Key), start: e.Started, end: e.Ended, attempt: e.Attempt}
	if e.Error != nil {
		m.tone, m.note = "failed", "failed: "+plain(e.Error.Message, 120)
	}
	switch e.Kind {
	case flow.KindModel:
		m.lane, m.tone, m.label = laneModel, cmp.Or(m.tone, "model"), "model"
		r.since(&m)
		r.learn(e)
	case flow.KindStep:
		m.lane, m.tone = laneTools, cmp.Or(m.tone, "local")
		r.since(&m)
		if r.tl.Run.Agent != "" && e.Error == nil && m.took() < smallStep { // what an agent's own loop does is not what people look for
			return
		}
	case flow.KindCall:
		r.call(m, e)
		return
	case flow.KindAsk, entryApproval:
		_, id, _ := strings.Cut(e.Key, "!approval!")
		_, id, _ = strings.Cut(id, "!")
		if step, _, _ := strings.Cut(e.Key, "!"); r.requests[holdshort.RequestID(id)] || e.Kind == flow.KindAsk && r.asked[step] {
			return
		}
		m.lane, m.tone, m.label = lanePeople, "hold", "a request that you may not see"
		m.note = "decided"
	case flow.KindSay:
		m.lane, m.tone, m.label = lanePeople, "say", "told the user"
	case entryPost:
		m.lane, m.tone, m.label = lanePeople, "say", "got a message"
	case entryRetry:
		m.lane, m.tone, m.label, m.attempt = lanePeople, "say", "retried", 0
	default:
		return
	}
	r.marks = append(r.marks, m)
}

func (r *reading) call(m mark, e holdshort.JournalEntry) {
	m.lane, m.tone = laneTools, cmp.Or(m.tone, "tool")
	r.drawn[e.Key] = true
	op, ok := r.operations[e.Key]
	m.label = cmp.Or(op.Capability, r.tools[e.Key], calledBy(e.Key))
	if ok {
		m.attempt = max(m.attempt, op.Attempt)
		r.outcome(&m, op)
	}
	r.marks = append(r.marks, m)
}

// calledBy names a call whose tool is not known: by its step, or by the step that a batch belongs to.
func calledBy(key string) string {
	name := nameOfStep(key)
	if strings.Trim(name, "0123456789") == "" {
		if name = nameOfStep(branchOf(key)); strings.HasPrefix(name, "calls-") {
			return "call"
		}
	}
	return name
}

// outcome says what the ledger knows of a call.
func (r *reading) outcome(m *mark, op holdshort.Operation) {
	closed := !op.ClosedAt.IsZero() && !op.ClosedAt.After(r.now)
	switch {
	case op.Status == holdshort.OperationUnknown && closed:
		m.tone, m.note = "unknown", "nobody knows what became of it"
		if op.Settled {
			m.note = "nobody knows what became of it; somebody gave up on it"
		}
	case op.Status == holdshort.OperationFailed && closed:
		m.tone, m.note = "failed", cmp.Or(m.note, "failed, and did nothing")
	}
}

// operation draws a call that the journal has no outcome of: it is under way, or it was lost.
func (r *reading) operation(op holdshort.Operation) {
	_, step, ok := strings.Cut(op.StepID, "/")
	if !ok || r.drawn[step] || op.StartedAt.After(r.now) {
		return
	}
	m := mark{lane: laneTools, branch: branchOf(step), key: step, label: op.Capability, start: op.StartedAt, end: op.ClosedAt, tone: "tool", attempt: op.Attempt}
	if op.ClosedAt.IsZero() || op.ClosedAt.After(r.now) {
		m.end, m.open, m.note = r.now, true, "under way"
	}
	r.outcome(&m, op)
	r.marks = append(r.marks, m)
}

// since finds the beginning of a step whose journal has only its end: the last thing before it in its own branch, or the moment the run went on.
func (r *reading) since(m *mark) {
	if m.start.Before(m.end) {
		return
	}
	if from, ok := r.begun[m.step]; ok && from.Before(m.end) {
		m.start, m.about = from, true
	}
}

// begins gives, by the number of their entry, when steps began of which only the end is recorded, as near as the journal tells.
func begins(tl engine.Timeline) map[int]time.Time {
	order := make([]int, len(tl.Journal))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return tl.Journal[a].Ended.Compare(tl.Journal[b].Ended) })
	var resumed []time.Time
	for _, e := range tl.Events {
		if e.Type == "run.started" || e.Type == "run.resumed" || e.Type == "run.released" {
			resumed = append(resumed, e.At)
		}
	}
	slices.SortFunc(resumed, time.Time.Compare)
	out := map[int]time.Time{}
	own, below := map[string]time.Time{}, map[string]time.Time{} // by branch: the last end in it, and in it or a branch of it
	last, next := tl.Run.CreatedAt, 0
	for _, i := range order {
		e := tl.Journal[i]
		for ; next < len(resumed) && !resumed[next].After(e.Ended); next++ {
			last = resumed[next]
		}
		from, branch := last, branchOf(e.Key)
		for at := branch; ; at = branchOf(at) {
			if at == branch {
				from = later(from, below[at])
			}
			from = later(from, own[at])
			if at == "" {
				break
			}
		}
		if e.Kind == flow.KindModel || e.Kind == flow.KindStep {
			out[i+1] = from
		}
		own[branch] = e.Ended
		for at := branch; ; at = branchOf(at) {
			below[at] = e.Ended
			if at == "" {
				break
			}
		}
	}
	return out
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// sleeps draws what waited for a time or a message.
func (r *reading) sleeps() {
	over := map[string]time.Time{}
	for _, e := range r.tl.Journal {
		step, rest, _ := strings.Cut(e.Key, "!")
		if rest == "fired" || rest == "" && (e.Kind == flow.KindSleep || e.Kind == flow.KindWait) {
			if at, ok := over[step]; !ok || e.Ended.Before(at) {
				over[step] = e.Ended
			}
		}
	}
	for i, e := range r.tl.Journal {
		step, isSet := strings.CutSuffix(e.Key, "!set")
		if !isSet || e.Kind != entryTimer || e.Started.After(r.now) {
			continue
		}
		m := mark{lane: laneTimers, branch: branchOf(step), key: step, step: i + 1, label: nameOfStep(step), start: e.Started, tone: "sleep", attempt: e.Attempt}
		var set struct {
			Until time.Time `json:"until"`
		}
		if at, ok := over[step]; ok {
			m.end = at
		} else if m.end, m.open, m.note = r.now, true, "waits"; json.Unmarshal(e.Outcome, &set) == nil && !set.Until.IsZero() {
			m.note = "waits until " + set.Until.UTC().Format("2006-01-02 15:04 UTC")
		}
		r.marks = append(r.marks, m)
	}
}

// holds draws when the run was held.
func (r *reading) holds() {
	var since time.Time
	var code string
	add := func(end time.Time, open bool) {
		m := mark{lane: laneTimers, label: "held: " + code, start: since, end: end, open: open, tone: "held"}
		r.marks = append(r.marks, m)
		since = time.Time{}
	}
	for _, e := range r.tl.Events {
		switch {
		case e.At.After(r.now):
		case e.Type == "run.held" && since.IsZero():
			since, code = e.At, e.Code
		case (e.Type == "run.released" || e.Type == "run.canceled" || e.Type == "run.failed") && !since.IsZero():
			add(e.At, false)
		}
	}
	if h := r.tl.Run.Held; since.IsZero() && h != nil && !h.Since.After(r.now) && !r.tl.Run.Status.Ended() {
		since, code = h.Since, string(h.Code)
	}
	if !since.IsZero() {
		add(r.now, true)
	}
}
