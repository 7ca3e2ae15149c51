package flowcheck

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var wanted = regexp.MustCompile(`// want "([^"]+)"`)

// Each file of testdata says on its lines what is to be found there.
func TestFindings(t *testing.T) {
	for _, dir := range []string{"clock", "goroutines", "io", "order", "contexts", "allowed", "clean"} {
		t.Run(dir, func(t *testing.T) {
			root := filepath.Join("testdata", dir)
			found, err := Dir(root)
			if err != nil {
				t.Fatal(err)
			}
			want := wants(t, filepath.Join(root, dir+".go"))
			for _, f := range found {
				at := fmt.Sprint(f.File, ":", f.Line)
				n := slices.IndexFunc(want[at], func(text string) bool { return strings.Contains(f.Message, text) })
				if n < 0 {
					t.Errorf("found, not wanted: %s", f)
					continue
				}
				want[at] = slices.Delete(want[at], n, n+1)
				if f.Hint == "" || f.Column == 0 || !strings.HasPrefix(f.String(), fmt.Sprintf("%s:%d: ", at, f.Column)) {
					t.Errorf("%s has no hint or column", f)
				}
			}
			for _, at := range slices.Sorted(maps.Keys(want)) {
				for _, text := range want[at] {
					t.Errorf("wanted, not found: %s: %s", at, text)
				}
			}
		})
	}
}

func wants(t *testing.T, name string) map[string][]string {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := map[string][]string{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		for _, match := range wanted.FindAllStringSubmatch(lines.Text(), -1) {
			at := fmt.Sprint(name, ":", n)
			want[at] = append(want[at], match[1])
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return want
}

func TestDirWalksFolders(t *testing.T) {
	root := t.TempDir()
	source, err := os.ReadFile("testdata/clock/clock.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"a", "b/c", "testdata/x", "vendor/y", ".hidden", "_left"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, dir, "x.go"), source, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := Dir(root)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, f := range found {
		rel, _ := filepath.Rel(root, f.File)
		files = append(files, filepath.ToSlash(rel))
	}
	if got := slices.Compact(files); !slices.Equal(got, []string{"a/x.go", "b/c/x.go"}) {
		t.Errorf("found in %v", got)
	}
}

func TestDirSaysWhatItCannotRead(t *testing.T) {
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "x.go"), []byte("package x\n\nfunc ("), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{broken, "testdata/none"} {
		if _, err := Dir(dir); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// The module's own flows keep to it.
func TestOwnFlows(t *testing.T) {
	found, err := Dir("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}
