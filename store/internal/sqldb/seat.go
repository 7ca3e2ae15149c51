package sqldb

import (
	"slices"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// otherKind is the stored number of a kind that is not in seatKinds.
const otherKind = 9

// seatKinds maps the number that is stored for a kind to the kind. Rows hold these numbers: append new kinds, and never
// move one.
var seatKinds = []holdshort.Kind{
	holdshort.Approval, holdshort.Reconcile, holdshort.Escalation, holdshort.Clarification, holdshort.Disambiguation,
	holdshort.Confirmation, holdshort.Takeover, holdshort.Proxy, holdshort.ErrorRecovery,
	otherKind: "",
}

func seatKind(k holdshort.Kind) int64 {
	if i := slices.Index(seatKinds, k); i >= 0 {
		return int64(i)
	}
	return otherKind
}

var seatColumns = []string{"tenant", "seat", "kind", "urgency", "id"}

var (
	insertSeat = inserts("seats", seatColumns, "", "", "")
	refillSeat = statement(`INSERT INTO seats (tenant, seat, kind, urgency, id) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)
	deleteSeat = deletes("seats", seatColumns)
)

// known urgencies of requests that the transaction has read: who changes one moves its seats.
type seen struct {
	id      string
	urgency int64
}

// noteUrgency remembers what stands in a row that may be written later.
func (tx *Tx) noteUrgency(id string, r holdshort.Request) {
	if !tx.readOnly {
		tx.urgent = append(tx.urgent, seen{id, int64(slices.Index(urgencies, r.Priority))})
	}
}

// putSeats keeps a request's seats in step with the row that was just written.
func (tx *Tx) putSeats(r *holdshort.Request, id string, urgency int64) error {
	open := r.Status == holdshort.RequestOpen
	if r.Revision == 0 {
		if !open {
			return nil
		}
		return tx.moveSeats(r, id, insertSeat, 1, urgency)
	}
	before := urgency
	known := false
	for i := len(tx.urgent) - 1; i >= 0 && !known; i-- {
		if tx.urgent[i].id == id {
			before, known = tx.urgent[i].urgency, true
		}
	}
	switch {
	case !open:
		return tx.moveSeats(r, id, deleteSeat, Any, before)
	case known && before == urgency:
		return nil
	}
	for u := range urgencies {
		if int64(u) != urgency && (!known || int64(u) == before) {
			if err := tx.moveSeats(r, id, deleteSeat, Any, int64(u)); err != nil {
				return err
			}
		}
	}
	tx.urgent = append(tx.urgent, seen{id, urgency})
	return tx.moveSeats(r, id, refillSeat, Any, urgency)
}

func (tx *Tx) moveSeats(r *holdshort.Request, id string, s *Statement, want, urgency int64) error {
	kind := seatKind(r.Kind)
	for _, seat := range store.Seats(r) {
		if err := tx.write(Write{Statement: s, Args: []any{string(tx.tenant), seat, kind, urgency, id}, Want: want, Noun: "seat of request", ID: id}); err != nil {
			return err
		}
	}
	return nil
}
