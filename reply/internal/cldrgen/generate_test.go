package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The committed table is what the committed inputs give, without any download.
func TestCommittedTableIsCurrent(t *testing.T) {
	dir := filepath.Join("..", "..")
	want, err := generate(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, tableName))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what words/ and cldr/ give: run go generate ./reply", tableName)
	}
}

func TestExtractLeavesRootFallbacksOut(t *testing.T) {
	dir := t.TempDir()
	for locale, strs := range map[string][2]string{
		"en": {"yes:y", "no:n"}, "ckb": {"yes:y", "no:n"}, "sr": {"да:д", "не:н"}, "bg": {"да:д", "не:н"},
	} {
		path := filepath.Join(dir, "main", locale)
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		text := `{"main":{"` + locale + `":{"posix":{"messages":{"yesstr":"` + strs[0] + `","nostr":"` + strs[1] + `"}}}}}`
		if err := os.WriteFile(filepath.Join(path, "posix.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := extractFrom(dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := extractHead + "bg sr\tда:д\tне:н\n"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWordFileMistakesAreNamed(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"unknown section", "language: en\n[yess]\nyes", "line 2: no section is called [yess]"},
		{"no language", "[yes]\nyes", "line 2: a language line"},
		{"no section", "language: en\nyes", "line 2: a language line"},
		{"empty word", "language: en\n[yes]\nyes, ...", "line 3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := newTable().addWords("xx.txt", tt.text)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}
