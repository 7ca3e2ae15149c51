package client_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

var enough = errors.New("enough")

// Every event arrives once and in order, also when the stream breaks off between them.
func TestWatchOverALineThatBreaks(t *testing.T) {
	d := newDoor(t)
	agent, olga := d.agent(t), d.as(t, "olga", []string{"operator"}, nil)
	streams := 0
	odd := func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Path == "/v1/events" {
			if streams++; streams < 4 {
				ctx, cancel := context.WithCancel(r.Context())
				defer cancel()
				next.ServeHTTP(&shortened{ResponseWriter: w, cut: cancel}, r.WithContext(ctx))
				return
			}
		}
		next.ServeHTTP(w, r)
	}
	d.broken.Store(&odd)
	up := make(chan struct{}, 10)
	var raised, seen []holdshort.RequestID
	ended := make(chan error, 1)
	go func() {
		ended <- olga.Watch(t.Context(), client.Watching{Types: []string{"hitl.request.asked", "hitl.interrupt.paused"}, Connected: func() { up <- struct{}{} }}, func(e holdshort.Event) error {
			if !slices.Contains(seen, e.Request) {
				seen = append(seen, e.Request)
			}
			if len(seen) == 5 {
				return enough
			}
			return nil
		})
	}()
	<-up
	for range 5 {
		req, err := agent.Raise(t.Context(), payBack)
		if err != nil {
			t.Fatal(err)
		}
		raised = append(raised, req.ID)
	}
	if err := <-ended; !errors.Is(err, enough) || !slices.Equal(seen, raised) {
		t.Errorf("seen %v of %v, %v", seen, raised, err)
	}
	if streams < 2 {
		t.Errorf("%d streams: nothing broke", streams)
	}
}

// shortened is cut off after its second write.
type shortened struct {
	http.ResponseWriter
	cut    context.CancelFunc
	writes int
}

func (s *shortened) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *shortened) Write(p []byte) (int, error) {
	if s.writes++; s.writes > 2 {
		s.cut()
		return 0, http.ErrHandlerTimeout
	}
	return s.ResponseWriter.Write(p)
}

func TestWatchIsRefused(t *testing.T) {
	d := newDoor(t)
	if err := d.with(t, "").Watch(t.Context(), client.Watching{}, nil); !errors.Is(err, holdshort.Unauthenticated) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := d.as(t, "olga", []string{"operator"}, nil).Watch(ctx, client.Watching{Connected: cancel}, func(holdshort.Event) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// The server goes away and comes back: the watcher has every event once, also those of the time without it.
func TestWatchOverARestart(t *testing.T) {
	d := newDoor(t)
	agent, olga := d.agent(t), d.as(t, "olga", []string{"operator"}, nil)
	up := make(chan struct{}, 10)
	events := make(chan holdshort.Event, 100)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- olga.Watch(ctx, client.Watching{Types: []string{"hitl.request.*", "hitl.interrupt.*"}, Connected: func() { up <- struct{}{} }}, func(e holdshort.Event) error {
			events <- e
			return nil
		})
	}()
	<-up
	var raised []holdshort.RequestID
	raise := func() {
		t.Helper()
		req, err := agent.Raise(t.Context(), payBack)
		if err != nil {
			t.Fatal(err)
		}
		raised = append(raised, req.ID)
	}
	raise()
	d.stop()
	d.open(t)
	raise() // perhaps before the watcher is back
	<-up
	raise()
	var last int64
	seen := map[holdshort.RequestID]bool{}
	for len(seen) < len(raised) {
		e := <-events
		if e.Position <= last {
			t.Errorf("position %d after %d", e.Position, last)
		}
		last = e.Position
		seen[e.Request] = true
	}
	for _, id := range raised {
		if !seen[id] {
			t.Errorf("nothing of %s was told", id)
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
