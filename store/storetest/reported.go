package storetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// reports collects the events that a store reports.
type reports struct {
	mu  sync.Mutex
	all []holdshort.Event
}

func (r *reports) context() context.Context {
	return store.WithEvents(context.Background(), func(_ holdshort.TenantID, events []holdshort.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.all = append(r.all, events...)
	})
}

// testReportedEvents: every event that is committed is reported once, whether the function of an Update wrote it or the store itself, and
// nothing is reported that was not committed.
func testReportedEvents(t *testing.T, d Driver) {
	for name, o := range map[string]Options{"alone": {MaxGroup: 1}, "groups": {Narrow: true}} {
		t.Run(name, func(t *testing.T) {
			b := open(t, d, o)
			r := &reports{}
			b.reportUpdates(r)
			b.reportClaims(r)
			b.reportErasure(r)
			b.stamp()
			seal, err := b.system().Seal(r.context(), b.sequencer(), 1000)
			if err != nil || seal == nil {
				t.Fatalf("seal: %+v %v", seal, err)
			}
			want := []string{}
			for _, row := range b.db.Rows(b, "SELECT id FROM events") {
				want = append(want, row[0].(string))
			}
			r.compare(b, want)
			b.db.Advance(b, 2*time.Hour)
			b.stamp()
			if pruned, err := b.system().Prune(r.context(), store.Retention{Events: time.Hour}); err != nil || pruned.Events == 0 {
				t.Fatalf("prune: %+v %v", pruned, err)
			}
			if last := r.all[len(r.all)-1]; last.Type != "audit.pruned" {
				t.Errorf("the last event reported is %s, want audit.pruned", last.Type)
			}
		})
	}
}

func (r *reports) compare(b *bed, want []string) {
	b.Helper()
	got := []string{}
	for _, e := range r.all {
		got = append(got, string(e.ID))
		if e.Seq == 0 || e.Stream != e.StreamOf() || e.At.IsZero() {
			b.Errorf("an event was reported without its place: %+v", e)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		b.Errorf("%d events were reported, %d are stored", len(got), len(want))
	}
}

// reportUpdates commits many transactions at once: some fail, some read after they wrote, which no group can do.
func (b *bed) reportUpdates(r *reports) {
	b.Helper()
	var wg sync.WaitGroup
	for i := range 60 {
		run := newRun(b.now())
		wg.Go(func() {
			undone := errors.New("undone")
			err := b.store().Update(r.context(), acme, func(tx store.Tx) error {
				e := holdshort.Event{Type: "run.created", Run: run.ID}
				if err := firstError(tx.PutRun(run), tx.AddEvent(e)); err != nil {
					return err
				}
				switch i % 3 {
				case 1:
					return undone
				case 2:
					if _, err := tx.Run(run.ID); err != nil {
						return err
					}
				}
				return tx.AddEvent(holdshort.Event{Type: "run.started", Run: run.ID})
			}, store.RunRow(run.ID))
			if failed := i%3 == 1; failed != errors.Is(err, undone) || !failed && err != nil {
				b.Errorf("transaction %d: %v", i, err)
			}
		})
	}
	wg.Wait()
}

// reportClaims claims rows of which some cannot be read: the store itself writes the events of those.
func (b *bed) reportClaims(r *reports) {
	b.Helper()
	now := b.now()
	bad, broken := newRun(now), newDelivery("bad", now)
	b.update(func(tx store.Tx) error { return firstError(tx.PutRun(bad), tx.PutDelivery(broken)) })
	b.db.Exec(b, "UPDATE runs SET fixed = ? WHERE id = ?", []byte("garbage"), string(bad.ID))
	b.db.Exec(b, "UPDATE outbox SET body = ? WHERE id = ?", []byte("garbage"), string(broken.ID))
	claim := store.RunClaim{Flows: []store.FlowVersion{{Flow: bad.Flow, Version: bad.FlowVersion}}, Limit: 100}
	_, err := b.system().ClaimRuns(r.context(), claim, func(tx store.Tx, run holdshort.Run) error {
		return tx.AddEvent(holdshort.Event{Type: "run.started", Run: run.ID})
	})
	if err != nil {
		b.Fatalf("claim runs: %v", err)
	}
	_, err = b.system().ClaimDeliveries(r.context(), store.DeliveryClaim{Channels: []string{"chat"}, Limit: 100},
		func(store.Tx, holdshort.Delivery) error { return nil })
	if err != nil {
		b.Fatalf("claim deliveries: %v", err)
	}
	for _, name := range []string{"run.held", "delivery.dead", "run.started"} {
		if !slices.ContainsFunc(r.all, func(e holdshort.Event) bool { return e.Type == name }) {
			b.Errorf("no %s was reported", name)
		}
	}
}

func (b *bed) reportErasure(r *reports) {
	b.Helper()
	s := newSession(b.now())
	b.update(func(tx store.Tx) error { return tx.PutSession(s) })
	err := b.store().Update(r.context(), acme, func(tx store.Tx) error { return tx.EraseSession(s.ID, "ana") }, store.SessionRow(s.ID))
	if err != nil {
		b.Fatalf("erase: %v", err)
	}
	if last := r.all[len(r.all)-1]; last.Type != "session.erased" || last.Session != s.ID {
		b.Errorf("the last event reported is %s, want session.erased", last.Type)
	}
}
