package sqldb

import (
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// The requests are limited before their decisions are looked up, so that no planner joins the whole of both.
var closedLately = statement(`SELECT r.id, r.kind, r.status, r.created_at, r.closed_at, r.fixed, r.body, COALESCE(d.actor_id, '') FROM
	(SELECT tenant, id, kind, status, created_at, closed_at, fixed, body FROM requests
		WHERE tenant = ? AND closed_at > 0 AND closed_at >= ? ORDER BY closed_at DESC, id DESC LIMIT ?) AS r
	LEFT JOIN decisions d ON d.tenant = r.tenant AND d.request_id = r.id AND d.vote = 0 ORDER BY r.closed_at DESC, r.id DESC`)

func (tx *Tx) ClosedRequests(since time.Time, limit int) (list []store.ClosedRequest, more bool, err error) {
	if limit <= 0 || limit > store.MostClosed {
		limit = store.MostClosed
	}
	err = tx.query(closedLately, []any{string(tx.tenant), micros(since), int64(limit) + 1}, func(scan func(...any) error) error {
		var c store.ClosedRequest
		var id string
		var created, closed int64
		var fixed, body []byte
		if err := scan(&id, &c.Kind, &c.Status, &created, &closed, &fixed, &body, &c.Actor); err != nil {
			return err
		}
		if more = len(list) == limit; more {
			return nil
		}
		c.CreatedAt, c.ClosedAt = fromMicros(created), fromMicros(closed)
		var f struct {
			Rule string `json:"rule"`
		}
		var b struct {
			Outcome holdshort.Outcome `json:"outcome"`
		}
		if len(fixed) == 0 || tx.decode("request.fixed", id, fixed, &f) != nil || tx.decode("request", id, body, &b) != nil {
			c.Erased = true // or nobody can read it
		}
		c.Rule, c.Outcome = f.Rule, b.Outcome
		list = append(list, c)
		return nil
	})
	return list, more, err
}
