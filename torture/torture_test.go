package torture

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/testall"
)

// allModes: every way in which an engine can end, or stand still.
var allModes = []Mode{Before, After, FrozenBefore, FrozenAfter}

// seed of the samples: the same points every time.
const seed = 20261115

// TestSQLite plays every scenario with a sample of the faults. HOLDSHORT_TEST_ALL=1 ends the engine before and after
// every store call that any scenario makes (a read: before it) and freezes it at a quarter of them;
// HOLDSHORT_TORTURE=full freezes it at every call.
func TestSQLite(t *testing.T) {
	course := Course{Modes: allModes, Seed: seed, Share: 0.012, Still: 0.006, Whole: 2, Twice: 1, Beside: 3}
	switch {
	case os.Getenv("HOLDSHORT_TORTURE") == "full":
		course.Share, course.Still, course.Whole, course.Twice, course.Same = 0, 0, 3, 100, true
	case testall.Enabled():
		course.Share, course.Still, course.Whole, course.Twice = 0, 0.25, 3, 6
	}
	exhaust(t, "sqlite", course, copies)
}

// passBed returns a database for one pass and the tenant that the pass has in it.
type passBed = func() (Bed, holdshort.TenantID, error)

// copies gives each pass its own copy of an empty database.
func copies(t *testing.T) passBed {
	t.Helper()
	dir := memory(t)
	empty := NewSQLite(dir)
	if _, err := empty.Store(false); err != nil {
		t.Fatal(err)
	}
	if err := empty.Close(); err != nil {
		t.Fatal(err)
	}
	return func() (Bed, holdshort.TenantID, error) {
		pass, err := os.MkdirTemp(dir, "pass")
		if err != nil {
			return nil, "", err
		}
		bed, err := empty.Copy(pass)
		return &removed{bed, pass}, "acme", err
	}
}

// memory gives a folder that lives in memory where the system has one: no power fails here, and thousands of passes need not wait for a disk.
func memory(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "holdshort-torture-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// removed is a bed that leaves nothing behind: thousands of passes would fill a disk.
type removed struct {
	*SQLite
	dir string
}

func (r *removed) Close() error {
	if err := r.SQLite.Close(); err != nil {
		return err
	}
	return os.RemoveAll(r.dir)
}

// TestPostgres does the same on PostgreSQL, where HOLDSHORT_TEST_ALL=1 takes a larger sample and
// HOLDSHORT_TORTURE=full everything.
func TestPostgres(t *testing.T) {
	course := Course{Modes: allModes, Seed: seed, Share: 0.006, Whole: 2, Twice: 1, Beside: 2}
	switch {
	case os.Getenv("HOLDSHORT_TORTURE") == "full":
		course.Share, course.Whole, course.Twice, course.Same = 0, 3, 100, true
	case testall.Enabled():
		course.Share, course.Whole, course.Twice = 0.04, 3, 2
	}
	exhaust(t, "postgres", course, func(t *testing.T) passBed {
		return fill(t, 2*course.Beside) // two scenarios at a time
	})
}

// exhaust plays every scenario, wants zeros, and wants that nothing is left running.
func exhaust(t *testing.T, store string, course Course, databases func(*testing.T) passBed) {
	all := &Report{Store: store}
	before := runtime.NumGoroutine()
	t.Run("play", func(t *testing.T) {
		course.Bed = databases(t)
		for _, s := range Scenarios {
			if s.Only != "" && s.Only != store {
				continue
			}
			t.Run(s.Name, func(t *testing.T) {
				t.Parallel()
				report, err := Exhaust(t.Context(), s, course)
				if err != nil {
					t.Fatal(err)
				}
				all.Merge(s.Name, report)
				if report.Broken() {
					t.Errorf("promises were broken:\n%s", report)
				}
				if report.Unreached > report.Points/20+2 {
					t.Errorf("%d of %d points were not reached: the passes differ too much", report.Unreached, report.Points)
				}
			})
		}
	})
	t.Logf("\n%s", all)
	deadline := time.Now().Add(5 * time.Minute)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines before, %d after everything was closed: %v", before, runtime.NumGoroutine(), WaitingFree)
		}
		runtime.Gosched()
	}
}
