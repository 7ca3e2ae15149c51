package config

import (
	"fmt"
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
	for i, l := range r.Limits {
		c.limit(fmt.Sprintf("%s.limits[%d]", path, i), l)
	}
}

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
	_, err := rulebook.Compile(c.Rules(), rulebook.Options{})
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
	if err != nil && rulebook.FaultsOf(err) == nil {
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
