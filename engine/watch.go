package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// WatchInput selects events. The zero value is all of a tenant's, from the beginning.
type WatchInput struct {
	After   int64 // the position of the last event that was seen
	Session holdshort.SessionID
	Run     holdshort.RunID
	Types   []string // globs over names; none: all
}

// GapEvent tells a watcher that events after its cursor are no longer kept. It is told, not stored.
const GapEvent = "events.gap"

// watchAgain is how long a watcher waits for a hint: one may be lost, a look is the truth.
const watchAgain = time.Second

// Watch hands every event after a position to fn, each position once and in order, those of the past first, and waits for more until ctx ends
// or fn returns an error, which it returns. A cursor older than what is kept gets an events.gap first. On PostgreSQL events have positions
// once a node's sequencer stamped them.
func (e *Engine) Watch(ctx context.Context, tenant holdshort.TenantID, in WatchInput, fn func(holdshort.Event) error) error {
	hints, end := e.store.Wake().Subscribe(topicEvents, topicStamped) // before the first look: what is committed after it rings
	defer end()
	told := false
	for {
		var found store.Events
		err := e.store.View(ctx, tenant, func(tx store.ReadTx) (err error) {
			found, err = tx.Events(store.EventQuery{After: in.After, Session: in.Session, Run: in.Run, Types: in.Types})
			return err
		})
		if err != nil {
			return err
		}
		if found.Gap && !told {
			missed := Gap(in.After)
			missed.Session, missed.Run = in.Session, in.Run
			if err := fn(missed); err != nil {
				return err
			}
		}
		told = found.Gap
		for _, event := range found.Items {
			if err := fn(event); err != nil {
				return err
			}
		}
		if found.Last > in.After {
			in.After, told = found.Last, false
			if err := ctx.Err(); err != nil {
				return err
			}
			continue
		}
		if err := pauseFor(ctx, hints, watchAgain); err != nil {
			return err
		}
	}
}

// EventQuery selects stamped events after a position.
type EventQuery = store.EventQuery

// EventPage is a piece of the log.
type EventPage = store.Events

// Events gives a page of events after a position, and the position to go on from. A watcher who fell behind reads on with it.
func (e *Engine) Events(ctx context.Context, tenant holdshort.TenantID, q EventQuery) (EventPage, error) {
	return view(ctx, e, tenant, func(tx store.ReadTx) (EventPage, error) { return tx.Events(q) })
}

// Position is that of a tenant's newest event: whoever watches from there is told what happens from now on.
func (e *Engine) Position(ctx context.Context, tenant holdshort.TenantID) (int64, error) {
	return view(ctx, e, tenant, func(tx store.ReadTx) (int64, error) { return tx.Position() })
}

// Gap is the event that tells somebody that what followed a position is no longer kept.
func Gap(after int64) holdshort.Event {
	data, _ := json.Marshal(map[string]int64{"after": after}) // a number: it cannot fail
	return holdshort.Event{Type: GapEvent, Position: after, Actor: "system:retention", Data: data}
}

// pauseFor waits for a hint, a while at most.
func pauseFor(ctx context.Context, hints <-chan struct{}, most time.Duration) error {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-hints:
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}
