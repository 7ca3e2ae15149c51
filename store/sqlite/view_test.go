package sqlite

import (
	"context"
	"errors"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/internal/sqldb"
)

// TestSlowViews: views that take their time hold up no writer, also when the mark is to be saved meanwhile.
func TestSlowViews(t *testing.T) {
	f := newFile(t, Options{Readers: 1})
	done := make(chan error, 1)
	go func() {
		done <- f.store.View(context.Background(), "acme", func(store.ReadTx) error {
			for range 5 {
				f.clock.shift.Add(int64(5 * time.Second))
				err := f.store.Update(context.Background(), "acme", func(tx store.Tx) error { return tx.AddEvent(holdshort.Event{Type: "access.denied"}) })
				if err != nil {
					return err
				}
			}
			return nil
		})
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Minute):
		t.Fatal("a writer waits for a view, which waits for the writer")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	err := f.store.View(context.Background(), "acme", func(store.ReadTx) error {
		return f.store.View(ctx, "acme", func(store.ReadTx) error { return nil })
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a view for which there is no connection: %v", err)
	}
}

// TestOpenReadOnly looks at a database that another one is writing.
func TestOpenReadOnly(t *testing.T) {
	f := newFile(t, Options{})
	f.deny(t)
	s, err := OpenReadOnly(context.Background(), f.path, f.options)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f.deny(t)
	ctx, sys := context.Background(), s.System()
	if v, err := sys.Verify(ctx); err != nil || v.Events != 2 || len(v.Faults) > 0 {
		t.Errorf("verify: %+v (%v)", v, err)
	}
	n := 0
	if err := sys.Export(ctx, func(store.Record) error { n++; return nil }); err != nil || n != 2 {
		t.Errorf("exported %d (%v)", n, err)
	}
	if h, err := sys.Health(ctx); err != nil || h.Position != 2 {
		t.Errorf("health: %+v (%v)", h, err)
	}
	if code := holdshort.CodeOf(s.Update(ctx, "acme", func(store.Tx) error { return nil })); code != holdshort.StoreReadOnly {
		t.Errorf("update: %v", code)
	}
	_, err = sys.Acquire(ctx, "a", "b", time.Minute)
	if holdshort.CodeOf(err) != holdshort.StoreReadOnly {
		t.Errorf("acquire: %v", err)
	}
	_, err = sys.Prune(ctx, store.Retention{Journals: time.Hour})
	if holdshort.CodeOf(err) != holdshort.StoreReadOnly {
		t.Errorf("prune: %v", err)
	}
	f.deny(t)
}

// TestDurability: what is promised rests on these settings of the connection that writes.
func TestDurability(t *testing.T) {
	f := newFile(t, Options{})
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "0"} {
		var got string
		if err := f.store.writer.conn.one(context.Background(), sqldb.Text("PRAGMA "+pragma), &got); err != nil || got != want {
			t.Errorf("%s is %s (%v), want %s", pragma, got, err, want)
		}
	}
	s, err := OpenTemporary(context.Background(), Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	if s.Durable() {
		t.Error("a temporary store says that it is durable")
	}
	dir := s.remove
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); dir == "" || err == nil {
		t.Errorf("a temporary store left %s", dir)
	}
}

// TestNothingRunsAfterClose looks for goroutines of ours and of the database's.
func TestNothingRunsAfterClose(t *testing.T) {
	for range 3 {
		f := newFile(t, Options{})
		f.deny(t)
		if err := f.store.View(context.Background(), "acme", func(store.ReadTx) error { return nil }); err != nil {
			t.Fatal(err)
		}
		_, cancel := f.store.Wake().Subscribe("x")
		defer cancel()
		f.Crash(t)
		f.close(t)
		if _, err := Open(context.Background(), f.path+".keys", Options{Logger: quiet}); err == nil { // one that does not open either
			t.Error("a keyring was opened as a database")
		}
	}
	deadline := time.Now().Add(30 * time.Second)
	for {
		var b strings.Builder
		if err := pprof.Lookup("goroutine").WriteTo(&b, 2); err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, stack := range strings.Split(b.String(), "\n\n") {
			if (strings.Contains(stack, "holdshort/store") || strings.Contains(stack, "database/sql") || strings.Contains(stack, "modernc.org")) && !strings.Contains(stack, "testing.tRunner") {
				left = append(left, stack)
			}
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
		}
		runtime.Gosched()
	}
}

// TestBubble runs a real file under fake time.
func TestBubble(t *testing.T) {
	path := t.TempDir() + "/holdshort.db"
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(context.Background(), path, Options{Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		start := time.Now()
		for day := range 24 {
			err := s.Update(context.Background(), "acme", func(tx store.Tx) error {
				if elapsed := tx.Now().Sub(start.UTC()); elapsed.Round(time.Hour) != time.Duration(day)*time.Hour {
					t.Errorf("hour %d: the store says %s", day, elapsed)
				}
				return errors.Join(tx.SetTimer(holdshort.Timer{Kind: holdshort.TimerSleep, Subject: "x", DueAt: tx.Now().Add(30 * time.Minute)}),
					tx.AddEvent(holdshort.Event{Type: "access.denied"}))
			})
			if err != nil {
				t.Fatal(err)
			}
			if due, _, err := s.System().DueTimers(context.Background(), 10); err != nil || len(due) != 0 {
				t.Errorf("hour %d: %d timers are due at once (%v)", day, len(due), err)
			}
			<-time.After(time.Hour)
			if due, _, err := s.System().DueTimers(context.Background(), 10); err != nil || len(due) != 1 {
				t.Errorf("hour %d: %d timers are due an hour later (%v)", day, len(due), err)
			}
		}
		synctest.Wait()
		if v, err := s.System().Verify(context.Background()); err != nil || v.Events != 24 || len(v.Faults) > 0 {
			t.Errorf("verify: %+v (%v)", v, err)
		}
	})
}
