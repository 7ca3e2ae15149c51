package bench

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// counted is a store that knows how often it was asked. A commit can hold many transactions, so what the database says is not enough.
type counted struct {
	store.Store
	updates atomic.Int64 // transactions that were committed
	refused atomic.Int64 // transactions that were not
	views   atomic.Int64
	system  countedSystem
	asked   sync.Map // run to the request that it raised, as a message to a person would carry it
	pattern *pattern // takes down what is written; nil: nobody does
	after   func()   // of each transaction, before its caller hears of it; nil: nothing
}

func newCounted(s store.Store) *counted {
	return &counted{Store: s, system: countedSystem{System: s.System()}}
}

func (c *counted) Update(ctx context.Context, tenant holdshort.TenantID, fn func(store.Tx) error, rows ...store.Row) error {
	err := c.Store.Update(ctx, tenant, func(tx store.Tx) error { return fn(watched{tx, c}) }, rows...)
	if err != nil {
		c.refused.Add(1)
		return err
	}
	c.updates.Add(1)
	if c.after != nil {
		c.after()
	}
	return nil
}

func (c *counted) View(ctx context.Context, tenant holdshort.TenantID, fn func(store.ReadTx) error) error {
	c.views.Add(1)
	return c.Store.View(ctx, tenant, fn)
}

func (c *counted) System() store.System { return &c.system }

// watched is a transaction whose questions are noted, and all that it writes if somebody wants to know.
type watched struct {
	store.Tx
	store *counted
}

func (w watched) PutRequest(req holdshort.Request) error {
	if req.Status == holdshort.RequestOpen {
		w.store.asked.Store(req.RunID, req.ID)
	}
	if p := w.store.pattern; p != nil {
		p.request = req
	}
	return w.Tx.PutRequest(req)
}

func (w watched) PutRun(run holdshort.Run) error {
	if p := w.store.pattern; p != nil {
		p.run = run
	}
	return w.Tx.PutRun(run)
}

func (w watched) AddJournal(e holdshort.JournalEntry) error {
	if p := w.store.pattern; p != nil {
		p.journal = append(p.journal, e)
	}
	return w.Tx.AddJournal(e)
}

func (w watched) SetTimer(t holdshort.Timer) error {
	if p := w.store.pattern; p != nil {
		p.timers = append(p.timers, t)
	}
	return w.Tx.SetTimer(t)
}

func (w watched) AddEvent(e holdshort.Event) error {
	if p := w.store.pattern; p != nil {
		p.events = append(p.events, e)
	}
	return w.Tx.AddEvent(e)
}

// request gives what a run asked last, once.
func (c *counted) request(run holdshort.RunID) (holdshort.RequestID, bool) {
	id, ok := c.asked.LoadAndDelete(run)
	if !ok {
		return "", false
	}
	return id.(holdshort.RequestID), true
}

// calls is everything that the store was asked.
func (c *counted) calls() int64 {
	return c.updates.Load() + c.refused.Load() + c.views.Load() + c.system.calls.Load()
}

// countedSystem counts what the loops ask.
type countedSystem struct {
	store.System
	calls   atomic.Int64
	commits atomic.Int64 // of the loops themselves
}

// wrote counts a commit if there was something to commit.
func (c *countedSystem) wrote(something bool, err error) {
	if something && err == nil {
		c.commits.Add(1)
	}
}

func (c *countedSystem) Now(ctx context.Context) (time.Time, error) {
	c.calls.Add(1)
	return c.System.Now(ctx)
}

func (c *countedSystem) DueTimers(ctx context.Context, limit int) ([]store.Due, time.Time, error) {
	c.calls.Add(1)
	return c.System.DueTimers(ctx, limit)
}

func (c *countedSystem) ClaimRuns(ctx context.Context, claim store.RunClaim, fn func(store.Tx, holdshort.Run) error) (int, error) {
	c.calls.Add(1)
	n, err := c.System.ClaimRuns(ctx, claim, fn)
	c.wrote(n > 0, err)
	return n, err
}

func (c *countedSystem) ClaimDeliveries(ctx context.Context, claim store.DeliveryClaim, fn func(store.Tx, holdshort.Delivery) error) (int, error) {
	c.calls.Add(1)
	return c.System.ClaimDeliveries(ctx, claim, fn)
}

func (c *countedSystem) UnroutedInbound(ctx context.Context, before time.Time, limit int) ([]store.InboundRef, error) {
	c.calls.Add(1)
	return c.System.UnroutedInbound(ctx, before, limit)
}

func (c *countedSystem) Acquire(ctx context.Context, name, owner string, ttl time.Duration) (holdshort.Lease, error) {
	c.calls.Add(1)
	lease, err := c.System.Acquire(ctx, name, owner, ttl)
	c.wrote(true, err)
	return lease, err
}

func (c *countedSystem) Stamp(ctx context.Context, lease holdshort.Lease, limit int) (int, error) {
	c.calls.Add(1)
	n, err := c.System.Stamp(ctx, lease, limit)
	c.wrote(n > 0, err)
	return n, err
}

func (c *countedSystem) Seal(ctx context.Context, lease holdshort.Lease, limit int) (*holdshort.Seal, error) {
	c.calls.Add(1)
	seal, err := c.System.Seal(ctx, lease, limit)
	c.wrote(seal != nil, err)
	return seal, err
}

func (c *countedSystem) Prune(ctx context.Context, retention store.Retention) (store.Pruned, error) {
	c.calls.Add(1)
	return c.System.Prune(ctx, retention)
}
