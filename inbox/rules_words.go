package inbox

import (
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/rulebook"
)

// verdictWord is a verdict in one word, and its colour.
func verdictWord(d policy.Decision) (word, tone string) {
	switch d {
	case policy.Allow:
		return "allows", "yes"
	case policy.Deny:
		return "denies", "no"
	}
	return "asks", "hold"
}

// saysOf is what a rule says, in words: who is asked, for how long, what they may change. agents reports that an agent may give its approvals a
// time of its own, because the rule does not say.
func saysOf(v policy.Verdict, limits []rulebook.Limit, agents bool) string {
	switch v.Decision {
	case policy.Deny:
		return "denies it: nobody can approve it"
	case policy.Allow:
		if len(limits) == 0 {
			return "allows it: nobody is asked"
		}
		return "allows " + limitWords(limits, v, agents)
	}
	parts := []string{"asks " + audienceWords(v.Audience)}
	parts = append(parts, askWords(v, agents)...)
	if len(limits) > 0 {
		parts = append(parts, limitWords(limits, v, agents))
	}
	return strings.Join(parts, ", ")
}

// audienceWords say who decides.
func audienceWords(a holdshort.Audience) string {
	var who []string
	if a.Owner {
		who = append(who, "the session's own user")
	}
	who = append(who, a.Users...)
	who = append(who, a.Roles...)
	if len(who) == 0 {
		who = []string{policy.Reviewer}
	}
	text := strings.Join(who, " or ")
	switch n := a.Needed(); {
	case n == 1 && len(who) == 1 && len(a.Roles) == 0 && (a.Owner || len(a.Users) == 1):
	case n == 1 && len(a.Roles) == len(who) && len(who) == 1 && who[0] == policy.Reviewer:
		text = "a reviewer"
	default:
		text = numberWord(n) + " of " + text
	}
	if a.Separate {
		text += " other than who asked"
	}
	return text
}

func numberWord(n int) string {
	words := []string{"none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	if n >= 0 && n < len(words) {
		return words[n]
	}
	return strconv.Itoa(n)
}

// termOf is a time that a rule gives, as exactly as it does.
func termOf(d time.Duration) string {
	if d >= time.Hour && d < 72*time.Hour && d%time.Hour == 0 {
		return number(int(d/time.Hour)) + " h"
	}
	return wholeSpan(d)
}

// askWords are the terms of an ask.
func askWords(v policy.Verdict, agents bool) (parts []string) {
	switch {
	case v.ExpiresIn == policy.Never:
		parts = append(parts, "for as long as it takes")
	case agents:
		parts = append(parts, "within "+termOf(v.ExpiresIn)+" where the agent sets no time of its own")
	default:
		parts = append(parts, "within "+termOf(v.ExpiresIn))
	}
	switch v.OnTimeout {
	case holdshort.TimeoutApprove:
		parts = append(parts, "runs if nobody answers")
	case holdshort.TimeoutEscalate:
		parts = append(parts, "escalates if nobody answers")
	case holdshort.TimeoutResume:
		parts = append(parts, "the run goes on without it if nobody answers")
	case holdshort.TimeoutClear:
		parts = append(parts, "is put aside if nobody answers")
	}
	switch {
	case len(v.Editable) == 1 && v.Editable[0] == "*":
		parts = append(parts, "may edit everything")
	case len(v.Editable) > 0:
		parts = append(parts, "may edit "+andWords(v.Editable))
	}
	if len(v.Redacted) > 0 {
		text := "hides " + andWords(v.Redacted)
		switch {
		case len(v.Blind) == len(v.Redacted):
			text += ", which may be approved unseen"
		case len(v.Blind) > 0:
			text += " (" + andWords(v.Blind) + " may be approved unseen)"
		}
		parts = append(parts, text)
	}
	switch v.OnReject {
	case holdshort.RejectCancel:
		parts = append(parts, "a no cancels the run")
	case holdshort.RejectReturn:
		parts = append(parts, "a no goes back to the flow")
	}
	if v.Priority != holdshort.PriorityNormal && v.Priority != "" {
		parts = append(parts, string(v.Priority)+" priority")
	}
	return parts
}

// limitWords say what calls may add up to, and what happens past that.
func limitWords(limits []rulebook.Limit, v policy.Verdict, agents bool) string {
	var denied, asked []string
	for _, l := range limits {
		text := number(int(l.Max))
		switch l.Unit {
		case rulebook.Spend:
			text = "a cost of " + text
		case rulebook.Repeats:
			text += " repeats of one call"
		default:
			text += " calls"
		}
		text += " per " + string(l.Scope)
		if l.Name != "" && l.Name != v.Rule {
			text += " (counted as “" + l.Name + "”)"
		}
		if l.Deny {
			denied = append(denied, text)
		} else {
			asked = append(asked, text)
		}
	}
	var parts []string
	if len(asked) > 0 {
		past := ", past that asks " + audienceWords(v.Audience)
		if v.Decision == policy.Allow {
			past += ", " + strings.Join(askWords(v, agents), ", ")
		}
		parts = append(parts, "up to "+andWords(asked)+past)
	}
	if len(denied) > 0 {
		parts = append(parts, "up to "+andWords(denied)+", past that denies")
	}
	return strings.Join(parts, "; ")
}

func andWords(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}
