package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

const tenant holdshort.TenantID = "bench"

// A transaction of the commit table: what each caller does over and over.
type transaction struct {
	name string
	// begin gives a caller its own rows; do is one transaction.
	begin func(ctx context.Context, s store.Store) (do func(n int) error, err error)
}

var transactions = []transaction{
	{"one row", oneRow},
	{"step", step},
}

// oneRow records one outcome: the smallest thing the kernel commits.
func oneRow(ctx context.Context, s store.Store) (func(int) error, error) {
	run := holdshort.NewRunID(time.Now())
	return func(n int) error {
		return s.Update(ctx, tenant, func(tx store.Tx) error {
			return tx.AddJournal(holdshort.JournalEntry{RunID: run, Key: fmt.Sprintf("step-%d", n), Kind: "step", Outcome: json.RawMessage(`{"ok":true}`), Started: tx.Now(), Ended: tx.Now()})
		}, store.RunRow(run))
	}, nil
}

// step is what a running flow commits: load and compare-and-set the run, record the outcome, leave the event.
func step(ctx context.Context, s store.Store) (func(int) error, error) {
	var run holdshort.Run
	err := s.Update(ctx, tenant, func(tx store.Tx) error {
		run = newRun(tx.Now())
		return tx.PutRun(run)
	})
	return func(n int) error {
		return s.Update(ctx, tenant, func(tx store.Tx) error {
			r, err := tx.Run(run.ID)
			if err != nil {
				return err
			}
			r.Wake, r.UpdatedAt = r.Wake+1, tx.Now()
			if err := tx.PutRun(r); err != nil {
				return err
			}
			if err := tx.AddJournal(holdshort.JournalEntry{RunID: r.ID, Key: fmt.Sprintf("step-%d", n), Kind: "step", Outcome: json.RawMessage(`{"ok":true}`), Started: tx.Now(), Ended: tx.Now()}); err != nil {
				return err
			}
			return tx.AddEvent(holdshort.Event{Type: "run.resumed", Run: r.ID, Trace: r.TraceID, Flow: r.Flow, Actor: "system:worker"})
		}, store.RunRow(run.ID))
	}, err
}

func newRun(now time.Time) holdshort.Run {
	return holdshort.Run{ID: holdshort.NewRunID(now), Status: holdshort.RunRunning, Flow: "step", FlowVersion: 1, Agent: "desk", User: "ana",
		TraceID: string(holdshort.NewMessageID(now)), Input: json.RawMessage(`{"order":"77","amount":120,"reason":"arrived broken"}`), CreatedAt: now, UpdatedAt: now}
}

func measureCommits(ctx context.Context, t *target, o Options, report *Report) error {
	if o.NoCommits {
		return nil
	}
	for _, tr := range transactions {
		for _, callers := range o.Callers {
			row := Commits{Transaction: tr.name, Callers: callers}
			o.Progress(fmt.Sprintf("%s: %s, %d callers", report.Store, tr.name, callers))
			// Alternate, so that a slow moment of the machine hits both.
			const rounds = 3
			var times []time.Duration
			for range rounds {
				alone, _, err := rate(ctx, t, tr, 1, callers, o.Duration/rounds)
				if err != nil {
					return err
				}
				grouped, took, err := rate(ctx, t, tr, 256, callers, o.Duration/rounds)
				if err != nil {
					return err
				}
				row.Alone += alone / rounds
				row.Grouped += grouped / rounds
				times = append(times, took...)
			}
			row.Ratio = row.Grouped / row.Alone
			row.P50, row.P99 = quantile(times, 0.5), quantile(times, 0.99)
			report.Commits = append(report.Commits, row)
		}
	}
	return nil
}

// rate runs callers against the store for a while.
func rate(ctx context.Context, t *target, tr transaction, maxGroup, callers int, d time.Duration) (float64, []time.Duration, error) {
	s, err := t.open(ctx, maxGroup, callers)
	if err != nil {
		return 0, nil, err
	}
	defer s.Close()
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		all   []time.Duration
		first error
	)
	work := make([]func(int) error, callers)
	for i := range work {
		if work[i], err = tr.begin(ctx, s); err != nil {
			return 0, nil, err
		}
	}
	start := time.Now()
	for _, do := range work {
		wg.Go(func() {
			var times []time.Duration
			for n := 0; n == 0 || time.Since(start) < d; n++ {
				begin := time.Now()
				if err := do(n); err != nil {
					mu.Lock()
					first = err
					mu.Unlock()
					return
				}
				times = append(times, time.Since(begin))
			}
			mu.Lock()
			all = append(all, times...)
			mu.Unlock()
		})
	}
	wg.Wait()
	return float64(len(all)) / time.Since(start).Seconds(), all, first
}
