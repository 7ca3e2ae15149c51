package postgres

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store/internal/sqldb"
)

// conn is one connection, used by one goroutine at a time.
type conn struct {
	store       *Store
	pg          *pgx.Conn
	ctx         context.Context // of the transaction under way: never a caller's when it writes
	broken      error           // the transaction is aborted or the connection gone: nothing more may be said in it
	lost        bool            // the connection is gone
	wrote       bool            // the transaction has something to commit
	holds       bool            // writes are held back until a read or the commit, to go with it in one round trip
	held        []sqldb.Write
	locks       bool // an event stream moved under the transaction: it runs again and locks it first
	backend     backend
	onStatement func(string)
}

var _ sqldb.Script = (*conn)(nil)

func (s *Store) dial(ctx context.Context) (*conn, error) {
	pg, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		return nil, explain("connect", err)
	}
	c := &conn{store: s, pg: pg, ctx: context.Background(), onStatement: s.options.OnStatement}
	c.backend.pid = pg.PgConn().PID()
	if err := pg.QueryRow(ctx, `SELECT backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()`).Scan(&c.backend.start); err != nil {
		c.close()
		return nil, explain("connect", err)
	}
	return c, nil
}

// backend is the server's process behind a connection.
type backend struct {
	pid   uint32
	start string
}

// bury ends the process behind a connection that was lost, if it is still there: it may wait for the rest of a message that never comes and
// hold its locks meanwhile. The same number with another start is another process.
func (c *conn) bury(ctx context.Context, lost backend) {
	if lost.pid != 0 {
		c.pg.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start = $2::text::timestamptz`, int64(lost.pid), lost.start)
	}
}

func (c *conn) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	c.pg.Close(ctx)
}

func (c *conn) tell(text string) {
	if c.onStatement != nil {
		c.onStatement(text)
	}
}

// Exec runs a text that is not prepared; it may hold several statements.
func (c *conn) Exec(text string) error {
	c.tell(text)
	_, err := c.pg.Exec(c.ctx, text, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return c.fail("execute", err)
	}
	return nil
}

func (c *conn) Query(s *sqldb.Statement, args []any, each func(scan func(...any) error) error) error {
	if err := c.flush(); err != nil {
		return err
	}
	text := s.Text(sqldb.Postgres)
	c.tell(text)
	rows, err := c.pg.Query(c.ctx, text, args...)
	if err != nil {
		return c.fail("query", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return c.fail("query", err)
	}
	return nil
}

// Apply sends all writes in one round trip, now or with what comes next.
func (c *conn) Apply(writes []sqldb.Write) error {
	if c.broken != nil {
		return c.broken
	}
	if len(writes) == 0 {
		return nil
	}
	c.wrote = true
	c.held = append(c.held, writes...)
	if c.holds {
		return nil
	}
	return c.flush()
}

// LocksStreams tells the transaction.
func (c *conn) LocksStreams() bool { return c.locks }

// flush sends what was held back.
func (c *conn) flush() error {
	if c.broken != nil {
		return c.broken
	}
	if len(c.held) == 0 {
		return nil
	}
	writes := c.held
	c.held = nil
	batch := &pgx.Batch{}
	for i := range writes {
		text := writes[i].Statement.Text(sqldb.Postgres)
		c.tell(text)
		batch.Queue(text, writes[i].Args...)
	}
	results := c.pg.SendBatch(c.ctx, batch)
	defer results.Close()
	for i := range writes {
		tag, err := results.Exec()
		if err == nil {
			if err = writes[i].Check(tag.RowsAffected()); err == nil {
				continue
			}
			c.broken = err // what followed in the batch has run: the transaction must not commit
			return err
		}
		return c.refused(&writes[i], err)
	}
	if err := results.Close(); err != nil {
		return c.fail("write", err)
	}
	return nil
}

// refused gives the error of a write that the database refused.
func (c *conn) refused(w *sqldb.Write, err error) error {
	err = c.fail("write", err)
	switch {
	case isTaken(err):
		return w.Failed(holdshort.Duplicate, err)
	case sqlState(err) == divisionByZero: // what a guarded statement does
		return w.Check(none)
	}
	return err
}

const (
	divisionByZero = "22012"
	none           = -2 // a number of rows that nobody wants
)

// fail remembers an error after which the transaction is aborted.
func (c *conn) fail(op string, err error) error {
	c.broken = explain(op, err)
	c.lost = c.lost || c.pg.IsClosed() || isLast(err)
	return c.broken
}

// begin opens a transaction, takes the named locks in their order and asks for the time, in one round trip. The time is read after the
// locks: waiting for them may take long.
func (c *conn) begin(how string, rows []int64) (time.Time, error) {
	c.broken, c.wrote, c.held = nil, false, nil
	c.tell(how)
	batch := &pgx.Batch{}
	batch.Queue(how)
	if len(rows) > 0 {
		batch.Queue(lockRows, rows)
	}
	batch.Queue(readClock)
	results := c.pg.SendBatch(c.ctx, batch)
	defer results.Close()
	for range batch.Len() - 1 {
		if _, err := results.Exec(); err != nil {
			return time.Time{}, c.fail("begin", err)
		}
	}
	var now int64
	if err := results.QueryRow().Scan(&now); err != nil {
		return time.Time{}, c.fail("begin", err)
	}
	if err := results.Close(); err != nil {
		return time.Time{}, c.fail("begin", err)
	}
	return c.store.clock.Read(time.UnixMicro(now)), nil
}

const (
	lockRows  = `SELECT pg_advisory_xact_lock(number) FROM unnest($1::bigint[]) AS number`
	readClock = `SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint`
)

// rollback ends the transaction without a trace. An error means that the connection is of no more use.
func (c *conn) rollback() {
	if c.lost || c.pg.IsClosed() {
		c.lost = true
		return
	}
	c.tell("ROLLBACK")
	if _, err := c.pg.Exec(c.ctx, "ROLLBACK"); err != nil {
		c.lost = true
	}
}

// transact is for transactions whose lost commit does no harm: opening and views.
func (c *conn) transact(how string, fn func(now time.Time) error) error {
	now, err := c.begin(how, nil)
	if err != nil {
		return err
	}
	done := false
	defer func() {
		if !done {
			c.rollback()
		}
	}()
	if err := fn(now); err != nil {
		return err
	}
	if c.broken != nil {
		return c.broken
	}
	tag, err := c.pg.Exec(c.ctx, "COMMIT")
	if err != nil {
		return c.fail("commit", err)
	}
	done = true
	return checkCommit(tag)
}

// checkCommit: PostgreSQL answers ROLLBACK to the COMMIT of an aborted transaction.
func checkCommit(tag pgconn.CommandTag) error {
	if tag.String() != "COMMIT" {
		return &holdshort.Error{Code: holdshort.Internal, Op: "commit", Message: "the database rolled back instead"}
	}
	return nil
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
