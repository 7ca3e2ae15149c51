package rulebook_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/rulebook"
)

// The first rule that matches says it; what none matches asks a reviewer; what cannot be evaluated never allows.
func Example() {
	book, err := rulebook.Compile([]rulebook.Rule{
		{Name: "reading is free", When: `effect == "read"`, Then: policy.Verdict{Decision: policy.Allow}},
		{Name: "small refunds", When: `tool == "refund" && args.amount <= 50`, Then: policy.Verdict{Decision: policy.Allow},
			Limits: []rulebook.Limit{{Unit: rulebook.Calls, Scope: policy.PerDay, Max: 5}}},
		{Name: "refunds", When: `tool == "refund"`, Then: policy.Verdict{Audience: holdshort.Audience{Roles: []string{"finance"}, Quorum: 2}, Question: "Refund {args.amount} EUR?"}},
	}, rulebook.Options{})
	if err != nil {
		panic(err)
	}
	for _, args := range []string{`{"amount":12}`, `{"amount":900}`, `{}`} {
		v := policy.Judge(context.Background(), book, policy.Call{Tool: "refund", Args: json.RawMessage(args), Known: true, Effect: "write"})
		fmt.Println(v.Decision, v.Rule, v.Audience.Roles, v.Reason)
	}
	// Output:
	// allow small refunds [reviewer] tool_requires_review
	// ask refunds [finance] tool_requires_review
	// ask small refunds [reviewer] policy_error
}

// What is wrong with rules is told all at once, with its place.
func ExampleFaultsOf() {
	_, err := rulebook.Compile([]rulebook.Rule{
		{Name: "typo", When: `tool == "refund" && arg.amount > 5`, Then: policy.Verdict{Decision: policy.Deny}},
		{Name: "no condition", When: `tool`, Then: policy.Verdict{Decision: policy.Allow}},
	}, rulebook.Options{})
	for _, f := range rulebook.FaultsOf(err) {
		fmt.Println(f.Name, f.Field, f.Line, f.Column)
	}
	// Output:
	// typo when 1 21
	// no condition when 1 1
}
