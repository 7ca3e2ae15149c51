package sqlite

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store/internal/sqldb"
)

// writer is the one goroutine that begins and commits. It takes whatever is queued and never lingers: while one group's fsync runs the next
// one gathers. Members run one after the other, each in its own savepoint and in its caller's goroutine, and nobody is answered before
// COMMIT returned.
type writer struct {
	store  *Store
	conn   *conn
	queue  chan *member
	mu     sync.RWMutex // closed and queue: a sender holds it for reading
	closed bool
	done   chan struct{}
}

// member is one transaction on its way through the writer.
type member struct {
	run   func(conn *conn, now time.Time) error
	taken atomic.Bool  // by the writer, or by a caller who gave up waiting
	turn  chan turn    // from the writer: run, or be answered
	done  chan attempt // to the writer
}

type turn struct {
	now      time.Time
	answered bool
	answer   error
}

type attempt struct {
	err  error
	gone bool // the caller panicked: it cannot run again
}

func newWriter(s *Store, c *conn) *writer {
	return &writer{store: s, conn: c, queue: make(chan *member, 1024), done: make(chan struct{})}
}

func (w *writer) start() { go w.loop() }

// stop lets those who are queued finish.
func (w *writer) stop() {
	w.mu.Lock()
	started := !w.closed && w.store.readers != nil
	w.closed = true
	w.mu.Unlock()
	if started {
		close(w.queue)
		<-w.done
	}
}

// submit runs fn as a member of some group and returns what became of it. A context that ends first takes the member out of the queue;
// once it was taken, the answer is waited for.
func (w *writer) submit(ctx context.Context, fn func(conn *conn, now time.Time) error) error {
	m := &member{run: fn, turn: make(chan turn, 1), done: make(chan attempt, 1)}
	if err := w.enqueue(ctx, m); err != nil {
		return err
	}
	ended := ctx.Done()
	for {
		select {
		case t := <-m.turn:
			if t.answered {
				return t.answer
			}
			ended = nil
			m.attempt(w.conn, t.now)
		case <-ended:
			if m.taken.CompareAndSwap(false, true) {
				return ctx.Err()
			}
			ended = nil
		}
	}
}

func (w *writer) enqueue(ctx context.Context, m *member) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return &holdshort.Error{Code: holdshort.StoreClosed, Message: "the store is closed", Hint: "open it again"}
	}
	select {
	case w.queue <- m:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// attempt runs the member and tells the writer, even if the function panics or ends its goroutine.
func (m *member) attempt(conn *conn, now time.Time) {
	result := attempt{err: errGone, gone: true}
	defer func() { m.done <- result }()
	err := m.run(conn, now)
	result = attempt{err: err}
}

var errGone = errors.New("the transaction's function did not return")

func (w *writer) loop() {
	defer close(w.done)
	group := make([]*member, 0, w.store.options.MaxGroup)
	for first := range w.queue {
		group = append(group[:0], first)
		for len(group) < w.store.options.MaxGroup {
			select {
			case m, ok := <-w.queue:
				if ok {
					group = append(group, m)
					continue
				}
			default:
			}
			break
		}
		live := group[:0]
		for _, m := range group {
			if m.taken.CompareAndSwap(false, true) {
				live = append(live, m)
			}
		}
		switch len(live) {
		case 0:
		case 1:
			w.alone(live[0])
		default:
			w.together(live)
		}
		if w.store.db.Mark.Due(w.store.now()) {
			w.store.saveMark()
		}
	}
}

// alone is a transaction with one member.
func (w *writer) alone(m *member) {
	var result attempt
	err := w.conn.transact("BEGIN IMMEDIATE", func() error {
		result = m.take(w.store.now())
		return result.err
	})
	if !result.gone {
		m.turn <- turn{answered: true, answer: err}
	}
}

func (m *member) take(now time.Time) attempt {
	m.turn <- turn{now: now}
	return <-m.done
}

// together is a transaction with many. If anything happens to it as a whole it is void: each member runs again, alone, once.
func (w *writer) together(group []*member) {
	results := make([]attempt, len(group))
	void := w.conn.transact("BEGIN IMMEDIATE", func() error {
		for i, m := range group {
			var err error
			if results[i], err = w.member(m); err != nil {
				return err
			}
		}
		return nil
	})
	for i, m := range group {
		switch {
		case results[i].gone:
		case void != nil:
			w.alone(m)
		default:
			m.turn <- turn{answered: true, answer: results[i].err}
		}
	}
}

// member runs one in its savepoint. The error says that the group cannot go on: after a full disk, say, the database has rolled back by
// itself, and then there is no savepoint to release.
func (w *writer) member(m *member) (attempt, error) {
	if err := w.conn.Exec("SAVEPOINT member"); err != nil {
		return attempt{}, err
	}
	result := m.take(w.store.now())
	if w.conn.broken != nil {
		return result, w.conn.broken
	}
	if result.err != nil {
		if err := w.conn.Exec("ROLLBACK TO member"); err != nil {
			return result, err
		}
	}
	return result, w.conn.Exec("RELEASE member")
}

// Exclusive is a member like any other: on SQLite nobody runs beside it anyway.
func (s *Store) Exclusive(ctx context.Context, fn func(conn sqldb.Conn, now time.Time) error) error {
	if s.readOnly {
		return errReadOnly
	}
	return s.writer.submit(ctx, func(c *conn, now time.Time) error { return fn(c, now) })
}

var errReadOnly = &holdshort.Error{Code: holdshort.StoreReadOnly, Message: "the store was opened for reading only"}
