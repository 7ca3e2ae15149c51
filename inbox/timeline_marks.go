package inbox

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// lane is where a mark is drawn.
type lane int

const (
	laneModel lane = iota
	laneTools
	lanePeople
	laneTimers
	lanes
)

var laneNames = [lanes]string{"model", "tools", "people", "timers"}

// mark is one thing of a run that has a place in time.
type mark struct {
	lane       lane
	branch     string // path of the branch that it is of
	key        string // of its journal entry
	step       int    // number in the journal, from 1
	label      string // what people call it
	start, end time.Time
	open       bool // it goes on
	about      bool // its beginning is not recorded: it began no earlier
	tone       string
	note       string // what became of it
	attempt    int
	link       string
	dots       []runDot
	many       int // of a group: how many it stands for
	group      string
}

// runDot is a decision or a vote.
type runDot struct {
	at   time.Time
	who  string
	what string
	tone string
}

func (m mark) took() time.Duration { return max(m.end.Sub(m.start), 0) }

// text is a mark's own words.
func (m mark) text() string {
	switch {
	case m.many > 0:
		return strconv.Itoa(m.many) + " × " + m.label
	case m.tone == "hold" && m.took() > 0:
		return "holding short · " + longSpan(m.took())
	case m.lane == laneModel && m.took() >= time.Millisecond:
		return span(m.took())
	}
	return m.label
}

// words are everything about a mark, in one line.
func (m mark) words() timelineStep {
	s := timelineStep{Lane: laneNames[m.lane], What: plain(m.label, 120), Then: m.note}
	if m.branch != "" {
		s.What += " (" + plain(m.branch, 60) + ")"
	}
	switch {
	case m.many > 0:
		s.What = strconv.Itoa(m.many) + " × " + s.What
		s.Took = longSpan(m.took())
	case m.open:
		s.Took = longSpan(m.took()) + " so far"
	case m.took() > 0 && m.about:
		s.Took = "up to " + longSpan(m.took())
	case m.took() > 0:
		s.Took = longSpan(m.took())
	}
	for _, d := range m.dots {
		s.Then = strings.TrimPrefix(s.Then+", "+plain(d.who, 60)+" "+d.what, ", ")
	}
	if m.attempt > 1 {
		s.Then = strings.TrimPrefix(s.Then+", attempt "+strconv.Itoa(m.attempt), ", ")
	}
	return s
}

// longSpan is a length of time to the second, where that is still felt.
func longSpan(d time.Duration) string {
	if d >= 0 && d < time.Millisecond {
		return "under 1 ms"
	}
	if d >= time.Minute && d < time.Hour && d%time.Minute >= time.Second {
		return strconv.Itoa(int(d/time.Minute)) + " min " + strconv.Itoa(int(d%time.Minute/time.Second)) + " s"
	}
	return span(d)
}

// marksOf gives what there is to draw of a run as it is at a moment, by when it began.
func marksOf(tl engine.Timeline, now time.Time, past bool) []mark {
	r := reading{tl: tl, now: now, operations: map[string]holdshort.Operation{}, requests: map[holdshort.RequestID]bool{}, asked: map[string]bool{}, drawn: map[string]bool{}, tools: map[string]string{}, begun: begins(tl)}
	for _, op := range tl.Operations {
		if _, step, ok := strings.Cut(op.StepID, "/"); ok {
			r.operations[step] = op
		}
	}
	for _, v := range tl.Requests {
		r.requests[v.Request.ID], r.asked[v.Request.OriginStepID] = true, true
		if !v.Request.CreatedAt.After(now) {
			r.marks = append(r.marks, holdMark(v, now))
		}
	}
	for i, entry := range tl.Journal {
		if !past || !entry.Started.After(now) {
			r.entry(i+1, entry)
		}
	}
	for _, op := range tl.Operations {
		r.operation(op)
	}
	r.sleeps()
	r.holds()
	marks := slices.DeleteFunc(r.marks, func(m mark) bool { return m.start.After(now) })
	for i := range marks {
		if marks[i].end.After(now) {
			marks[i].end, marks[i].open, marks[i].note = now, true, "under way" // what became of it was not known yet
			if marks[i].tone == "failed" || marks[i].tone == "unknown" {
				marks[i].tone = "tool"
			}
		}
	}
	slices.SortStableFunc(marks, func(a, b mark) int { return cmp.Or(a.start.Compare(b.start), a.end.Compare(b.end)) })
	return marks
}

