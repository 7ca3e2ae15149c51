package replay

import (
	"context"
	"slices"

	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

// Trial is a call that nobody makes, and what the rules say of it.
type Trial struct {
	Call    policy.Call
	Outside bool // it asks over the API, and its tool lives elsewhere
	Costs   bool // Call.Cost is to be taken; default: what the tool says
}

// Verdict is what holds for a trial.
type Verdict struct {
	policy.Verdict
	Call    policy.Call // as the rules saw it
	Known   bool        // the tool is one of this node's
	Ruled   bool        // the policy is made of rules
	Matched string      // the rule that the call ended at, also where the tool's owner or the kernel has the last word
	Number  int         // of that rule, from 1; 0: no rule matched
	Cause   string      // why a condition could not be evaluated; it may quote arguments
}

// Try judges a call exactly as the kernel would, and makes it not.
func (r *Rules) Try(ctx context.Context, t Trial) Verdict {
	call, cost := t.Call, t.Call.Cost
	out := Verdict{Ruled: r.Book != nil}
	if calls := Registered(r.Tools).Declared(call); len(calls) > 0 {
		call, out.Known = calls[0], true
		i := slices.IndexFunc(r.Tools, func(one tool.Tool) bool { return one.Name == call.Tool })
		call.Changed = changed(r.Tools[i])
	} else if t.Outside {
		call = outside(call)
	}
	if t.Costs {
		call.Cost = cost
	}
	rules := r.Policy
	if rules == nil && r.Book != nil {
		rules = r.Book
	}
	out.Call, out.Verdict = call, policy.Judge(ctx, rules, call)
	out.Matched = out.Rule
	if r.Book == nil || !call.Known {
		return out
	}
	matched, err := r.Book.Explain(call)
	out.Matched = matched.Rule
	out.Number = slices.Index(r.Book.Names(), matched.Rule) + 1
	if err != nil {
		out.Cause = err.Error()
	}
	return out
}
