package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

func testLeases(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	ctx, sys := context.Background(), b.system()
	acquire := func(owner string) holdshort.Lease {
		b.Helper()
		lease, err := sys.Acquire(ctx, "job", owner, time.Minute)
		if err != nil {
			b.Fatalf("%s acquires: %v", owner, err)
		}
		if lease.Owner != owner {
			b.Fatalf("%s got the lease of %s", owner, lease.Owner)
		}
		return lease
	}
	lost := func(owner string) {
		b.Helper()
		_, err := sys.Acquire(ctx, "job", owner, time.Minute)
		b.refused(err, holdshort.LeaseLost)
	}
	first := acquire("a")
	if left := first.Until.Sub(b.now()); first.Epoch != 1 || left <= 0 || left > time.Minute {
		b.Errorf("the first lease is %+v with %s left", first, left)
	}
	lost("b")
	b.db.Advance(t, 30*time.Second)
	renewed := acquire("a")
	if renewed.Epoch != first.Epoch || !renewed.Until.After(first.Until) {
		b.Errorf("renewed to %+v, was %+v", renewed, first)
	}
	b.db.Advance(t, 59*time.Second)
	lost("b")
	b.db.Advance(t, 2*time.Second)
	stolen := acquire("b")
	if stolen.Epoch <= renewed.Epoch {
		b.Errorf("the epoch did not grow with the owner: %d after %d", stolen.Epoch, renewed.Epoch)
	}
	lost("a")
	if err := sys.Release(ctx, "job", renewed); err != nil {
		b.Errorf("releasing what is no longer ours: %v", err)
	}
	lost("a")
	if err := sys.Release(ctx, "job", stolen); err != nil {
		b.Errorf("release: %v", err)
	}
	freed := acquire("a")
	if freed.Epoch <= stolen.Epoch {
		b.Errorf("the epoch did not grow after a release: %d after %d", freed.Epoch, stolen.Epoch)
	}
	b.db.Advance(t, 2*time.Minute)
	lapsed := acquire("a")
	if lapsed.Epoch <= freed.Epoch {
		b.Errorf("the epoch did not grow after a lapse: %d after %d", lapsed.Epoch, freed.Epoch)
	}
	b.db.Crash(t)
	sys = b.system()
	lost("b")
	if again := acquire("a"); again.Epoch != lapsed.Epoch {
		b.Errorf("the lease is %+v after a crash, was %+v", again, lapsed)
	}

	t.Run("one of many", func(t *testing.T) {
		b := &bed{t, b.db}
		const nodes = 20
		errs := make(chan error, nodes)
		for i := range nodes {
			go func() {
				_, err := sys.Acquire(ctx, "race", fmt.Sprint("node ", i), time.Minute)
				errs <- err
			}()
		}
		won := 0
		for range nodes {
			switch err := receive(b, "an answer", errs); {
			case err == nil:
				won++
			case !errors.Is(err, holdshort.LeaseLost):
				b.Errorf("got %v, want lease_lost", err)
			}
		}
		if won != 1 {
			b.Errorf("%d nodes have the lease", won)
		}
	})
	t.Run("a name is needed", func(t *testing.T) {
		b := &bed{t, b.db}
		for _, name := range [][2]string{{"", "a"}, {"job", ""}, {"j\x00b", "a"}, {"job", "\xff"}} {
			_, err := sys.Acquire(ctx, name[0], name[1], time.Minute)
			b.refused(err, holdshort.Invalid)
		}
	})
}

// testFences: whoever lost the run writes nothing, in the same transaction that would have written it.
func testFences(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	run := newRun(birth)
	b.update(func(tx store.Tx) error { return tx.PutRun(run) })
	mine := b.claimOne(run.ID, "a")
	b.update(func(tx store.Tx) error {
		return firstError(tx.FenceRun(run.ID, mine.Lease.Epoch), tx.AddJournal(newEntry(run.ID, "mine", tx.Now())))
	})
	b.db.Advance(t, 2*time.Minute)
	theirs := b.claimOne(run.ID, "b")
	if theirs.Lease.Epoch <= mine.Lease.Epoch || theirs.Lease.Owner != "b" {
		b.Fatalf("b claimed %+v after %+v", theirs.Lease, mine.Lease)
	}
	for name, fn := range map[string]func(store.Tx, place) error{
		"first": func(tx store.Tx, p place) error {
			return firstError(tx.FenceRun(run.ID, mine.Lease.Epoch), p.write(tx), tx.AddJournal(newEntry(run.ID, "late", tx.Now())))
		},
		"last": func(tx store.Tx, p place) error {
			return firstError(p.write(tx), tx.AddJournal(newEntry(run.ID, "late", tx.Now())), tx.FenceRun(run.ID, mine.Lease.Epoch))
		},
		"of no run": func(tx store.Tx, p place) error { return firstError(p.write(tx), tx.FenceRun(newRun(birth).ID, 1)) },
	} {
		p := newPlace()
		b.refused(b.try(func(tx store.Tx) error { return fn(tx, p) }), holdshort.LeaseLost)
		if left := p.left(b); left != 0 {
			b.Errorf("fence %s: %d rows of a stale owner are there", name, left)
		}
	}
	b.refused(b.try(func(tx store.Tx) error {
		r := mine
		r.Wake++
		return tx.PutRun(r)
	}), holdshort.Conflict)
	b.update(func(tx store.Tx) error {
		return firstError(tx.FenceRun(run.ID, theirs.Lease.Epoch), tx.AddJournal(newEntry(run.ID, "theirs", tx.Now())))
	})
	journal := load(b, func(tx store.ReadTx) ([]holdshort.JournalEntry, error) { return tx.Journal(run.ID) })
	if len(journal) != 2 {
		b.Errorf("the journal has %d entries, want one of each owner", len(journal))
	}
}
