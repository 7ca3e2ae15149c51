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

// Desk lists the open requests that wait for somebody: those whose audience includes them, for a reviewer those that name a role or a person, and
// for administrators, operators and auditors all. What somebody may see only because they asked for it is not on their desk. One that is past its
// time is not among them. Where few fit, a page may be short, and its cursor goes on.
func (e *Engine) Desk(ctx context.Context, tenant holdshort.TenantID, q DeskQuery, actor holdshort.Actor) (Desk, error) {
	return view(ctx, e, tenant, func(tx store.ReadTx) (Desk, error) {
		page, err := e.deskPage(tx, q, actor)
		for i := range page.Items {
			page.Items[i] = readAt(page.Items[i], tx.Now())
		}
		page.Items = slices.DeleteFunc(page.Items, func(r holdshort.Request) bool { return !e.OnDesk(&r, actor) })
		return Desk{Items: page.Items, Next: page.Next}, err
	})
}

func (e *Engine) deskPage(tx store.ReadTx, q DeskQuery, actor holdshort.Actor) (store.Page[holdshort.Request], error) {
	seated, err := tx.Seated()
	if err != nil {
		return store.Page[holdshort.Request]{}, err
	}
	if seats := seatsOf(actor); seated {
		return tx.Desk(store.DeskQuery{Seats: seats, Kinds: q.Kinds, Priority: q.Priority, Assignee: q.Assignee, DueBefore: q.DueBefore, Order: q.Order, Cursor: q.Cursor, Limit: q.Limit})
	}
	return visible(q.Limit, q.Cursor, func(cursor string, limit int) (store.Page[holdshort.Request], error) {
		return tx.Requests(store.RequestQuery{Status: holdshort.RequestOpen, Priority: q.Priority, Assignee: q.Assignee, Order: q.Order, Cursor: cursor, Limit: limit})
	}, func(r holdshort.Request) bool {
		return e.OnDesk(&r, actor) && (len(q.Kinds) == 0 || slices.Contains(q.Kinds, r.Kind)) && (q.DueBefore.IsZero() || !r.Due().IsZero() && r.Due().Before(q.DueBefore))
	})
}

// seatsOf is where somebody looks for what waits for them.
func seatsOf(a holdshort.Actor) []string {
	var seats []string
	switch {
	case !knownActor(a):
		return nil
	case seesAll(a):
		return []string{store.NamedSeat, store.RestSeat}
	case a.HasRole(policy.Reviewer): // whatever names them or a role of theirs is there too
		seats = append(seats, store.NamedSeat)
	default:
		seats = append(seats, store.UserSeat(a.ID))
		for _, role := range a.Roles {
			if seat := store.RoleSeat(role); !slices.Contains(seats, seat) {
				seats = append(seats, seat)
			}
		}
	}
	seats = append(seats, store.OwnerSeat(a.ID))
	if a.ForUser != "" && a.ForUser != a.ID {
		seats = append(seats, store.OwnerSeat(a.ForUser))
	}
	return seats
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
