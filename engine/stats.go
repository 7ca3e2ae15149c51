package engine

import (
	"context"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// Tally is a number that is exact up to a thousand. More says that there are more than that.
type Tally = store.Tally

// Period is what became of requests within a time.
type Period = store.Period

// Stats is how a tenant stands.
type Stats = store.Stats

// Stats counts what a tenant has, at a cost that does not grow with what it has.
func (e *Engine) Stats(ctx context.Context, tenant holdshort.TenantID) (Stats, error) {
	return view(ctx, e, tenant, func(tx store.ReadTx) (Stats, error) { return tx.Stats() })
}
