package engine_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/store/sqlite"
)

// The first commit of a new run may come at any moment of its execution, from the timer's goroutine: before the flow has begun, and while
// the run is about to wait. Under the race detector this shows whoever looks at the run beside it.
func TestStoredAtAnyMoment(t *testing.T) {
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	echo := flow.New("echo", 1, func(c *flow.Context, in int) (int, error) {
		if in%2 == 1 {
			if _, err := flow.Wait[string](c, "go", time.Hour); err != nil {
				return 0, err
			}
		}
		return in, nil
	})
	e, err := engine.New(s, engine.Config{Flows: []flow.Flow{echo}, Grace: time.Nanosecond, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- e.Run(ctx) }()
	<-e.Ready()
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			body, _ := json.Marshal(i)
			run, err := e.Start(t.Context(), tenant, engine.StartInput{Flow: "echo", User: "carl", Input: body})
			if err != nil {
				t.Error(err)
				return
			}
			if i%2 == 1 {
				if _, err := e.Post(t.Context(), tenant, engine.PostInput{Run: run.ID, ID: "1", Name: "go", Body: json.RawMessage(`"x"`), Actor: ops}); err != nil {
					t.Error(err)
				}
			}
			got, err := e.AwaitRun(t.Context(), tenant, run.ID, engine.Ended)
			if err != nil || got.Status != holdshort.RunCompleted || string(got.Result) != string(body) {
				t.Errorf("run %d: %s %s %v", i, got.Status, got.Result, err)
			}
		})
	}
	wg.Wait()
	stop()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
