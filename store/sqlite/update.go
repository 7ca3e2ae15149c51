package sqlite

import (
	"context"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// Update runs fn as a member of a group. The rows are of no use here: members run one after the other.
func (s *Store) Update(ctx context.Context, tenant holdshort.TenantID, fn func(store.Tx) error, _ ...store.Row) error {
	if s.readOnly {
		return errReadOnly
	}
	if _, err := holdshort.ParseTenantID(string(tenant)); err != nil {
		return err
	}
	if err := s.db.Admit(); err != nil {
		return err
	}
	wrote := false
	err := s.writer.submit(ctx, func(c *conn, now time.Time) error {
		tx := s.db.NewTx(c, tenant, now)
		defer tx.End()
		if err := fn(tx); err != nil {
			return err
		}
		writes, err := tx.Finish()
		if err != nil {
			return err
		}
		wrote = len(writes) > 0
		return c.Apply(writes)
	})
	if err == nil && wrote {
		s.db.Committed(tenant)
	}
	return err
}
