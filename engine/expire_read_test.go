package engine_test

import (
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/store"
)

// TestExpiredWhenRead: whoever is told that a request expired can rely on it. Reading it past its time makes the transition, so that a
// decision which began in time and is committed later loses.
func TestExpiredWhenRead(t *testing.T) {
	b := newBed(t, engine.Config{})
	for name, read := range map[string]func(holdshort.RequestID) (holdshort.RequestStatus, error){
		"by id": func(id holdshort.RequestID) (holdshort.RequestStatus, error) {
			req, err := b.RequestByID(t.Context(), tenant, id)
			return req.Status, err
		},
		"for somebody": func(id holdshort.RequestID) (holdshort.RequestStatus, error) {
			v, err := b.RequestFor(t.Context(), tenant, id, ana)
			return v.Request.Status, err
		},
		"waiting": func(id holdshort.RequestID) (holdshort.RequestStatus, error) {
			req, err := b.AwaitRequest(t.Context(), tenant, id)
			return req.Status, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			req := b.ask(wantsRefund(50))
			b.clock.move(10 * time.Minute)
			if status, err := read(req.ID); err != nil || status != holdshort.RequestExpired {
				t.Fatalf("%s %v", status, err)
			}
			err := b.store.View(t.Context(), tenant, func(tx store.ReadTx) error {
				stored, err := tx.Request(req.ID)
				if err == nil && stored.Status != holdshort.RequestExpired {
					t.Errorf("who reads is told expired, and the store says %s", stored.Status)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
