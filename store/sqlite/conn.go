package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store/internal/sqldb"

	_ "modernc.org/sqlite"
)

// conn is one connection with its prepared statements. It is used by one goroutine at a time.
type conn struct {
	db          *sql.DB
	sql         *sql.Conn
	prepared    []*sql.Stmt
	ctx         context.Context // Background for the writer: no statement of a group sees a caller's
	broken      error           // the transaction may be gone: nothing more may be said in it
	onStatement func(string)
}

var _ sqldb.Script = (*conn)(nil)

// dial opens a connection. The busy timeout comes first: setting the journal mode may have to wait.
func dial(ctx context.Context, path string, o Options, readOnly bool) (*conn, error) {
	pragmas := []string{"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "wal_autocheckpoint(4000)", "cache_size(-16384)", "temp_store(MEMORY)",
		"foreign_keys(0)", "journal_size_limit(67108864)",
		"secure_delete(1)"} // what was erased must not stand in free pages
	query := url.Values{}
	if readOnly {
		pragmas = []string{"busy_timeout(10000)", "query_only(1)", "cache_size(-8192)", "temp_store(MEMORY)"}
	}
	if o.relaxed {
		pragmas = append(pragmas, "synchronous(OFF)")
	}
	for _, p := range pragmas {
		query.Add("_pragma", p)
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+query.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	c := &conn{db: db, ctx: context.Background()}
	if !readOnly {
		c.onStatement = o.OnStatement
	}
	if c.sql, err = db.Conn(ctx); err == nil {
		err = c.sql.PingContext(ctx)
	}
	if err != nil {
		db.Close()
		return nil, explain("open "+path, err)
	}
	return c, nil
}

func (c *conn) close() error {
	for _, s := range c.prepared {
		if s != nil {
			s.Close()
		}
	}
	return errors.Join(c.sql.Close(), c.db.Close())
}

// Exec runs a text that is not prepared: migrations.
func (c *conn) Exec(text string) error {
	if c.onStatement != nil {
		c.onStatement(text)
	}
	_, err := c.sql.ExecContext(context.Background(), text)
	return err
}

// control runs BEGIN and its kin, prepared: a group says them for every member.
func (c *conn) control(s *sqldb.Statement) error {
	if c.onStatement != nil {
		c.onStatement(s.Text(sqldb.SQLite))
	}
	p, err := c.prepare(s)
	if err == nil {
		_, err = p.ExecContext(context.Background())
	}
	return err
}

var (
	beginRead  = sqldb.Text("BEGIN")
	beginWrite = sqldb.Text("BEGIN IMMEDIATE")
	commit     = sqldb.Text("COMMIT")
	rollback   = sqldb.Text("ROLLBACK")
	savepoint  = sqldb.Text("SAVEPOINT member")
	release    = sqldb.Text("RELEASE member")
	rollbackTo = sqldb.Text("ROLLBACK TO member")
)

func (c *conn) prepare(s *sqldb.Statement) (*sql.Stmt, error) {
	for len(c.prepared) <= s.Number {
		c.prepared = append(c.prepared, make([]*sql.Stmt, max(sqldb.Statements()-len(c.prepared), 1))...)
	}
	if p := c.prepared[s.Number]; p != nil {
		return p, nil
	}
	p, err := c.sql.PrepareContext(context.Background(), s.Text(sqldb.SQLite))
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", s.Text(sqldb.SQLite), err)
	}
	c.prepared[s.Number] = p
	return p, nil
}

func (c *conn) Query(s *sqldb.Statement, args []any, each func(scan func(...any) error) error) error {
	if c.broken != nil {
		return c.broken
	}
	if c.onStatement != nil {
		c.onStatement(s.Text(sqldb.SQLite))
	}
	p, err := c.prepare(s)
	if err != nil {
		return c.fail("query", err)
	}
	rows, err := p.QueryContext(c.ctx, args...)
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

func (c *conn) Apply(writes []sqldb.Write) error {
	for i := range writes {
		if err := c.apply(&writes[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *conn) apply(w *sqldb.Write) error {
	if w.Selects {
		var n int64
		err := c.Query(w.Statement, w.Args, func(func(...any) error) error { n++; return nil })
		if err != nil {
			return err
		}
		return w.Check(n)
	}
	if c.broken != nil {
		return c.broken
	}
	if c.onStatement != nil {
		c.onStatement(w.Statement.Text(sqldb.SQLite))
	}
	p, err := c.prepare(w.Statement)
	if err != nil {
		return c.fail("write", err)
	}
	result, err := p.ExecContext(c.ctx, w.Args...)
	if err != nil {
		if isTaken(err) {
			return w.Failed(holdshort.Duplicate, err) // only this statement was undone: the transaction stands
		}
		return c.fail("write", err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		return c.fail("write", err)
	}
	return w.Check(n)
}

// fail remembers an error after which the transaction may be rolled back already: a later statement would commit by itself.
func (c *conn) fail(op string, err error) error {
	c.broken = explain(op, err)
	return c.broken
}

// transact runs fn between begin and COMMIT, or ROLLBACK if it fails.
func (c *conn) transact(begin *sqldb.Statement, fn func() error) (err error) {
	c.broken = nil
	if err := c.control(begin); err != nil {
		return explain("begin", err)
	}
	done := false
	defer func() {
		if !done {
			c.control(rollback) // also when fn panics; the database does it by itself if this fails
		}
	}()
	if err := fn(); err != nil {
		return err
	}
	if c.broken != nil {
		return c.broken
	}
	if err := c.control(commit); err != nil {
		return lostCommit(err)
	}
	done = true
	return nil
}
