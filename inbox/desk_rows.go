package inbox

import (
	"net/http"
	"slices"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// serveRows answers with the rows of the named requests that belong into a view. A script asks for them when the row
// that the stream sent is not the row of the view. A request that left the view is not in the answer. The fresh ids are
// not in the list yet: for them the words of a search are compared too.
func (v *visit) serveRows(w view, ids, fresh []string) error {
	list := listView{View: w}
	var refused error
	matching, err := v.matching(w, fresh)
	if err != nil {
		return err
	}
	ids = append(ids, matching...)
	for _, id := range ids[:min(len(ids), rowsShown)] {
		found, err := v.engine.RequestFor(v.ctx, v.tenant(), holdshort.RequestID(id), v.actor())
		switch holdshort.CodeOf(err) {
		case "":
		case holdshort.NotFound, holdshort.Forbidden, holdshort.Invalid:
			refused = err
			continue
		default:
			return err
		}
		belongs, err := v.belongs(w, found)
		switch {
		case err != nil:
			return err
		case !belongs:
		case w.Name == "decided":
			list.Closed = append(list.Closed, closedOf(found.Request, found.Decision, v.now))
		default:
			list.Rows = append(list.Rows, rowOf(found.Request, v.now))
		}
	}
	if len(list.Rows)+len(list.Closed) == 0 && refused != nil {
		return refused
	}
	return v.part(http.StatusOK, "desk_rows", list)
}

// matching returns the fresh ids that have the words of a search.
func (v *visit) matching(w view, fresh []string) (ids []string, err error) {
	if w.Q == "" {
		return fresh, nil
	}
	var named []holdshort.RequestID
	for _, id := range fresh[:min(len(fresh), rowsShown)] {
		named = append(named, holdshort.RequestID(id))
	}
	found, err := v.engine.SearchAmong(v.ctx, v.tenant(), named, w.Q, v.actor())
	for _, req := range found {
		ids = append(ids, string(req.ID))
	}
	return ids, err
}

// belongs reports whether the query of a view would return a request. The words of a search are not compared: they
// never change, so a row that a search found keeps them.
func (v *visit) belongs(w view, found engine.RequestView) (bool, error) {
	req := found.Request
	if w.Q == "" && w.Name != "decided" {
		return w.holds(&req, v.actor(), v.now) && v.engine.OnDesk(&req, v.actor()), nil
	}
	if w.Q == "" {
		return w.keeps(req, v.now, v.now) && (w.By != "me" || decidedBy(found, v.actor())), nil
	}
	query, err := w.query(v.actor(), v.now)
	if err != nil {
		return false, err
	}
	sameKind := len(query.Kinds) != 1 || query.Kinds[0] == req.Kind
	samePriority := query.Priority == "" || query.Priority == req.Priority
	sameAssignee := query.Assignee == "" || query.Assignee == req.Assignee
	return sameKind && samePriority && sameAssignee && w.keeps(req, query.DueBefore, v.now), nil
}

// decidedBy reports whether an actor decided a request, or was one of several who did.
func decidedBy(found engine.RequestView, actor holdshort.Actor) bool {
	if found.Decision != nil && found.Decision.Actor.ID == actor.ID {
		return true
	}
	return slices.ContainsFunc(found.Votes, func(vote holdshort.Vote) bool { return vote.Actor.ID == actor.ID })
}
