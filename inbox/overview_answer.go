package inbox

import (
	"fmt"
	"strings"
	"time"

	"github.com/holdshort/holdshort/engine"
)

// The titles of charts: each is the answer to its question, and true of its figures.

// amount is a number of things.
func amount(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}

func amountOf(t engine.Tally, one, many string) string {
	if t.Count == 1 && !t.More {
		return "1 " + one
	}
	return tallied(t) + " " + many
}

// lookedAt says what the figures are made of.
func lookedAt(s engine.Sample, p period) string {
	text := "Made of " + amount(s.Looked, "request that was", "requests that were") + " closed in the last " + p.Words + ", all there are."
	switch {
	case s.Looked == 0:
		return "Nothing was closed in the last " + p.Words + "."
	case !s.All:
		text = "Made of the latest " + number(s.Looked) + " requests that were closed, since " + s.From.UTC().Format("2 January 15:04 UTC") + ". What was closed before is not in the figures."
	}
	if s.Erased > 0 {
		text += " " + amount(s.Erased, "of them was erased and is", "of them were erased and are") + " in no figure."
	}
	return text
}

// waitingTitle: how much waits, and how old is it?
func waitingTitle(t engine.Tally, at time.Time) string {
	age := ""
	if !t.Oldest.IsZero() {
		age = span(at.Sub(t.Oldest))
	}
	switch {
	case !isSome(t):
		return "Nothing waits"
	case t.Count == 1 && !t.More && age != "":
		return "1 request has waited for " + age
	case age == "":
		return amountOf(t, "request waits", "requests wait")
	}
	return amountOf(t, "request waits", "requests wait") + ", the oldest for " + age
}

// kindsTitle: what waits? The counts and names are those of the kinds that do, the most first.
func kindsTitle(counts []engine.Tally, names []string) string {
	rest, uncounted := int64(0), 0
	for i, t := range counts {
		if i > 0 {
			rest += t.Count
		}
		if t.More {
			uncounted++
		}
	}
	switch {
	case len(names) == 1:
		return "All of it: " + names[0]
	case uncounted > 1: // nobody knows which of them is more
		return "Over a thousand each of " + andWords(names[:uncounted])
	case counts[0].Count == counts[1].Count && !counts[0].More:
		return "As many " + names[0] + " as " + names[1] + " wait"
	case rest >= counts[0].Count:
		return capital(names[0]) + " are the largest part"
	}
	return "Mostly " + names[0]
}

// under is a round time that is longer than d.
func under(d time.Duration) string {
	round := func(unit time.Duration) int { return int(d/unit) + 1 }
	switch {
	case d < time.Second:
		return "a second"
	case round(time.Second) < 60:
		return amount(round(time.Second), "second", "seconds")
	case d < time.Minute:
		return "a minute"
	case round(time.Minute) < 90:
		return amount(round(time.Minute), "minute", "minutes")
	case round(time.Hour) < 48:
		return amount(round(time.Hour), "hour", "hours")
	}
	return amount(round(24*time.Hour), "day", "days")
}

// timesTitle: how long do decisions take?
func timesTitle(t engine.Times) string {
	switch t.N {
	case 0:
		return "Nobody has decided anything"
	case 1:
		return "The only decision took " + span(t.P50)
	}
	return "Half of the decisions take under " + under(t.P50)
}

