package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/internal/sqldb"
)

// Snapshot runs fn over one state of the database. Its statements end with the context: nobody shares them. Connections that died while they
// were idle are found here and replaced: nothing was asked of them yet.
func (s *Store) Snapshot(ctx context.Context, fn func(conn sqldb.Conn, now time.Time) error) error {
	ctx, cancel := context.WithTimeout(ctx, 2*s.options.Patience) // a dead wire must not keep a reader's place for ever
	defer cancel()
	var err error
	for range s.options.Readers + 1 {
		var died bool
		if died, err = s.snapshot(ctx, fn); !died {
			break
		}
	}
	return err
}

func (s *Store) snapshot(ctx context.Context, fn func(conn sqldb.Conn, now time.Time) error) (died bool, err error) {
	pooled, err := s.acquire(ctx)
	if err != nil {
		return false, err
	}
	defer pooled.Release()
	c := &conn{store: s, pg: pooled.Conn(), ctx: ctx}
	defer func() {
		ended, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(s.options.Patience, time.Second))
		defer cancel()
		c.ctx = ended
		if c.rollback(); c.lost {
			c.pg.Close(ended) // the pool drops it
		}
	}()
	now, err := c.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", nil)
	if err != nil {
		return c.lost && ctx.Err() == nil, err
	}
	return false, fn(c, now)
}

func (s *Store) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	if s.closed.Load() && s.lanes == nil {
		return nil, &holdshort.Error{Code: holdshort.StoreClosed, Message: "the store is closed", Hint: "open it again"}
	}
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if s.closed.Load() {
			return nil, &holdshort.Error{Code: holdshort.StoreClosed, Message: "the store is closed", Hint: "open it again"}
		}
		return nil, explain("connect", err)
	}
	return pooled, nil
}

// View runs fn over one state of what is committed.
func (s *Store) View(ctx context.Context, tenant holdshort.TenantID, fn func(store.ReadTx) error) error {
	if err := sqldb.CheckTenant(tenant); err != nil {
		return err
	}
	return s.Snapshot(ctx, func(c sqldb.Conn, now time.Time) error {
		tx := s.db.NewView(c, tenant, now)
		defer tx.End()
		return fn(tx)
	})
}

// Vitals asks PostgreSQL how it is.
func (s *Store) Vitals(ctx context.Context, h *store.Health) error {
	pooled, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer pooled.Release()
	var fsync, full string
	err = pooled.QueryRow(ctx, `SELECT 'PostgreSQL ' || current_setting('server_version'), pg_database_size(current_database()), current_setting('fsync'),
		current_setting('full_page_writes')`).Scan(&h.Server, &h.Bytes, &fsync, &full)
	if err != nil {
		return explain("ask for the database's health", err)
	}
	if fsync != "on" || full != "on" {
		h.Problems = append(h.Problems, "the server runs with fsync="+fsync+" and full_page_writes="+full+": what was acknowledged may be lost with the machine")
	}
	return nil
}
