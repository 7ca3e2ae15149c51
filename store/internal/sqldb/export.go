package sqldb

import (
	"context"
	"time"

	"github.com/holdshort/holdshort/store"
)

// Export hands out events in the order of positions, each seal behind the last event that it covers.
func (db *DB) Export(ctx context.Context, fn func(store.Record) error) error {
	position, sealed := int64(0), int64(0)
	for {
		var page []store.Record
		err := db.Backend.Snapshot(ctx, func(conn Conn, _ time.Time) error {
			page = nil
			err := conn.Query(selectAfter, []any{position, int64(verifyPage)}, func(scan func(...any) error) error {
				t, e, err := scanEvent(scan)
				if err != nil {
					return err
				}
				h := e.Hash(t)
				page = append(page, store.Record{Tenant: t, Event: &e, Hash: h[:]})
				return nil
			})
			if err != nil {
				return err
			}
			return conn.Query(selectSeals, []any{sealed, int64(verifyPage)}, func(scan func(...any) error) error {
				s, err := scanSeal(scan)
				page = append(page, store.Record{Seal: &s})
				return err
			})
		})
		if err != nil {
			return err
		}
		if done, err := handOut(page, &position, &sealed, fn); err != nil || done {
			return err
		}
	}
}

// handOut merges a page of events with the seals that follow them, and says whether that was the end.
func handOut(page []store.Record, position, sealed *int64, fn func(store.Record) error) (done bool, err error) {
	var events, seals []store.Record
	for _, r := range page {
		if r.Event != nil {
			events = append(events, r)
		} else {
			seals = append(seals, r)
		}
	}
	full := len(events) == verifyPage || len(seals) == verifyPage
	handed := 0
	for {
		next := store.Record{}
		switch {
		case len(seals) > 0 && seals[0].Seal.To <= *position:
			next, seals = seals[0], seals[1:]
			*sealed = next.Seal.Number
		case len(events) > 0:
			next, events = events[0], events[1:]
			*position = next.Event.Position
		default:
			return !full || handed == 0, nil
		}
		handed++
		if err := fn(next); err != nil {
			return true, err
		}
	}
}
