package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/rulebook"
)

// rule checks one policy. What it can only mean together with the others, rules does.
func (c *checker) rule(path string, r Rule) {
	pastLimit := r.Allow && !r.Deny && r.Ask != nil && asksPast(r.Limits) // who is asked past a limit
	verdicts := 0
	for _, there := range []bool{r.Ask != nil && !pastLimit, r.Allow, r.Deny} {
		if there {
			verdicts++
		}
	}
	if verdicts != 1 {
		hint := "write one of ask, allow: true and deny: true"
		if r.Allow && r.Ask != nil && !r.Deny {
			hint += "; ask beside allow is for who is asked past a limit"
		}
		c.wrong(path, hint, "a rule says one thing, this one %d", verdicts)
	}
	if r.Ask != nil && time.Duration(r.Ask.ValidFor) == policy.Never {
		c.wrong(path+".ask.valid_for", "write a duration such as 24h", "an approval is not good for ever")
	}
	if r.Ask != nil && time.Duration(r.Ask.Undo) > mostUndo {
		c.wrong(path+".ask.undo", "write up to "+mostUndo.String()+", or never", "a decision is not kept back for so long")
	}
	for i, l := range r.Limits {
		c.limit(fmt.Sprintf("%s.limits[%d]", path, i), l)
	}
}

// mostUndo is how long a page may keep a decision back.
const mostUndo = 30 * time.Second

func asksPast(limits []Limit) bool {
	for _, l := range limits {
		if l.Past != string(policy.Deny) {
			return true
		}
	}
	return false
}

func (c *checker) limit(path string, l Limit) {
	units := 0
	for _, n := range []int{l.Calls, l.Repeats, l.Spend} {
		if n > 0 {
			units++
		}
	}
	if units != 1 {
		c.wrong(path, "write one of calls: N, repeats: N and spend: N, from 1", "a limit counts one thing, this one %d", units)
	}
}

// fieldOfAsk are what rulebook calls by its own name and the file has under ask.
var fieldOfAsk = map[string]bool{"question": true, "on_timeout": true, "on_reject": true, "priority": true, "quorum": true}

// rules compiles all of them, so that what a condition means is checked before anything starts.
func (c *checker) rules() {
	book, err := rulebook.Compile(c.Rules(), rulebook.Options{})
	if err == nil {
		c.arguments(book)
		return
	}
	for _, f := range rulebook.FaultsOf(err) {
		path := fmt.Sprintf("policies[%d].%s", f.Rule, f.Field)
		if fieldOfAsk[f.Field] || len(f.Field) > 6 && f.Field[:6] == "blind[" {
			path = fmt.Sprintf("policies[%d].ask.%s", f.Rule, f.Field)
		}
		if c.said(f) {
			continue
		}
		c.wrong(inText(path, f.Line, f.Column), f.Hint, "%s", f.Message)
	}
	if rulebook.FaultsOf(err) == nil {
		c.wrong("policies", "", "%s", err)
	}
}

// said reports whether the shape of the file was found wrong in the same thing already.
func (c *checker) said(f rulebook.Fault) bool {
	r := c.Policies[f.Rule]
	switch {
	case f.Field == "when":
		return r.When == ""
	case len(f.Field) >= 6 && f.Field[:6] == "limits":
		return !r.Deny
	}
	return false
}

// arguments finds those that no tool of their rule takes: such a condition can never be evaluated. Only schemas that say that there are no others
// than theirs count.
func (c *checker) arguments(book *rulebook.Book) {
	for _, m := range book.Mentions() {
		var known []string
		closed := true
		for _, name := range m.Tools {
			properties, ok := closedProperties(c.Tools[name].Schema)
			known, closed = append(known, properties...), closed && ok
		}
		if !closed || slices.Contains(known, m.Argument) {
			continue
		}
		slices.Sort(known)
		hint := "known: " + strings.Join(slices.Compact(known), ", ")
		if near := nearest(m.Argument, known); near != "" {
			hint = fmt.Sprintf("did you mean args.%s?", near)
		}
		c.wrong(inText(fmt.Sprintf("policies[%d].when", m.Rule), m.Line, m.Column), hint, "no argument of %s is called %q", strings.Join(m.Tools, " or "), m.Argument)
	}
}

// closedProperties gives the arguments of a schema that allows no others.
func closedProperties(schema Free) (names []string, closed bool) {
	properties, ok := schema["properties"].(map[string]any)
	if open, said := schema["additionalProperties"].(bool); !ok || !said || open {
		return nil, false
	}
	return sorted(properties), true
}
