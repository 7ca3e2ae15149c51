package postgres

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/holdshort/holdshort/store/internal/group"
	"github.com/holdshort/holdshort/store/internal/sqldb"
)

// gathering runs the functions of a group at the same time over one connection. When each of them has ended or waits for a read, all waiting
// reads go out in one round trip. Nobody's writes are sent meanwhile, so nobody sees another's: that is as if each had a transaction of its
// own, and whoever named the same row is not in the group.
type gathering struct {
	conn  *conn
	seats []*seat
	posts chan post
}

// seat is the connection as one member sees it.
type seat struct {
	gathering *gathering
	member    *group.Member
	attempt   group.Attempt
	writes    []sqldb.Write
	written   bool
	alone     bool // it wants to read what it wrote, and a group writes last: it leaves the group, whatever its function makes of that
	reply     chan answer
}

// answer to a read. A panic of the reader's own row function is carried to the goroutine where it belongs.
type answer struct {
	err      error
	panicked any
}

type post struct {
	seat      int
	ended     bool
	attempt   group.Attempt
	statement *sqldb.Statement
	args      []any
	each      func(scan func(...any) error) error
	reply     chan answer
}

var errAlone = errors.New("the transaction reads after it wrote")

func newGathering(c *conn, members []*group.Member) *gathering {
	g := &gathering{conn: c, posts: make(chan post, len(members))}
	for _, m := range members {
		g.seats = append(g.seats, &seat{gathering: g, member: m, reply: make(chan answer, 1)})
	}
	return g
}

// Query posts the read and waits for the round in which it is sent.
func (s *seat) Query(statement *sqldb.Statement, args []any, each func(scan func(...any) error) error) error {
	if s.written {
		s.alone = true
		return errAlone
	}
	s.gathering.posts <- post{statement: statement, args: args, each: each, reply: s.reply}
	a := <-s.reply
	if a.panicked != nil {
		panic(a.panicked)
	}
	return a.err
}

// Apply keeps the writes until everybody is done.
func (s *seat) Apply(writes []sqldb.Write) error {
	if s.written && len(writes) > 0 {
		s.alone = true
		return errAlone
	}
	s.writes, s.written = writes, s.written || len(writes) > 0
	return nil
}

// run gives everybody a turn and serves their reads until all have ended.
func (g *gathering) run(now time.Time) {
	for i, s := range g.seats {
		s.member.Start(s, now, func(a group.Attempt) { g.posts <- post{seat: i, ended: true, attempt: a} })
	}
	var reads []post
	for running := len(g.seats); running > 0; {
		p := <-g.posts
		if p.ended {
			g.seats[p.seat].attempt = p.attempt
			running--
		} else {
			reads = append(reads, p)
		}
		if len(reads) == running && running > 0 {
			g.serve(reads)
			reads = reads[:0]
		}
	}
}

// row runs the reader's row function; a codec of the user's may be in it.
func (p post) row(scan func(...any) error) (a answer) {
	defer func() {
		if r := recover(); r != nil {
			a.panicked = r
		}
	}()
	return answer{err: p.each(scan)}
}

// serve sends the reads of a round, those that ask the same for other keys in one statement. An error of the database is everybody's; an error
// of a row is its reader's.
func (g *gathering) serve(reads []post) {
	if g.conn.broken != nil {
		for _, r := range reads {
			r.reply <- answer{err: g.conn.broken}
		}
		return
	}
	questions := ask(reads)
	batch := &pgx.Batch{}
	for _, q := range questions {
		g.conn.tell(q.text)
		batch.Queue(q.text, q.args...)
	}
	answers := make([]answer, len(reads))
	results := g.conn.pg.SendBatch(g.conn.ctx, batch)
	for _, q := range questions {
		if err := q.read(results, reads, answers); err != nil {
			err = g.conn.fail("query", err)
			for _, i := range q.asked {
				answers[i].err = err
			}
		}
	}
	if err := results.Close(); err != nil && g.conn.broken == nil {
		g.conn.fail("query", err)
	}
	for i, r := range reads {
		r.reply <- answers[i]
	}
}

// question is a statement on behalf of one reader or many.
type question struct {
	text  string
	args  []any
	many  bool  // each row is led by the number of who asked, from 1
	asked []int // the readers
}

// ask puts the reads of a round into as few statements as they need.
func ask(reads []post) []*question {
	var out []*question
	by := map[*sqldb.Statement]*question{}
	rows := map[*question][][]any{}
	for i, r := range reads {
		if q := by[r.statement]; q != nil {
			q.asked, rows[q] = append(q.asked, i), append(rows[q], r.args)
			continue
		}
		q := &question{text: r.statement.Text(sqldb.Postgres), args: r.args, asked: []int{i}}
		out = append(out, q)
		if r.statement.ForMany(r.args) != nil {
			by[r.statement], rows[q] = q, [][]any{r.args}
		}
	}
	for _, q := range out {
		if len(q.asked) > 1 {
			first := reads[q.asked[0]]
			q.text, q.args, q.many = first.statement.ForMany(first.args).Text(sqldb.Postgres), sqldb.Arrays(rows[q]), true
		}
	}
	return out
}

func (q *question) read(results pgx.BatchResults, reads []post, answers []answer) error {
	rows, err := results.Query()
	if err != nil {
		return err
	}
	for rows.Next() {
		i, scan := q.asked[0], rows.Scan
		if q.many {
			i = q.asked[binary.BigEndian.Uint64(rows.RawValues()[0])-1]
			scan = func(dest ...any) error { return rows.Scan(append([]any{nil}, dest...)...) }
		}
		if answers[i].err == nil && answers[i].panicked == nil {
			answers[i] = reads[i].row(scan)
		}
	}
	rows.Close()
	return rows.Err()
}
