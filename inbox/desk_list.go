package inbox

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// listView is a page of a list.
type listView struct {
	View   view
	Rows   []row
	Closed []closedRow // in place of Rows, where the list is about what was decided
	Next   string      // the address of what follows, "" at the end
	First  bool        // nothing came before it
}

// Empty reports whether there is nothing at all.
func (l listView) Empty() bool { return l.First && l.Next == "" && len(l.Rows)+len(l.Closed) == 0 }

// Filtered reports whether less than the whole view is shown.
func (l listView) Filtered() bool { return l.View.filtered() }

func (w view) filtered() bool {
	return w.Kind != "" || w.Priority != "" || w.Due != "" || w.Q != "" || w.Outcome != "" || w.By != ""
}

// closedRow is a request that is closed: what it came to, by whom and when.
type closedRow struct {
	row
	By string
}

// list reads a page of what a view shows.
func (v *visit) list(w view) (listView, error) {
	out := listView{View: w, First: w.Cursor == ""}
	items, next, err := v.requests(w)
	if err != nil {
		return out, err
	}
	for _, req := range items {
		if w.Name != "decided" {
			out.Rows = append(out.Rows, rowOf(req, v.now))
			continue
		}
		var by *holdshort.Decision
		if req.Status == holdshort.RequestResolved || req.Status == holdshort.RequestCanceled {
			if d, err := v.engine.Decision(v.ctx, v.tenant(), req.ID); err == nil {
				by = &d
			} else if holdshort.CodeOf(err) != holdshort.NotFound {
				return out, err
			}
		}
		out.Closed = append(out.Closed, closedOf(req, by, v.now))
	}
	if next != "" {
		q := w.values()
		q.Set("cursor", next)
		out.Next = "/?" + q.Encode()
	}
	return out, nil
}

// requests asks the engine for what a view shows: what waits, what was decided, or where words occur.
func (v *visit) requests(w view) (items []holdshort.Request, next string, err error) {
	query, err := w.query(v.actor(), v.now)
	if err != nil {
		return nil, "", err
	}
	switch {
	case w.Q != "":
		return v.found(w, query)
	case w.Name == "decided":
		page, err := v.engine.DecidedRequests(v.ctx, v.tenant(), w.decidedQuery(v.actor()), v.actor())
		return page.Items, page.Next, err
	}
	desk, err := v.engine.Desk(v.ctx, v.tenant(), query, v.actor())
	return desk.Items, desk.Next, err
}

func (w view) decidedQuery(actor holdshort.Actor) engine.DecidedQuery {
	q := engine.DecidedQuery{Cursor: w.Cursor, Limit: rowsShown}
	switch w.Outcome {
	case string(holdshort.RequestExpired), string(holdshort.RequestCanceled):
		q.Status = holdshort.RequestStatus(w.Outcome)
	default:
		q.Outcome = holdshort.Outcome(w.Outcome)
	}
	if w.By == "me" {
		q.By = actor.ID
	}
	return q
}

// found looks for words in everything that somebody may see, open or closed; each row says which it is.
func (v *visit) found(w view, desk engine.DeskQuery) (kept []holdshort.Request, next string, err error) {
	q := engine.RequestQuery{Priority: desk.Priority, Assignee: desk.Assignee, Order: desk.Order, Cursor: w.Cursor, Limit: rowsShown}
	if len(desk.Kinds) == 1 {
		q.Kind = desk.Kinds[0]
	}
	page, err := v.engine.SearchRequests(v.ctx, v.tenant(), q, w.Q, v.actor())
	for _, req := range page.Items {
		if w.keeps(req, desk.DueBefore, v.now) {
			kept = append(kept, req)
		}
	}
	slices.SortStableFunc(kept, func(a, b holdshort.Request) int { // what still waits stands first, then what closed last
		waits := func(r holdshort.Request) int {
			if r.StatusAt(v.now) == holdshort.RequestOpen {
				return 0
			}
			return 1
		}
		return cmp.Or(waits(a)-waits(b), b.ClosedAt.Compare(a.ClosedAt))
	})
	return kept, page.Next, err
}

// keeps reports whether what was found by its words also has what else the view asks for.
func (w view) keeps(req holdshort.Request, dueBefore, now time.Time) bool {
	closed := req.StatusAt(now) != holdshort.RequestOpen
	if w.Name == "decided" {
		became := cmp.Or(string(req.Outcome), string(req.StatusAt(now)))
		return closed && (w.Outcome == "" || became == w.Outcome)
	}
	due := req.Due()
	return dueBefore.IsZero() || !closed && !due.IsZero() && due.Before(dueBefore)
}

func closedOf(req holdshort.Request, d *holdshort.Decision, now time.Time) closedRow {
	c := closedRow{row: rowOf(req, now)}
	switch {
	case d == nil:
	case d.Actor.Kind == holdshort.System:
		c.By = strings.TrimPrefix(d.Actor.ID, "system:")
	default:
		c.By = nameOf(d.Actor)
	}
	return c
}
