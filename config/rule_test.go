package config

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/rulebook"
)

// What is wrong within a condition is told with its place in the file, however the text is written there.
func TestFaultsOfRules(t *testing.T) {
	const file = "testdata/rules.txtar"
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(archive.Files); i += 2 {
		in, want := archive.Files[i], &archive.Files[i+1]
		_, err := Parse(in.Name, in.Data, nothingSet)
		var said strings.Builder
		for _, f := range FaultsOf(err) {
			fmt.Fprintf(&said, "%s\n%s\n", f.Error(), f.Excerpt)
			if f.Hint != "" {
				fmt.Fprintf(&said, "hint: %s\n", f.Hint)
			}
		}
		if said.Len() == 0 {
			t.Errorf("%s: nothing is wrong with it, %v", in.Name, err)
		}
		if *update {
			want.Data = []byte(said.String())
		} else if said.String() != string(want.Data) {
			t.Errorf("%s:\n%s\nwant\n%s", in.Name, said.String(), want.Data)
		}
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Everything that can be written of a rule arrives in its verdict.
func TestRule(t *testing.T) {
	c, err := Parse("x", []byte(`
policies:
  - name: big refunds
    when: tool == "orders.refund" && args.amount > 500
    ask: {owner: true, users: [ben], roles: [finance], quorum: 2, separate: true, expires_in: never, valid_for: 1h, on_timeout: approve, on_reject: cancel, editable: [amount],
          redacted: [iban], blind: [iban], priority: high, question: "Refund {args.amount} to {args.iban}?"}
    limits: [{calls: 9, per: run, name: refunds}, {repeats: 2, per: session, past: ask}, {spend: 5000, per: day, past: deny}]
  - when: effect == "read"
    allow: true
  - name: small
    when: args.amount <= 50
    allow: true
    ask: {roles: [support]}
    limits: [{spend: 200, per: day}]
  - when: "true"
    deny: true
`), nothingSet)
	if err != nil {
		t.Fatal(err)
	}
	book, err := c.Book(rulebook.Options{})
	if err != nil {
		t.Fatal(err)
	}
	judge := func(tool, effect, args string) policy.Verdict {
		return policy.Judge(t.Context(), book, policy.Call{Known: true, Tool: tool, Effect: effect, Args: json.RawMessage(args)})
	}
	got := judge("orders.refund", "write", `{"amount":501,"iban":"DE1"}`)
	want := policy.Verdict{Decision: policy.Ask, Rule: "big refunds", Version: book.Version(), Reason: "tool_requires_review",
		Audience:  holdshort.Audience{Owner: true, Users: []string{"ben"}, Roles: []string{"finance"}, Quorum: 2, Separate: true},
		ExpiresIn: policy.Never, ValidFor: time.Hour, OnTimeout: holdshort.TimeoutApprove, OnReject: holdshort.RejectCancel, Editable: []string{"amount"}, Redacted: []string{"iban"},
		Blind: []string{"iban"}, Priority: holdshort.PriorityHigh, Question: "Refund 501 to [redacted]?",
		Limits: []policy.Limit{{Name: "refunds", Scope: policy.PerRun, Max: 9}, {Name: "big refunds", Scope: policy.PerSession, Max: 2, Repeats: true}, {Name: "big refunds", Scope: policy.PerDay, Max: 5000, Spend: true, Deny: true}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if v := judge("x", "read", `{}`); v.Decision != policy.Allow || v.Rule != "rule 2" {
		t.Errorf("%+v", v)
	}
	if v := judge("x", "write", `{"amount":50}`); v.Decision != policy.Allow || v.Audience.Roles[0] != "support" || len(v.Limits) != 1 {
		t.Errorf("%+v", v)
	}
	if v := judge("x", "write", `{"amount":51}`); v.Decision != policy.Deny || v.Rule != "rule 4" {
		t.Errorf("%+v", v)
	}
}

// The clock approves only where somebody wrote so.
func TestTheClockApprovesOnlyWhereItIsWritten(t *testing.T) {
	for _, written := range []string{"", "fail", "resume", "clear", "escalate"} {
		c := Config{Policies: []Rule{{When: "true", Ask: &Ask{OnTimeout: written}}}}
		book, err := c.Book(rulebook.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if v := policy.Judge(t.Context(), book, policy.Call{Known: true, Tool: "x"}); v.OnTimeout == holdshort.TimeoutApprove || written != "" && string(v.OnTimeout) != written {
			t.Errorf("%q: %+v", written, v)
		}
	}
}

// A configuration that was made in code and not checked still says the stricter of what it says twice.
func TestUncheckedRulesAreStrict(t *testing.T) {
	for _, tt := range []struct {
		rule Rule
		want policy.Decision
	}{
		{Rule{When: "true"}, policy.Ask},
		{Rule{When: "true", Allow: true, Deny: true}, policy.Deny},
		{Rule{When: "true", Ask: &Ask{}, Deny: true}, policy.Deny},
	} {
		book, err := Config{Policies: []Rule{tt.rule}}.Book(rulebook.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if v := policy.Judge(t.Context(), book, policy.Call{Known: true, Tool: "x"}); v.Decision != tt.want {
			t.Errorf("%+v: %+v", tt.rule, v)
		}
		if (Config{Policies: []Rule{tt.rule}}).Check() == nil {
			t.Errorf("%+v is right", tt.rule)
		}
	}
}

func TestCases(t *testing.T) {
	c, err := ParseCases("cases.yaml", []byte("cases:\n  - call: {tool: a, args: {n: 1, l: [x, {y: null}]}}\n    expect: {decision: ask, owner: false, expires_in: never}\n"), nothingSet)
	if err != nil || len(c.Cases) != 1 || c.Cases[0].Name != "1: a" || *c.Cases[0].Expect.Owner || time.Duration(*c.Cases[0].Expect.ExpiresIn) != policy.Never {
		t.Fatalf("%+v, %v", c, err)
	}
	if raw, err := json.Marshal(c.Cases[0].Call.Args); err != nil || string(raw) != `{"l":["x",{"y":null}],"n":1}` {
		t.Errorf("%s, %v", raw, err)
	}
	for text, want := range map[string]string{
		"":            `cases.yaml: cases: cases is missing`,
		"cases: []":   `cases.yaml:1:1: cases: there are no cases`,
		"cases: {}":   `cases.yaml:1:8: cases: want a list, found keys and values`,
		"case: []":    `cases.yaml:1:1: unknown key "case"`,
		"cases: [{}]": `cases.yaml:1:9: cases[0].call: call is missing`,
		"cases:\n  - call: {tool: a}\n    expect: {decision: maybe}":            `cases.yaml:3:24: cases[0].expect.decision: "maybe" is not one of allow, ask, deny`,
		"cases:\n  - call: {tool: a, argz: 1}\n    expect: {decision: ask}":     `cases.yaml:2:21: cases[0].call: unknown key "argz"`,
		"cases:\n  - call: {tool: a}\n    expect: {decision: ask, quorum: two}": `cases.yaml:3:37: cases[0].expect.quorum: want a whole number, found a text`,
		"a: [":     `cases.yaml:1:`,
		"\xff\xfe": `cases.yaml: this is no file of cases`,
	} {
		_, err := ParseCases("cases.yaml", []byte(text), nothingSet)
		if faults := FaultsOf(err); len(faults) == 0 || !strings.HasPrefix(faults[0].Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Files of cases of any kind are read or refused.
func FuzzParseCases(f *testing.F) {
	f.Add("cases:\n  - name: a\n    call: {tool: a, args: {n: 1}, hints: {read_only: true}, cost: 3}\n    expect: {decision: ask, roles: [x], quorum: 2}\n")
	f.Add("cases: [{call: {tool: \"${X}\"}, expect: {decision: deny}}]")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCases("x", []byte(text), env("X", "y"))
		if err != nil && len(FaultsOf(err)) == 0 {
			t.Errorf("%v has no fault", err)
		}
		if err == nil && len(c.Cases) == 0 {
			t.Errorf("%q is no file of cases", text)
		}
	})
}

// Whatever a condition is and however it is written, what is wrong with it stands in a line of the file.
func FuzzConditionInFile(f *testing.F) {
	f.Add("tool == \"x\" && argz.y", "|")
	f.Add("a\n  b\n\nc", ">-")
	f.Add("é == 'x'", "")
	f.Fuzz(func(t *testing.T, when, style string) {
		text := "policies:\n  - deny: true\n    when: " + style + "\n      " + strings.ReplaceAll(when, "\n", "\n      ") + "\n"
		_, err := Parse("x", []byte(text), nothingSet)
		for _, fault := range FaultsOf(err) {
			if lines := strings.Count(text, "\n") + 1; fault.Line < 0 || fault.Line > lines || fault.Message == "" {
				t.Errorf("%+v of %q", fault, text)
			}
		}
	})
}
