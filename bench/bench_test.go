package bench_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/bench"
	"github.com/holdshort/holdshort/internal/testpg"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/postgres"
	"github.com/holdshort/holdshort/store/sqlite"
)

// Every part measures something on both stores; how much is no business of a test.
func TestRunMeasuresEveryPart(t *testing.T) {
	for name, url := range stores {
		t.Run(name, func(t *testing.T) {
			report, err := bench.Run(t.Context(), bench.Options{Store: url(t), Folder: t.TempDir(), Duration: 60 * time.Millisecond, Callers: []int{1, 4}, Cycle: true, Parked: 100,
				Due: 100, Sleeps: 5, Agents: true, Steps: 3})
			if err != nil {
				t.Fatal(err)
			}
			if report.Store != name || len(report.Commits) != 4 || report.Cycle == nil || report.Parked == nil || report.Sweep == nil || report.Sleeps == nil {
				t.Fatalf("parts are missing: %+v", report)
			}
			for _, c := range report.Commits {
				if c.Alone <= 0 || c.Grouped <= 0 || c.Ratio <= 0 || c.P50 <= 0 || c.P99 < c.P50 {
					t.Errorf("%s with %d callers: %+v", c.Transaction, c.Callers, c)
				}
			}
			checkCycle(t, report.Cycle)
			p := report.Parked
			if p.Runs != 100 || p.BytesEach <= 0 || p.InboxP50 <= 0 || p.ReadyTook <= 0 || p.Decided == 0 || p.DecideEmptyP50 <= 0 || p.DecideParkedP50 <= 0 {
				t.Errorf("parked: %+v", *p)
			}
			if p.GoroutinesParked > p.GoroutinesEmpty+20 { // connections have some of their own
				t.Errorf("100 parked runs have %d goroutines, an empty store %d", p.GoroutinesParked, p.GoroutinesEmpty)
			}
			if s := report.Sweep; s.Expired != 100 || s.IdleP50 <= 0 || s.Took <= 0 {
				t.Errorf("sweep: %+v", *s)
			}
			if s := report.Sleeps; s.Timers != 5 || s.LateP50 < 0 || s.LateP99 < s.LateP50 {
				t.Errorf("sleeps: %+v", *s)
			}
			checkAgents(t, report.Agents)
			checkOutput(t, report)
		})
	}
}

var stores = map[string]func(t *testing.T) string{
	"sqlite":   func(*testing.T) string { return "" },
	"postgres": func(t *testing.T) string { return testpg.URL(t) },
}

func checkCycle(t *testing.T, c *bench.Cycle) {
	t.Helper()
	if len(c.Rows) != 2 || c.BareP50 <= 0 || c.DecideToBare <= 0 {
		t.Fatalf("the cycle is not whole: %+v", *c)
	}
	for _, r := range c.Rows {
		if r.PerSecond <= 0 || r.Replay <= 0 || r.Ratio <= 0 || r.P50 <= 0 || r.P99 < r.P50 || r.DecideP50 <= 0 || r.DecideP50 > r.P50 || r.Commits <= 0 {
			t.Errorf("%d callers: %+v", r.Callers, r)
		}
	}
	if len(c.Statements) != 3 {
		t.Errorf("a cycle has %d transactions, want 3", len(c.Statements))
	}
}

func checkAgents(t *testing.T, a *bench.Agents) {
	t.Helper()
	if a == nil || len(a.Rows) != 4 {
		t.Fatalf("two numbers of callers, started and written to, are four rows: %+v", a)
	}
	for _, r := range a.Rows {
		for _, l := range []bench.Lives{r.Flow, r.Agent} {
			if l.PerSecond <= 0 || l.P50 <= 0 || l.DecideP50 <= 0 || l.DecideP50 > l.P50 || l.Transactions < 3 || r.Ratio <= 0 {
				t.Errorf("%d callers: %+v", r.Callers, r)
			}
		}
	}
	if r := a.Resume; r == nil || r.Steps != 3 || r.Runs == 0 || r.P50 <= 0 || r.P99 < r.P50 || r.ShortP50 <= 0 {
		t.Errorf("going on: %+v", r)
	}
}

func checkOutput(t *testing.T, report bench.Report) {
	t.Helper()
	var table, raw bytes.Buffer
	if err := errors.Join(report.WriteTable(&table), report.WriteJSON(&raw)); err != nil {
		t.Fatal(err)
	}
	var back bench.Report
	if err := json.Unmarshal(raw.Bytes(), &back); err != nil || !reflect.DeepEqual(back, report) {
		t.Errorf("JSON does not come back: %v", err)
	}
	for _, word := range []string{"one row", "step", "replay/s", "bare durable commits", "parked runs", "goroutines", "expired in", "sleeps woke", "written to", "next question to the model"} {
		if !strings.Contains(table.String(), word) {
			t.Errorf("the table does not say %q:\n%s", word, table.String())
		}
	}
}

// A store that somebody uses is not filled.
func TestRunRefusesAStoreThatIsInUse(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "used.db")
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Update(ctx, "acme", func(tx store.Tx) error {
		return tx.SetTimer(holdshort.Timer{Kind: holdshort.TimerSleep, Subject: "run_1", DueAt: tx.Now()})
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := bench.Run(ctx, bench.Options{Store: "sqlite:" + path}); !errors.Is(err, holdshort.Conflict) {
		t.Errorf("got %v, want conflict", err)
	}
	if _, err := bench.Run(ctx, bench.Options{Store: "mysql://x"}); !errors.Is(err, holdshort.Invalid) {
		t.Errorf("got %v, want invalid", err)
	}
}

// A second run on the same database finds it as the first one did.
func TestRunLeavesPostgresAsItWas(t *testing.T) {
	url := testpg.URL(t)
	for range 2 {
		if _, err := bench.Run(t.Context(), bench.Options{Store: url, Folder: t.TempDir(), Duration: 30 * time.Millisecond, Callers: []int{1}}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := postgres.Open(t.Context(), url, postgres.Options{KeyringFile: filepath.Join(t.TempDir(), "keys")})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Update(t.Context(), "acme", func(tx store.Tx) error {
		return tx.SetTimer(holdshort.Timer{Kind: holdshort.TimerSleep, Subject: "run_1", DueAt: tx.Now()})
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := bench.Run(t.Context(), bench.Options{Store: url}); !errors.Is(err, holdshort.Conflict) {
		t.Errorf("got %v, want conflict", err)
	}
}
