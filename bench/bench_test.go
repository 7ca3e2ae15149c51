package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/bench"
	"github.com/holdshort/holdshort/internal/testpg"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/sqlite"
)

// Every part measures something on both stores; how much is no business of a test.
func TestRunMeasuresEveryPart(t *testing.T) {
	for name, url := range map[string]func(t *testing.T) string{
		"sqlite":   func(*testing.T) string { return "" },
		"postgres": func(t *testing.T) string { return testpg.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			report, err := bench.Run(context.Background(), bench.Options{Store: url(t), Folder: t.TempDir(), Duration: 60 * time.Millisecond, Callers: []int{1, 4}, Parked: 300, Due: 300})
			if err != nil {
				t.Fatal(err)
			}
			if report.Store != name || len(report.Commits) != 4 || report.Parked == nil || report.Sweep == nil {
				t.Fatalf("parts are missing: %+v", report)
			}
			for _, c := range report.Commits {
				if c.Alone <= 0 || c.Grouped <= 0 || c.Ratio <= 0 || c.P50 <= 0 || c.P99 < c.P50 {
					t.Errorf("%s with %d callers: %+v", c.Transaction, c.Callers, c)
				}
			}
			if report.Parked.Runs != 300 || report.Parked.BytesEach <= 0 || report.Parked.InboxP50 <= 0 {
				t.Errorf("parked: %+v", *report.Parked)
			}
			if report.Sweep.Expired != 300 || report.Sweep.IdleP50 <= 0 || report.Sweep.Took <= 0 {
				t.Errorf("sweep: %+v", *report.Sweep)
			}
			var table, raw bytes.Buffer
			if err := errors.Join(report.WriteTable(&table), report.WriteJSON(&raw)); err != nil {
				t.Fatal(err)
			}
			var back bench.Report
			if err := json.Unmarshal(raw.Bytes(), &back); err != nil || len(back.Commits) != 4 {
				t.Errorf("JSON does not come back: %v", err)
			}
			for _, word := range []string{"one row", "step", "parked runs", "due timers"} {
				if !strings.Contains(table.String(), word) {
					t.Errorf("the table does not say %q:\n%s", word, table.String())
				}
			}
		})
	}
}

// A store that somebody uses is not filled.
func TestRunRefusesAStoreThatIsInUse(t *testing.T) {
	ctx := context.Background()
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
