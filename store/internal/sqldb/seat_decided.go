package sqldb

import (
	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// Who voted and then completed the quorum with the same word is there once, by the decision.
var decidedBy = statement(`SELECT d.id, d.request_id FROM decisions d WHERE d.tenant = ? AND d.actor_id = ? AND d.id < ? AND (d.vote = 0 OR NOT EXISTS
	(SELECT 1 FROM decisions o WHERE o.tenant = d.tenant AND o.request_id = d.request_id AND o.vote = 0 AND o.actor_id = d.actor_id)) ORDER BY d.id DESC LIMIT ?`)

// Decided walks the closed requests back from the last. Those that resolved are nearly all of them: who wants only these leaves out the others.
func (tx *Tx) Decided(q store.DecidedQuery) (store.Page[holdshort.Request], error) {
	if q.By != "" {
		return tx.decidedBy(q)
	}
	l := list("requests", requestColumns).where("tenant = ?", string(tx.tenant))
	switch q.Status {
	case holdshort.RequestExpired, holdshort.RequestCanceled:
		l.where("status IN ('expired', 'canceled') AND status = '" + known(requestStatuses, q.Status) + "'")
	}
	l.where("closed_at > 0").keyset(q.Cursor, true, "closed_at", "id")
	return page(tx, l, q.Limit, tx.scanRequest, func(r holdshort.Request) []any { return []any{micros(r.ClosedAt), string(r.ID)} })
}

func (tx *Tx) decidedBy(q store.DecidedQuery) (out store.Page[holdshort.Request], err error) {
	const name = "decided by>id"
	if q.Limit <= 0 || q.Limit > store.MaxPage {
		q.Limit = store.MaxPage
	}
	after := lastID
	if q.Cursor != "" {
		values, err := decodeCursor(name, q.Cursor, []string{"id"})
		if err != nil {
			return out, err
		}
		after = values[0].(string)
	}
	var places []place
	last := ""
	err = tx.query(decidedBy, []any{string(tx.tenant), q.By, after, int64(q.Limit) + 1}, func(scan func(...any) error) error {
		var id, request string
		if err := scan(&id, &request); err != nil {
			return err
		}
		if len(places) == q.Limit {
			out.Next = encodeCursor(name, []any{last})
			return nil
		}
		places, last = append(places, place{id: request}), id
		return nil
	})
	if err != nil {
		return out, err
	}
	err = tx.loadPlaces(places, &out, func(r *holdshort.Request, _ int64) bool { return r.Status != holdshort.RequestOpen })
	return out, err
}
