package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/store/sqlite"
)

const acme holdshort.TenantID = "acme"

// asker raises requests, so that things happen.
type asker struct {
	*engine.Engine
	t *testing.T
}

func newAsker(t *testing.T) asker {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "feed.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	e, err := engine.New(s, engine.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return asker{e, t}
}

func (a asker) ask(n int) {
	a.t.Helper()
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range n / 8 {
				_, err := a.Ask(a.t.Context(), acme, engine.AskInput{Kind: holdshort.Clarification, Question: fmt.Sprint(w, i), Actor: holdshort.Actor{ID: "bot", Kind: holdshort.Service}})
				if err != nil {
					a.t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// log is every position of the tenant after one.
func (a asker) log(after int64) (all []int64) {
	a.t.Helper()
	for {
		page, err := a.Events(a.t.Context(), acme, engine.EventQuery{After: after})
		if err != nil {
			a.t.Fatal(err)
		}
		for _, e := range page.Items {
			all = append(all, e.Position)
		}
		if page.Last == after {
			return all
		}
		after = page.Last
	}
}

var errEnough = errors.New("enough")

// hears follows until it has n events; at(i) is called before the i-th is taken.
func hears(t *testing.T, f *feed, after int64, n int, begun chan<- int64, at func(i int)) (got []int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	err := f.follow(ctx, acme, selection{}, after, ear{
		begin: func(position int64) error { begun <- position; return nil },
		event: func(s *sighting) error {
			at(len(got))
			if got = append(got, s.Position); len(got) == n {
				return errEnough
			}
			return nil
		},
		flush: func() error { return nil }, quiet: func() error { return nil }, every: time.Hour,
	})
	if !errors.Is(err, errEnough) {
		t.Errorf("%v after %d of %d events", err, len(got), n)
	}
	return got
}

// TestFeed: whoever listens hears every event once and in order: from now on, from the beginning, and one who was so slow that more happened
// than is kept for anybody. Those who are quick do not wait for the slow.
func TestFeed(t *testing.T) {
	a := newAsker(t)
	a.ask(40)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	f := newFeed(a.Engine, ctx)
	const more = 3 * mostQueued / 8 * 8
	begun, slept, woken := make(chan int64, 3), make(chan struct{}), make(chan struct{})
	from, err := a.Position(t.Context(), acme)
	if err != nil {
		t.Fatal(err)
	}
	before := len(a.log(0))
	var wg sync.WaitGroup
	var slow, quick, all []int64
	wg.Go(func() {
		slow = hears(t, f, fromNow, more, begun, func(i int) {
			if i == 0 { // it stands still while everything happens
				close(slept)
				<-woken
			}
		})
	})
	wg.Go(func() { quick = hears(t, f, fromNow, more, begun, func(int) {}) })
	wg.Go(func() { all = hears(t, f, 0, before+more, begun, func(int) {}) })
	for range 3 {
		if at := <-begun; at != 0 && at != from {
			t.Errorf("it begins at %d, the log is at %d", at, from)
		}
	}
	a.ask(more / 2) // each request writes two events
	<-slept
	close(woken)
	wg.Wait()
	want := a.log(0)
	for name, c := range map[string]struct{ got, want []int64 }{"slow": {slow, want[before:]}, "quick": {quick, want[before:]}, "all": {all, want}} {
		if len(c.got) != len(c.want) {
			t.Fatalf("%s heard %d of %d", name, len(c.got), len(c.want))
		}
		for i := range c.want {
			if c.got[i] != c.want[i] {
				t.Fatalf("%s: event %d is %d, the log has %d", name, i, c.got[i], c.want[i])
			}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.tails) != 0 {
		t.Errorf("%d tails read on although nobody listens", len(f.tails))
	}
}

// TestFeedSelects: a listener of one session, run or name gets no other event, and costs none that is not its own.
func TestFeedSelects(t *testing.T) {
	sel := selection{session: "ses_1", types: []string{"run.*"}}
	for _, c := range []struct {
		event holdshort.Event
		fits  bool
	}{
		{holdshort.Event{Type: "run.created", Session: "ses_1", Run: "run_1"}, true},
		{holdshort.Event{Type: "run.created", Session: "ses_2"}, false},
		{holdshort.Event{Type: "hitl.request.decided", Session: "ses_1"}, false},
	} {
		if sel.fits(&c.event) != c.fits {
			t.Errorf("%+v", c.event)
		}
	}
	tl := &tail{of: map[string]map[*listener]bool{}}
	one := &listener{selection: selection{session: "ses_1"}, hint: make(chan struct{}, 1)}
	other := &listener{selection: selection{run: "run_2"}, hint: make(chan struct{}, 1)}
	for _, l := range []*listener{one, other} {
		if _, ok := tl.add(l); !ok {
			t.Fatal("it is over")
		}
	}
	tl.hand(&sighting{Event: holdshort.Event{Position: 5, Type: "run.created", Session: "ses_1", Run: "run_1"}})
	if queue, _ := one.take(); len(queue) != 1 {
		t.Errorf("%d events for the listener of the session", len(queue))
	}
	if queue, _ := other.take(); len(queue) != 0 {
		t.Errorf("%d events for the listener of another run", len(queue))
	}
}
