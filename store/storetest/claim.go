package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// leaseTime is how long claimed things are leased in the tests.
const leaseTime = time.Minute

// claimed is a run with the tenant that it was claimed for.
type claimed struct {
	holdshort.Run
	tenant holdshort.TenantID
}

// claim takes runs of flow refund@1 as the engine does, and gives those that are ours now.
func (b *bed) claim(owner string, limit int, flows ...store.FlowVersion) []claimed {
	b.Helper()
	runs, err := claimRuns(b.store(), owner, limit, flows...)
	if err != nil {
		b.Fatalf("claim: %v", err)
	}
	return runs
}

func claimRuns(s store.Store, owner string, limit int, flows ...store.FlowVersion) ([]claimed, error) {
	if flows == nil {
		flows = []store.FlowVersion{{Flow: "refund", Version: 1}}
	}
	var out []claimed
	n, err := s.System().ClaimRuns(context.Background(), store.RunClaim{Flows: flows, Limit: limit}, func(tx store.Tx, run holdshort.Run) error {
		if len(out) > 0 && slices.ContainsFunc(out, func(r claimed) bool { return r.ID == run.ID }) {
			out = nil // the function runs again from the start
		}
		var err error
		if run.Status == holdshort.RunRunning { // its node is gone
			if run, err = run.Apply(holdshort.RunRequeue, tx.Now()); err != nil {
				return err
			}
		}
		if run, err = run.Apply(holdshort.RunClaim, tx.Now()); err != nil {
			return err
		}
		run.Lease.Owner, run.Lease.Until = owner, tx.Now().Add(leaseTime)
		out = append(out, claimed{run, tx.Tenant()})
		return tx.PutRun(run)
	})
	if err == nil && n != len(out) {
		err = fmt.Errorf("claimed %d and says %d", len(out), n)
	}
	return out, err
}

// claimOne wants exactly this run, and gives it as it is stored then.
func (b *bed) claimOne(id holdshort.RunID, owner string) holdshort.Run {
	b.Helper()
	got := b.claim(owner, 10)
	if len(got) != 1 || got[0].ID != id {
		b.Fatalf("%s claimed %v, want %s", owner, got, id)
	}
	return load(b, func(tx store.ReadTx) (holdshort.Run, error) { return tx.Run(id) })
}

func testClaimRuns(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	t.Run("what can go on", func(t *testing.T) { testReadyRuns(&bed{t, b.db}) })
	b2 := open(t, d, Options{})
	t.Run("never two at once", func(t *testing.T) { testClaimers(&bed{t, b2.db}) })
	b3 := open(t, d, Options{})
	t.Run("only versions that the node has", func(t *testing.T) { testVersions(&bed{t, b3.db}) })
	b4 := open(t, d, Options{})
	t.Run("what a dead process left", func(t *testing.T) { testAbandoned(&bed{t, b4.db}) })
	t.Run("all or nothing", func(t *testing.T) { testFailedClaim(&bed{t, b3.db}) })
}

func testReadyRuns(b *bed) {
	now := b.now()
	put := func(change func(*holdshort.Run)) holdshort.RunID {
		run := newRun(now)
		change(&run)
		b.update(func(tx store.Tx) error { return tx.PutRun(run) })
		return run.ID
	}
	lease := func(owner string, left time.Duration) holdshort.Lease {
		return holdshort.Lease{Owner: owner, Epoch: 4, Until: now.Add(left)}
	}
	want := []holdshort.RunID{
		put(func(*holdshort.Run) {}),
		put(func(r *holdshort.Run) { r.Status, r.Lease = holdshort.RunRunning, lease("dead", -time.Second) }),
	}
	busy := put(func(r *holdshort.Run) { r.Status, r.Lease = holdshort.RunRunning, lease("alive", leaseTime) })
	for _, status := range []holdshort.RunStatus{holdshort.RunWaiting, holdshort.RunCompleted, holdshort.RunFailed, holdshort.RunCanceled} {
		put(func(r *holdshort.Run) { r.Status = status })
	}
	put(func(r *holdshort.Run) { r.Held = &holdshort.Hold{Code: holdshort.KeyUnknown, Since: now} })
	byHand := put(func(*holdshort.Run) {})
	b.update(func(tx store.Tx) error {
		return tx.HoldRun(byHand, holdshort.Hold{Code: holdshort.Corrupt, Since: now})
	})

	got := b.claim("node", 100)
	var ids []holdshort.RunID
	for _, r := range got {
		ids = append(ids, r.ID)
		if r.Status != holdshort.RunRunning || r.Claims != 1 {
			b.Errorf("claimed %+v", r)
		}
	}
	slices.Sort(ids)
	slices.Sort(want)
	if !slices.Equal(ids, want) {
		b.Errorf("claimed %v, want the queued one and the one whose lease is over: %v", ids, want)
	}
	if again := b.claim("other", 100); len(again) != 0 {
		b.Errorf("claimed %d that others have", len(again))
	}
	b.db.Advance(b, leaseTime+time.Second)
	again := b.claim("other", 100)
	if len(again) != 3 || !slices.ContainsFunc(again, func(r claimed) bool { return r.ID == busy }) {
		b.Errorf("claimed %d whose leases are over, want 3", len(again))
	}
	b.refused(b.try(func(tx store.Tx) error { return tx.HoldRun(newRun(birth).ID, holdshort.Hold{Code: holdshort.Corrupt}) }), holdshort.NotFound)
}

