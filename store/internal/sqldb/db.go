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
	// Exclusive runs fn in a write transaction of its own and commits it.
	Exclusive(ctx context.Context, fn func(conn Conn, now time.Time) error) error
	// Snapshot runs fn in a read transaction.
	Snapshot(ctx context.Context, fn func(conn Conn, now time.Time) error) error
	// Vitals is what only the driver knows of its database's health.
	Vitals(ctx context.Context, health *store.Health) error
}

// DB is what both stores share.
type DB struct {
	Dialect *Dialect
	Codec   store.Codec // nil: payloads are stored as they are
	Keyring *holdshort.Keyring
	Backend Backend
	Clock   func() time.Time // this process's, for the skew that Health shows
	Mark    *Mark
	tenants tenantSet

	quarantine atomic.Pointer[string]
	identity   markNote
}

// tenantSet remembers which tenants have their row, so that a transaction need not look.
type tenantSet struct{ seen sync.Map }

func (s *tenantSet) known(t holdshort.TenantID) bool {
	_, ok := s.seen.Load(t)
	return ok
}

// Committed tells that a transaction of tenant with writes was committed.
func (db *DB) Committed(tenant holdshort.TenantID) {
	if !db.tenants.known(tenant) {
		db.tenants.seen.Store(tenant, true)
	}
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
