package setup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/setup"
)

// What only the parts themselves can judge is told with its place in the file too.
func TestFaultsHavePlaces(t *testing.T) {
	const head = "models: {m: {provider: script, rules: [{say: hello}]}}\n"
	tests := map[string]struct{ text, want string }{
		"pattern of a script": {"models:\n  m:\n    provider: script\n    rules:\n      - when: {user: \"(\"}\n        say: x\n", `x.yaml:5:16: models.m.rules[0].when.user: not a regular expression`},
		"rule never reached":  {"models:\n  m:\n    provider: script\n    rules:\n      - say: x\n      - say: y\n", `x.yaml:6:9: models.m.rules[1]: this rule can never answer`},
		"schema of a tool":    {"tools:\n  t:\n    http: {url: \"http://127.0.0.1/x\"}\n    schema: {type: wrong}\n", `x.yaml:4:5: tools.t.schema: its schema cannot be used`},
		"template of an url":  {"tools:\n  t:\n    http:\n      url: \"http://127.0.0.1/{order\"\n", `x.yaml:4:7: tools.t.http.url`},
		"values as code":      {"tools:\n  t:\n    command: {command: [sh, -c, \"echo {text}\"]}\n", `x.yaml:3:15: tools.t.command.command: "echo {text}" would be run as code`},
		"nobody brings it":    {"tools:\n  t: {builtin: true}\n", `x.yaml:2:7: tools.t.builtin: this program brings no tool "t"`},
		"no such flow":        {head + "agents:\n  a:\n    model: m\n    tools: [\"flow:pay\"]\n", `x.yaml:5:13: agents.a.tools[0]: this program brings no flow "pay"`},
		"schema of an answer": {head + "agents:\n  a:\n    model: m\n    schema: {type: wrong}\n", `x.yaml:5:5: agents.a.schema`},
		"agent and tool":      {head + "tools: {b: {command: {}}}\nagents:\n  b: {model: m}\n  a:\n    model: m\n    tools: [\"agent:b\"]\n", `x.yaml:5:3: agents.a: there are two tools called "b"`},
		"no MCP server":       {"tools:\n  files: {mcp: {command: [/nowhere/at-all]}}\n", `x.yaml:2:`},
		"address of a model":  {"models:\n  m: {provider: openai, model: x, api_key: \"a\\nb\"}\n", `x.yaml:2:`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := config.Parse("x.yaml", []byte(tt.text), nil)
			if err == nil {
				_, err = setup.Build(t.Context(), c, setup.Options{Dir: t.TempDir()})
			}
			faults := config.FaultsOf(err)
			if len(faults) != 1 || !strings.HasPrefix(faults[0].Error(), tt.want) || holdshort.CodeOf(err) != holdshort.Invalid {
				t.Errorf("%v\nwant %s", err, tt.want)
			}
		})
	}
}

// Faults of models, tools and agents are reported together with those of the file's shape, and parts that use a
// faulty one add no noise.
func TestFaultsOfPartsComeTogether(t *testing.T) {
	c, err := config.Parse("x.yaml", []byte(`server: {adr: ":1"}
models:
  bad: {provider: script, rules: [{when: {user: "("}, say: x}]}
  good: {provider: script, rules: [{say: x}]}
tools:
  lookup: {http: {url: "http://127.0.0.1/{order"}}
  run: {command: {command: [sh, -c, "echo {text}"]}}
  files: {mcp: {command: [""]}}
agents:
  first: {model: bad, tools: [lookup, "agent:second"]}
  second: {model: good, schema: {type: wrong}}
policies:
  - when: efect == "read"
    allow: true
`), nil)
	_, built := setup.Build(t.Context(), c, setup.Options{Dir: t.TempDir(), Offline: true})
	var got []string
	for _, f := range config.FaultsOf(built) {
		got = append(got, f.Path)
	}
	want := []string{"server", "models.bad.rules[0].when.user", "tools.lookup.http.url", "tools.run.command.command",
		"tools.files.mcp.command", "agents.second.schema", "policies[0].when"}
	if err == nil || !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q\n%v", got, want, built)
	}
}