func testClaimers(b *bed) {
	const runs, claimers = 60, 4
	b.update(func(tx store.Tx) error {
		for range runs {
			if err := tx.PutRun(newRun(tx.Now())); err != nil {
				return err
			}
		}
		return nil
	})
	var mu sync.Mutex
	owners := map[holdshort.RunID][]string{}
	var wg sync.WaitGroup
	for i := range claimers {
		wg.Go(func() {
			owner := fmt.Sprint("node ", i)
			for {
				got, err := claimRuns(b.store(), owner, 7)
				if err != nil {
					b.Errorf("%s: %v", owner, err)
					return
				}
				mu.Lock()
				for _, r := range got {
					owners[r.ID] = append(owners[r.ID], owner)
				}
				done := len(owners) == runs
				mu.Unlock()
				if done {
					return
				}
			}
		})
	}
	wg.Wait()
	for id, list := range owners {
		r := load(b, func(tx store.ReadTx) (holdshort.Run, error) { return tx.Run(id) })
		if len(list) != 1 || r.Lease.Owner != list[0] || r.Lease.Epoch != 1 || r.Claims != 1 {
			b.Errorf("run %s was claimed by %v and is stored with %+v", id, list, r.Lease)
		}
	}
}

func testVersions(b *bed) {
	put := func(flow string, version int) {
		run := newRun(birth)
		run.Flow, run.FlowVersion = flow, version
		b.update(func(tx store.Tx) error { return tx.PutRun(run) })
	}
	put("a", 1)
	put("a", 2)
	put("b", 1)
	put("b", 2)
	if got := b.claim("node", 10, store.FlowVersion{Flow: "a", Version: 3}, store.FlowVersion{Flow: "c", Version: 1}); len(got) != 0 {
		b.Errorf("claimed %v of versions that the node does not have", got)
	}
	if n, err := b.system().ClaimRuns(context.Background(), store.RunClaim{Limit: 10}, nil); n != 0 || err != nil {
		b.Errorf("a node without flows claimed %d (%v)", n, err)
	}
	got := b.claim("node", 10, store.FlowVersion{Flow: "a", Version: 2}, store.FlowVersion{Flow: "b", Version: 1})
	var names []string
	for _, r := range got {
		names = append(names, fmt.Sprintf("%s@%d", r.Flow, r.FlowVersion))
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"a@2", "b@1"}) {
		b.Errorf("claimed %v, want a@2 and b@1", names)
	}
}

func testFailedClaim(b *bed) {
	run := newRun(birth)
	run.Flow = "fragile"
	other := run
	other.ID = newRun(birth).ID
	b.update(func(tx store.Tx) error { return firstError(tx.PutRun(run), tx.PutRun(other)) })
	flows := []store.FlowVersion{{Flow: "fragile", Version: 1}}
	n := 0
	claimed, err := b.system().ClaimRuns(context.Background(), store.RunClaim{Flows: flows, Limit: 10}, func(tx store.Tx, r holdshort.Run) error {
		if n++; n == 2 {
			return errOwn
		}
		r.Lease = holdshort.Lease{Owner: "node", Epoch: 1, Until: tx.Now().Add(leaseTime)}
		return tx.PutRun(r)
	})
	if !errors.Is(err, errOwn) || claimed != 0 {
		b.Errorf("a claim whose function failed: got %d, %v", claimed, err)
	}
	if got := b.claim("node", 10, flows...); len(got) != 2 {
		b.Errorf("%d of 2 runs are free after a claim that failed", len(got))
	}
}
