package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/rulebook"
)

// judgeAgain asks the policies as of then. Where the configuration does not have all of a tool's declaration, it asks for each that the tool may
// have: sure reports whether they agree.
func judgeAgain(ctx context.Context, read config.Config, book *rulebook.Book, c recorded) (v policy.Verdict, cost int64, sure bool) {
	call := c.Call
	from := declare(read, &call)
	if from == unknownTool && c.Outside { // as the gate takes it
		call.Known, call.Effect, call.Reversible, from = true, "write", "no", declaredTool
	}
	for i, possible := range possibilities(read, call, from) {
		next := policy.Judge(ctx, book, possible)
		if i > 0 && next.Decision != v.Decision {
			return v, call.Cost, false
		}
		v = next
	}
	return v, call.Cost, true
}

// possibilities are the calls that it may have been, as far as policies can tell.
func possibilities(read config.Config, call policy.Call, from origin) []policy.Call {
	calls := []policy.Call{call}
	written := read.Tools[call.Tool]
	switch {
	case from == servedTool:
		for _, readOnly := range []bool{true, false} {
			p := call
			hint(read, &p, readOnly, !readOnly)
			calls = append(calls, p)
		}
	case from == unknownTool, from == ownTool && (written.Effect == "" || written.Reversible == ""):
		calls = nil
		for _, effect := range []string{"read", "write"} {
			for _, reversible := range []string{"yes", "no", "external"} {
				for _, idempotent := range []bool{false, true} {
					p := call
					p.Known, p.Effect, p.Reversible, p.Idempotent = true, cmp.Or(written.Effect, effect), cmp.Or(written.Reversible, reversible), written.Idempotent || idempotent
					calls = append(calls, p)
				}
			}
		}
	}
	return calls
}

func changeOf(c recorded, v policy.Verdict) change {
	switch {
	case c.Was == v.Decision && c.Audience != nil && !sameAudience(*c.Audience, v.Audience):
		return askOthers
	case c.Was == v.Decision:
		return same
	case v.Decision == policy.Deny && c.Was == policy.Allow:
		return ranDenied
	case v.Decision == policy.Deny:
		return askDenied
	case c.Was == policy.Deny:
		return undenied
	case v.Decision == policy.Ask:
		return askedMore
	}
	return askedLess
}

func sameAudience(a, b holdshort.Audience) bool {
	equal := func(a, b []string) bool {
		return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
	}
	return a.Owner == b.Owner && a.Needed() == b.Needed() && a.Separate == b.Separate && equal(a.Users, b.Users) && equal(a.Roles, b.Roles)
}

// tally counts against limits what would have run.
type tally map[string]int64

func (t tally) limited(v policy.Verdict, c recorded, cost int64) policy.Verdict {
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
