package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// testEndedTransactions: a transaction that was handed out of its function is of no use and does no harm.
func testEndedTransactions(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	run := newRun(birth)
	b.update(func(tx store.Tx) error { return tx.PutRun(run) })
	claim := store.RunClaim{Flows: []store.FlowVersion{{Flow: run.Flow, Version: run.FlowVersion}}}
	for name, leak := range map[string]func() (tx store.ReadTx){
		"of an update": func() (out store.ReadTx) {
			b.update(func(tx store.Tx) error { out = tx; return nil })
			return out
		},
		"of an update that failed": func() (out store.ReadTx) {
			if err := b.try(func(tx store.Tx) error { out = tx; return errOwn }); !errors.Is(err, errOwn) {
				b.Errorf("got %v, want the function's own error", err)
			}
			return out
		},
		"of an update that panicked": func() (out store.ReadTx) {
			defer func() { recover() }()
			b.try(func(tx store.Tx) error { out = tx; panic(errOwn) })
			return out
		},
		"of a view": func() (out store.ReadTx) {
			b.view(func(tx store.ReadTx) error { out = tx; return nil })
			return out
		},
		"of a claim": func() (out store.ReadTx) {
			if _, err := b.system().ClaimRuns(context.Background(), claim, func(tx store.Tx, _ holdshort.Run) error { out = tx; return nil }); err != nil {
				b.Errorf("claim: %v", err)
			}
			return out
		},
		"of a claim that failed": func() (out store.ReadTx) {
			_, err := b.system().ClaimRuns(context.Background(), claim, func(tx store.Tx, _ holdshort.Run) error { out = tx; return errOwn })
			if !errors.Is(err, errOwn) {
				b.Errorf("claim: got %v, want the function's own error", err)
			}
			return out
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := &bed{t, b.db}
			tx := leak()
			if _, err := tx.Run(run.ID); err == nil || errors.Is(err, holdshort.NotFound) {
				b.Errorf("reading in it: got %v, want a refusal", err)
			}
			if w, ok := tx.(store.Tx); ok {
				late := newRun(birth)
				if w.PutRun(late) == nil {
					b.Error("writing in it was accepted")
				}
				if w.AddEvent(holdshort.Event{Type: "run.created"}) == nil {
					b.Error("adding an event in it was accepted")
				}
				b.update(func(tx store.Tx) error { return tx.PutRun(newRun(birth)) })
				absent(b, "what was written too late", func(tx store.ReadTx) (holdshort.Run, error) { return tx.Run(late.ID) })
			}
		})
	}
	t.Run("a view cannot write", func(t *testing.T) {
		b := &bed{t, b.db}
		p := newPlace()
		err := b.store().View(context.Background(), acme, func(tx store.ReadTx) error {
			w, ok := tx.(store.Tx)
			if !ok {
				return errOwn
			}
			return p.write(w)
		})
		if err == nil || p.left(b) != 0 {
			b.Errorf("writing in a view: got %v, and %d rows are there", err, p.left(b))
		}
	})
}

// testIgnoredErrors: a function that ignores that something went wrong cannot commit the rest.
func testIgnoredErrors(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	taken := newRun(birth)
	b.update(func(tx store.Tx) error { return tx.PutRun(taken) })
	stale := taken
	stale.Revision = 99
	for name, wrong := range map[string]func(store.Tx) error{
		"a taken key":      func(tx store.Tx) error { return tx.PutRun(taken) },
		"a stale revision": func(tx store.Tx) error { return tx.PutRun(stale) },
		"a lost lease":     func(tx store.Tx) error { return tx.FenceRun(taken.ID, 99) },
	} {
		for order, fn := range map[string]func(place, store.Tx){
			"seen by a read": func(p place, tx store.Tx) {
				p.write(tx)
				wrong(tx)
				tx.Run(taken.ID)
			},
			"seen by a read before the rest": func(p place, tx store.Tx) {
				wrong(tx)
				tx.Run(taken.ID)
				p.write(tx)
			},
			"never seen": func(p place, tx store.Tx) {
				p.write(tx)
				wrong(tx)
			},
			"seen twice": func(p place, tx store.Tx) {
				wrong(tx)
				tx.Run(taken.ID)
				tx.Run(taken.ID)
				p.write(tx)
				tx.Run(taken.ID)
			},
		} {
			t.Run(name+" "+order, func(t *testing.T) {
				b := &bed{t, b.db}
				p := newPlace()
				err := b.try(func(tx store.Tx) error { fn(p, tx); return nil })
				if left := p.left(b); err == nil || left != 0 {
					b.Errorf("got %v, and %d of 5 rows are there", err, left)
				}
			})
		}
	}
	t.Run("a refused write", func(t *testing.T) {
		b := &bed{t, b.db}
		p := newPlace()
		err := b.try(func(tx store.Tx) error {
			p.write(tx)
			tx.AddEvent(holdshort.Event{Type: "no such event"})
			return nil
		})
		if left := p.left(b); err == nil || left != 0 {
			b.Errorf("a transition without its event: got %v, and %d of 5 rows are there", err, left)
		}
	})
}
