package archtest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const moduleRoot = "../.."

// spellingExceptions are the files that may write the word as people write it.
var spellingExceptions = []string{
	"internal/archtest/*_test.go",
	"reply/*_test.go",
	"reply/internal/*/*_test.go",
}

var checkers = map[string]func([]*File) []Finding{
	"imports":    ImportsIn(Layers),
	"pure":       PureIn(Layers),
	"comments":   Comments,
	"size":       Size,
	"registries": Registries,
	"names":      Names,
	"spelling":   SpellingIn(spellingExceptions),
	"errortext":  ErrorText,
	"sleeps":     Sleeps,
	"skips":      Skips,
}

func report(t *testing.T, found []Finding) {
	t.Helper()
	slices.SortFunc(found, func(a, b Finding) int { return strings.Compare(a.String(), b.String()) })
	for _, f := range found {
		t.Error(f)
	}
}

func TestTree(t *testing.T) {
	files, err := Load(moduleRoot)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 10 {
		t.Fatalf("only %d files found under %s: the walk is broken", len(files), moduleRoot)
	}
	for name, check := range checkers {
		t.Run(name, func(t *testing.T) { report(t, check(files)) })
	}
}

func TestBinaryNamesWhatItLinks(t *testing.T) {
	program := "./cmd/holdshort"
	if _, err := os.Stat(filepath.Join(moduleRoot, program)); errors.Is(err, fs.ErrNotExist) {
		program = "./..." // no command yet: what the library links
	}
	linked, err := Linked(moduleRoot, program)
	if err != nil {
		t.Fatal(err)
	}
	report(t, Notices(os.DirFS(moduleRoot), linked))
}

func TestLibcIsTheOneSQLiteWants(t *testing.T) {
	found, err := LibcPin(moduleRoot)
	if err != nil {
		t.Fatal(err)
	}
	report(t, found)
}
