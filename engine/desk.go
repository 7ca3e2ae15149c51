package engine

import (
	"context"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

// DeskQuery selects what waits. The zero value asks for everything, the most urgent first.
type DeskQuery struct {
	Kinds     []holdshort.Kind
	Priority  holdshort.Priority
	Assignee  string
	DueBefore time.Time
	Order     store.RequestOrder
	Cursor    string
	Limit     int // default and most: store.MaxPage
}

// Desk is a page of what waits for somebody.
type Desk struct {
	Items []holdshort.Request
	Next  string // opaque; empty at the end
}

// Count is a number that is exact up to a thousand. More says that there are more than that.
type Count struct {
	N    int  `json:"n"`
	More bool `json:"more,omitempty"`
}

// Counts is how much waits for somebody.
type Counts struct {
	At         time.Time
	All        Count
	Mine       Count // assigned to them
	Unknown    Count // what became of a call: reconcile requests
	Soon       Count // due within a quarter of an hour
	Oldest     time.Time
	ByKind     map[holdshort.Kind]Count
	ByPriority map[holdshort.Priority]Count
}

const dueSoon = 15 * time.Minute

// Desk lists the open requests that wait for somebody: those whose audience includes them, for a reviewer those that name a role or a person, and for administrators, operators
// and auditors all. What somebody may see only because they asked for it is not on their desk.
func (e *Engine) Desk(ctx context.Context, tenant holdshort.TenantID, q DeskQuery, actor holdshort.Actor) (Desk, error) {
	page, err := visible(q.Limit, q.Cursor, func(cursor string, limit int) (store.Page[holdshort.Request], error) {
		return e.Requests(ctx, tenant, RequestQuery{Status: holdshort.RequestOpen, Priority: q.Priority, Assignee: q.Assignee, Order: q.Order, Cursor: cursor, Limit: limit})
	}, func(r holdshort.Request) bool {
		return e.OnDesk(&r, actor) && (len(q.Kinds) == 0 || slices.Contains(q.Kinds, r.Kind)) && (q.DueBefore.IsZero() || !r.Due().IsZero() && r.Due().Before(q.DueBefore))
	})
	return Desk{Items: page.Items, Next: page.Next}, err
}

// DeskCounts counts what Desk lists.
func (e *Engine) DeskCounts(ctx context.Context, tenant holdshort.TenantID, actor holdshort.Actor) (Counts, error) {
	c := Counts{At: time.Now().UTC(), ByKind: map[holdshort.Kind]Count{}, ByPriority: map[holdshort.Priority]Count{}}
	page, err := e.Desk(ctx, tenant, DeskQuery{}, actor)
	for _, r := range page.Items {
		c.All.N++
		if r.Assignee == actor.ID {
			c.Mine.N++
		}
		if r.Kind == holdshort.Reconcile {
			c.Unknown.N++
		}
		if due := r.Due(); !due.IsZero() && due.Before(c.At.Add(dueSoon)) {
			c.Soon.N++
		}
		if c.Oldest.IsZero() || r.CreatedAt.Before(c.Oldest) {
			c.Oldest = r.CreatedAt
		}
		k, p := c.ByKind[r.Kind], c.ByPriority[r.Priority]
		k.N, p.N = k.N+1, p.N+1
		c.ByKind[r.Kind], c.ByPriority[r.Priority] = k, p
	}
	c.All.More = page.Next != ""
	return c, err
}

// OnDesk says whether an open request is on somebody's desk.
func (e *Engine) OnDesk(req *holdshort.Request, actor holdshort.Actor) bool {
	if req.Status != holdshort.RequestOpen || !knownActor(actor) {
		return false
	}
	return seesAll(actor) || req.Audience.Includes(actor, req.Requester.User) ||
		actor.HasRole(policy.Reviewer) && (len(req.Audience.Roles) > 0 || len(req.Audience.Users) > 0)
}

func knownActor(a holdshort.Actor) bool {
	ok, _ := policy.Can(policy.View, a, policy.Resource{Audience: holdshort.Audience{Users: []string{a.ID}}})
	return ok
}

// seesAll: what is there to see does not depend on whom it asks.
func seesAll(a holdshort.Actor) bool {
	ok, _ := policy.Can(policy.View, a, policy.Resource{})
	return ok
}
