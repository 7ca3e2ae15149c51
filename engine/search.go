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

// SearchRequests lists the requests that somebody may see and in which words occur: in the question, the rule, a tool's name, the short
// code or an id. Where few match, a page may be short, and its cursor goes on.
func (e *Engine) SearchRequests(ctx context.Context, tenant holdshort.TenantID, q RequestQuery, words string, actor holdshort.Actor) (store.Page[holdshort.Request], error) {
	words = strings.ToLower(strings.TrimSpace(words))
	if words == "" {
		return e.RequestsFor(ctx, tenant, q, actor)
	}
	return visible(q.Limit, q.Cursor, func(cursor string, _ int) (store.Page[holdshort.Request], error) {
		q.Cursor, q.Limit = cursor, store.MaxPage
		return e.Requests(ctx, tenant, q)
	}, func(r holdshort.Request) bool { return mentions(r, words) && e.Visible(actor, &r, nil) })
}

func mentions(r holdshort.Request, words string) bool {
	texts := []string{string(r.ID), string(r.RunID), string(r.SessionID), r.Code, r.Question, r.Rule, r.Requester.User}
	for _, a := range r.Actions {
		texts = append(texts, a.Tool)
	}
	for _, text := range texts {
		if strings.Contains(strings.ToLower(text), words) {
			return true
		}
	}
	return false
}
