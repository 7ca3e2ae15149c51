package torture_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/testall"
	"github.com/holdshort/holdshort/internal/testpg"
	"github.com/holdshort/holdshort/torture"
)

// built is the command, once for all tests: what is killed is what people run.
var built = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "holdshort-test-*")
	if err != nil {
		return "", err
	}
	builtIn = folder
	path := filepath.Join(folder, "holdshort")
	build := exec.Command("go", "build", "-trimpath", "-o", path, "../cmd/holdshort")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as released; the cache has its packages
	if out, err := build.CombinedOutput(); err != nil {
		return path, fmt.Errorf("build the command: %w\n%s", err, out)
	}
	return path, nil
})

var builtIn string

func TestMain(m *testing.M) {
	code := m.Run()
	if builtIn != "" {
		os.RemoveAll(builtIn)
	}
	os.Exit(code)
}

func binary(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// earlyKills is a seed that kills twice within the first second, then freezes one for longer than its lease, or moves the clock, and kills all.
const earlyKills = 74

// TestReal kills the one process that has a SQLite file, and kills and freezes three processes on one PostgreSQL database.
func TestReal(t *testing.T) {
	t.Parallel()
	self := binary(t)
	o := torture.RealOptions{Duration: 2 * time.Second, Seed: earlyKills, Worker: []string{self, "torture-worker"}, Counter: []string{self, "torture-counter"},
		Enough: func(a torture.Activity) bool {
			return a.Kills > 0 && a.Runs >= 20 && a.Pauses >= 10 && a.Decisions >= 10 && a.Messages >= 3 && a.Agents >= 3 &&
				a.Conflicts > 0 && a.Effects > 0
		}}
	if testall.Enabled() {
		o.Duration = 8 * time.Second
	}
	t.Run("sqlite", func(t *testing.T) {
		o := o
		o.Store = "sqlite:" + filepath.Join(t.TempDir(), "torture.db")
		prove(t, o)
	})
	t.Run("postgres", func(t *testing.T) {
		o := o
		o.Store = testpg.URL(t)
		prove(t, o)
	})
}

// TestRealHTTP does the same, and everything that clients do goes through the public API.
func TestRealHTTP(t *testing.T) {
	t.Parallel()
	self := binary(t)
	o := torture.RealOptions{HTTP: true, Duration: 2 * time.Second, Clients: 16, Seed: earlyKills, Worker: []string{self, "torture-worker"}, Counter: []string{self, "torture-counter"},
		Enough: func(a torture.Activity) bool {
			return a.Kills > 0 && a.Runs >= 10 && a.Pauses >= 10 && a.Decisions >= 10 && a.Messages >= 3 && a.Agents >= 3 &&
				a.Raised >= 3 && a.Streamed > 0
		}}
	if testall.Enabled() {
		o.Duration = 5 * time.Second
	}
	t.Run("sqlite", func(t *testing.T) {
		o := o
		o.Store = "sqlite:" + filepath.Join(t.TempDir(), "torture.db")
		proveHTTP(t, o)
	})
	t.Run("postgres", func(t *testing.T) {
		o := o
		o.Store = testpg.URL(t)
		proveHTTP(t, o)
	})
}

func proveHTTP(t *testing.T, o torture.RealOptions) {
	t.Helper()
	report, err := torture.Real(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var text shown
	if err := report.WriteTable(&text); err != nil {
		t.Fatal(err)
	}
	switch {
	case report.Broken() || len(report.Surprises) > 0:
		t.Errorf("a promise was broken, or somebody was answered what nobody expects:\n%s", text)
	case report.Kills == 0 || report.Runs < 5 || report.Pauses < 5 || report.Decisions < 5 || report.Inbound == 0 || report.Agents == 0 || report.Raised == 0 || report.Streamed == 0:
		t.Errorf("too little happened to prove anything:\n%s", text)
	}
}

func prove(t *testing.T, o torture.RealOptions) {
	t.Helper()
	report, err := torture.Real(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var text shown
	if err := report.WriteTable(&text); err != nil {
		t.Fatal(err)
	}
	switch {
	case report.Broken() || len(report.Surprises) > 0:
		t.Errorf("a promise was broken, or somebody was answered what nobody expects:\n%s", text)
	case report.Kills == 0 || report.Runs < 10 || report.Pauses < 5 || report.Decisions < 5 || report.Inbound == 0 || report.Agents == 0 || report.Conflicts == 0 || report.Effects == 0:
		t.Errorf("too little happened to prove anything:\n%s", text)
	}
	// The store is full now.
	if _, err := torture.Real(t.Context(), o); holdshort.CodeOf(err) != holdshort.Conflict {
		t.Errorf("a store that is not empty: %v, want it refused", err)
	}
}

type shown []byte

func (s *shown) Write(p []byte) (int, error) {
	*s = append(*s, p...)
	return len(p), nil
}

// TestRealRefuses: what cannot be meant is refused before anything starts.
func TestRealRefuses(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options torture.RealOptions
		field   string
	}{
		{"two processes on one file", torture.RealOptions{Workers: 2}, "workers"},
		{"no store", torture.RealOptions{Store: "mysql://db"}, "store"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := torture.Real(t.Context(), tt.options)
			known, ok := err.(*holdshort.Error)
			if !ok || known.Code != holdshort.Invalid || known.Field != tt.field || known.Hint == "" {
				t.Errorf("got %v, want invalid %s with a hint", err, tt.field)
			}
		})
	}
}
