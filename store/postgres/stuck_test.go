package postgres

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// TestStuckRow: another node holds one row for longer than our patience. Only who wants that row is refused, not those who shared its group.
func TestStuckRow(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, Options{Lanes: 1, Patience: 2 * time.Second})
	other := d.another(t, func(o *Options) { o.Patience = 30 * time.Second })
	held, let := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(let)
	wg.Go(func() {
		begun := sync.OnceFunc(func() { close(held) })
		if err := other.Update(ctx, "acme", func(store.Tx) error { begun(); <-let; return nil }, store.RunRow("run_3")); err != nil {
			t.Errorf("the holder: %v", err)
		}
	})
	<-held
	var calls []func() error
	for i := range 8 {
		id := holdshort.RunID(fmt.Sprint("run_", i))
		calls = append(calls, func() error { return d.store.Update(ctx, "acme", count(id), store.RunRow(id)) })
	}
	for i, err := range d.together(t, calls...) {
		wake, _ := d.counted(t, holdshort.RunID(fmt.Sprint("run_", i)))
		if i == 3 {
			if err == nil || holdshort.HintOf(err) == "" || wake != 0 {
				t.Errorf("whoever wants the stuck row: %v, took effect %d times", err, wake)
			}
		} else if err != nil || wake != 1 {
			t.Errorf("run_%d was refused for somebody else's row: %v, took effect %d times", i, err, wake)
		}
	}
}

// TestMigrationIsWaitedFor: a node that starts while another one migrates waits for it, however long that takes.
func TestMigrationIsWaitedFor(t *testing.T) {
	t.Parallel()
	d := emptyDatabase(t, Options{})
	defer func() { d.raw.Close(ctx) }()
	migrating, goOn := make(chan struct{}), make(chan struct{})
	begun := sync.OnceFunc(func() { close(migrating) })
	open := func(change func(*Options)) <-chan error {
		result := make(chan error, 1)
		o := d.options
		o.KeyringFile = filepath.Join(d.folder, "keys")
		change(&o)
		go func() {
			s, err := Open(ctx, d.url, o)
			if err == nil {
				err = s.Close()
			}
			result <- err
		}()
		return result
	}
	first := open(func(o *Options) {
		o.OnStatement = func(text string) {
			if strings.Contains(text, "CREATE TABLE runs") {
				begun()
				<-goOn
			}
		}
	})
	select {
	case <-migrating:
	case err := <-first:
		t.Fatalf("the first node did not migrate: %v", err)
	}
	second := open(func(o *Options) { o.Patience = 300 * time.Millisecond })
	limit, cancel := context.WithTimeout(ctx, safetyLimit)
	defer cancel()
	for waiting := 0; waiting == 0 && len(second) == 0; { // three times its patience
		err := d.raw.QueryRow(limit, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
			AND pg_catalog.clock_timestamp() - query_start > interval '900 milliseconds'`).Scan(&waiting)
		if err != nil {
			t.Errorf("wait for the second node: %v", err)
			break
		}
	}
	if len(second) > 0 {
		t.Error("the second node did not wait")
	}
	close(goOn)
	for name, result := range map[string]<-chan error{"first": first, "second": second} {
		if err := <-result; err != nil {
			t.Errorf("the %s node: %v", name, err)
		}
	}
}
