package rulebook

import (
	"context"
	"errors"
	"fmt"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// Book is a policy made of rules. It is safe for use by many at once.
type Book struct {
	opts    Options
	version string
	rules   []compiled
	byTool  map[string][]int // rules that can only match this tool
	general []int            // all others
}

var _ policy.Policy = (*Book)(nil)

// Names of verdicts that no rule gave.
const (
	NoMatch      = "no rule matches"
	ServersWord  = "read-only by its server"
	policyFailed = "policy_error"
)

// Version is a hash of what the rules say.
func (b *Book) Version() string { return b.version }

// Judge gives what the first matching rule says. It returns no error: a condition that cannot be evaluated is a verdict, never an allowance.
func (b *Book) Judge(_ context.Context, call policy.Call) (policy.Verdict, error) {
	v, err := b.Explain(call)
	if err != nil && b.opts.Failed != nil {
		b.opts.Failed(v.Rule, call, err)
	}
	return v, nil
}

// Explain is Judge, with the reason why a condition could not be evaluated. The verdict holds all the same.
func (b *Book) Explain(call policy.Call) (policy.Verdict, error) {
	facts := &facts{call: call}
	frame, err := interpreter.NewExecutionFrame(facts)
	if err != nil { // only for what is no activation
		return policy.Verdict{Decision: policy.Ask, Rule: NoMatch, Version: b.version, Reason: policyFailed}, err
	}
	defer frame.Close()
	spent := uint64(0)
	specific, general := b.byTool[call.Tool], b.general
	for len(specific)+len(general) > 0 {
		var r *compiled
		if len(general) == 0 || len(specific) > 0 && specific[0] < general[0] {
			r, specific = &b.rules[specific[0]], specific[1:]
		} else {
			r, general = &b.rules[general[0]], general[1:]
		}
		if !r.mayMatch(facts) {
			continue
		}
		matched, cost, err := r.matches(facts, frame, float64(b.opts.Budget)/4)
		if spent += cost; err == nil && spent > b.opts.Budget {
			err = errors.New("the conditions of the rules cost too much for one call")
		}
		if err != nil {
			return r.failed(facts), fmt.Errorf("evaluate rule %q: %w", r.name, err)
		}
		if matched {
			return r.verdict(facts), nil
		}
	}
	if call.Known && call.Hinted && call.Trusted && call.ReadOnly && !call.Destroys && !call.Changed {
		return policy.Verdict{Decision: policy.Allow, Rule: ServersWord, Version: b.version}, nil
	}
	return policy.Verdict{Decision: policy.Ask, Rule: NoMatch, Version: b.version}, nil
}

// matches evaluates the condition. Whatever is not true or false is an error.
func (r *compiled) matches(facts *facts, frame *interpreter.ExecutionFrame, little float64) (matched bool, cost uint64, err error) {
	var out ref.Val
	if r.metered != nil && r.shape.most(facts.weigh()) > little {
		var details *cel.EvalDetails
		out, details, err = r.metered.Eval(facts)
		cost = costOf(details)
	} else {
		out, _, err = r.program.Eval(frame)
	}
	if err != nil {
		return false, cost, err
	}
	truth, ok := out.(types.Bool)
	if !ok {
		return false, cost, fmt.Errorf("the condition is %s, neither true nor false", out.Type().TypeName())
	}
	return bool(truth), cost, nil
}

func costOf(details *cel.EvalDetails) uint64 {
	if details == nil || details.ActualCost() == nil {
		return 0
	}
	return *details.ActualCost()
}

// verdict is what the rule says of a call that it matches.
func (r *compiled) verdict(facts *facts) policy.Verdict {
	v := r.then
	v.Limits = r.counted()
	if v.Decision != policy.Deny {
		v.Question = r.question.fill(facts, v.Redacted)
	}
	return v
}

// failed is what holds when nobody can tell whether the rule matches. A rule that denies denies; any other asks: the people of the rule, but never
// the user alone and never by the clock, since the rule may not have been meant for this call.
func (r *compiled) failed(facts *facts) policy.Verdict {
	v := r.then
	v.Reason = policyFailed
	if v.Decision == policy.Deny {
		return v
	}
	if v.Decision == policy.Allow {
		v.Audience = holdshort.Audience{}
	}
	v.Decision = policy.Ask
	v.Audience.Owner = false
	v.OnTimeout = holdshort.TimeoutFail
	v.Question = r.question.fill(facts, v.Redacted)
	v.Limits = r.counted()
	return v
}

// counted are the rule's limits as the kernel counts them.
func (r *compiled) counted() []policy.Limit {
	if len(r.limits) == 0 {
		return nil
	}
	limits := make([]policy.Limit, len(r.limits))
	for i, l := range r.limits {
		limits[i] = policy.Limit{Name: l.Name, Scope: l.Scope, Max: l.Max, Spend: l.Unit == Spend, Repeats: l.Unit == Repeats, Deny: l.Deny}
	}
	return limits
}

// Names of the rules, in their order.
func (b *Book) Names() []string {
	names := make([]string, len(b.rules))
	for i := range b.rules {
		names[i] = b.rules[i].name
	}
	return names
}
