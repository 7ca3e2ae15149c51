package main

import (
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// The page names every command, and no other.
func TestDocsNameEveryCommand(t *testing.T) {
	raw, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	known := map[string]bool{}
	for _, leaf := range kong.Must(&grammar{}).Model.Leaves(true) {
		path := leaf.Path()
		known[strings.Fields(path)[0]] = true
		if !strings.Contains(page, "`holdshort "+path) {
			t.Errorf("docs/cli.md does not say what holdshort %s does", path)
		}
	}
	for part := range strings.SplitSeq(page, "`holdshort ") {
		if word := strings.FieldsFunc(part, func(r rune) bool { return r == ' ' || r == '`' }); part != page[:len(part)] && !known[word[0]] {
			t.Errorf("docs/cli.md speaks of holdshort %s", word[0])
		}
	}
}
