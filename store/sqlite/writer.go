package sqlite

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store/internal/group"
	"github.com/holdshort/holdshort/store/internal/sqldb"
)

// writer is the one goroutine that begins and commits. It takes whatever is queued and never lingers: while one group's fsync runs the next
// one gathers. Members run one after the other, each in its own savepoint and in its caller's goroutine, and nobody is answered before
// COMMIT returned.
type writer struct {
	store           *Store
	conn            *conn
	queue           chan *group.Member
	mu              sync.RWMutex // closed and queue: a sender holds it for reading
	started, closed bool
	done            chan struct{}
}

func newWriter(s *Store, c *conn) *writer {
	return &writer{store: s, conn: c, queue: make(chan *group.Member, 1024), done: make(chan struct{})}
}

func (w *writer) start() {
	w.started = true
	go w.loop()
}

// stop lets those who are queued finish, and says whether it had ever started.
func (w *writer) stop() bool {
	w.mu.Lock()
	started := w.started && !w.closed
	w.closed = true
	w.mu.Unlock()
	if started {
		close(w.queue)
		<-w.done
	}
	return started
}

// submit runs fn as a member of some group and returns what became of it.
func (w *writer) submit(ctx context.Context, fn func(conn sqldb.Conn, now time.Time) error) error {
	m := group.NewMember(fn)
	if err := w.enqueue(ctx, m); err != nil {
		return err
	}
	return m.Wait(ctx)
}

func (w *writer) enqueue(ctx context.Context, m *group.Member) error {
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

func (w *writer) loop() {
	defer close(w.done)
	members := make([]*group.Member, 0, w.store.options.MaxGroup)
	for first := range w.queue {
		members = append(members[:0], first)
		for len(members) < w.store.options.MaxGroup {
			select {
			case m, ok := <-w.queue:
				if ok {
					members = append(members, m)
					continue
				}
			default:
			}
			break
		}
		live := members[:0]
		for _, m := range members {
			if m.Take() {
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
		if now := w.store.now(); w.store.db.Mark.Due(now) {
			w.store.saveMark()
			w.shorten()
		}
	}
}

// alone is a transaction with one member.
func (w *writer) alone(m *group.Member) {
	if attempt, err := w.try(m); !attempt.Gone {
		m.Answer(err)
	}
}

func (w *writer) try(m *group.Member) (attempt group.Attempt, err error) {
	err = w.conn.transact(beginWrite, func() error {
		attempt = m.Turn(w.conn, w.store.now())
		return attempt.Err
	})
	return attempt, err
}

// together is a transaction with many. If anything happens to it as a whole it is void: each member runs again, alone, once.
func (w *writer) together(members []*group.Member) {
	attempts := make([]group.Attempt, len(members))
	void := w.conn.transact(beginWrite, func() error {
		for i, m := range members {
			var err error
			if attempts[i], err = w.member(m); err != nil {
				return err
			}
		}
		return nil
	})
	for i, m := range members {
		switch {
		case attempts[i].Gone:
		case void != nil:
			w.again(m, void)
		default:
			m.Answer(attempts[i].Err)
		}
	}
}

// again runs a member of a void group alone. If the group's own commit may have happened, only the member's own function or a commit that
// went through can tell otherwise.
func (w *writer) again(m *group.Member, void error) {
	attempt, err := w.try(m)
	switch {
	case attempt.Gone:
	case err != nil && attempt.Err == nil && errors.Is(void, holdshort.OutcomeUnknown):
		m.Answer(void)
	default:
		m.Answer(err)
	}
}

// member runs one in its savepoint. The error says that the group cannot go on: after a full disk, say, the database has rolled back by
// itself, and then there is no savepoint to release.
func (w *writer) member(m *group.Member) (group.Attempt, error) {
	if err := w.conn.control(savepoint); err != nil {
		return group.Attempt{}, err
	}
	attempt := m.Turn(w.conn, w.store.now())
	if w.conn.broken != nil {
		return attempt, w.conn.broken
	}
	if attempt.Err != nil {
		if err := w.conn.control(rollbackTo); err != nil {
			return attempt, err
		}
	}
	return attempt, w.conn.control(release)
}

const longLog = 64 << 20

// shorten starts the write-ahead log anew when views that overlap kept it from ever ending: the usual checkpoints then never reach its end, and
// it would fill the disk. It waits only a moment for views that are open already, and tries again a second later.
func (w *writer) shorten() {
	state, err := os.Stat(w.store.path + "-wal")
	if err != nil || state.Size() <= longLog {
		return
	}
	if err := w.conn.Exec("PRAGMA busy_timeout(100); PRAGMA wal_checkpoint(RESTART); PRAGMA busy_timeout(10000)"); err != nil {
		w.store.options.Logger.Warn("shorten the write-ahead log", "error", err)
	}
}

// Exclusive is a member like any other: on SQLite nobody runs beside it anyway.
func (s *Store) Exclusive(ctx context.Context, fn func(conn sqldb.Conn, now time.Time) error) error {
	if s.readOnly {
		return errReadOnly
	}
	return s.writer.submit(ctx, fn)
}

var errReadOnly = &holdshort.Error{Code: holdshort.StoreReadOnly, Message: "the store was opened for reading only"}
