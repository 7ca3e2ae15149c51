package rulebook_test

import (
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/rulebook"
)

// What is listed is what is judged by, and changing the list changes nothing.
func TestRulesAsTheyAreRead(t *testing.T) {
	book, err := rulebook.Compile([]rulebook.Rule{
		{Name: "big", When: `args.amount > 500`, Then: policy.Verdict{Audience: holdshort.Audience{Roles: []string{"finance"}, Quorum: 2}, Editable: []string{"amount"}, Question: "Refund {args.amount}?"}},
		{When: "true", Then: policy.Verdict{Decision: policy.Allow}, Limits: []rulebook.Limit{{Scope: policy.PerDay, Max: 3}}},
	}, rulebook.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rules := book.Rules()
	if len(rules) != 2 || rules[0].Name != "big" || rules[0].When != "args.amount > 500" || rules[0].Then.Decision != policy.Ask || rules[0].Then.Question != "Refund {args.amount}?" {
		t.Fatalf("%+v", rules)
	}
	if second := rules[1]; second.Name != "rule 2" || second.Limits[0].Name != "rule 2" || second.Limits[0].Unit != rulebook.Calls {
		t.Errorf("%+v", second)
	}
	rules[0].Then.Audience.Roles[0], rules[0].Then.Editable[0], rules[1].Limits[0].Max = "anybody", "*", 1000
	v, err := book.Explain(policy.Call{Tool: "x", Args: []byte(`{"amount":900}`)})
	if err != nil || v.Audience.Roles[0] != "finance" || v.Editable[0] != "amount" || book.Rules()[1].Limits[0].Max != 3 {
		t.Errorf("the list reaches into the book: %+v, %v", v, err)
	}
}