// A fault of a model, a tool or an agent does not hide the others of the same part, and none is reported twice.
func TestFaultsHideNoOthers(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"tool": {`tools: {t: {trusted: true, command: {command: [sh, -c, "echo {text}"], max_output: 9999999}}}`,
			[]string{"tools.t.trusted", "tools.t.command.command", "tools.t.command.max_output"}},
		"unknown key": {`tools: {t: {description: x, no_such_key_at_all: 1, http: {url: "https://h.example.org/{order"}}}`,
			[]string{"tools.t", "tools.t.http.url"}},
		"two kinds": {`tools: {t: {builtin: true, http: {url: "https://h.example.org/{order"}}}`, []string{"tools.t", "tools.t.http.url"}},
		"no kind":   {`tools: {t: {cost: 1, cost_arg: x}}`, []string{"tools.t", "tools.t.cost_arg"}},
		"server":    {`tools: {f: {schema: {type: object}, mcp: {command: [x], headers: {a: b}}}}`, []string{"tools.f.schema", "tools.f.mcp.headers"}},
		"address":   {`tools: {t: {http: {url: "ftp://h.example.org"}}, f: {mcp: {url: "ftp://h.example.org"}}}`, []string{"tools.t.http.url", "tools.f.mcp.url"}},
		"server of two kinds": {`tools: {f: {mcp: {command: [x], url: "https://h.example.org"}}}`,
			[]string{"tools.f.mcp.command"}},
		"name of a server": {`tools: {a/b: {mcp: {command: [x]}}}`, []string{"tools.a/b"}},
		"model": {`models: {m: {provider: script, api_key: k, rules: [{when: {user: "("}, say: x}]}}`,
			[]string{"models.m.api_key", "models.m.rules[0].when.user"}},
		"model without rules": {`models: {m: {provider: script, api_key: k}}`, []string{"models.m.rules", "models.m.api_key"}},
		"endpoint":            {`models: {m: {provider: openai, base_url: "ftp://h.example.org"}}`, []string{"models.m.model", "models.m.base_url"}},
		"agent": {"models: {m: {provider: script, rules: [{say: x}]}}\nagents: {a: {model: m, session_store: nowhere, schema: {type: wrong}, tools: [\"flow:pay\", pey]}}",
			[]string{"agents.a.session_store", "agents.a.schema", "agents.a.tools[0]", "agents.a.tools[1]"}},
		"model of an agent": {"models: {m: {provider: script, rules: [{when: {user: \"(\"}, say: x}]}}\nagents: {a: {model: m, schema: {type: wrong}}, b: {model: n, schema: {type: wrong}}}",
			[]string{"models.m.rules[0].when.user", "agents.a.schema", "agents.b.model", "agents.b.schema"}},
		"tool of an agent": {"models: {m: {provider: script, rules: [{say: x}]}}\ntools: {t: {http: {url: \"https://h.example.org/{order\"}}}\nagents: {a: {model: m, schema: {type: wrong}, tools: [t]}}",
			[]string{"tools.t.http.url", "agents.a.schema"}},
		"name of an agent": {"models: {m: {provider: script, rules: [{say: x}]}}\nagents: {a/b: {model: m, schema: {type: wrong}}}", []string{"agents.a/b", "agents.a/b.schema"}},
		"circle": {"models: {m: {provider: script, rules: [{say: x}]}}\nagents: {a: {model: m, tools: [\"agent:b\"]}, b: {model: m, schema: {type: wrong}, tools: [\"agent:a\"]}}",
			[]string{"agents.a.tools[0]", "agents.b.schema", "agents.b.tools[0]"}},
		"rules": {"tools: {pay: {command: {}}}\ngate: {tools: [deploy]}\npolicies: [{when: \"true\", ask: {valid_for: never}}, {when: 'tool == \"pey\"', deny: true}]",
			[]string{"policies[0].ask.valid_for", "policies[1].when"}},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := config.Parse("x.yaml", []byte(tt.text), nil)
			_, built := setup.Build(t.Context(), c, setup.Options{Dir: t.TempDir(), Offline: true})
			var got []string
			for _, f := range config.FaultsOf(built) {
				got = append(got, f.Path)
			}
			if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(tt.want))) {
				t.Errorf("%q\nwant %q\n%v\n%v", got, tt.want, err, built)
			}
		})
	}
}

// Agents that hand work round in a circle end the check, also where the report is full before it names the circle.
func TestCirclePastTheMostFaults(t *testing.T) {
	var text strings.Builder
	text.WriteString("models: {m: {provider: script, rules: [{say: x}]}}\nagents:\n")
	for i := range 210 {
		fmt.Fprintf(&text, "  a%d: {model: nowhere}\n", i)
	}
	text.WriteString("  y: {model: m, tools: [\"agent:z\"]}\n  z: {model: m, tools: [\"agent:y\"]}\n")
	c, _ := config.Parse("x.yaml", []byte(text.String()), nil)
	_, err := setup.Build(t.Context(), c, setup.Options{Dir: t.TempDir(), Offline: true})
	if n := len(config.FaultsOf(err)); n != 200 {
		t.Errorf("%d faults: %v", n, err)
	}
}

// A lock file that cannot be read is one fault among others, with its own name, and nothing is started for it.
func TestBrokenLockHidesNoFaults(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, setup.LockFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{
		"tools: {t: {http: {url: \"https://h.example.org/{order\"}}}\nagents: {a: {model: m}}\n": {"this is no file of pins", "tools.t.http.url", "agents.a.model"},
		"tools: {files: {mcp: {command: [/nowhere/at-all]}}}\n":                                  {"this is no file of pins"},
	} {
		c, _ := config.Parse("x.yaml", []byte(text), nil)
		_, err := setup.Build(t.Context(), c, setup.Options{Dir: dir})
		faults := config.FaultsOf(err)
		if len(faults) != len(want) || holdshort.CodeOf(err) != holdshort.Invalid {
			t.Fatalf("%v, want %q", err, want)
		}
		for i, f := range faults {
			if !strings.Contains(f.Error(), want[i]) {
				t.Errorf("fault %d is %s, want %s", i, f.Error(), want[i])
			}
		}
		if first := faults[0]; first.File != filepath.Join(dir, setup.LockFile) || !strings.Contains(first.Hint, "delete it") {
			t.Errorf("%+v", first)
		}
	}
}
