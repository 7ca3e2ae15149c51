package readme

import (
	"context"
	"encoding/json"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// page is the README; README_FILE names another one, to try a draft.
func page(t *testing.T) string {
	t.Helper()
	name := os.Getenv("README_FILE")
	if name == "" {
		name = root + "/README.md"
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var example = regexp.MustCompile("(?ms)^<!-- run: ([a-z]+) -->\n```(go|sh|yaml)\n(.*?)^```$")

const mostLines = 30

// block is an example of the README by the name in the comment before it.
func block(t *testing.T, name string) string {
	t.Helper()
	for _, match := range example.FindAllStringSubmatch(page(t), -1) {
		if match[1] == name {
			if lines := strings.Count(match[3], "\n"); lines >= mostLines {
				t.Errorf("example %s has %d lines, and is to have fewer than %d", name, lines, mostLines)
			}
			return match[3]
		}
	}
	t.Fatalf("the README has no example %q", name)
	return ""
}

// TestEveryExampleIsRun: no Go block of the README is without its test, and no example is without one here.
func TestEveryExampleIsRun(t *testing.T) {
	text := page(t)
	run := map[string]bool{"embed": true, "serve": true, "agent": true, "gate": true}
	for _, match := range example.FindAllStringSubmatch(text, -1) {
		if !run[match[1]] {
			t.Errorf("example %q is run by no test", match[1])
		}
		delete(run, match[1])
	}
	for name := range run {
		t.Errorf("the README has no example %q", name)
	}
	if blocks, examples := strings.Count(text, "\n```go\n"), strings.Count(text, "-->\n```go\n"); blocks != examples {
		t.Errorf("%d Go blocks, of which %d are run", blocks, examples)
	}
}

// embed is the program around the example: what a reader adds by himself.
const embed = `package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store/sqlite"
	"github.com/holdshort/holdshort/tool"
)

var ana = holdshort.Actor{ID: "ana", Kind: holdshort.Person, Roles: []string{"reviewer"}, Assurance: holdshort.AssuranceLogin}

func example(ctx context.Context) error {
%s
	return err
}

func main() {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if err := example(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
`

// TestEmbed runs the Go example as it stands.
func TestEmbed(t *testing.T) {
	t.Parallel()
	body := block(t, "embed")
	if formatted, err := format.Source([]byte(body)); err != nil || string(formatted) != body {
		t.Errorf("the example is not formatted (%v)", err)
	}
	dir := t.TempDir()
	source, overlay, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "example")
	if err := os.WriteFile(source, fmt.Appendf(nil, embed, body), 0o600); err != nil {
		t.Fatal(err)
	}
	module, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	// A folder that is not there, inside the module: it may import whatever its readers may.
	files, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(module, "readme_example", "main.go"): source}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, files, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, module, []string{"CGO_ENABLED=0"}, "go", "build", "-trimpath", "-overlay", overlay, "-o", program, "./readme_example")
	const want = "pays {\"amount\":120,\"order\":\"77\"}\ncompleted \"receipt 4711\" <nil>\n"
	if got := run(t, dir, nil, program); got != want {
		t.Errorf("it prints\n%swant\n%s", got, want)
	}
}

// run runs a program to its end and gives what it printed.
func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, complaints.String())
	}
	return string(out)
}
