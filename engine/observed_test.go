package engine

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// FactLog is an observer that keeps the events it was told.
type FactLog struct {
	mu     sync.Mutex
	events []holdshort.Event
}

var _ Observer = (*FactLog)(nil)

func (l *FactLog) Fact(e holdshort.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

func (l *FactLog) Closed(holdshort.Request) {}

func (l *FactLog) Slice(ctx context.Context, _ holdshort.Run) (context.Context, func(holdshort.Run, error)) {
	return ctx, func(holdshort.Run, error) {}
}

func (l *FactLog) Call(ctx context.Context, _ holdshort.RunID, _, _ string) (context.Context, func(error)) {
	return ctx, func(error) {}
}

func (l *FactLog) All() []holdshort.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

// CheckObserved fails the test unless the observer was told every event of the log once. Events that retention cut are only in the observer's
// list, and so are those of PostgreSQL that have no position yet.
func CheckObserved(t testing.TB, s store.Store, facts *FactLog) {
	t.Helper()
	stored, observed := map[string]int{}, map[string]int{}
	err := s.System().Export(context.Background(), func(r store.Record) error {
		if r.Event != nil {
			stored[r.Event.Type]++
		}
		return nil
	})
	if err != nil {
		t.Errorf("export the events: %v", err)
	}
	for _, e := range facts.All() {
		observed[e.Type]++
	}
	more := observed["audit.pruned"] > 0 || !s.Exclusive()
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		if got, want := observed[name], stored[name]; got < want || got > want && !more {
			t.Errorf("the observer was told %d of %d events %s", got, want, name)
		}
		delete(observed, name)
	}
	if len(observed) > 0 && !more {
		t.Errorf("the observer was told events that were not committed: %v", observed)
	}
}
