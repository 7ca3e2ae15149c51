package storetest

import (
	"context"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// testAbandoned: where nobody else can be at work, a process that starts takes what another left in the middle, at once and once. Where somebody
// can be, it is refused.
func testAbandoned(b *bed) {
	now := b.now()
	put := func(owner string, left time.Duration, change func(*holdshort.Run)) holdshort.RunID {
		run := newRun(now)
		run.Status, run.Lease = holdshort.RunRunning, holdshort.Lease{Owner: owner, Epoch: 4, Until: now.Add(left)}
		change(&run)
		b.update(func(tx store.Tx) error { return tx.PutRun(run) })
		return run.ID
	}
	asIs := func(*holdshort.Run) {}
	want := []holdshort.RunID{put("dead", leaseTime, asIs), put("older", leaseTime, asIs), put("dead", -time.Second, asIs),
		put("", 0, func(r *holdshort.Run) { r.Status, r.Lease = holdshort.RunQueued, holdshort.Lease{} })}
	put("node", leaseTime, asIs) // its own
	put("dead", leaseTime, func(r *holdshort.Run) { r.Held = &holdshort.Hold{Code: holdshort.Corrupt, Since: now} })
	put("dead", leaseTime, func(r *holdshort.Run) { r.Flow = "another" })
	put("", 0, func(r *holdshort.Run) { r.Status, r.Lease = holdshort.RunWaiting, holdshort.Lease{} })

	claim := func() (ids []holdshort.RunID, err error) {
		n, err := b.system().ClaimRuns(context.Background(), store.RunClaim{Flows: []store.FlowVersion{{Flow: "refund", Version: 1}}, Owner: "node", Abandoned: true},
			func(tx store.Tx, run holdshort.Run) error {
				if slices.Contains(ids, run.ID) {
					ids = nil // the function runs again from the start
				}
				ids = append(ids, run.ID)
				run.Status = holdshort.RunRunning
				run.Lease = holdshort.Lease{Owner: "node", Epoch: run.Lease.Epoch + 1, Until: tx.Now().Add(leaseTime)}
				return tx.PutRun(run)
			})
		if n != len(ids) {
			b.Errorf("claimed %d and says %d", len(ids), n)
		}
		slices.Sort(ids)
		return ids, err
	}
	got, err := claim()
	if !b.store().Exclusive() {
		b.refused(err, holdshort.Invalid)
		if len(got) != 0 {
			b.Errorf("claimed %v from nodes that may be alive", got)
		}
		return
	}
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		b.Errorf("claimed %v (%v), want what others left: %v", got, err, want)
	}
	if again, err := claim(); err != nil || len(again) != 0 {
		b.Errorf("claimed %v again (%v)", again, err)
	}
}
