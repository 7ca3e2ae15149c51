package engine

import (
	"context"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// ParseOrder reads how a list of requests is to be sorted: urgency (the default), newest or due.
func ParseOrder(name string) (store.RequestOrder, error) {
	switch name {
	case "", "urgency":
		return store.ByUrgency, nil
	case "newest":
		return store.ByNewest, nil
	case "due", "expiry":
		return store.ByExpiry, nil
	}
	return "", &holdshort.Error{Code: holdshort.Invalid, Op: "list requests", Field: "sort", Message: "unknown order " + clip(name), Hint: "use urgency, newest or due"}
}

// SearchRequests lists the requests that somebody may see and in which words occur: in the question, the rule, the name of a tool, the agent or the
// flow, the short code, the requester. Every word must be there; the last may be the beginning of one. An id, or the beginning of one, finds that
// request, or those of that run or session. More than store.MostMatched come newest first, whatever order was asked for. Where few can be seen, a
// page may be short, and its cursor goes on.
func (e *Engine) SearchRequests(ctx context.Context, tenant holdshort.TenantID, q RequestQuery, words string, actor holdshort.Actor) (store.Page[holdshort.Request], error) {
	if strings.TrimSpace(words) == "" {
		return e.RequestsFor(ctx, tenant, q, actor)
	}
	return e.search(ctx, tenant, store.SearchQuery{RequestQuery: q, Words: words}, actor)
}

// SearchAmong returns the requests of ids, at most store.MaxPage, that SearchRequests would find for the words. It does so without a search: the
// size of the store does not matter.
func (e *Engine) SearchAmong(ctx context.Context, tenant holdshort.TenantID, ids []holdshort.RequestID, words string, actor holdshort.Actor) ([]holdshort.Request, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	page, err := e.search(ctx, tenant, store.SearchQuery{Words: words, Among: ids}, actor)
	return page.Items, err
}

func (e *Engine) search(ctx context.Context, tenant holdshort.TenantID, q store.SearchQuery, actor holdshort.Actor) (store.Page[holdshort.Request], error) {
	sights, known := sightsOf(actor)
	if !known {
		return store.Page[holdshort.Request]{}, nil
	}
	q.Sights = sights
	return view(ctx, e, tenant, func(tx store.ReadTx) (store.Page[holdshort.Request], error) {
		return visible(q.Limit, q.Cursor, func(cursor string, limit int) (store.Page[holdshort.Request], error) {
			q.Cursor, q.Limit = cursor, limit
			return tx.Search(q)
		}, func(r holdshort.Request) bool {
			return (q.Status == "" || readAt(r, tx.Now()).Status == q.Status) && e.Visible(actor, &r, nil)
		})
	})
}

// sightsOf is whence somebody sees requests, open or closed; none: from anywhere.
func sightsOf(a holdshort.Actor) (sights []string, known bool) {
	if !knownActor(a) || seesAll(a) {
		return nil, knownActor(a)
	}
	sights = append(seatsOf(a), store.RaiserSeat(a.ID))
	return sights, true
}
