package archtest

import (
	"os"
	"testing"
	"testing/fstest"
)

func TestRootFolder(t *testing.T) {
	report(t, Root(os.DirFS(moduleRoot), RootFiles))
}

func TestRootFindsUnlistedFiles(t *testing.T) {
	file := &fstest.MapFile{}
	tree := fstest.MapFS{
		".gitignore": {Data: []byte("# stores\n/*.db\n*.prof\n/docs/*.tmp\n")},
		"go.mod":     file, "doc.go": file, "cpu.prof": file, "holdshort.db": file, "docs/a.tmp": file,
		"stray.json": file, "a.tmp": file,
	}
	found := Root(tree, []string{".gitignore", "go.mod"})
	if len(found) != 2 || found[0].Path != "a.tmp" || found[1].Path != "stray.json" {
		t.Errorf("found %v, want a.tmp and stray.json", found)
	}
}
