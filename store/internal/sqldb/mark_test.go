package sqldb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
)

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, content := range []string{"first", "second, longer", ""} {
		if err := WriteFile(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != content {
			t.Errorf("wrote %q, read %q (%v)", content, got, err)
		}
	}
	state, err := os.Stat(path)
	if err != nil || state.Mode().Perm() != 0o600 {
		t.Errorf("mode %v (%v), want 0600", state.Mode(), err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%d files are left, want one", len(files))
	}
	if err := WriteFile(filepath.Join(dir, "no", "such", "folder"), nil); err == nil {
		t.Error("wrote into a folder that is not there")
	}
}

// TestMarkNowAndThen: it is saved once a second, only forward, and what it remembers is there afterwards.
func TestMarkNowAndThen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mark")
	m, err := OpenMark(path)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	if m.Due(at) {
		t.Error("a mark of an unknown database is due")
	}
	if err := m.set(markNote{Instance: "ins_1", Position: 5}, at); err != nil {
		t.Fatal(err)
	}
	for after, due := range map[time.Duration]bool{0: false, 999 * time.Millisecond: false, time.Second: true, time.Hour: true, -time.Hour: true} {
		if m.Due(at.Add(after)) != due {
			t.Errorf("%s after it was saved it is due: %v", after, !due)
		}
	}
	for _, position := range []int64{9, 7, 9} { // it never goes back
		if err := m.Advance(Progress{Position: position}, at.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	again, err := OpenMark(path)
	if err != nil || again.note.Position != 9 || again.note.Instance != "ins_1" {
		t.Errorf("read back %+v (%v)", again.note, err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenMark(path); holdshort.CodeOf(err) != holdshort.Quarantined || !strings.Contains(err.Error(), path) {
		t.Errorf("a mark that cannot be read: %v", err)
	}
	none, err := OpenMark("")
	if err != nil || none.Due(at) {
		t.Errorf("no mark is due (%v)", err)
	}
}
