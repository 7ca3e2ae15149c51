package sqlite

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/internal/group"
	"github.com/holdshort/holdshort/store/internal/sqldb"
)

// writer is the one goroutine that begins and commits. It takes whatever is queued and never lingers: while one group's fsync runs the next
// one gathers. Drafts come first, then those that need a turn, one after the other, each in its own savepoint and in its caller's goroutine.
// Nobody is answered before COMMIT returned.
type writer struct {
	store           *Store
	conn            *conn
	queue           chan *entry
	patient         chan *entry  // those who let others go first
	mu              sync.RWMutex // closed and queue: a sender holds it for reading
	started, closed bool
	done            chan struct{}
	busy            atomic.Int64 // those who are queued or under way
	unnamed         atomic.Int64 // transactions that named no rows: what was drafted before one is drafted in vain
}

func newWriter(s *Store, c *conn) *writer {
	return &writer{store: s, conn: c, queue: make(chan *entry, 1024), patient: make(chan *entry, 1024), done: make(chan struct{})}
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
		close(w.patient)
		<-w.done
	}
	return started
}

// entry is a transaction in the writer's queue.
type entry struct {
	*group.Member
	draft *sqldb.Draft // nil: its function needs a turn
	err   error        // the function's own error, of a draft
	named bool
	turn  bool  // it gets one in this transaction
	gone  bool  // its function panicked: there is nobody to answer
	seen  int64 // how many transactions without names were committed before the draft
}

// submit hands e to the writer and returns what became of it.
func (w *writer) submit(ctx context.Context, e *entry) error {
	w.busy.Add(1)
	defer w.busy.Add(-1)
	if err := w.enqueue(ctx, e); err != nil {
		return err
	}
	return e.Wait(ctx)
}

func (w *writer) enqueue(ctx context.Context, e *entry) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return errClosed
	}
	queue := w.queue
	if store.IsPatient(ctx) {
		queue = w.patient
	}
	select {
	case queue <- e:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *writer) loop() {
	defer close(w.done)
	members := make([]*entry, 0, w.store.options.MaxGroup)
	for {
		if members = w.next(members[:0]); len(members) == 0 {
			return
		}
		live := members[:0]
		for _, m := range members {
			if m.Take() {
				live = append(live, m)
			}
		}
		if len(live) > 0 {
			w.commit(live)
		}
		if now := w.store.now(); w.store.db.Mark.Due(now) {
			w.store.saveMark()
			w.shorten()
		}
	}
}

// Of those who are patient a group takes a few, and fewer still when others are in it: they wait for its commit too.
const (
	fewPatient  = 8
	leastBeside = 2
)

// next waits for a group; none means that the store is closed and nobody is queued.
func (w *writer) next(group []*entry) []*entry {
	most := w.store.options.MaxGroup
	if group = drain(group, w.queue, most); len(group) == 0 {
		select {
		case e, open := <-w.queue:
			if open {
				group = append(group, e)
			}
		case e, open := <-w.patient:
			if open {
				group = append(group, e)
			}
			return drain(drain(group, w.queue, most), w.patient, min(most, fewPatient)) // closed: whatever is left
		}
		group = drain(group, w.queue, most)
	}
	return drain(group, w.patient, min(most, len(group)+leastBeside))
}

// drain adds what is queued, up to a number.
func drain(group []*entry, queue <-chan *entry, most int) []*entry {
	for len(group) < most {
		select {
		case e, open := <-queue:
			if !open {
				return group
			}
			group = append(group, e)
		default:
			return group
		}
	}
	return group
}

// commit is one transaction for all. If anything happens to it as a whole it is void: nothing of it happened and each member runs again, alone.
// If it is only that a draft was refused, the same is done once more with care.
func (w *writer) commit(members []*entry) {
	err := w.transact(members, false)
	if errors.Is(err, errRefused) {
		err = w.transact(members, true)
	}
	for _, e := range members {
		switch {
		case e.gone:
		case err == nil:
			e.Answer(e.err)
		case len(members) == 1:
			e.Answer(err)
		default:
			w.again(e, err)
		}
	}
}

// errRefused: a draft's writes were refused, and what it wrote before is in the way.
var errRefused = errors.New("a draft was refused")

// transact applies the drafts, gives the others their turns and commits. A savepoint costs as much as a write, and drafts are hardly ever
// refused: they get one only if they are handled with care.
func (w *writer) transact(members []*entry, care bool) error {
	heads := w.store.db.Heads
	if !slices.ContainsFunc(members, (*entry).writes) {
		return nil
	}
	defer heads.Forget() // whatever was not committed
	turns, unnamed := false, false
	err := w.conn.transact(beginWrite, func() error {
		for _, e := range members {
			e.turn = e.draft == nil || e.seen != w.unnamed.Load()
			if !e.turn && e.writes() {
				if err := w.apply(e, care); err != nil {
					return err
				}
			}
			turns, unnamed = turns || e.turn, unnamed || !e.named
		}
		for _, e := range members {
			if !turns || !e.turn {
				continue
			}
			if err := w.turn(e, len(members) == 1); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		heads.Commit()
		if unnamed {
			w.unnamed.Add(1)
		}
	}
	return err
}

// writes says whether it may have something to write.
func (e *entry) writes() bool { return e.draft == nil || e.err == nil && !e.draft.Empty() }

// applied returns the draft whose writes were committed, nil if the function had its turn.
func (e *entry) applied() *sqldb.Draft {
	if e.turn {
		return nil
	}
	return e.draft
}

// apply writes a draft. With care one that is refused is undone and gets a turn instead: only that is definite.
func (w *writer) apply(e *entry, care bool) error {
	if care {
		if err := w.conn.control(savepoint); err != nil {
			return err
		}
	}
	writes, err := e.draft.Writes(w.conn)
	if err == nil {
		err = w.conn.Apply(writes)
	}
	switch {
	case w.conn.broken != nil:
		return w.conn.broken
	case err != nil && !care:
		return errRefused
	case err != nil:
		e.turn = true
		return w.undo()
	case care:
		return w.conn.control(release)
	}
	return nil
}

func (w *writer) undo() error {
	w.store.db.Heads.Forget()
	if err := w.conn.control(rollbackTo); err != nil {
		return err
	}
	return w.conn.control(release)
}

// turn lets a function run on the writer's own connection, in its savepoint unless it is alone. The error says that the group cannot go on:
// after a full disk, say, the database has rolled back by itself, and then there is no savepoint to release.
func (w *writer) turn(e *entry, alone bool) error {
	if !alone {
		if err := w.conn.control(savepoint); err != nil {
			return err
		}
	}
	attempt := e.Turn(w.conn, w.store.now())
	e.err, e.gone = attempt.Err, attempt.Gone
	switch {
	case w.conn.broken != nil:
		return w.conn.broken
	case alone:
		return e.err
	case e.err != nil:
		return w.undo()
	}
	return w.conn.control(release)
}

// again runs a member of a void group alone. If the group's own commit may have happened, only the member's own function or a commit that
// went through can tell otherwise.
func (w *writer) again(e *entry, void error) {
	e.draft, e.err = nil, nil
	err := w.transact([]*entry{e}, false)
	switch {
	case e.gone:
	case err != nil && e.err == nil && errors.Is(void, holdshort.OutcomeUnknown):
		e.Answer(void)
	default:
		e.Answer(err)
	}
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
