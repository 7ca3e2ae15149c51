package sqlite

import (
	"context"

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
	run, committed := s.db.Member(tenant, fn)
	err := s.writer.submit(ctx, run)
	if err == nil {
		committed()
	}
	return err
}
