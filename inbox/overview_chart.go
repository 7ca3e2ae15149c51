package inbox

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// rowsOfChart is how many rows a chart has before it says that there are more.
const rowsOfChart = 8

// waitingChart draws how much waits, by age.
func waitingChart(o engine.OpenNow, at time.Time) chart {
	c := chart{ID: "waiting", Title: waitingTitle(o.Total, at), Heads: []string{"Waiting for", "Requests"}, Dense: true}
	if !isSome(o.Total) {
		c.Empty = "Requests appear here as soon as an agent or a flow asks, and leave when somebody decides."
		return c
	}
	most := int64(0)
	for _, b := range o.ByAge {
		most = max(most, b.Tally.Count)
	}
	low := time.Duration(0)
	for i, b := range o.ByAge {
		tone := ""
		if i == len(o.ByAge)-1 && i > 0 && isSome(b.Tally) {
			tone = "late"
		}
		c.Bars = append(c.Bars, bar{Label: spanRange(low, b.Under), Value: tallied(b.Tally), Size: barSize(float64(b.Tally.Count), float64(most)), Tone: tone})
		low = b.Under
	}
	return c
}

// spanRange is a bucket in words.
func spanRange(from, under time.Duration) string {
	switch {
	case under == 0 && from == 0:
		return "any time"
	case under == 0:
		return "over " + wholeSpan(from)
	case from == 0:
		return "under " + wholeSpan(under)
	}
	return wholeSpan(from) + " to " + wholeSpan(under)
}

// wholeSpan is a time that is a whole number of something.
func wholeSpan(d time.Duration) string {
	switch {
	case d >= 24*time.Hour && d%(24*time.Hour) == 0:
		return amount(int(d/(24*time.Hour)), "day", "days")
	case d >= time.Hour && d%time.Hour == 0:
		return number(int(d/time.Hour)) + " h"
	case d >= time.Minute && d%time.Minute == 0:
		return number(int(d/time.Minute)) + " min"
	case d%time.Second == 0:
		return number(int(d/time.Second)) + " s"
	}
	return span(d)
}

// kindsChart draws what waits, by kind.
func kindsChart(o engine.OpenNow) chart {
	type kinded struct {
		kind holdshort.Kind
		t    engine.Tally
	}
	var list []kinded
	for k, t := range o.ByKind {
		if isSome(t) {
			list = append(list, kinded{k, t})
		}
	}
	slices.SortFunc(list, func(a, b kinded) int {
		return cmp.Or(cmp.Compare(b.t.Count, a.t.Count), cmp.Compare(a.kind, b.kind))
	})
	c := chart{ID: "kinds", Heads: []string{"Kind", "Requests"}, Dense: true}
	if len(list) == 0 {
		c.Title, c.Empty = "No kind is counted", "Approvals, questions, choices, escalations and unknown outcomes are counted apart."
		return c
	}
	var counts []engine.Tally
	var names []string
	for _, k := range list {
		counts, names = append(counts, k.t), append(names, strings.ToLower(kindWord(k.kind)))
	}
	c.Title = kindsTitle(counts, names)
	for _, k := range list {
		tone := ""
		if k.kind == holdshort.Reconcile {
			tone = "no"
		}
		c.Bars = append(c.Bars, bar{Label: kindWord(k.kind), Link: "/?kind=" + url.QueryEscape(string(k.kind)), Value: tallied(k.t), Size: barSize(float64(k.t.Count), float64(list[0].t.Count)), Tone: tone})
	}
	return c
}

// outcomesChart draws what became of what was asked.
func outcomesChart(closed engine.Closings, rtl bool) chart {
	c := chart{ID: "outcomes", Title: outcomesTitle(closed), Heads: []string{"What became of it", "Requests", "Share"}, Share: shareParts(closingsOf(closed), rtl), Wide: true}
	if len(c.Share) == 0 {
		c.Empty = "Once people decide, this shows how many said yes, no, changed something, or let it expire."
	}
	return c
}

// timesChart draws how long decisions take.
func timesChart(t engine.Times) chart {
	c := chart{ID: "times", Title: timesTitle(t), Heads: []string{"Time to decide", "Decisions"}, Dense: true}
	if t.N == 0 {
		c.Empty = "The time from asked to decided. What a rule or the clock decided is not in it."
		return c
	}
	if t.N > 1 {
		c.Note = "9 of 10 take under " + under(t.P90) + ". " + amount(t.N, "decision", "decisions") + " of people; what a rule or the clock decided is not in it."
	}
	most := 0
	for _, b := range t.Histogram {
		most = max(most, b.N)
	}
	first, last := 0, len(t.Histogram)-1 // what nobody took is told in the middle, not at the ends
	for first < last && t.Histogram[first].N == 0 {
		first++
	}
	for last > first && t.Histogram[last].N == 0 {
		last--
	}
	low := time.Duration(0)
	for i, b := range t.Histogram {
		if i < first || i > last {
			low = b.Under
			continue
		}
		c.Bars = append(c.Bars, bar{Label: spanRange(low, b.Under), Value: number(b.N), Size: barSize(float64(b.N), float64(most))})
		low = b.Under
	}
	return c
}

// timed is something that people took time over.
type timed struct {
	label string
	odd   bool
	link  string
	times engine.Times
}

// name is how a title calls it: what somebody named stands in quotes.
func (t timed) name() string {
	if t.odd {
		return "“" + t.label + "”"
	}
	return t.label
}

