package postgres

import (
	"context"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/internal/group"
	"github.com/holdshort/holdshort/store/internal/sqldb"
)

// lanes are the goroutines that commit, each with a connection of its own, over one queue. A lane takes whatever is queued and fits together:
// members that named their rows, no row twice, none that another lane has under way. A member that named none goes alone.
type lanes struct {
	store  *Store
	mu     sync.Mutex
	more   sync.Cond
	queue  []*group.Member
	busy   map[int64]bool // rows under way in some lane
	closed bool
	done   sync.WaitGroup
}

func newLanes(s *Store) *lanes {
	l := &lanes{store: s, busy: map[int64]bool{}}
	l.more.L = &l.mu
	return l
}

func (l *lanes) start() {
	for range l.store.options.Lanes {
		lane := &lane{lanes: l, store: l.store}
		l.done.Go(lane.loop)
	}
}

// stop lets those who are queued finish.
func (l *lanes) stop() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.more.Broadcast()
	l.done.Wait()
}

func (l *lanes) submit(ctx context.Context, m *group.Member) error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return &holdshort.Error{Code: holdshort.StoreClosed, Message: "the store is closed", Hint: "open it again"}
	}
	l.queue = append(l.queue, m)
	l.mu.Unlock()
	l.more.Signal()
	return m.Wait(ctx)
}

// next waits for a group; none means that the store is closed and the queue is empty.
func (l *lanes) next() []*group.Member {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if picked := l.pick(); len(picked) > 0 {
			if len(l.queue) > 0 {
				l.more.Signal() // what did not fit may fit another lane
			}
			return picked
		}
		if l.closed && len(l.queue) == 0 {
			return nil
		}
		l.more.Wait()
	}
}

// mostRows of a group: the server's table of locks has room for some thousands, and others need it too.
const mostRows = 256

// Of those who are patient a group takes a few, and fewer still when others are in it: they wait for its commit too.
const (
	fewPatient  = 8
	leastBeside = 2
)

// pick takes from the front what fits together, the patient last. A row that somebody left behind waits for is off limits for those behind: nobody
// is overtaken on a row that it wants, unless it is patient.
func (l *lanes) pick() []*group.Member {
	var picked []*group.Member
	wanted := map[int64]bool{}
	rows, most := 0, l.store.options.MaxGroup
	for _, patient := range []bool{false, true} {
		if patient && len(picked) > 0 {
			most = min(most, len(picked)+leastBeside)
		} else if patient {
			most = min(most, fewPatient)
		}
		rest := l.queue[:0]
		for _, m := range l.queue {
			if m.Patient != patient {
				rest = append(rest, m)
				continue
			}
			alone := len(m.Rows) == 0
			fits := len(picked) == 0 || !alone && len(picked) < most && len(picked[0].Rows) > 0 && rows+len(m.Rows) <= mostRows
			if !fits || slices.ContainsFunc(m.Rows, func(r int64) bool { return l.busy[r] || wanted[r] }) {
				rest = append(rest, m)
				for _, r := range m.Rows {
					wanted[r] = true
				}
				continue
			}
			if !m.Take() {
				continue // its caller gave up
			}
			for _, r := range m.Rows {
				l.busy[r] = true
			}
			rows += len(m.Rows)
			picked = append(picked, m)
		}
		clear(l.queue[len(rest):])
		l.queue = rest
	}
	return picked
}

func (l *lanes) release(members []*group.Member) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range members {
		for _, r := range m.Rows {
			delete(l.busy, r)
		}
	}
	if len(l.queue) > 0 || l.closed {
		l.more.Broadcast()
	}
}

// Update runs fn with others that named other rows.
func (s *Store) Update(ctx context.Context, tenant holdshort.TenantID, fn func(store.Tx) error, rows ...store.Row) error {
	if _, err := holdshort.ParseTenantID(string(tenant)); err != nil {
		return err
	}
	if err := s.db.Admit(); err != nil {
		return err
	}
	run, committed := s.db.Member(tenant, fn)
	m := group.NewMember(run, s.numbers(tenant, rows)...)
	m.Patient = store.IsPatient(ctx)
	err := s.lanes.submit(ctx, m)
	if err == nil {
		committed(ctx, nil)
	}
	return err
}

// Transact is a transaction that shares its commit with nobody.
func (s *Store) Transact(ctx context.Context, fn func(conn sqldb.Conn, now time.Time) error) error {
	return s.lanes.submit(ctx, group.NewMember(fn))
}

// numbers gives the lock numbers of rows, sorted: whoever takes several takes them in the same order. Two rows with one number only wait
// for each other.
func (s *Store) numbers(tenant holdshort.TenantID, rows []store.Row) []int64 {
	var out []int64
	for _, row := range rows {
		h := fnv.New64a()
		h.Write([]byte(tenant))
		h.Write([]byte{0})
		h.Write([]byte(row))
		out = append(out, int64(h.Sum64()^s.lockBase))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
