package sqlite

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/storetest"
)

// TestModel compares the store with what its callers were told.
func TestModel(t *testing.T) {
	t.Parallel()
	storetest.Model(t, files{}, 1, nil)
}

// TestEventsOfRun: looking at one run's events reads its stream, not the whole log, and puts nothing in order.
func TestEventsOfRun(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var texts []string
	f := newFile(t, Options{OnStatement: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		if strings.HasPrefix(text, "SELECT") && strings.Contains(text, "FROM events") {
			texts = append(texts, text)
		}
	}})
	err := f.store.Update(context.Background(), "acme", func(tx store.Tx) error {
		for i := range 20 {
			if err := tx.AddEvent(holdshort.Event{Type: "run.started", Run: holdshort.RunID(fmt.Sprint("run_", i%4))}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	texts = nil
	mu.Unlock()
	err = f.store.Update(context.Background(), "acme", func(tx store.Tx) error {
		events, err := tx.Events(store.EventQuery{Run: "run_1"})
		if err == nil && len(events.Items) != 5 {
			t.Errorf("%d events, want 5", len(events.Items))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	asked := texts
	mu.Unlock()
	looked := false
	for _, text := range asked {
		if !strings.Contains(text, "stream") {
			continue
		}
		looked = true
		args := make([]any, strings.Count(text, "?"))
		for i := range args {
			args[i] = 1
		}
		plan := fmt.Sprint(f.Rows(t, "EXPLAIN QUERY PLAN "+text, args...))
		if !strings.Contains(plan, "events_stream") || strings.Contains(plan, "SCAN") || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s\nis answered by %s", text, plan)
		}
	}
	if !looked {
		t.Errorf("nothing asked for a stream: %q", asked)
	}
}
