package engine

import (
	"context"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

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

// DeskCounts counts what Desk lists, at a cost that does not grow with what there is.
func (e *Engine) DeskCounts(ctx context.Context, tenant holdshort.TenantID, actor holdshort.Actor) (Counts, error) {
	return view(ctx, e, tenant, func(tx store.ReadTx) (Counts, error) {
		c := Counts{At: tx.Now(), ByKind: map[holdshort.Kind]Count{}, ByPriority: map[holdshort.Priority]Count{}}
		seated, err := tx.Seated()
		if err != nil {
			return c, err
		}
		if !seated {
			return c, e.countPages(tx, &c, actor)
		}
		t, err := tx.DeskTally(seatsOf(actor), actor.Who(), c.At.Add(dueSoon))
		if err != nil {
			return c, err
		}
		c.All, c.Mine, c.Soon, c.Oldest = counted(t.All), counted(t.Mine), counted(t.Soon), t.All.Oldest
		for kind, n := range t.ByKind {
			c.ByKind[kind] = counted(n)
		}
		for priority, n := range t.ByPriority {
			c.ByPriority[priority] = counted(n)
		}
		c.Unknown = c.ByKind[holdshort.Reconcile]
		return c, nil
	})
}

func counted(t store.Tally) Count { return Count{N: int(t.Count), More: t.More} }

// countPages counts what a store can show whose requests have not all found their seats.
func (e *Engine) countPages(tx store.ReadTx, c *Counts, actor holdshort.Actor) error {
	count := func(n *Count) { n.N++ }
	cursor := ""
	for c.All.N < store.MostCounted {
		page, err := e.deskPage(tx, DeskQuery{Cursor: cursor}, actor)
		if err != nil {
			return err
		}
		for _, r := range page.Items {
			count(&c.All)
			if r.Assignee == actor.Who() {
				count(&c.Mine)
			}
			if due := r.Due(); !due.IsZero() && due.Before(c.At.Add(dueSoon)) {
				count(&c.Soon)
			}
			if c.Oldest.IsZero() || r.CreatedAt.Before(c.Oldest) {
				c.Oldest = r.CreatedAt
			}
			k, p := c.ByKind[r.Kind], c.ByPriority[r.Priority]
			count(&k)
			count(&p)
			c.ByKind[r.Kind], c.ByPriority[r.Priority] = k, p
		}
		if cursor = page.Next; cursor == "" {
			break
		}
		if len(page.Items) == 0 { // it has looked enough
			break
		}
	}
	for _, n := range []*Count{&c.All, &c.Mine, &c.Soon} {
		n.More = cursor != ""
	}
	for k, n := range c.ByKind {
		c.ByKind[k] = Count{n.N, cursor != ""}
	}
	for p, n := range c.ByPriority {
		c.ByPriority[p] = Count{n.N, cursor != ""}
	}
	c.Unknown = c.ByKind[holdshort.Reconcile]
	return nil
}
