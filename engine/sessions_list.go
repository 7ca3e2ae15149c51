package engine

import (
	"context"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

// SessionQuery selects sessions, those where something happened last first, to the minute. What is empty selects nothing away.
type SessionQuery struct {
	User    string
	Channel string
	Mode    string
	Agent   string
	Cursor  string
	Limit   int
}

// SessionsFor lists the sessions that somebody may see: their own, or everybody's by their role. Where few match, a page may be short, or
// empty, and its cursor goes on.
func (e *Engine) SessionsFor(ctx context.Context, tenant holdshort.TenantID, q SessionQuery, actor holdshort.Actor) (store.Page[holdshort.Session], error) {
	limit := q.Limit
	if limit <= 0 || limit > store.MaxPage {
		limit = store.MaxPage
	}
	return view(ctx, e, tenant, func(tx store.ReadTx) (out store.Page[holdshort.Session], err error) {
		look := store.SessionQuery{Owner: q.owner(actor), Mode: holdshort.SessionMode(q.Mode), Cursor: q.Cursor, Limit: store.MaxPage}
		for range mostLooks {
			page, err := tx.Sessions(look)
			if err != nil {
				return out, err
			}
			out.Corrupt = append(out.Corrupt, page.Corrupt...)
			for i, s := range page.Items {
				if !q.matches(s) || !seesSession(actor, s) {
					continue
				}
				if out.Items = append(out.Items, s); len(out.Items) == limit {
					out.Next, err = sessionCursor(tx, look, i, page)
					return out, err
				}
			}
			if out.Next, look.Cursor = page.Next, page.Next; page.Next == "" {
				break
			}
		}
		return out, nil
	})
}

// sessionCursor is the one behind an item in the middle of a page.
func sessionCursor(tx store.ReadTx, look store.SessionQuery, i int, page store.Page[holdshort.Session]) (string, error) {
	if i == len(page.Items)-1 {
		return page.Next, nil
	}
	look.Limit = i + 1
	shorter, err := tx.Sessions(look)
	return shorter.Next, err
}

// owner is whose sessions alone can be on the list.
func (q SessionQuery) owner(actor holdshort.Actor) string {
	if q.User != "" || seesSession(actor, holdshort.Session{}) {
		return q.User
	}
	return actor.Who()
}

func (q SessionQuery) matches(s holdshort.Session) bool {
	return !erased(s) && (q.User == "" || q.User == s.User) && (q.Channel == "" || q.Channel == s.Channel) && (q.Agent == "" || q.Agent == s.Agent)
}

func seesSession(actor holdshort.Actor, s holdshort.Session) bool {
	ok, _ := policy.Can(policy.View, actor, policy.Resource{Owner: s.User})
	return ok
}