// slowest: who or what takes longest? Equals share the place.
func slowestTitle(rows []timed, what string) string {
	switch len(rows) {
	case 0:
		return "Nobody has decided anything"
	case 1:
		return rows[0].name() + ": half take under " + under(rows[0].times.P50)
	}
	top := rows[0].times.P50
	var names []string
	for _, r := range rows {
		if span(r.times.P50) == span(top) {
			names = append(names, r.name())
		}
	}
	switch {
	case len(names) == len(rows):
		return "All " + what + " typically take " + span(top)
	case len(names) > 2:
		return number(len(names)) + " " + what + " take longest: typically " + span(top)
	}
	verb := " takes"
	if what == "kinds" || len(names) > 1 { // kinds are many things each
		verb = " take"
	}
	return strings.Join(names, " and ") + verb + " longest: typically " + span(top)
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// outcomesTitle: what becomes of what is asked?
func outcomesTitle(c engine.Closings) string {
	parts := closingsOf(c)
	total, most, second := 0, closing{}, 0
	for _, p := range parts {
		if total += p.n; p.n > most.n {
			second, most = most.n, p
		} else if p.n > second {
			second = p.n
		}
	}
	decided := total - c.Expired - c.Canceled
	switch {
	case total == 0:
		return "Nothing was closed"
	case total == 1:
		return "The only request" + most.verb(1)
	case c.Expired == total:
		return "Everything expired: nobody decided in time"
	case c.Canceled == total:
		return "Everything was canceled"
	case most.n == total:
		return "All " + number(total) + " were " + most.label
	case most.n == second:
		var names []string
		for _, p := range parts {
			if p.n == most.n {
				names = append(names, p.label)
			}
		}
		return capital(andWords(names)) + " equally often: " + number(most.n) + " each"
	case decided == 0:
		return "Nobody decided: " + shareOf(c.Expired, total) + " expired, the others were canceled"
	}
	title := capital(shareOf(most.n, total)) + most.verb(2)
	if c.Expired > 0 && most.label != "expired" {
		title += ", " + shareOf(c.Expired, total) + " expired"
	}
	return title
}

// verb is what became of one or many: time runs out by itself, all else is done by somebody.
func (c closing) verb(n int) string {
	switch {
	case c.label == "expired":
		return " expired"
	case n == 1:
		return " was " + c.label
	}
	return " were " + c.label
}

// closingsOf are the ends that a request can have, with how often each was.
func closingsOf(c engine.Closings) []closing {
	return []closing{{"approved", "yes", c.Approved}, {"approved with changes", "edit", c.Edited}, {"answered", "said", c.Answered}, {"answered by choice", "pick", c.Selected},
		{"rejected", "no", c.Rejected}, {"expired", "late", c.Expired}, {"canceled", "off", c.Canceled}}
}

// endsOf are the ends that requests had, in words.
func endsOf(c engine.Closings) string {
	var ends []string
	for _, p := range closingsOf(c) {
		if p.n > 0 {
			ends = append(ends, number(p.n)+" "+p.label)
		}
	}
	return strings.Join(ends, ", ")
}

func howOften(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return number(n) + " times"
}

func quietTitle(n int) string {
	switch n {
	case 0:
		return "No rule asks often in vain"
	case 1:
		return "1 rule asked often, and nobody ever said no"
	}
	return number(n) + " rules asked often, and nobody ever said no"
}

// loadTitle: who carries the load?
func loadTitle(people []engine.ReviewerFigures) string {
	total, assigned := 0, engine.Tally{}
	for _, p := range people {
		total += p.Decided
		assigned = sumOf(assigned, p.Assigned)
	}
	switch {
	case total == 0 && isSome(assigned):
		return amountOf(assigned, "request is assigned", "requests are assigned") + ", and nothing was decided"
	case total == 0:
		return "Nobody has decided anything"
	}
	most := people[0].Decided
	var names []string
	active := 0
	for _, p := range people {
		if p.Decided == most {
			names = append(names, p.Actor)
		}
		if p.Decided > 0 {
			active++
		}
	}
	switch {
	case active == 1:
		return names[0] + " decides alone: " + amount(total, "decision", "decisions")
	case len(names) == active:
		return number(active) + " people decide equally much: " + number(most) + " each"
	case len(names) == 2:
		return names[0] + " and " + names[1] + " decide most: " + number(most) + " each"
	case len(names) > 2:
		return number(len(names)) + " people decide most: " + number(most) + " each"
	}
	return names[0] + " decides most: " + shareOf(most, total) + " of what these people decided"
}

// unknownTitle: of what does nobody know what became?
func unknownTitle(t engine.Tally) string {
	if !isSome(t) {
		return "The outcome of every call is known"
	}
	return amountOf(t, "call has", "calls have") + " an unknown outcome"
}

// outboxTitle: does everything leave the house?
func outboxTitle(o engine.OutboxNow) string {
	var parts []string
	if isSome(o.Dead) {
		parts = append(parts, amountOf(o.Dead, "message could not be sent", "messages could not be sent"))
	}
	switch {
	case !isSome(o.Parked):
	case len(parts) == 0:
		parts = append(parts, amountOf(o.Parked, "message is parked", "messages are parked"))
	default:
		parts = append(parts, tallied(o.Parked)+" parked")
	}
	if isSome(o.Queued) {
		if len(parts) == 0 {
			parts = append(parts, amountOf(o.Queued, "message is on its way", "messages are on their way"))
		} else {
			parts = append(parts, tallied(o.Queued)+" on the way")
		}
	}
	if n := len(o.Webhooks); n > 0 {
		parts = append(parts, amount(n, "webhook is in trouble", "webhooks are in trouble"))
	}
	if len(parts) == 0 {
		return "Everything was sent"
	}
	return capital(strings.Join(parts, ", "))
}

func webhookSaid(w engine.WebhookFigures) string {
	var parts []string
	if w.Disabled != "" {
		parts = append(parts, "off: "+strings.ReplaceAll(string(w.Disabled), "_", " "))
	}
	if w.Wrong > 0 {
		parts = append(parts, fmt.Sprintf("%d of its last %d went wrong", w.Wrong, w.Looked))
	}
	if w.Status > 0 {
		parts = append(parts, fmt.Sprintf("last answer %d", w.Status))
	}
	return strings.Join(parts, ", ")
}

// runsTitle: how do runs stand?
func runsTitle(r engine.RunsNow) string {
	var parts []string
	if isSome(r.Held) {
		parts = append(parts, amountOf(r.Held, "run is held", "runs are held")+" and needs a look")
		if r.Held.Count > 1 || r.Held.More {
			parts[0] = tallied(r.Held) + " runs are held and need a look"
		}
	}
	if isSome(r.Waiting) {
		parts = append(parts, amountOf(r.Waiting, "run waits", "runs wait")+" for a person")
	}
	if len(parts) == 0 {
		if isSome(r.Running) || isSome(r.Queued) {
			return amountOf(sumOf(r.Running, r.Queued), "run is", "runs are") + " under way, none waits for a person"
		}
		return "No run is under way"
	}
	return strings.Join(parts, ", ")
}

func sumOf(a, b engine.Tally) engine.Tally {
	return engine.Tally{Count: a.Count + b.Count, More: a.More || b.More}
}

// seriesTitle: when is there most to do?
func seriesTitle(list []engine.StepFigures, step time.Duration) string {
	total, most := 0, 0
	var top []engine.StepFigures
	for _, d := range list {
		total += d.Closed.Total
		switch {
		case d.Closed.Total > most:
			most, top = d.Closed.Total, []engine.StepFigures{d}
		case d.Closed.Total == most && most > 0:
			top = append(top, d)
		}
	}
	what := "days"
	if step < 24*time.Hour {
		what = "hours"
	}
	switch {
	case total == 0:
		return "Nothing was closed"
	case most == total:
		return "All of it " + stepWords(top[0].From, step) + ": " + number(most)
	case len(top) == 1:
		return "Most " + stepWords(top[0].From, step) + ": " + number(most)
	case len(top) == len(list):
		return "Equally many in all " + number(len(list)) + " " + what + ": " + number(most)
	}
	return number(len(top)) + " " + what + " were the busiest: " + number(most) + " each"
}

// stepWords is when a step was.
func stepWords(at time.Time, step time.Duration) string {
	if step < 24*time.Hour {
		return "between " + at.UTC().Format("15:04") + " and " + at.UTC().Add(step).Format("15:04 UTC, 2 January")
	}
	return "on " + at.UTC().Format("Monday, 2 January")
}
