package readme

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAgent: the agent of the README, pasted, served and talked to.
func TestAgent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "holdshort.yaml"), []byte(block(t, "agent")), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startIn(t, dir, "serve", "--addr", "127.0.0.1:0")
	said := run(t, s.dir, s.env, "sh", "-c", `printf 'refund order 77 for 12\nrefund order 77 for 120\nyes\n' | holdshort chat`)
	for _, want := range []string{"Done: 12 EUR for order 77", "runs if approved: orders.refund", `"amount": 120`, "Done: 120 EUR for order 77"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	paid, err := os.ReadFile(filepath.Join(dir, "refunds.txt"))
	if want := "12 EUR for order 77\n120 EUR for order 77\n"; err != nil || string(paid) != want {
		t.Errorf("paid %q, %v, want %q", paid, err, want)
	}
}

var (
	recipe = regexp.MustCompile(`(?m)^### (.*)$`)
	yaml   = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")
)

// TestCookbook: each recipe of docs/policy.md is rules and cases, and the cases are right and reach every rule.
func TestCookbook(t *testing.T) {
	t.Parallel()
	binaries, err := built()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(root + "/docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, book, _ := strings.Cut(string(text), "\n## Cookbook\n")
	starts := recipe.FindAllStringSubmatchIndex(book, -1)
	if len(starts) < 12 {
		t.Fatalf("%d recipes", len(starts))
	}
	for i, at := range starts {
		name, end := book[at[2]:at[3]], len(book)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		t.Run(name, func(t *testing.T) {
			blocks := yaml.FindAllStringSubmatch(book[at[0]:end], -1)
			if len(blocks) != 2 {
				t.Fatalf("%d blocks: a recipe has its rules and its cases", len(blocks))
			}
			said := policyTest(t, binaries, blocks[0][1], blocks[1][1])
			if strings.Contains(said, "no case ends at") {
				t.Error(said)
			}
		})
	}
}

// policyTest runs cases against a configuration as its readers would.
func policyTest(t *testing.T, binaries, rules, cases string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"holdshort.yaml": rules, "cases.yaml": cases} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{fmt.Sprintf("HOME=%s", dir), "HOLDSHORT_CONFIG=", "NO_COLOR=1"}
	return run(t, dir, env, filepath.Join(binaries, "holdshort"), "policy", "test", "cases.yaml")
}

var whole = regexp.MustCompile("(?ms)^<!-- config -->\n```yaml\n(.*?)^```$")

// TestConfigurations: what a page shows as a whole configuration is right.
func TestConfigurations(t *testing.T) {
	t.Parallel()
	binaries, err := built()
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for name, text := range pages(t) {
		for _, match := range whole.FindAllStringSubmatch(text, -1) {
			checked++
			file := filepath.Join(t.TempDir(), filepath.Base(name)+".yaml")
			if err := os.WriteFile(file, []byte(match[1]), 0o600); err != nil {
				t.Fatal(err)
			}
			run(t, filepath.Dir(file), []string{"API_KEY=k", "OTHER_KEY=k", "SHOP_KEY=k"}, filepath.Join(binaries, "holdshort"), "config", "check", file)
		}
	}
	if checked < 4 {
		t.Errorf("%d configurations: the pattern no longer finds them", checked)
	}
}

// TestAgentExample: what examples/agent declares is right, and its rules say what its cases expect.
func TestAgentExample(t *testing.T) {
	t.Parallel()
	binaries, err := built()
	if err != nil {
		t.Fatal(err)
	}
	folder, err := filepath.Abs(root + "/examples/agent")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"config", "check", "holdshort.yaml"}, {"policy", "test", "policy_test.yaml", "--config", "holdshort.yaml"}} {
		run(t, folder, nil, filepath.Join(binaries, "holdshort"), args...)
	}
}