// holdMark is a request as a pause.
func holdMark(v engine.RequestView, now time.Time) mark {
	req := v.Request
	m := mark{lane: lanePeople, branch: branchOf(req.OriginStepID), key: req.OriginStepID, label: cmp.Or(tags[req.Kind], string(req.Kind)), start: req.CreatedAt, end: req.ClosedAt, tone: "hold",
		link: "/requests/" + string(req.ID)}
	switch {
	case req.ClosedAt.IsZero() || req.ClosedAt.After(now):
		m.end, m.open, m.note = now, true, "waits for a person"
	case req.Status == holdshort.RequestExpired:
		m.tone, m.note = "expired", "nobody decided in time"
	case req.Status == holdshort.RequestCanceled:
		m.tone, m.note = "canceled", "called off"
	default:
		m.note = string(req.Outcome)
	}
	for _, d := range append(slices.Clone(v.Votes), deref(v.Decision)...) {
		if d.At.After(now) || slices.ContainsFunc(m.dots, func(o runDot) bool { return o.at.Equal(d.At) && o.who == nameOf(d.Actor) }) {
			continue
		}
		tone := "yes"
		if d.Action == holdshort.Reject || d.Action == holdshort.Cancel {
			tone = "no"
		}
		m.dots = append(m.dots, runDot{at: d.At, who: nameOf(d.Actor), what: deedOf(d.Action), tone: tone})
	}
	return m
}

func deref(d *holdshort.Decision) []holdshort.Decision {
	if d == nil {
		return nil
	}
	return []holdshort.Decision{*d}
}

// deeds are what people did, in the past tense.
var deeds = map[holdshort.Verb]string{holdshort.Approve: "approved", holdshort.Reject: "rejected", holdshort.Edit: "edited", holdshort.Answer: "answered", holdshort.Select: "chose",
	holdshort.Respond: "answered for the tool", holdshort.Cancel: "called it off"}

func deedOf(v holdshort.Verb) string { return cmp.Or(deeds[v], string(v)) }

// branchOf is the path that a step's key has before its own name.
func branchOf(key string) string {
	step, _, _ := strings.Cut(key, "!")
	if i := strings.LastIndexByte(step, '/'); i >= 0 {
		return step[:i]
	}
	return ""
}

func nameOfStep(key string) string {
	step, _, _ := strings.Cut(key, "!")
	return step[strings.LastIndexByte(step, '/')+1:]
}

// planned is what a model's answer says of its calls, as agents journal it.
type plannedCalls struct {
	Calls []struct {
		Tool string `json:"tool"`
	} `json:"calls"`
	Plan []struct {
		As      string `json:"as"`
		Refused string `json:"refused"`
	} `json:"plan"`
}

// learn remembers which tools an answer of a model calls: the journal of a call does not say its tool.
func (r *reading) learn(entry holdshort.JournalEntry) {
	number, ok := strings.CutPrefix(nameOfStep(entry.Key), "model-")
	var said plannedCalls
	if !ok || len(entry.Outcome) == 0 || json.Unmarshal(entry.Outcome, &said) != nil {
		return
	}
	path, n := strings.TrimSuffix(entry.Key, nameOfStep(entry.Key)), 0
	for i, c := range said.Calls {
		if i < len(said.Plan) && (said.Plan[i].Refused != "" || said.Plan[i].As == "question") {
			continue
		}
		n++
		r.tools[path+"calls-"+number+"/"+strconv.Itoa(n)] = c.Tool
	}
}
