package engine

import (
	"context"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// Similar is what became of requests for the same tool under the same rule.
type Similar struct {
	Approved, Rejected, Edited, Answered, Expired int
	More                                          bool // there are more than were counted
	Since                                         time.Time
	Last                                          *RequestView // the last one that was decided and that the actor may see
}

// similarFor is how far back Similar looks.
const similarFor = 30 * 24 * time.Hour

// Similar counts what became of requests that were like this one: for the same tool, the first if there are several, under the same rule. They are
// counted a moment after they were closed.
func (e *Engine) Similar(ctx context.Context, tenant holdshort.TenantID, req holdshort.Request, actor holdshort.Actor) (out Similar, err error) {
	var decided []holdshort.RequestID
	err = e.store.View(ctx, tenant, func(tx store.ReadTx) error {
		out = Similar{Since: tx.Now().Add(-similarFor)}
		alike, err := tx.Alike(req, out.Since)
		if err != nil {
			return err
		}
		n := alike.Outcomes
		out.Approved, out.Rejected, out.Edited, out.Answered = n[holdshort.Approved], n[holdshort.Rejected], n[holdshort.Edited], n[holdshort.Answered]+n[holdshort.Selected]
		out.Expired, out.More, decided = alike.Expired, alike.More, alike.Decided
		return nil
	})
	if err != nil {
		return out, err
	}
	for _, id := range decided {
		last, err := e.RequestFor(ctx, tenant, id, actor)
		switch holdshort.CodeOf(err) {
		case "":
			if last.Request.Fingerprint != "" { // one that was erased has nothing to show
				out.Last = &last
				return out, nil
			}
		case holdshort.NotFound, holdshort.Forbidden, holdshort.Corrupt:
		default:
			return out, err
		}
	}
	return out, nil
}