func timesByKind(kinds []engine.KindFigures) chart {
	var rows []timed
	for _, k := range kinds {
		if k.Times.N > 0 {
			rows = append(rows, timed{label: kindWord(k.Kind), times: k.Times})
		}
	}
	return timesOf("times-kind", "kinds", "Kind", rows)
}

func timesByRule(rules []engine.RuleFigures) chart {
	var rows []timed
	for _, r := range rules {
		switch {
		case r.Times.N == 0:
		default:
			rows = append(rows, timed{label: r.Rule, odd: true, link: ruleLink(r.Rule), times: r.Times})
		}
	}
	return timesOf("times-rule", "rules", "Rule", rows)
}

// timesOf draws who or what takes how long: a bar to the middle, a fainter one to where nine of ten are done.
func timesOf(id, what, head string, rows []timed) chart {
	slices.SortStableFunc(rows, func(a, b timed) int { return cmp.Compare(b.times.P50, a.times.P50) })
	c := chart{ID: id, Title: slowestTitle(rows, what), Heads: []string{head, "Typical time, and more"}}
	if len(rows) == 0 {
		c.Empty = "Once people decide, this shows which " + what + " keep others waiting."
		return c
	}
	if len(rows) > rowsOfChart {
		c.Note = "The slowest " + number(rowsOfChart) + " of " + number(len(rows)) + "."
		rows = rows[:rowsOfChart]
	}
	longest := time.Duration(1)
	for _, r := range rows {
		longest = max(longest, r.times.P90, r.times.P50)
	}
	for _, r := range rows {
		c.Bars = append(c.Bars, bar{Label: r.label, Odd: r.odd, Link: r.link, Value: span(r.times.P50), Note: "9 of 10 under " + under(r.times.P90) + " · " + amount(r.times.N, "decision", "decisions"),
			Size: barSize(float64(r.times.P50), float64(longest)), Mark: barSize(float64(r.times.P90), float64(longest))})
	}
	return c
}

// seriesChart draws when requests were closed.
func seriesChart(list []engine.StepFigures, step time.Duration, rtl bool) chart {
	c := chart{ID: "series", Title: seriesTitle(list, step), Heads: []string{"Day", "Closed"}, Wide: true}
	layout, each := "2 Jan", "day"
	if step < 24*time.Hour {
		layout, each, c.Heads[0] = "2 Jan 15:04", "hour", "Hour"
	}
	total := 0
	values := make([]int, len(list))
	for i, d := range list {
		values[i] = d.Closed.Total
		total += d.Closed.Total
	}
	if total == 0 {
		c.Empty = "One column for each " + each + ", in UTC."
		return c
	}
	c.Days = dayColumns(values, rtl)
	part := false
	for i, d := range list {
		c.Days[i].Label, c.Days[i].Part = d.From.UTC().Format(layout), d.Part
		if part = part || d.Part; d.Part {
			c.Days[i].Note = "not looked at in full"
		}
	}
	c.Note = "Closed requests for each " + each + ", in UTC."
	if part {
		c.Note += " The pale ones were not looked at in full."
	}
	return c
}

// loadChart draws who decides how much.
func loadChart(people []engine.ReviewerFigures) chart {
	people = slices.Clone(people)
	slices.SortStableFunc(people, func(a, b engine.ReviewerFigures) int { return b.Decided - a.Decided })
	c := chart{ID: "load", Title: loadTitle(people), Heads: []string{"Who", "Decided, and more"}}
	if len(people) == 0 {
		c.Empty = "Who decides how much, how fast, and what is assigned to them."
		return c
	}
	if len(people) > rowsOfChart {
		c.Note = "The first " + number(rowsOfChart) + " of " + number(len(people)) + "."
		people = people[:rowsOfChart]
	}
	for _, p := range people {
		b := bar{Label: p.Actor, Odd: true, Value: number(p.Decided), Size: barSize(float64(p.Decided), float64(people[0].Decided))}
		if p.Times.N > 0 {
			b.Note = "half under " + under(p.Times.P50)
		}
		if isSome(p.Assigned) {
			b.Note = strings.TrimPrefix(b.Note+" · "+tallied(p.Assigned)+" assigned and open", " · ")
		}
		c.Bars = append(c.Bars, b)
	}
	return c
}

// runsChart draws how runs stand.
func runsChart(r engine.RunsNow, p period) chart {
	c := chart{ID: "runs", Title: runsTitle(r), Heads: []string{"Runs", "How many"}, Dense: true}
	rows := []struct {
		label, link, tone string
		t                 engine.Tally
	}{{"queued", "/runs?status=queued", "", r.Queued}, {"running", "/runs?status=running", "", r.Running}, {"waiting for a person", "/runs?status=waiting", "hold", r.Waiting}, {"sleeping, or waiting for a post", "/runs?status=waiting", "", r.Sleeping},
		{"held", "/runs?held=yes", "no", r.Held}, {"failed in " + p.Words, "/runs?status=failed", "no", r.Failed}}
	most := int64(0)
	for _, row := range rows {
		most = max(most, row.t.Count)
	}
	if most == 0 {
		c.Empty = "A run is one execution of an agent or a flow. Start one in the playground or over the API."
		return c
	}
	for _, row := range rows {
		c.Bars = append(c.Bars, bar{Label: row.label, Link: row.link, Value: tallied(row.t), Size: barSize(float64(row.t.Count), float64(most)), Tone: row.tone})
	}
	return c
}
