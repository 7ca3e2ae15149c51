package rulebook

import (
	"strings"
	"testing"

	"github.com/holdshort/holdshort/policy"
)

func TestQuestion(t *testing.T) {
	args := `{"amount":120.5,"customer":{"name":"Ben","iban":"DE1"},"items":[1,{"a":"b"}],"note":"a\nb\u202eevil","a.b":"dotted","empty":"","no":null,"yes":true,"long":"` + strings.Repeat("x", 500) + `"}`
	for _, tt := range []struct {
		question string
		redacted []string
		want     string
	}{
		{"", nil, ""},
		{"Plain?", nil, "Plain?"},
		{"May {agent} run {tool} for {actor}?", nil, "May desk run orders.refund for ana?"},
		{"{effect} for {cost}", nil, "write for 7"},
		{"Refund {args.amount} to {args.customer.name}?", nil, "Refund 120.5 to Ben?"},
		{"{ args.amount }", nil, "120.5"},
		{"{args.missing} {args.no} {args.empty} {args.customer.none.at.all}", nil, "— — — —"},
		{"{args.items} {args.yes}", nil, `[1,{"a":"b"}] true`},
		{"{args.a.b}", nil, "dotted"},
		{"{args.note}", nil, "a b evil"},
		{"{args.long}", nil, strings.Repeat("x", 200) + "…"},
		{"{{tool}} {{}}", nil, "{tool} {}"},
		{"{args.customer.iban} {args.customer.name}", []string{"customer.iban"}, "[redacted] Ben"},
		{"{args.customer.iban} {args.customer}", []string{"customer"}, "[redacted] [redacted]"},
		{"{args.amount} {tool}", []string{"*"}, "[redacted] orders.refund"},
		{"{args.customer}", []string{"customer.iban"}, `{"iban":"[redacted]","name":"Ben"}`},
	} {
		b := book(t, Rule{When: "true", Then: policy.Verdict{Question: tt.question, Redacted: tt.redacted}})
		if v, err := b.Explain(refund(args)); err != nil || v.Question != tt.want {
			t.Errorf("%s: %q, %v; want %q", tt.question, v.Question, err, tt.want)
		}
	}
	for _, question := range []string{"{", "}", "{tool", "tool}", "{}", "{args}", "{args.}", "{args..x}", "{args.x.}", "{now}", "{TOOL}", "{{tool}"} {
		if _, err := Compile([]Rule{{When: "true", Then: policy.Verdict{Question: question}}}, Options{}); len(FaultsOf(err)) != 1 {
			t.Errorf("%s: %v", question, err)
		}
	}
	// Arguments that nobody can read do not stop the question.
	b := book(t, Rule{When: "true", Then: policy.Verdict{Question: "{args.x}?"}})
	for _, args := range []string{"", "nonsense", "[1]", `"[redacted]"`, "7"} {
		if v, err := b.Explain(refund(args)); err != nil || v.Decision != policy.Ask || !strings.HasSuffix(v.Question, "?") {
			t.Errorf("%s: %+v, %v", args, v, err)
		}
	}
}
