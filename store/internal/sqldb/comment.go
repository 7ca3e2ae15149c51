package sqldb

import "github.com/holdshort/holdshort"

// All comments on a request are in one stream, whose numbers give their order. The type is written out: only so may the planner take the
// index that has nothing but comments.
var selectComments = statement(`SELECT ` + eventColumns + ` FROM events
	WHERE tenant = ? AND request_id = ? AND type = 'hitl.request.commented' ORDER BY seq LIMIT 1000`)

func (tx *Tx) Comments(id holdshort.RequestID) ([]holdshort.Event, error) {
	return all(tx, selectComments, []any{string(tx.tenant), string(id)}, func(scan func(...any) error) (holdshort.Event, string, error) {
		_, e, err := scanEvent(scan)
		return e, string(e.ID), err
	})
}
