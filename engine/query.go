package engine

import (
	"context"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// RunByID gives a run as it stands.
func (e *Engine) RunByID(ctx context.Context, tenant holdshort.TenantID, id holdshort.RunID) (run holdshort.Run, err error) {
	err = e.store.View(ctx, tenant, func(tx store.ReadTx) error {
		run, err = tx.Run(id)
		return err
	})
	return run, err
}

// RequestByID gives a request as it stands.
func (e *Engine) RequestByID(ctx context.Context, tenant holdshort.TenantID, id holdshort.RequestID) (req holdshort.Request, err error) {
	err = e.store.View(ctx, tenant, func(tx store.ReadTx) error {
		req, err = tx.Request(id)
		return err
	})
	return req, err
}

// RequestQuery selects requests.
type RequestQuery = store.RequestQuery

// RunQuery selects runs.
type RunQuery = store.RunQuery

// Requests lists requests: the inbox.
func (e *Engine) Requests(ctx context.Context, tenant holdshort.TenantID, q RequestQuery) (page store.Page[holdshort.Request], err error) {
	err = e.store.View(ctx, tenant, func(tx store.ReadTx) error {
		page, err = tx.Requests(q)
		return err
	})
	return page, err
}
