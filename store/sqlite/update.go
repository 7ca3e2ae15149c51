package sqlite

import (
	"context"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/internal/group"
	"github.com/holdshort/holdshort/store/internal/sqldb"
)

// Update runs fn. While the writer is busy with others, a function that named its rows is drafted: it runs at once, beside the writer and other
// drafts, over what is committed, and only its writes wait. Without names, or when nobody is in the way, it gets a turn on the writer's own
// connection, which has everything at hand.
func (s *Store) Update(ctx context.Context, tenant holdshort.TenantID, fn func(store.Tx) error, rows ...store.Row) error {
	if s.readOnly {
		return errReadOnly
	}
	if _, err := holdshort.ParseTenantID(string(tenant)); err != nil {
		return err
	}
	if err := s.db.Admit(); err != nil {
		return err
	}
	if s.closed.Load() {
		return errClosed
	}
	run, committed := s.db.Member(tenant, fn)
	e := &entry{Member: group.NewMember(run)}
	if len(rows) > 0 {
		give, err := s.names.take(ctx, tenant, rows)
		if err != nil {
			return err
		}
		defer give() // after the commit, or when fn panics
		if err := ctx.Err(); err != nil {
			return err
		}
		e.named = true
		if s.writer.busy.Load() > 0 {
			s.draft(e, tenant, fn)
			ctx = context.WithoutCancel(ctx) // it is under way: only the answer is the truth
		}
	}
	err := s.writer.submit(ctx, e)
	if err == nil {
		committed(ctx, e.applied())
	}
	return err
}

// draft runs the function now. What a draft cannot tell is left to a turn.
func (s *Store) draft(e *entry, tenant holdshort.TenantID, fn func(store.Tx) error) {
	e.seen = s.writer.unnamed.Load()
	draft, err := s.db.Draft(s.drafters, tenant, s.now(), fn)
	if draft.Sound() {
		e.draft, e.err = draft, err
	}
}

// Query reads what is committed, on any connection that is free.
func (r *readers) Query(statement *sqldb.Statement, args []any, each func(scan func(...any) error) error) error {
	c, err := r.take(context.Background())
	if err != nil {
		return err
	}
	defer r.give(c)
	c.broken = nil
	return c.Query(statement, args, each)
}

// Apply is never asked for: readers do not write.
func (r *readers) Apply([]sqldb.Write) error { return errReadOnly }

// Transact runs a member that named nothing.
func (s *Store) Transact(ctx context.Context, fn func(conn sqldb.Conn, now time.Time) error) error {
	if s.readOnly {
		return errReadOnly
	}
	return s.writer.submit(ctx, &entry{Member: group.NewMember(fn)})
}

var (
	errReadOnly = &holdshort.Error{Code: holdshort.StoreReadOnly, Message: "the store was opened for reading only"}
	errClosed   = &holdshort.Error{Code: holdshort.StoreClosed, Message: "the store is closed", Hint: "open it again"}
)
