package torture

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
)

// Promise is one of the ten sentences that the product is.
type Promise string

const (
	PauseKept    Promise = "P1"  // an acknowledged pause is never lost
	OneDecision  Promise = "P2"  // one decision wins, every other sees it
	SameCall     Promise = "P3"  // what runs is what was approved
	AtMostOnce   Promise = "P4"  // an approved action takes effect at most once, and nobody guesses
	NeverUnasked Promise = "P5"  // denied, expired, canceled, forged: nothing runs
	WaitingFree  Promise = "P6"  // waiting costs nothing
	NotRepeated  Promise = "P7"  // what happened before a pause does not happen again
	OnlyEntitled Promise = "P8"  // nobody decides who may not
	Audited      Promise = "P9"  // every transition has its event, in its transaction, and tampering shows
	InboundOnce  Promise = "P10" // an inbound message is processed once and never lost
	Progress     Promise = "end" // not one of the ten, and part of all: whatever was killed, everything comes to its end
)

// Promises are all of them, in their order.
var Promises = []Promise{PauseKept, OneDecision, SameCall, AtMostOnce, NeverUnasked, WaitingFree, NotRepeated, OnlyEntitled, Audited, InboundOnce, Progress}

var promiseTexts = map[Promise]string{
	PauseKept: "pauses kept", OneDecision: "one decision", SameCall: "runs what was approved", AtMostOnce: "at most once", NeverUnasked: "denied never runs",
	WaitingFree: "waiting is free", NotRepeated: "nothing repeated", OnlyEntitled: "only the entitled decide", Audited: "audited", InboundOnce: "inbound once",
	Progress: "everything ends",
}

// Line is what one scenario, or one phase, came to.
type Line struct {
	Name       string `json:"name"`
	Points     int    `json:"points"` // moments at which the engine was ended: in the deterministic torture calls of the store
	Passes     int    `json:"passes"` // times it was played
	Unreached  int    `json:"unreached,omitempty"`
	Runs       int    `json:"runs"`
	Pauses     int    `json:"pauses"`
	Decisions  int    `json:"decisions"`
	Inbound    int    `json:"inbound,omitempty"`
	Calls      int    `json:"calls"`    // calls of tools that the outside saw
	Effects    int    `json:"effects"`  // what they changed
	Unknowns   int    `json:"unknowns"` // operations whose outcome was not known for a while
	Violations int    `json:"violations"`
}

func (l *Line) add(other Line) {
	l.Points += other.Points
	l.Passes += other.Passes
	l.Unreached += other.Unreached
	l.Runs += other.Runs
	l.Pauses += other.Pauses
	l.Decisions += other.Decisions
	l.Inbound += other.Inbound
	l.Calls += other.Calls
	l.Effects += other.Effects
	l.Unknowns += other.Unknowns
	l.Violations += other.Violations
}

// mostFaults is how many violations are told in words; all are counted.
const mostFaults = 50

// Report counts what was done, what happened outside, and what was promised and not kept. It may be filled by several goroutines.
type Report struct {
	Store      string          `json:"store"`
	Line                       // the sum of Lines, and what was counted without one
	Lines      []Line          `json:"lines,omitempty"`
	Violations map[Promise]int `json:"violations_by_promise"`
	Faults     []string        `json:"faults,omitempty"`

	mu sync.Mutex
}

// Violate counts a broken promise and tells it in words.
func (r *Report) Violate(p Promise, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.violate(p, 1)
	r.tell(string(p) + ": " + fmt.Sprintf(format, args...))
}

func (r *Report) violate(p Promise, n int) {
	if r.Violations == nil {
		r.Violations = map[Promise]int{}
	}
	r.Violations[p] += n
	r.Line.Violations += n
}

func (r *Report) tell(fault string) {
	if len(r.Faults) < mostFaults {
		r.Faults = append(r.Faults, fault)
	}
}

// Count adds what was done and seen.
func (r *Report) Count(l Line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l.Violations = 0 // Violate counts those
	r.Line.add(l)
}

// Merge adds the report of a scenario or phase as a line of its own.
func (r *Report) Merge(name string, part *Report) {
	part.mu.Lock()
	defer part.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	line := part.Line
	line.Name = name
	r.Lines = append(r.Lines, line)
	line.Violations = 0
	r.Line.add(line)
	for p, n := range part.Violations {
		r.violate(p, n)
	}
	for _, fault := range part.Faults {
		r.tell(name + ": " + fault)
	}
}

// Broken reports whether any promise was.
func (r *Report) Broken() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Line.Violations > 0
}

// JSON is the report for programs. Promises that were kept stand in it with zero.
func (r *Report) JSON() ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range Promises {
		r.violate(p, 0)
	}
	return json.MarshalIndent(r, "", "  ")
}

// Write is the report for people.
func (r *Report) Write(to io.Writer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%s\tpoints\tpasses\truns\tpauses\tdecisions\tinbound\tcalls\teffects\tunknown\tviolations\t\n", r.Store)
	total := r.Line
	total.Name = "all"
	for _, l := range append(slices.Clone(r.Lines), total) {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", l.Name, l.Points, l.Passes, l.Runs, l.Pauses, l.Decisions, l.Inbound, l.Calls, l.Effects, l.Unknowns, l.Violations)
	}
	fmt.Fprintln(w)
	for _, p := range Promises {
		fmt.Fprintf(w, "%s\t%s\t%d\t\n", p, promiseTexts[p], r.Violations[p])
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(r.Faults) > 0 {
		_, err := fmt.Fprintf(to, "\n%s\n", strings.Join(r.Faults, "\n"))
		return err
	}
	return nil
}

// String is Write's text.
func (r *Report) String() string {
	var b strings.Builder
	_ = r.Write(&b) // a Builder takes everything
	return b.String()
}
