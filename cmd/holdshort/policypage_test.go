package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/demo"
	"github.com/holdshort/holdshort/inbox"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/replay"
)

var _ inbox.Rules = (*replay.Rules)(nil)

// What the page says of a rule's place is where it stands.
func TestRulesOfThePage(t *testing.T) {
	shop, err := demo.OpenShop(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	parts, err := (&demo.Desk{Shop: shop}).Parts(t.Context(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer parts.Close()
	page := rulesPage(parts, nil)
	rules, ruled := page.Rules()
	lines := strings.Split(string(demo.Config), "\n")
	if !ruled || len(rules) < 5 || page.Replays() {
		t.Fatalf("%d rules", len(rules))
	}
	for _, r := range rules {
		file, line, _ := strings.Cut(r.Place, ":")
		var n int
		if _, err := fmt.Sscan(line, &n); err != nil || filepath.Base(file) != "holdshort.yaml" || !strings.Contains(lines[n-1], "name: "+r.Name) {
			t.Errorf("%q stands at %s: %q", r.Name, r.Place, lines[max(n-1, 0)])
		}
	}
	tools, agents := page.Known()
	if len(tools) != 7 || len(agents) != 1 || agents[0] != "desk" {
		t.Errorf("%v, %v", tools, agents)
	}
	v := page.Try(t.Context(), replay.Trial{Call: policy.Call{Tool: "orders.refund", Args: []byte(`{"order":"77","amount":900}`)}})
	if v.Decision != policy.Ask || v.Matched != "very large refunds" || v.Audience.Quorum != 2 || v.Call.Cost != 900 {
		t.Errorf("%+v", v)
	}
	none := rulesPage(nil, nil)
	if _, ruled := none.Rules(); ruled {
		t.Error("rules of nobody")
	}
	if v := none.Try(context.Background(), replay.Trial{Outside: true, Call: policy.Call{Tool: "x"}}); v.Decision != policy.Ask {
		t.Errorf("%+v", v)
	}
}

func TestChangedRules(t *testing.T) {
	t.Setenv("HOLDSHORT_SECRET_OF_TESTS", "s3cret")
	for _, tt := range []struct{ name, text, want string }{
		{"a section", "policies:\n  - {name: a, when: \"true\", allow: true}\n", "a"},
		{"the rules alone", "- {name: a, when: \"true\", allow: true}\n- {name: b, when: \"true\", deny: true}", "a b"},
		{"the rules alone, indented", "\n\n  - name: a\n    when: \"true\"\n    allow: true\n", "a"},
		{"no rules at all", "policies: []", ""},
		{"a whole configuration, with a secret that is not set", "models: {m: {provider: openai, model: x, api_key: \"${NOT_SET_ANYWHERE}\"}}\npolicies:\n  - {name: a, when: \"true\", allow: true}\n", "a"},
	} {
		book, err := changedRules([]byte(tt.text))
		if err != nil || strings.Join(book.Names(), " ") != tt.want {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	for _, tt := range []struct{ name, text, want string }{
		{"a condition that is none", "policies:\n  - {name: a, when: tol == 1, allow: true}\n", "line:2:"},
		{"the same in the rules alone", "- {name: a, when: tol == 1, allow: true}\n", "line:1:"},
		{"farther down", "- {name: a, when: \"true\", allow: true}\n- {name: b, when: tol == 1, deny: true}\n", "line:2:"},
		{"no YAML", "policies: [", ""},
		{"a key that is none", "rules:\n  - x\n", ""},
		{"something else", "hello", ""},
		{"brackets without end", "policies:\n" + strings.Repeat("[", 100_000), ""},
		{"braces without end", strings.Repeat("{a: ", 30_000), ""},
		{"two verdicts", "- {name: a, when: \"true\", allow: true, deny: true}", "line:1:"},
		{"a variable", "- {name: \"${HOLDSHORT_SECRET_OF_TESTS}\", when: \"true\", allow: true}", ""},
	} {
		book, err := changedRules([]byte(tt.text))
		if err == nil {
			t.Errorf("%s: read as %v", tt.name, book.Names())
			continue
		}
		place := ""
		if faults := config.FaultsOf(err); len(faults) > 0 {
			place = faults[0].Place()
		}
		if !strings.HasPrefix(place, tt.want) || strings.Contains(err.Error(), "s3cret") || holdshort.CodeOf(err) != holdshort.Invalid {
			t.Errorf("%s: at %q: %v", tt.name, place, err)
		}
	}
}
