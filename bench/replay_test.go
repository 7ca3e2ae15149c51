package bench

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/holdshort/holdshort/internal/testpg"
)

func targets(t *testing.T) map[string]*target {
	t.Helper()
	list := map[string]*target{}
	for name, url := range map[string]string{"sqlite": "", "postgres": testpg.URL(t)} {
		made, err := newTarget(Options{Store: url, Folder: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(made.close)
		own, drop, err := made.fresh(t.Context(), "own")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(drop)
		list[name] = own
	}
	return list
}

// TestCycleIsThreeTransactions: start with the pause, the decision, the end.
func TestCycleIsThreeTransactions(t *testing.T) {
	for name, own := range targets(t) {
		t.Run(name, func(t *testing.T) {
			s, err := own.open(t.Context(), 256, 1)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			k, err := newKernel(s, 4, patient)
			if err != nil {
				t.Fatal(err)
			}
			fewest := int64(math.MaxInt64)
			for range 20 { // a step that is kept back for long on a busy machine is stored by itself
				before := k.store.updates.Load()
				if _, err := k.cycle(t.Context()); err != nil {
					t.Fatal(err)
				}
				fewest = min(fewest, k.store.updates.Load()-before)
			}
			if fewest != 3 {
				t.Errorf("%d transactions a cycle, want three", fewest)
			}
		})
	}
}

// TestReplayWritesTheSameRows: after as many cycles of each kind every table has grown by the same number of rows.
func TestReplayWritesTheSameRows(t *testing.T) {
	for name, own := range targets(t) {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			s, err := record(ctx, own)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.transactions) != 3 || slices.ContainsFunc(s.transactions, func(w []write) bool { return len(w) == 0 }) {
				t.Fatalf("transactions of %v statements", s.statements())
			}
			before := count(t, own)
			r, err := newReplayer(ctx, own, &s)
			if err != nil {
				t.Fatal(err)
			}
			defer r.close()
			const cycles = 7
			for range s.transactions {
				if err := r.bare(ctx); err != nil {
					t.Fatal(err)
				}
			}
			passages := make([]*passage, cycles)
			for i := range passages {
				passages[i] = s.pass()
			}
			for range s.transactions {
				if err := r.commit(ctx, 0, passages); err != nil {
					t.Fatal(err)
				}
			}
			after := count(t, own)
			// The recording was some cycles on an empty store, all alike.
			for _, table := range []string{"runs", "journal", "requests", "decisions", "timers", "events"} {
				grown, want := after[table]-before[table], before[table]/before["runs"]*cycles
				if table == "journal" {
					want += len(s.transactions) // the bare ones
				}
				if grown != want {
					t.Errorf("%s has grown by %d rows, want %d", table, grown, want)
				}
			}
			if n, _, err := replay(ctx, r, &s, 5, 2.5, 50*time.Millisecond); err != nil || n == 0 {
				t.Errorf("replayed %d cycles: %v", n, err)
			}
		})
	}
}

// count reads how many rows each table has.
func count(t *testing.T, own *target) map[string]int {
	t.Helper()
	db, err := own.raw()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := &recorder{db: db, postgres: own.url != ""}
	if err := r.describe(context.Background()); err != nil {
		t.Fatal(err)
	}
	state, err := r.dump(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for table, rows := range state {
		counts[table] = len(rows)
	}
	return counts
}
