package sqldb

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// Backend is what a driver gives: whole transactions over one connection, not bound to a tenant, and not shared with anybody.
type Backend interface {
	// Transact runs fn in a write transaction of its own and commits it.
	Transact(ctx context.Context, fn func(conn Conn, now time.Time) error) error
	// Snapshot runs fn in a read transaction.
	Snapshot(ctx context.Context, fn func(conn Conn, now time.Time) error) error
	// Exclusive: no other process can have this database open.
	Exclusive() bool
	// Vitals is what only the driver knows of its database's health.
	Vitals(ctx context.Context, health *store.Health) error
}

// DB is what both stores share.
type DB struct {
	Dialect    *Dialect
	Codec      store.Codec // nil: payloads are stored as they are
	Keyring    *holdshort.Keyring
	Backend    Backend
	Migrations []Migration
	Clock      func() time.Time // this process's, for the skew that Health shows
	Mark       *Mark
	Heads      *Heads
	tenants    tenantSet

	seated     atomic.Bool // every open request has its seats
	quarantine atomic.Pointer[string]
	identity   markNote
}

// tenantSet remembers which tenants have their row, so that a transaction need not look.
type tenantSet struct{ seen sync.Map }

func (s *tenantSet) known(t holdshort.TenantID) bool {
	_, ok := s.seen.Load(t)
	return ok
}

var insertTenant = statement(`INSERT INTO tenants (id, at) VALUES (?, ?) ON CONFLICT (id) DO NOTHING`)

// CheckTenant refuses a view of a name that is none. The store's own notes can be looked at, not written.
func CheckTenant(tenant holdshort.TenantID) error {
	if tenant == holdshort.SystemTenant {
		return nil
	}
	_, err := holdshort.ParseTenantID(string(tenant))
	return err
}

// Member makes what a group runs of a transaction function: fn over a Tx of tenant, then its writes. Call committed after the commit, with the
// draft if its writes were committed in place of those of run.
func (db *DB) Member(tenant holdshort.TenantID, fn func(store.Tx) error) (run func(Conn, time.Time) error, committed func(context.Context, *Draft)) {
	wrote := false
	var events []holdshort.Event
	var heads ends
	run = func(conn Conn, now time.Time) error {
		tx := db.NewTx(conn, tenant, now)
		defer tx.End()
		if err := fn(tx); err != nil {
			return err
		}
		writes, err := tx.Finish()
		if err != nil {
			return err
		}
		wrote, heads, events = len(writes) > 0, tx.heads, tx.chained
		return conn.Apply(writes)
	}
	committed = func(ctx context.Context, draft *Draft) {
		if wrote && !db.tenants.known(tenant) {
			db.tenants.seen.Store(tenant, true)
		}
		db.Heads.learn(tenant, heads)
		if draft != nil {
			events = draft.tx.chained
		}
		store.ReportEvents(ctx, tenant, events)
	}
	return run, committed
}
