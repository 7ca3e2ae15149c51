package sqlite

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// putBack replaces the database, not what stands beside it, by a copy.
func (f *file) putBack(t *testing.T, backup string) {
	t.Helper()
	f.close(t)
	for _, part := range []string{"", "-wal", "-shm"} {
		os.Remove(f.path + part)
	}
	if backup != "" {
		for _, part := range []string{"", "-wal"} {
			content, err := os.ReadFile(backup + part)
			if os.IsNotExist(err) {
				continue
			}
			if err == nil {
				err = os.WriteFile(f.path+part, content, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	f.open(t)
}

// quarantined wants that everything is refused that could set something in motion, and that one can look.
func (f *file) quarantined(t *testing.T) {
	t.Helper()
	ctx, sys := context.Background(), f.store.System()
	if f.store.Quarantine() == "" {
		t.Fatal("it is not quarantined")
	}
	refused(t, f.store.Update(ctx, "acme", func(store.Tx) error { t.Error("the function ran"); return nil }), holdshort.Quarantined)
	_, _, err := sys.DueTimers(ctx, 10)
	refused(t, err, holdshort.Quarantined)
	_, err = sys.ClaimRuns(ctx, store.RunClaim{Flows: []store.FlowVersion{{Flow: "f", Version: 1}}}, nil)
	refused(t, err, holdshort.Quarantined)
	_, err = sys.ClaimDeliveries(ctx, store.DeliveryClaim{Channels: []string{"chat"}}, nil)
	refused(t, err, holdshort.Quarantined)
	_, err = sys.Acquire(ctx, "x", "y", time.Minute)
	refused(t, err, holdshort.Quarantined)
	_, err = sys.Prune(ctx, store.Retention{Events: time.Hour})
	refused(t, err, holdshort.Quarantined)
	_, err = sys.Seal(ctx, holdshort.Lease{}, 10)
	refused(t, err, holdshort.Quarantined)
	if err := f.store.View(ctx, "acme", func(tx store.ReadTx) error { _, err := tx.Runs(store.RunQuery{}); return err }); err != nil {
		t.Errorf("looking at it: %v", err)
	}
	h, err := sys.Health(ctx)
	if err != nil || h.Quarantine == "" {
		t.Errorf("health says %+v (%v)", h, err)
	}
}

func (f *file) free(t *testing.T) {
	t.Helper()
	if reason := f.store.Quarantine(); reason != "" {
		t.Fatalf("quarantined: %s", reason)
	}
	f.deny(t)
}

func (f *file) accept(t *testing.T) {
	t.Helper()
	if err := f.store.System().AcceptRestore(context.Background(), holdshort.Actor{ID: "ann", Kind: holdshort.Person}); err != nil {
		t.Fatalf("accept: %v", err)
	}
	f.free(t)
	var last holdshort.Event
	err := f.store.View(context.Background(), holdshort.SystemTenant, func(tx store.ReadTx) error {
		events, err := tx.Events(store.EventQuery{Types: []string{"store.restore_accepted"}})
		if err == nil && len(events.Items) > 0 {
			last = events.Items[len(events.Items)-1]
		}
		return err
	})
	if err != nil || last.Actor != "ann" {
		t.Errorf("the log says %+v (%v)", last, err)
	}
	h, err := f.store.System().Health(context.Background())
	if err != nil || h.Quarantine != "" || h.Instance == "" {
		t.Errorf("health says %+v (%v)", h, err)
	}
	f.Reopen(t)
	f.free(t)
	f.Crash(t)
	f.free(t)
	if v, err := f.store.System().Verify(context.Background()); err != nil || len(v.Faults) > 0 {
		t.Errorf("verify after the acceptance: %+v (%v)", v, err)
	}
}

func TestRestore(t *testing.T) {
	t.Parallel()
	t.Run("nothing happened", func(t *testing.T) {
		f := newFile(t, Options{})
		f.free(t)
		for range 3 {
			f.Reopen(t)
			f.free(t)
			f.Crash(t)
			f.free(t)
		}
		err := f.store.System().AcceptRestore(context.Background(), holdshort.Actor{ID: "ann"})
		refused(t, err, holdshort.WrongState)
	})
	t.Run("an older backup", func(t *testing.T) {
		f := newFile(t, Options{})
		f.free(t)
		backup := snapshot(t, f.path)
		f.clock.shift.Add(int64(5 * time.Second))
		f.free(t)
		f.free(t)
		f.putBack(t, backup)
		f.quarantined(t)
		f.Reopen(t) // it is not forgotten
		f.quarantined(t)
		f.Crash(t)
		f.quarantined(t)
		f.accept(t)
	})
	t.Run("an older backup, and the last process was killed", func(t *testing.T) {
		f := newFile(t, Options{})
		f.free(t)
		backup := snapshot(t, f.path)
		for range 3 { // the mark is saved now and then, not only at the end
			f.clock.shift.Add(int64(5 * time.Second))
			f.free(t)
		}
		f.Crash(t)
		f.putBack(t, backup)
		f.quarantined(t)
		f.accept(t)
	})
	t.Run("a backup of an earlier opening", func(t *testing.T) {
		f := newFile(t, Options{})
		f.free(t)
		f.close(t)
		backup := snapshot(t, f.path)
		f.open(t)
		f.close(t)
		f.open(t) // nothing was written, but something ran
		f.putBack(t, backup)
		f.quarantined(t)
		f.accept(t)
	})
	t.Run("another database", func(t *testing.T) {
		f, other := newFile(t, Options{}), newFile(t, Options{})
		for range 3 {
			other.free(t)
		}
		f.free(t)
		backup := snapshot(t, other.path)
		f.close(t)
		keys, err := os.ReadFile(backup + ".keys") // with its keys: else it is refused for them
		if err == nil {
			err = os.WriteFile(f.path+".keys", keys, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		f.putBack(t, backup)
		f.quarantined(t)
		f.accept(t)
	})
	t.Run("no mark", func(t *testing.T) {
		f := newFile(t, Options{})
		f.free(t)
		f.close(t)
		os.Remove(f.path + ".mark")
		f.open(t)
		f.quarantined(t)
		f.Reopen(t)
		f.quarantined(t)
		f.accept(t)
	})
	t.Run("no database", func(t *testing.T) {
		f := newFile(t, Options{})
		f.free(t)
		f.putBack(t, "")
		f.quarantined(t)
		f.accept(t)
	})
	t.Run("a mark that cannot be read", func(t *testing.T) {
		f := newFile(t, Options{})
		f.free(t)
		f.close(t)
		if err := os.WriteFile(f.path+".mark", []byte("{garbage"), 0o600); err != nil {
			t.Fatal(err)
		}
		f.reopenFails(t, holdshort.Quarantined)
		os.Remove(f.path + ".mark")
		f.open(t)
		f.quarantined(t)
		f.accept(t)
	})
	t.Run("a first start that died before its mark", func(t *testing.T) {
		f := newFile(t, Options{})
		left := snapshot(t, f.path)
		os.Remove(left + ".mark")
		f.close(t)
		f.path = left
		f.open(t)
		f.free(t)
	})
	t.Run("an older backup that only somebody looks at", func(t *testing.T) {
		f := newFile(t, Options{})
		f.free(t)
		backup := snapshot(t, f.path)
		f.free(t)
		f.close(t)
		content, err := os.ReadFile(backup)
		if err == nil {
			err = os.WriteFile(f.path, content, 0o600)
		}
		if wal, werr := os.ReadFile(backup + "-wal"); err == nil && werr == nil {
			err = os.WriteFile(f.path+"-wal", wal, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		s, err := OpenReadOnly(context.Background(), f.path, f.options)
		if err != nil {
			t.Fatal(err)
		}
		if s.Quarantine() == "" {
			t.Error("whoever looks is not told")
		}
		s.Close()
		f.open(t)
	})
}
