// Package testnode gives tests packages of the npm registry: other people's judgement of what we produce. Only tests import it; it imports
// the standard library alone.
package testnode

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Skip is the environment variable that leaves these tests out, where there is no Node.js or no registry. The test then says so.
const Skip = "HOLDSHORT_TEST_SKIP_NODE"

const attempts = 3

// Install puts packages ("name@version") into a folder that Run's scripts find them from, and gives the folder. It is kept between runs, in
// the user's cache, because a registry need not be asked twice for what does not change.
func Install(t *testing.T, packages ...string) string {
	t.Helper()
	if os.Getenv(Skip) == "1" {
		t.Skipf("LEFT OUT because %s=1: this is not checked against %s", Skip, strings.Join(packages, ", "))
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%s is not on PATH: install the Debian packages nodejs and npm, or set %s=1", program, Skip)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = t.TempDir()
	}
	folder := filepath.Join(cache, "holdshort-test", strings.NewReplacer("/", "+", "@", "_").Replace(strings.Join(packages, ",")))
	if _, err := os.Stat(filepath.Join(folder, "complete")); err == nil {
		return folder
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	var said []byte
	for range attempts {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		said, err = exec.CommandContext(ctx, "npm", append([]string{"install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder}, packages...)...).CombinedOutput()
		cancel()
		if err == nil {
			if err := os.WriteFile(filepath.Join(folder, "complete"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			return folder
		}
	}
	t.Fatalf("npm install %s: %v\n%s\nset %s=1 where there is no registry", strings.Join(packages, " "), err, said, Skip)
	return ""
}

// Run runs a script (an ES module) in the folder, with input on its standard input, and gives what it printed. It fails the test if the
// script does.
func Run(t *testing.T, folder, script string, input []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.mjs")
	if err := os.WriteFile(path, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(folder, "node_modules"), filepath.Join(filepath.Dir(path), "node_modules")); err != nil { // modules are looked for beside the script
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", path)
	cmd.Stdin = strings.NewReader(string(input))
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, said)
	}
	return string(said)
}
