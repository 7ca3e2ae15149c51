package sqlite

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// TestClockJumps: a small step back makes time stand still, a large one is followed, and what happened by then stays.
func TestClockJumps(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 1, 1, 12, 0, 0, 0, time.UTC)
	var clock atomic.Int64 // nanoseconds that the wall is away from at
	f := newFile(t, Options{Clock: func() time.Time { return at.Add(time.Duration(clock.Load())) }})
	wall := at
	set := func(to time.Time) { wall = to; clock.Store(int64(to.Sub(at))) }
	ctx, sys := context.Background(), f.store.System()
	now := func() time.Time {
		t.Helper()
		n, err := sys.Now(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var inside time.Time
		if err := f.store.Update(ctx, "acme", func(tx store.Tx) error {
			inside = tx.Now()
			return tx.AddEvent(holdshort.Event{Type: "access.denied"})
		}); err != nil {
			t.Fatal(err)
		}
		if !inside.Equal(n) {
			t.Errorf("a transaction has %v, the system %v", inside, n)
		}
		return n
	}
	expect := func(want time.Time) {
		t.Helper()
		if got := now(); !got.Equal(want) {
			t.Errorf("the wall says %v, the store %v, want %v", wall, got, want)
		}
	}
	expect(at)
	lease, err := sys.Acquire(ctx, "job", "a", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	request := holdshort.Request{ID: "req_1", Kind: holdshort.Approval, Status: holdshort.RequestOpen, ExpiresAt: at.Add(time.Second), AskedAt: at, CreatedAt: at}
	if err := f.store.Update(ctx, "acme", func(tx store.Tx) error { return tx.PutRequest(request) }); err != nil {
		t.Fatal(err)
	}
	set(at.Add(2 * time.Second))
	if err := f.store.Update(ctx, "acme", func(tx store.Tx) error {
		r, err := tx.Request("req_1")
		if err != nil {
			return err
		}
		if r, err = r.Expire(tx.Now()); err != nil {
			return err
		}
		return tx.PutRequest(r)
	}); err != nil {
		t.Fatal(err)
	}
	for _, back := range []time.Duration{time.Nanosecond, time.Millisecond, 30 * time.Second, time.Minute} {
		set(at.Add(2 * time.Second).Add(-back))
		expect(at.Add(2 * time.Second))
	}
	if _, err := sys.Acquire(ctx, "job", "b", time.Minute); holdshort.CodeOf(err) != holdshort.LeaseLost {
		t.Errorf("after a small step back another node got the lease: %v", err)
	}
	set(at.Add(3*time.Second + 1500*time.Nanosecond))
	expect(at.Add(3*time.Second + time.Microsecond)) // to the microsecond

	set(at.Add(-time.Hour))
	expect(wall)
	set(wall.Add(time.Second))
	expect(wall)
	err = f.store.View(ctx, "acme", func(tx store.ReadTx) error {
		r, err := tx.Request("req_1")
		if err == nil && (r.Status != holdshort.RequestExpired || r.StatusAt(tx.Now()) != holdshort.RequestExpired) {
			t.Errorf("it un-expired: %+v", r)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sys.Acquire(ctx, "job", "b", time.Minute); holdshort.CodeOf(err) != holdshort.LeaseLost {
		t.Errorf("after a large step back another node got the lease: %v", err)
	}
	if renewed, err := sys.Acquire(ctx, "job", "a", time.Minute); err != nil || renewed.Epoch != lease.Epoch {
		t.Errorf("its owner could not renew it: %+v (%v)", renewed, err)
	}
	h, err := sys.Health(ctx)
	if err != nil || !slices.ContainsFunc(h.Problems, func(p string) bool { return strings.Contains(p, "set back") }) {
		t.Errorf("health says %+v (%v)", h, err)
	}

	set(at.AddDate(5, 0, 0))
	expect(wall)
	if stolen, err := sys.Acquire(ctx, "job", "b", time.Minute); err != nil || stolen.Epoch <= lease.Epoch {
		t.Errorf("five years later: %+v (%v)", stolen, err)
	}

	// Reopening does not forget: the newest event is the least that the time can be.
	set(wall.Add(-30 * time.Second))
	f.Reopen(t)
	sys = f.store.System()
	expect(at.AddDate(5, 0, 0))
	set(at)
	f.Reopen(t)
	sys = f.store.System()
	expect(at)
	if v, err := sys.Verify(ctx); err != nil || len(v.Faults) > 0 {
		t.Errorf("verify: %+v (%v)", v, err)
	}
}
