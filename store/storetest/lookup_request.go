package storetest

import (
	"fmt"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// requestLookups returns the lists of requests about one subject, in every order, with and without a cursor.
func (c Crowd) requestLookups() (all []Lookup) {
	open := holdshort.RequestOpen
	run, session := []string{"requests_run", "requests_step"}, []string{"requests_session"}
	assignee, kind := []string{"requests_assignee"}, []string{"requests_kind"}
	type query = store.RequestQuery
	for _, f := range []struct {
		name  string
		query query
		uses  []string
	}{
		{"run", query{Run: c.Run}, run},
		{"run, open", query{Run: c.Run, Status: open}, run},
		{"run, resolved", query{Run: c.Run, Status: holdshort.RequestResolved}, run},
		{"run, expired", query{Run: c.Run, Status: holdshort.RequestExpired}, run},
		{"run, open, kind", query{Run: c.Run, Status: open, Kind: holdshort.Reconcile}, run},
		{"run, open, priority", query{Run: c.Run, Status: open, Priority: holdshort.PriorityNormal}, run},
		{"run, open, assignee", query{Run: c.Run, Status: open, Assignee: c.Assignee}, run},
		{"run and session, open", query{Run: c.Run, Session: c.Session, Status: open}, run},
		{"session", query{Session: c.Session}, session},
		{"session, open", query{Session: c.Session, Status: open}, session},
		{"session, canceled", query{Session: c.Session, Status: holdshort.RequestCanceled}, session},
		{"session, kind", query{Session: c.Session, Kind: holdshort.Escalation}, session},
		{"session, open, kind", query{Session: c.Session, Status: open, Kind: holdshort.Escalation}, session},
		{"session, open, priority", query{Session: c.Session, Status: open, Priority: holdshort.PriorityNormal}, session},
		{"session, open, assignee", query{Session: c.Session, Status: open, Assignee: c.Assignee}, session},
		{"assignee, open", query{Assignee: c.Assignee, Status: open}, assignee},
		{"assignee, open, priority", query{Assignee: c.Assignee, Status: open, Priority: holdshort.PriorityNormal}, assignee},
		{"assignee, open, kind", query{Assignee: c.Assignee, Status: open, Kind: holdshort.Escalation}, assignee},
		{"open, kind", query{Status: open, Kind: holdshort.Reconcile}, kind},
		{"open, kind, priority", query{Status: open, Kind: holdshort.Escalation, Priority: holdshort.PriorityNormal}, kind},
	} {
		for _, order := range []store.RequestOrder{store.ByUrgency, store.ByNewest, store.ByExpiry} {
			q, name := f.query, fmt.Sprintf("requests by %s in order %q", f.name, order)
			q.Order = order
			all = append(all, lookup(name, func(tx store.ReadTx) (store.Page[holdshort.Request], error) {
				return tx.Requests(q)
			}, f.uses...))
			all = append(all, lookup(name+" after a cursor", func(tx store.ReadTx) (store.Page[holdshort.Request], error) {
				next := q
				next.Limit = 1
				first, err := tx.Requests(next)
				if err != nil || first.Next == "" {
					return first, err
				}
				next.Cursor = first.Next
				return tx.Requests(next)
			}, f.uses...))
		}
	}
	return all
}
