package engine

import (
	"context"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// DecidedQuery selects requests that are closed.
type DecidedQuery struct {
	Status  holdshort.RequestStatus // resolved, expired or canceled; default: all
	Outcome holdshort.Outcome
	By      string // who decided or voted: an actor's id
	Cursor  string
	Limit   int
}

// DecidedRequests lists closed requests that somebody may see, the last closed first; those of one actor by when they decided. Where few fit, a page
// may be short, and its cursor goes on.
func (e *Engine) DecidedRequests(ctx context.Context, tenant holdshort.TenantID, q DecidedQuery, actor holdshort.Actor) (store.Page[holdshort.Request], error) {
	if q.Status == holdshort.RequestOpen {
		return store.Page[holdshort.Request]{}, &holdshort.Error{Code: holdshort.Invalid, Op: "list decided requests", Field: "status", Message: "an open request is not decided",
			Hint: "use resolved, expired or canceled"}
	}
	return view(ctx, e, tenant, func(tx store.ReadTx) (store.Page[holdshort.Request], error) {
		return visible(q.Limit, q.Cursor, func(cursor string, limit int) (store.Page[holdshort.Request], error) {
			return tx.Decided(store.DecidedQuery{Status: q.Status, By: q.By, Cursor: cursor, Limit: limit})
		}, func(r holdshort.Request) bool {
			return (q.Status == "" || r.Status == q.Status) && (q.Outcome == "" || r.Outcome == q.Outcome) && e.Visible(actor, &r, nil)
		})
	})
}
