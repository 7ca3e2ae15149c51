package sqlite

import (
	"context"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/internal/sqldb"
)

// readers is a pool of connections that read snapshots beside the writer.
type readers struct {
	store  *Store
	tokens chan struct{} // one for each that may be in use
	mu     sync.Mutex
	idle   []*conn
	closed bool
}

// drafters is how many functions read at once: they never wait for views, which may take long.
const drafters = 4

func newReaders(s *Store, n int) *readers { return &readers{store: s, tokens: make(chan struct{}, n)} }

func (r *readers) take(ctx context.Context) (*conn, error) {
	select {
	case r.tokens <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		<-r.tokens
		return nil, &holdshort.Error{Code: holdshort.StoreClosed, Message: "the store is closed", Hint: "open it again"}
	}
	if n := len(r.idle); n > 0 {
		c := r.idle[n-1]
		r.idle = r.idle[:n-1]
		return c, nil
	}
	c, err := dial(r.store.path, r.store.options, true)
	if err != nil {
		<-r.tokens
	}
	return c, err
}

func (r *readers) give(c *conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	<-r.tokens
	if r.closed {
		c.close()
		return
	}
	r.idle = append(r.idle, c)
}

// close lets go of idle connections; those in use go when they are given back.
func (r *readers) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, c := range r.idle {
		c.close()
	}
	r.idle = nil
}

// Snapshot runs fn over one state of the database. Its statements end with the context: nobody shares them.
func (s *Store) Snapshot(ctx context.Context, fn func(conn sqldb.Conn, now time.Time) error) error {
	c, err := s.readers.take(ctx)
	if err != nil {
		return err
	}
	defer s.readers.give(c)
	c.ctx = ctx
	defer func() { c.ctx = context.Background() }()
	return c.transact(beginRead, func() error { return fn(c, s.now()) })
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

// Vitals asks SQLite how it is.
func (s *Store) Vitals(ctx context.Context, h *store.Health) error {
	c, err := s.readers.take(ctx)
	if err != nil {
		return err
	}
	defer s.readers.give(c)
	var pages, size int64
	for s, into := range map[*sqldb.Statement]any{libraryVersion: &h.Server, pageCount: &pages, pageSize: &size} {
		if err := c.one(ctx, s, into); err != nil {
			return explain("ask for the database's health", err)
		}
	}
	h.Bytes = pages * size
	if n := s.clock.SetBack(); n > 0 {
		h.Problems = append(h.Problems, "this machine's clock was set back while the store was open")
	}
	return nil
}

// Check reads the whole file and reports damage: it takes as long as the file is large.
func (s *Store) Check(ctx context.Context) error {
	c, err := s.readers.take(ctx)
	if err != nil {
		return err
	}
	defer s.readers.give(c)
	var verdict string
	if err := c.one(ctx, quickCheck, &verdict); err != nil {
		return explain("check the file", err)
	}
	if verdict != "ok" {
		return &holdshort.Error{Code: holdshort.SchemaCorrupt, Op: "check " + s.path, Message: verdict, Hint: "restore a backup; keep the damaged file for a look"}
	}
	return nil
}

var (
	libraryVersion = sqldb.Text("SELECT 'SQLite ' || sqlite_version()")
	pageCount      = sqldb.Text("PRAGMA page_count")
	pageSize       = sqldb.Text("PRAGMA page_size")
	quickCheck     = sqldb.Text("PRAGMA quick_check(1)")
)

// one reads a single value, outside a transaction.
func (c *conn) one(ctx context.Context, s *sqldb.Statement, into any) error {
	c.broken, c.ctx = nil, ctx
	defer func() { c.ctx = context.Background() }()
	return c.Query(s, nil, func(scan func(...any) error) error { return scan(into) })
}
