package setup_test

import (
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
