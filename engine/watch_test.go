package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/store"
)

var errEnough = errors.New("enough")

// watched gives what a watcher is told until it has n events.
func watched(t *testing.T, e *engine.Engine, in engine.WatchInput, n int) []holdshort.Event {
	t.Helper()
	var got []holdshort.Event
	ctx, cancel := context.WithTimeout(t.Context(), safetyLimit)
	defer cancel()
	err := e.Watch(ctx, tenant, in, func(event holdshort.Event) error {
		if got = append(got, event); len(got) == n {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		t.Fatalf("%v after %d events", err, len(got))
	}
	return got
}

// TestWatchAll: watchers that begin at any moment, while many write, are told every event once and in the order of positions.
func TestWatchAll(t *testing.T) {
	eachStore(t, engine.Config{}, func(t *testing.T, e *engine.Engine) {
		const writers, each = 8, 12
		const all = writers * each * 3 // created, paused, decided
		ctx, cancel := context.WithTimeout(t.Context(), safetyLimit)
		defer cancel()
		running, stop := context.WithCancel(ctx)
		var loops sync.WaitGroup
		loops.Go(func() {
			if err := e.Run(running); err != nil {
				t.Error(err)
			}
		})
		var writing, watching sync.WaitGroup
		seen := make([][]holdshort.Event, 3)
		for i := range seen {
			watching.Go(func() {
				err := e.Watch(ctx, tenant, engine.WatchInput{}, func(event holdshort.Event) error {
					if seen[i] = append(seen[i], event); len(seen[i]) == all {
						return errEnough
					}
					return nil
				})
				if !errors.Is(err, errEnough) {
					t.Errorf("watcher %d: %v after %d of %d", i, err, len(seen[i]), all)
				}
			})
		}
		for w := range writers {
			writing.Go(func() {
				for n := range each {
					in := wantsRefund(w*100 + n + 1)
					asked, err := e.Ask(ctx, tenant, in)
					if err == nil {
						_, err = e.Decide(ctx, tenant, engine.DecideInput{Request: asked.Request.ID, Action: holdshort.Reject, Actor: ana})
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		writing.Wait()
		watching.Wait()
		stop()
		loops.Wait()
		raised := map[holdshort.RequestID]int{}
		for i, events := range seen {
			if !slices.IsSortedFunc(events, func(a, b holdshort.Event) int { return int(a.Position - b.Position) }) {
				t.Errorf("watcher %d was told out of order", i)
			}
			for k, event := range events {
				if k > 0 && event.Position == events[k-1].Position || event.Position != seen[0][k].Position || event.ID != seen[0][k].ID {
					t.Fatalf("watcher %d was told %+v after %+v", i, event, events[max(k-1, 0)])
				}
				if i == 0 && event.Type == "hitl.request.decided" {
					raised[event.Request]++
				}
			}
		}
		if len(raised) != writers*each {
			t.Errorf("%d requests were seen to be decided, want %d", len(raised), writers*each)
		}
		if rest := watched(t, e, engine.WatchInput{After: seen[0][all-3].Position}, 2); rest[0].ID != seen[0][all-2].ID || rest[1].ID != seen[0][all-1].ID {
			t.Errorf("resumed: %+v", rest)
		}
	})
}

// TestWatchFilters: a watcher is told what it asked for.
func TestWatchFilters(t *testing.T) {
	b := newBed(t, engine.Config{Flows: []flow.Flow{asksTwice}})
	one, two := b.start("asks", ""), b.start("asks", "")
	b.approve(two.ID)
	for _, event := range watched(t, b.Engine, engine.WatchInput{Run: two.ID}, 5) {
		if event.Run != two.ID {
			t.Errorf("%+v", event)
		}
	}
	got := watched(t, b.Engine, engine.WatchInput{Types: []string{"hitl.*.decided", "run.created"}}, 3)
	if got[0].Type != "run.created" || got[0].Run != one.ID || got[1].Run != two.ID || got[2].Type != "hitl.request.decided" {
		t.Errorf("%+v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	told := 0
	err := b.Watch(ctx, tenant, engine.WatchInput{Run: one.ID, Types: []string{"run.waiting"}}, func(holdshort.Event) error {
		told++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || told != 1 {
		t.Errorf("%v after %d", err, told)
	}
}

// TestWatchGap: a watcher whose cursor is older than what is kept is told so, once, and goes on with what there is.
func TestWatchGap(t *testing.T) {
	b := newBed(t, engine.Config{})
	for i := range 5 {
		b.ask(engine.AskInput{Kind: holdshort.Clarification, Question: fmt.Sprint(i), Actor: bot})
	}
	b.settle() // sealed
	first := watched(t, b.Engine, engine.WatchInput{Types: []string{"hitl.interrupt.*"}}, 5)
	b.clock.move(48 * time.Hour)
	pruned, err := b.store.System().Prune(b.reported(), store.Retention{Events: time.Hour})
	if err != nil || pruned.Events < 5 {
		t.Fatalf("%+v %v", pruned, err)
	}
	b.ask(engine.AskInput{Kind: holdshort.Clarification, Question: "after", Actor: bot})
	got := watched(t, b.Engine, engine.WatchInput{After: first[1].Position, Types: []string{"hitl.interrupt.*"}}, 2)
	if got[0].Type != engine.GapEvent || got[0].Position != first[1].Position || got[1].Type != "hitl.interrupt.paused" || got[1].Position <= first[4].Position {
		t.Errorf("%+v", got)
	}
	if fresh := watched(t, b.Engine, engine.WatchInput{After: got[1].Position - 1, Types: []string{"hitl.interrupt.*"}}, 1); fresh[0].ID != got[1].ID {
		t.Errorf("%+v", fresh)
	}
}
