package replay

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
)

// judge asks the policy as of then. Where not all of a tool's declaration is known, it asks for each that the tool may have: sure reports whether
// they agree.
func judge(ctx context.Context, tools Tools, rules policy.Policy, c Record) (v policy.Verdict, cost int64, sure bool) {
	calls := tools.Declared(c.Call)
	switch {
	case len(calls) == 0 && c.Outside:
		calls = []policy.Call{outside(c.Call)}
	case len(calls) == 0:
		calls = Guesses(c.Call)
	}
	for i, possible := range calls {
		next := policy.Judge(ctx, rules, possible)
		if i > 0 && next.Decision != v.Decision {
			return v, calls[0].Cost, false
		}
		v = next
	}
	return v, calls[0].Cost, true
}

// Change is what would be different.
type Change string

const (
	Same       Change = "unchanged"
	AskedMore  Change = "asked_more"
	AskedLess  Change = "asked_less"
	RanDenied  Change = "allowed_to_denied"
	AskDenied  Change = "asked_to_denied"
	Undenied   Change = "no_longer_denied"
	AskOthers  Change = "asked_of_others"
	CannotTell Change = "cannot_tell"
)

// Changes are all of them, in the order in which people want to hear of them.
var Changes = []Change{AskedMore, AskedLess, RanDenied, AskDenied, Undenied, AskOthers, Same, CannotTell}

// Words say what would become of a number of calls.
func (c Change) Words() string {
	switch c {
	case AskedMore:
		return "would ask where nobody was asked"
	case AskedLess:
		return "would run where somebody was asked"
	case RanDenied:
		return "would be denied where they ran"
	case AskDenied:
		return "would be denied where somebody was asked"
	case Undenied:
		return "would no longer be denied"
	case AskOthers:
		return "would ask other people"
	case CannotTell:
		return "cannot be told: the tool's declaration decides, and nobody here has it"
	}
	return "unchanged"
}

func changeOf(c Record, v policy.Verdict) Change {
	switch {
	case c.Was == v.Decision && c.Audience != nil && !sameAudience(*c.Audience, v.Audience):
		return AskOthers
	case c.Was == v.Decision:
		return Same
	case v.Decision == policy.Deny && c.Was == policy.Allow:
		return RanDenied
	case v.Decision == policy.Deny:
		return AskDenied
	case c.Was == policy.Deny:
		return Undenied
	case v.Decision == policy.Ask:
		return AskedMore
	}
	return AskedLess
}

func sameAudience(a, b holdshort.Audience) bool {
	equal := func(a, b []string) bool {
		return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
	}
	return a.Owner == b.Owner && a.Needed() == b.Needed() && a.Separate == b.Separate && equal(a.Users, b.Users) && equal(a.Roles, b.Roles)
}

// tally counts against limits what would have run.
type tally map[string]int64

func (t tally) limited(v policy.Verdict, c Record, cost int64) policy.Verdict {
	if v.Decision == policy.Deny {
		return v
	}
	names := make([]string, len(v.Limits))
	for i, l := range v.Limits {
		switch l.Scope {
		case policy.PerDay:
			names[i] = c.Now.UTC().Format("2006-01-02")
		case policy.PerSession:
			names[i] = cmp.Or(string(c.Session), string(c.Run), string(c.Request))
		default:
			names[i] = cmp.Or(string(c.Run), string(c.Request))
		}
		names[i] += fmt.Sprint("/", l.Scope, l.Spend, "/", cmp.Or(l.Name, c.Tool))
		if l.Repeats {
			names[i] += "/" + flow.CallHash(c.Tool, c.Args)
		}
		n := int64(1)
		if l.Spend {
			n = cost
		}
		switch {
		case n <= l.Max-t[names[i]]:
		case l.Deny:
			v.Decision, v.Rule = policy.Deny, v.Rule+" (past its limit)"
			return v
		case v.Decision == policy.Allow:
			v.Decision, v.Rule = policy.Ask, v.Rule+" (past its limit)"
		}
	}
	for i, l := range v.Limits {
		if l.Spend {
			t[names[i]] += cost
		} else {
			t[names[i]]++
		}
	}
	return v
}
