package rulebook

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

func allow(when string) Rule { return Rule{When: when, Then: policy.Verdict{Decision: policy.Allow}} }
func deny(when string) Rule  { return Rule{When: when, Then: policy.Verdict{Decision: policy.Deny}} }
func ask(when string) Rule   { return Rule{When: when, Then: policy.Verdict{Decision: policy.Ask}} }

func book(t testing.TB, rules ...Rule) *Book {
	t.Helper()
	b, err := Compile(rules, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// refund is a call as the kernel makes it.
func refund(args string) policy.Call {
	return policy.Call{Tenant: "default", Tool: "orders.refund", Args: json.RawMessage(args), Known: true, Effect: "write", Reversible: "no", Cost: 7,
		Agent: "desk", Flow: "agent.desk", User: "ana", Session: "ses_1", Run: "run_1", Now: time.Date(2026, 11, 14, 22, 30, 0, 0, time.UTC)}
}

func TestEveryVariable(t *testing.T) {
	call := refund(`{"amount":120,"nested":{"deep":[1,{"x":null}]},"ok":true}`)
	call.Idempotent, call.Guarded, call.Changed, call.Hinted, call.Trusted, call.ReadOnly, call.Destroys = true, true, true, true, true, true, true
	for _, when := range []string{
		`tool == "orders.refund"`, `args.amount == 120`, `args["amount"] == 120.0`, `args.nested.deep[0] == 1`, `args.nested.deep[1].x == null`, `args.ok`,
		`effect == "write"`, `reversible == "no"`, `idempotent`, `requires_approval`, `changed`, `hints.read_only`, `hints.destructive`, `hints.trusted`,
		`cost == 7`, `agent == "desk"`, `flow == "agent.desk"`, `actor == "ana"`, `session == "ses_1"`, `run == "run_1"`, `tenant == "default"`,
		`now == timestamp("2026-11-14T22:30:00Z")`, `now.getHours() == 22`, `now.getHours("Asia/Jerusalem") == 0`, `now.getDayOfWeek("+02:00") == 0`, `now - duration("1h") < now`,
		`size(args) == 3`, `"amount" in args`, `!("other" in args)`, `has(args.amount) && !has(args.other)`, `args.nested.deep.exists(x, x == 1)`, `args == args`,
		`args.all(name, size(name) > 1)`, `args.nested == {"deep": [1, {"x": null}]}`, `tool.matches("^orders[.]")`, `tool.startsWith("orders.")`, `tool in ["a", "orders.refund"]`,
	} {
		v, err := book(t, allow(when)).Explain(call)
		if err != nil || v.Decision != policy.Allow {
			t.Errorf("%s: %s, %v", when, v.Decision, err)
		}
		v, err = book(t, allow("!("+when+")")).Explain(call)
		if err != nil || v.Decision != policy.Ask || v.Rule != NoMatch && v.Rule != ServersWord {
			t.Errorf("not %s: %s, %v", when, v.Decision, err)
		}
	}
	for _, v := range Variables {
		if _, ok := new(facts).ResolveName(v.Name); !ok || v.Doc == "" {
			t.Errorf("%s is declared and not there", v.Name)
		}
	}
}

func TestFirstMatchWins(t *testing.T) {
	b := book(t, deny(`args.amount > 500`), allow(`args.amount < 50`), ask(`tool == "orders.refund"`), allow(`true`))
	for args, want := range map[string]string{`{"amount":501}`: "deny rule 1", `{"amount":1}`: "allow rule 2", `{"amount":50}`: "ask rule 3", `{"amount":500}`: "ask rule 3"} {
		v, err := b.Explain(refund(args))
		if err != nil || string(v.Decision)+" "+v.Rule != want || v.Version != b.Version() {
			t.Errorf("%s: %s %s, %v; want %s", args, v.Decision, v.Rule, err, want)
		}
	}
	other := refund(`{"amount":60}`)
	other.Tool = "orders.lookup"
	if v, _ := b.Explain(other); v.Decision != policy.Allow || v.Rule != "rule 4" {
		t.Errorf("%+v", v)
	}
}

// Where no rule speaks, a person does; but what a server that is believed says only reads, may.
func TestNoMatch(t *testing.T) {
	for _, tt := range []struct {
		name string
		call func(*policy.Call)
		want policy.Decision
	}{
		{"no hints", func(c *policy.Call) {}, policy.Ask},
		{"a read by the tool's own word", func(c *policy.Call) { c.Effect = "read" }, policy.Ask},
		{"read-only, trusted", func(c *policy.Call) { c.Hinted, c.Trusted, c.ReadOnly = true, true, true }, policy.Allow},
		{"read-only, not trusted", func(c *policy.Call) { c.Hinted, c.ReadOnly = true, true }, policy.Ask},
		{"read-only and destructive", func(c *policy.Call) { c.Hinted, c.Trusted, c.ReadOnly, c.Destroys = true, true, true, true }, policy.Ask},
		{"read-only, changed", func(c *policy.Call) { c.Hinted, c.Trusted, c.ReadOnly, c.Changed = true, true, true, true }, policy.Ask},
		{"read-only, requires approval", func(c *policy.Call) { c.Hinted, c.Trusted, c.ReadOnly, c.Guarded = true, true, true, true }, policy.Ask},
		{"read-only, unknown", func(c *policy.Call) { c.Hinted, c.Trusted, c.ReadOnly, c.Known = true, true, true, false }, policy.Deny},
		{"destructive, trusted", func(c *policy.Call) { c.Hinted, c.Trusted, c.Destroys = true, true, true }, policy.Ask},
	} {
		for _, b := range []*Book{book(t), book(t, allow(`tool == "another"`))} {
			call := refund(`{}`)
			tt.call(&call)
			if v := policy.Judge(t.Context(), b, call); v.Decision != tt.want {
				t.Errorf("%s: %+v", tt.name, v)
			}
		}
	}
}

// Everything that a rule can say arrives, and what it does not say has the kernel's defaults.
func TestVerdict(t *testing.T) {
	rule := Rule{Name: "big refunds", When: `args.amount > 500`, Then: policy.Verdict{Decision: policy.Ask,
		Audience:  holdshort.Audience{Owner: true, Users: []string{"ben"}, Roles: []string{"finance"}, Quorum: 2, Separate: true},
		ExpiresIn: policy.Never, ValidFor: time.Hour, OnTimeout: holdshort.TimeoutApprove, OnReject: holdshort.RejectCancel, Editable: []string{"amount"},
		Redacted: []string{"iban"}, Blind: []string{"iban"}, Priority: holdshort.PriorityHigh, Question: "Refund {args.amount}?"},
		Limits: []Limit{{Unit: Spend, Scope: policy.PerDay, Max: 900, Deny: true}}}
	b := book(t, rule)
	got := policy.Judge(t.Context(), b, refund(`{"amount":501,"iban":"DE1"}`))
	want := rule.Then
	want.Rule, want.Version, want.Reason, want.Question = "big refunds", b.Version(), "tool_requires_review", "Refund 501?"
	want.Limits = []policy.Limit{{Name: "big refunds", Scope: policy.PerDay, Max: 900, Spend: true, Deny: true}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	plain := policy.Judge(t.Context(), book(t, ask("true")), refund(`{}`))
	if plain.OnTimeout != holdshort.TimeoutFail || !reflect.DeepEqual(plain.Audience, holdshort.Audience{Roles: []string{"reviewer"}, Quorum: 1}) || plain.ExpiresIn != 10*time.Minute ||
		plain.ValidFor != 24*time.Hour || plain.OnReject != holdshort.RejectContinue || plain.Question != "" || plain.Editable != nil || plain.Priority != holdshort.PriorityNormal {
		t.Errorf("%+v", plain)
	}
}

func TestVersionIsWhatTheRulesSay(t *testing.T) {
	rules := []Rule{allow("true"), deny("false")}
	if a, b := book(t, rules...).Version(), book(t, rules...).Version(); a != b || a == "" {
		t.Errorf("%s and %s", a, b)
	}
	seen := map[string]bool{book(t, rules...).Version(): true}
	for _, other := range [][]Rule{nil, {rules[1], rules[0]}, {allow("true")}, {ask("true"), deny("false")}, {{Name: "x", When: "true", Then: rules[0].Then}, rules[1]}} {
		v := book(t, other...).Version()
		if seen[v] {
			t.Errorf("%+v has a version that others have", other)
		}
		seen[v] = true
	}
}

// What cannot be a rule is said with its place, all of it at once.
func TestFaults(t *testing.T) {
	limit := func(l Limit) Rule { return Rule{When: "true", Limits: []Limit{l}} }
	for _, tt := range []struct {
		rule Rule
		want string
	}{
		{ask(""), `when: the condition is missing`},
		{ask("  \n"), `when: the condition is missing`},
		{ask(`tol == "x"`), `when:1:1: "tol" is not known`},
		{ask("tool == \"x\" &&\n  args.amount > 5 &&\n  argz.y == 1"), `when:3:3: "argz" is not known`},
		{ask(`tool == 5`), `when:1:6: == cannot be used with (string, int)`},
		{ask(`"é" == tool && 1 == tool`), `when:1:18: == cannot be used with (int, string)`},
		{ask(`tool`), `when:1:1: a condition is true or false, this is string`},
		{ask(`args.x +`), `when:1:9: it ends too early`},
		{ask(`tool = "x"`), `when:1:6: "=" cannot stand here`},
		{ask(`changed and idempotent`), `when:1:9: "and" cannot stand here`},
		{ask(`tool == "a" || "b"`), `when:1:16: want bool, found string`},
		{ask(`args.x / 0 > 1`), `when:1:10: it divides by zero`},
		{ask(`args.x % 0 == 1`), `when:1:10: it divides by zero`},
		{ask(`args.x / 0.0 > 1`), `when:1:10: it divides by zero`},
		{ask(`now.getHours("Nowhere/City") > 1`), `when:1:14: "Nowhere/City" is no time zone`},
		{ask(`now.getHours("Local") > 1`), `when:1:14: "Local" is no time zone`},
		{ask(`tool.matches("(")`), `when:1:14: the pattern cannot be read`},
		{ask(`hints.fun`), `when:1:1: "hints" is not known`},
		{ask(`args.a.all(a, a.all(b, b.all(c, c.all(d, d.all(e, e)))))`), `when:1:47: loops within loops within loops`},
		{ask(strings.Repeat("(", 300) + "true" + strings.Repeat(")", 300)), `when: it is nested too deeply`},
		{ask(`tool == "` + strings.Repeat("x", 30_000) + `"`), `when: it is too long`},
		{Rule{When: "true", Then: policy.Verdict{Decision: "maybe"}}, `decision: "maybe" is not one of ask, allow, deny`},
		{Rule{When: "true", Then: policy.Verdict{OnTimeout: "approved"}}, `on_timeout: "approved" is not one of`},
		{Rule{When: "true", Then: policy.Verdict{OnReject: "no"}}, `on_reject: "no" is not one of`},
		{Rule{When: "true", Then: policy.Verdict{Priority: "urgent"}}, `priority: "urgent" is not one of`},
		{Rule{When: "true", Then: policy.Verdict{Audience: holdshort.Audience{Quorum: -1}}}, `quorum: -1 approvals are no quorum`},
		{Rule{When: "true", Then: policy.Verdict{Blind: []string{"iban"}}}, `blind[0]: "iban" is not redacted`},
		{Rule{When: "true", Then: policy.Verdict{Question: "{argz.x}"}}, `question: {argz.x} is not known`},
		{Rule{When: "true", Then: policy.Verdict{Limits: []policy.Limit{{}}}}, `limits: the limits of a rule stand beside its verdict`},
		{limit(Limit{Scope: policy.PerDay}), `limits[0]: a limit of 0`},
		{limit(Limit{Scope: policy.PerDay, Max: 1, Name: "a\x00b"}), `limits[0].name: this is no name`},
		{limit(Limit{Scope: "week", Max: 1}), `limits[0].per: "week" is no time to count over`},
		{limit(Limit{Scope: policy.PerDay, Max: 1, Unit: "tries"}), `limits[0]: "tries" cannot be counted`},
		{Rule{When: "true", Then: policy.Verdict{Decision: policy.Deny}, Limits: []Limit{{Scope: policy.PerDay, Max: 1}}}, `limits[0]: a rule that denies has nothing to count`},
	} {
		b, err := Compile([]Rule{allow("true"), tt.rule}, Options{})
		if b != nil || err == nil || !strings.HasPrefix(err.Error(), `rule "rule 2": `+tt.want) {
			t.Errorf("%.80s: %v, want %s", tt.rule.When, err, tt.want)
			continue
		}
		if f := FaultsOf(err)[0]; f.Rule != 1 {
			t.Errorf("%+v", f)
		}
		if coded, ok := errors.AsType[*holdshort.Error](err); !ok || coded.Code != holdshort.Invalid {
			t.Errorf("%v has no code", err)
		}
	}
	for _, name := range []string{"a\nb", strings.Repeat("x", 201), "\xff"} {
		if _, err := Compile([]Rule{{Name: name, When: "true"}}, Options{}); len(FaultsOf(err)) != 1 || FaultsOf(err)[0].Field != "name" {
			t.Errorf("%q: %v", name, err)
		}
	}
	_, err := Compile([]Rule{ask("x"), ask("y || z"), {Name: "rule 1", When: "true"}}, Options{})
	if len(FaultsOf(err)) != 4 {
		t.Errorf("%v", err)
	}
}
