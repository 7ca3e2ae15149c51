package sqldb

import (
	"context"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// eventLog collects the events of a transaction that spans tenants.
type eventLog []tenantEvents

type tenantEvents struct {
	tenant holdshort.TenantID
	events []holdshort.Event
}

// finish ends tx and returns its writes. Its events are reported after the commit.
func (l *eventLog) finish(tx *Tx) ([]Write, error) {
	writes, err := tx.Finish()
	if err == nil {
		*l = append(*l, tenantEvents{tx.tenant, tx.chained})
	}
	return writes, err
}

// transact commits fn and reports the events that fn collected in log. Every transaction of the store itself that writes events goes through
// it. fn may run more than once; only the events of its last run count.
func (db *DB) transact(ctx context.Context, log *eventLog, fn func(conn Conn, now time.Time) error) error {
	err := db.Backend.Transact(ctx, func(conn Conn, now time.Time) error {
		*log = nil
		return fn(conn, now)
	})
	if err != nil {
		return err
	}
	for _, t := range *log {
		store.ReportEvents(ctx, t.tenant, t.events)
	}
	return nil
}
