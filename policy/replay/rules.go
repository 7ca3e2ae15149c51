package replay

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/rulebook"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/tool"
)

// Rules are those that a server judges by: to be looked at, tried out, and compared with others over what is on record. The zero value is a
// server without rules, where every call asks.
type Rules struct {
	// Policy is what the kernel asks. Default: the book, or policy.AskAlways.
	Policy policy.Policy
	// Book of rules. Default: the policy is not made of rules.
	Book *rulebook.Book
	// Places are where the rules stand, as file:line, in their order. Default: nobody knows.
	Places []string
	// Tools of this node, and the Agents that use them.
	Tools  []tool.Tool
	Agents []string
	// Store has what happened, and Read understands a changed text of the rules. Default: nothing can be replayed.
	Store store.Store
	Read  func(text []byte) (*rulebook.Book, error)
	// Bounds of a replay. Default: the latest 5,000 requests and 5,000 runs.
	Bounds Bounds

	replaying sync.Mutex
}

// Rule is one of them.
type Rule struct {
	rulebook.Rule
	// Says is its verdict with everything filled in that it leaves to defaults.
	Says  policy.Verdict
	Place string
}

// Rules are the rules in their order; ruled reports whether the policy is made of rules at all.
func (r *Rules) Rules() (rules []Rule, ruled bool) {
	if r.Book == nil {
		return nil, false
	}
	for i, one := range r.Book.Rules() {
		said := Rule{Rule: one, Says: filledIn(one.Then)}
		if i < len(r.Places) {
			said.Place = r.Places[i]
		}
		rules = append(rules, said)
	}
	return rules, true
}

// filledIn is a verdict as the kernel reads it.
func filledIn(v policy.Verdict) policy.Verdict {
	said := policy.Func(func(context.Context, policy.Call) (policy.Verdict, error) { return v, nil })
	return policy.Judge(context.Background(), said, policy.Call{Known: true})
}

// Version names the rules, "" of a policy that is not made of them.
func (r *Rules) Version() string {
	if r.Book == nil {
		return ""
	}
	return r.Book.Version()
}

// Otherwise is what holds where no rule matches.
func (r *Rules) Otherwise() policy.Verdict { return filledIn(policy.Verdict{Decision: policy.Ask}) }

// Known are the names of the tools and agents here, sorted.
func (r *Rules) Known() (tools, agents []string) {
	for _, t := range r.Tools {
		tools = append(tools, t.Name)
	}
	slices.Sort(tools)
	return tools, slices.Sorted(slices.Values(r.Agents))
}

// Replays reports whether changed rules can be replayed here.
func (r *Rules) Replays() bool { return r.Store != nil && r.Read != nil }

// mostText of changed rules: making them ready costs time that nobody can call off.
const mostText = 128 << 10

// Replay asks changed rules about what is on record. One at a time: it costs as much as the past is long.
func (r *Rules) Replay(ctx context.Context, tenant holdshort.TenantID, text []byte, since time.Time) (Result, error) {
	if !r.Replays() {
		return Result{}, &holdshort.Error{Code: holdshort.NotFound, Op: "replay rules", Message: "this server cannot replay rules", Hint: "use holdshort policy replay"}
	}
	if len(text) > mostText {
		return Result{}, &holdshort.Error{Code: holdshort.Invalid, Op: "replay rules", Message: "this is more than rules are long", Hint: "paste the policies alone, or use holdshort policy replay"}
	}
	if !r.replaying.TryLock() {
		return Result{}, &holdshort.Error{Code: holdshort.RateLimited, Op: "replay rules", Message: "somebody replays rules already", Hint: "wait until theirs is done"}
	}
	defer r.replaying.Unlock()
	book, err := r.Read(text)
	if err != nil {
		return Result{}, err
	}
	bounds := r.Bounds
	if bounds == (Bounds{}) {
		bounds = Bounds{Requests: 5000, Runs: 5000}
	}
	past, err := Recall(ctx, r.Store, tenant, since, bounds)
	if err != nil {
		return Result{}, err
	}
	result, err := Replay(ctx, Registered(r.Tools), book, book.Version(), past)
	result.Since = since.UTC().Truncate(time.Second)
	return result, err
}
