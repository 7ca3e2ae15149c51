package engine

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// openAges are the edges between what waits short and long.
var openAges = []time.Duration{5 * time.Minute, time.Hour, 24 * time.Hour}

// timeEdges are those between quick and slow decisions.
var timeEdges = []time.Duration{10 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 4 * time.Hour, 24 * time.Hour}

const (
	askedOften  = 20 // of a rule that people were asked less for, nothing can be said
	mostFigures = 200
)

// figures gathers what became of some requests, and how long that took.
type figures struct {
	Closings
	took []time.Duration
}

func (f *figures) add(c store.ClosedRequest) {
	f.count(c)
	if byPerson(c) {
		f.took = append(f.took, c.ClosedAt.Sub(c.CreatedAt))
	}
}

func (c *Closings) count(r store.ClosedRequest) {
	c.Total++
	switch r.Status {
	case holdshort.RequestExpired:
		c.Expired++
		return
	case holdshort.RequestCanceled:
		c.Canceled++
		return
	}
	switch r.Outcome {
	case holdshort.Approved:
		c.Approved++
	case holdshort.Rejected:
		c.Rejected++
	case holdshort.Edited:
		c.Edited++
	case holdshort.Answered:
		c.Answered++
	case holdshort.Selected:
		c.Selected++
	}
}

// byPerson: a rule or the clock takes no time to think.
func byPerson(c store.ClosedRequest) bool {
	return c.Status == holdshort.RequestResolved && c.Actor != "" && !strings.HasPrefix(c.Actor, "policy:") && !strings.HasPrefix(c.Actor, "system:")
}

// times sorts what was gathered.
func (f *figures) times() Times {
	slices.Sort(f.took)
	t := Times{N: len(f.took), P50: percentile(f.took, 50), P90: percentile(f.took, 90)}
	from := 0
	for _, edge := range timeEdges {
		to, _ := slices.BinarySearch(f.took, edge)
		t.Histogram = append(t.Histogram, TimeBucket{edge, to - from})
		from = to
	}
	t.Histogram = append(t.Histogram, TimeBucket{0, len(f.took) - from})
	return t
}

// percentile is the least value that so many of a hundred do not exceed.
func percentile(sorted []time.Duration, of int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*of+99)/100-1]
}

// measure makes the figures of a sample.
func (o *Overview) measure(closed []store.ClosedRequest, assigned map[string]Tally) {
	var all figures
	kinds, rules, people := map[holdshort.Kind]*figures{}, map[string]*figures{}, map[string]*figures{}
	steps := o.steps()
	for _, c := range closed {
		if c.Erased {
			o.Sample.Erased++
			continue
		}
		all.add(c)
		of(kinds, c.Kind).add(c)
		if c.Rule != "" {
			of(rules, c.Rule).add(c)
		}
		if byPerson(c) {
			of(people, c.Actor).add(c)
		}
		if i := int(c.ClosedAt.Sub(steps[0].From) / o.Step); i >= 0 && i < len(steps) {
			steps[i].Closed.count(c)
		}
	}
	for actor := range assigned {
		of(people, actor)
	}
	o.Closed, o.Times, o.Series = all.Closings, all.times(), steps
	for kind, f := range kinds {
		o.ByKind = append(o.ByKind, KindFigures{kind, f.Closings, f.times()})
	}
	for rule, f := range rules {
		o.ByRule = append(o.ByRule, RuleFigures{rule, f.Closings, f.times(), len(f.took) >= askedOften && f.Rejected == 0 && f.Edited == 0})
	}
	for actor, f := range people {
		o.People = append(o.People, ReviewerFigures{actor, f.Total, f.Closings, f.times(), assigned[actor]})
	}
	slices.SortFunc(o.ByKind, func(a, b KindFigures) int { return cmp.Or(b.Closed.Total-a.Closed.Total, cmp.Compare(a.Kind, b.Kind)) })
	slices.SortFunc(o.ByRule, func(a, b RuleFigures) int { return cmp.Or(b.Closed.Total-a.Closed.Total, cmp.Compare(a.Rule, b.Rule)) })
	slices.SortFunc(o.People, func(a, b ReviewerFigures) int {
		return cmp.Or(b.Decided-a.Decided, cmp.Compare(b.Assigned.Count, a.Assigned.Count), cmp.Compare(a.Actor, b.Actor))
	})
	o.ByRule = o.ByRule[:min(len(o.ByRule), mostFigures)]
	o.People = o.People[:min(len(o.People), mostFigures)]
}

func of[K comparable](all map[K]*figures, key K) *figures {
	f := all[key]
	if f == nil {
		f = &figures{}
		all[key] = f
	}
	return f
}

// steps are the hours or days of the period.
func (o *Overview) steps() (list []StepFigures) {
	o.Step = time.Hour
	if o.At.Sub(o.Since) > 48*time.Hour {
		o.Step = 24 * time.Hour
	}
	for at := o.Since.UTC().Truncate(o.Step); !at.After(o.At); at = at.Add(o.Step) {
		list = append(list, StepFigures{From: at, Part: at.Before(o.Sample.From)})
	}
	return list
}
