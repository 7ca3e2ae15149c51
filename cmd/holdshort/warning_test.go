package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// warningsOf writes a file and returns what config check prints about it on stderr.
func warningsOf(t *testing.T, text string) string {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("x.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	stderr, code := commandStderr(t, "config", "check", "x.yaml")
	if code != exitOK {
		t.Errorf("exit %d: %s", code, stderr)
	}
	return stderr
}

const warnedTools = `models: {m: {provider: script, rules: [{say: x}]}}
stores: {main: {url: "sqlite:x.db"}}
agents:
  desk: {model: m, session_store: main, tools: [orders.refund, files, "agent:clerk", ask_user]}
  clerk: {model: m, session_store: main}
tools:
  orders.refund: {http: {url: "https://shop.example.org/refunds"}}
  files: {mcp: {command: [nowhere]}}
policies:
`

// A rule that names a tool that nothing in the file declares is probably misspelt, but an agent outside may ask
// about such a tool.
func TestRulesThatNameUnknownTools(t *testing.T) {
	for condition, want := range map[string]string{
		`tool == "orders.refnud"`:                                                      `x.yaml:10:19: policies[0].when: no tool is called "orders.refnud"`,
		`args.amount > 5 && "orders.refnud" == tool`:                                   `x.yaml:10:30: policies[0].when: no tool is called "orders.refnud"`,
		`tool in ["orders.refund", "deploy"]`:                                          `x.yaml:10:37: policies[0].when: no tool is called "deploy"`,
		`effect == "write" && tool != "deploy"`:                                        `x.yaml:10:40: policies[0].when: no tool is called "deploy"`,
		`tool == "orders.refund" && args.amount > 5`:                                   "",
		`tool in ["clerk", "ask_user", "files/read"]`:                                  "",
		`tool.startsWith("deploy.") || tool.matches("^x$") || tool.endsWith(".erase")`: "",
		`args.tool == "deploy" || agent == "deploy"`:                                   "",
	} {
		got := warningsOf(t, warnedTools+"  - when: "+condition+"\n    deny: true\n")
		if want == "" && got != "" || want != "" && !strings.HasPrefix(got, "holdshort: warning: "+want) {
			t.Errorf("%s: %s\nwant %s", condition, got, want)
		}
		if strings.Contains(want, "refnud") && !strings.Contains(got, `hint: did you mean "orders.refund"?`) {
			t.Errorf("%s: %s\nwant the nearest name", condition, got)
		}
	}
	if got := warningsOf(t, "policies:\n  - when: tool == \"deploy\"\n    deny: true\n"); got != "" {
		t.Errorf("a server that is only a gate declares no tools: %s", got)
	}
	if got := warningsOf(t,
		warnedTools+"  - when: tool in [\"deploy\", \"bank.pay\"]\n    deny: true\ngate: {tools: [deploy, \"bank.*\"]}\n"); got != "" {
		t.Errorf("listed tools of the gate: %s", got)
	}
}

// Whoever reaches a blocking agent waits through the pause; on a durable server that is rarely meant.
func TestBlockingOnADurableServer(t *testing.T) {
	const head = "models: {m: {provider: script, rules: [{say: x}]}}\nstores: {main: {url: \"sqlite:x.db\"}}\nagents:\n"
	for agents, want := range map[string]string{
		"  a: {model: m, session_store: main}\n": "",
		"  a: {model: m}\n":                      `x.yaml:4:3: agents.a: callers wait through pauses`,
		"  a: {model: m, session_store: main, task: {hitl: {mode: blocking}}}\n":               `x.yaml:4:52: agents.a.task.hitl.mode: callers wait through pauses`,
		"  a: {model: m, session_store: main, tools: [\"agent:b\"]}\n  b: {model: m}\n":        "",
		"  a: {model: m, session_store: main, task: {hitl: {mode: async}}}\n  b: {model: m}\n": `x.yaml:5:3: agents.b: callers wait through pauses`,
	} {
		got := warningsOf(t, head+agents)
		if want == "" && got != "" || want != "" && !strings.HasPrefix(got, "holdshort: warning: "+want) {
			t.Errorf("%s: %s\nwant %s", agents, got, want)
		}
	}
}

// The demo, the examples and the recipes of the manual are right, and have nothing to warn of.
func TestShippedFilesHaveNoWarnings(t *testing.T) {
	files, err := filepath.Glob("../../examples/*/holdshort.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range append(files, "../../demo/holdshort.yaml") {
		stderr, code := commandStderr(t, "config", "check", file, "--embedded")
		if code != exitOK || stderr != "" {
			t.Errorf("%s: exit %d, %s", file, code, stderr)
		}
	}
	manual, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, cookbook, _ := strings.Cut(string(manual), "## Cookbook")
	recipes := 0
	for _, block := range strings.Split(cookbook, "```yaml\n")[1:] {
		recipe, _, _ := strings.Cut(block, "```")
		if strings.HasPrefix(recipe, "cases:") {
			continue
		}
		recipes++
		if got := warningsOf(t, recipe); got != "" {
			t.Errorf("%s\n%s", recipe, got)
		}
	}
	if recipes < 10 {
		t.Errorf("only %d recipes were found", recipes)
	}
}
