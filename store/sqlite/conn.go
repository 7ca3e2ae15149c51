package sqlite

import (
	"context"
	"fmt"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store/internal/sqldb"
)

// conn is one connection with its prepared statements. It is used by one goroutine at a time.
type conn struct {
	handle      *handle
	prepared    []*prepared
	ctx         context.Context // Background for the writer: no statement of a group sees a caller's
	broken      error           // the transaction may be gone: nothing more may be said in it
	onStatement func(string)
	onSteps     func(text string, steps int)
}

var _ sqldb.Script = (*conn)(nil)

// dial opens a connection. The busy timeout comes first: setting the journal mode may have to wait.
func dial(path string, o Options, readOnly bool) (*conn, error) {
	pragmas := []string{"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "wal_autocheckpoint(4000)", "cache_size(-16384)", "temp_store(MEMORY)",
		"foreign_keys(0)", "journal_size_limit(67108864)",
		"secure_delete(1)"} // what was erased must not stand in free pages
	if readOnly {
		pragmas = []string{"busy_timeout(10000)", "query_only(1)", "cache_size(-8192)", "temp_store(MEMORY)"}
	}
	if o.relaxed {
		pragmas = append(pragmas, "synchronous(OFF)")
	}
	handle, err := openHandle(path)
	if err != nil {
		return nil, explain("open "+path, err)
	}
	c := &conn{handle: handle, ctx: context.Background(), onSteps: o.OnSteps}
	for _, p := range pragmas {
		if err := handle.exec("PRAGMA " + p); err != nil {
			c.close()
			return nil, explain("open "+path, err)
		}
	}
	if !readOnly {
		c.onStatement = o.OnStatement
	}
	return c, nil
}

func (c *conn) close() error {
	for _, s := range c.prepared {
		if s != nil {
			s.close()
		}
	}
	return c.handle.close()
}

// Exec runs a text that is not prepared: migrations.
func (c *conn) Exec(text string) error {
	if c.onStatement != nil {
		c.onStatement(text)
	}
	return c.handle.exec(text)
}

// control runs BEGIN and its kin, prepared: a group says them for every member.
func (c *conn) control(s *sqldb.Statement) error {
	if c.onStatement != nil {
		c.onStatement(s.Text(sqldb.SQLite))
	}
	p, err := c.prepare(s)
	if err == nil {
		err = p.run(context.Background(), nil, nil)
		c.countSteps(s, p)
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

func (c *conn) prepare(s *sqldb.Statement) (*prepared, error) {
	for len(c.prepared) <= s.Number {
		c.prepared = append(c.prepared, make([]*prepared, max(sqldb.Statements()-len(c.prepared), 1))...)
	}
	if p := c.prepared[s.Number]; p != nil {
		return p, nil
	}
	p, err := c.handle.prepare(s.Text(sqldb.SQLite))
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
	var faulty error // an error of each is the row's, not the connection's
	err = p.run(c.ctx, args, func(scan func(...any) error) error {
		faulty = each(scan)
		return faulty
	})
	c.countSteps(s, p)
	if err != nil && faulty == nil {
		return c.fail("query", err)
	}
	return err
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
	err = p.run(c.ctx, w.Args, nil)
	c.countSteps(w.Statement, p)
	if err != nil {
		if isTaken(err) {
			return w.Failed(holdshort.Duplicate, err) // only this statement was undone: the transaction stands
		}
		return c.fail("write", err)
	}
	return w.Check(c.handle.changes())
}

func (c *conn) countSteps(s *sqldb.Statement, p *prepared) {
	if c.onSteps != nil {
		c.onSteps(s.Text(sqldb.SQLite), p.steps())
	}
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
