package postgres

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

var longAgo = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// blocked waits until somebody waits for a lock of the database, or done is closed. It uses the connection beside: one caller at a time.
func (d *database) blocked(done <-chan struct{}) error {
	limit, cancel := context.WithTimeout(ctx, safetyLimit)
	defer cancel()
	for {
		select {
		case <-done:
			return nil
		default:
		}
		var n int
		err := d.raw.QueryRow(limit, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&n)
		if err != nil || n > 0 {
			return err
		}
	}
}

// failedRun puts a run that failed long ago, after it had paid.
func failedRun(t *testing.T, s *Store, id holdshort.RunID) {
	t.Helper()
	err := s.Update(ctx, "acme", func(tx store.Tx) error {
		return errors.Join(
			tx.PutRun(holdshort.Run{ID: id, Status: holdshort.RunFailed, Flow: "refund", CreatedAt: longAgo, UpdatedAt: longAgo, EndedAt: longAgo}),
			tx.AddJournal(holdshort.JournalEntry{RunID: id, Key: "paid", Kind: "call", Started: longAgo, Ended: longAgo}))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// retry queues a failed run again; between happens after it was read.
func retry(s *Store, id holdshort.RunID, between func()) error {
	return s.Update(ctx, "acme", func(tx store.Tx) error {
		run, err := tx.Run(id)
		if err != nil {
			return err
		}
		between()
		if run, err = run.Apply(holdshort.RunRetry, tx.Now()); err != nil {
			return err
		}
		return tx.PutRun(run)
	}, store.RunRow(id))
}

// keepsPromise wants that a run whose retry was acknowledged still knows what it has done, and that a refused one is not queued.
func keepsPromise(t *testing.T, s *Store, id holdshort.RunID, retried error) {
	t.Helper()
	var run holdshort.Run
	var journal []holdshort.JournalEntry
	err := s.View(ctx, "acme", func(tx store.ReadTx) (err error) {
		if run, err = tx.Run(id); err != nil {
			return err
		}
		journal, err = tx.Journal(id)
		return err
	})
	switch {
	case retried == nil && (err != nil || len(journal) != 1 || run.Pruned || run.Status != holdshort.RunQueued):
		t.Errorf("the retry was acknowledged, and then the run is %q with %d entries, pruned %v (%v)", run.Status, len(journal), run.Pruned, err)
	case retried != nil && run.Status == holdshort.RunQueued:
		t.Errorf("the retry was refused (%v), and the run is queued", retried)
	}
}

// TestPruneMeetsRetry: a person retries a failed run while it is pruned. Either the retry is refused, or the run keeps its journal: without it
// every effect would happen again.
func TestPruneMeetsRetry(t *testing.T) {
	t.Parallel()
	for name, keep := range map[string]store.Retention{"journals": {Journals: time.Hour}, "records": {Records: time.Hour}} {
		t.Run(name+"/retry after prune has chosen", func(t *testing.T) {
			t.Parallel()
			d := newDatabase(t, Options{})
			failedRun(t, d.store, "run_1")
			var armed atomic.Bool
			result := make(chan error, 1)
			pruner := d.another(t, func(o *Options) {
				o.OnStatement = func(text string) {
					if !strings.HasPrefix(text, "DELETE FROM journal") || !armed.CompareAndSwap(true, false) {
						return
					}
					done := make(chan struct{})
					go func() {
						defer close(done)
						result <- retry(d.store, "run_1", func() {})
					}()
					if err := d.blocked(done); err != nil { // a lock may hold it back: that is fine
						t.Errorf("wait for the retry: %v", err)
					}
				}
			})
			armed.Store(true)
			if _, err := pruner.System().Prune(ctx, keep); err != nil {
				t.Errorf("prune: %v", err)
			}
			if armed.Load() {
				t.Fatal("prune never came to the journal")
			}
			keepsPromise(t, d.store, "run_1", <-result)
		})
		t.Run(name+"/prune after retry has read", func(t *testing.T) {
			t.Parallel()
			d := newDatabase(t, Options{})
			failedRun(t, d.store, "run_1")
			pruned := false
			err := retry(d.store, "run_1", func() {
				if pruned {
					return // a second attempt
				}
				pruned = true
				if _, err := d.store.System().Prune(ctx, keep); err != nil {
					t.Errorf("prune: %v", err)
				}
			})
			if !pruned {
				t.Fatalf("the retry never read: %v", err)
			}
			keepsPromise(t, d.store, "run_1", err)
		})
	}
}

// TestPruneMeetsRedeliver: a dead delivery that a person queued again does not go with the dead ones.
func TestPruneMeetsRedeliver(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, Options{})
	err := d.store.Update(ctx, "acme", func(tx store.Tx) error {
		return tx.PutDelivery(holdshort.Delivery{ID: "dlv_1", Key: "k", Status: holdshort.DeliveryDead, Channel: "web", CreatedAt: longAgo})
	})
	if err != nil {
		t.Fatal(err)
	}
	d.Advance(t, time.Hour)
	var armed atomic.Bool
	result := make(chan error, 1)
	pruner := d.another(t, func(o *Options) {
		o.OnStatement = func(text string) {
			if !strings.HasPrefix(text, "DELETE FROM outbox") || !armed.CompareAndSwap(true, false) {
				return
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				result <- d.store.Update(ctx, "acme", func(tx store.Tx) error {
					again, err := tx.Delivery("dlv_1")
					if err != nil {
						return err
					}
					again.Status = holdshort.DeliveryQueued
					return tx.PutDelivery(again)
				})
			}()
			if err := d.blocked(done); err != nil {
				t.Errorf("wait for the delivery: %v", err)
			}
		}
	})
	armed.Store(true)
	if _, err := pruner.System().Prune(ctx, store.Retention{Deliveries: time.Minute}); err != nil {
		t.Errorf("prune: %v", err)
	}
	if armed.Load() {
		t.Fatal("prune never came to the deliveries")
	}
	sent := <-result
	err = d.store.View(ctx, "acme", func(tx store.ReadTx) error { _, err := tx.Delivery("dlv_1"); return err })
	if sent == nil && err != nil {
		t.Errorf("it was queued again, and then: %v", err)
	}
	if sent != nil && !errors.Is(err, holdshort.NotFound) {
		t.Errorf("queuing it again was refused (%v), and it is still there (%v)", sent, err)
	}
}
