// Package group is the part of group commit that both stores share: how a caller hands its transaction to the goroutine that commits.
// It may import sqldb and the standard library.
package group

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/holdshort/holdshort/store/internal/sqldb"
)

// Member is one transaction on its way to a commit. Its function runs in its caller's goroutine whenever the committer gives it a turn, so a
// panic unwinds the caller and nobody else; the caller is let go only by Answer.
type Member struct {
	Rows    []int64 // what it is going to write, as lock numbers; none: it goes alone
	Patient bool    // it lets others go first

	run   func(conn sqldb.Conn, now time.Time) error
	taken atomic.Bool // by the committer, or by a caller who gave up waiting
	turns chan turn
}

type turn struct {
	conn     sqldb.Conn
	now      time.Time
	ended    func(Attempt)
	answered bool
	answer   error
}

// Attempt is how one turn went.
type Attempt struct {
	Err  error
	Gone bool // the function panicked or ended its goroutine: there is nobody left to run again or to answer
}

// NewMember makes a member that runs fn.
func NewMember(fn func(conn sqldb.Conn, now time.Time) error, rows ...int64) *Member {
	return &Member{Rows: rows, run: fn, turns: make(chan turn, 1)}
}

// Wait is the caller's side: it runs the function when asked to and returns the answer. A context that ends before the member was taken
// takes it out; afterwards the answer is waited for, because only it is the truth.
func (m *Member) Wait(ctx context.Context) error {
	ended := ctx.Done()
	for {
		select {
		case t := <-m.turns:
			if t.answered {
				return t.answer
			}
			ended = nil
			m.attempt(t)
		case <-ended:
			if m.Take() {
				return ctx.Err()
			}
			ended = nil
		}
	}
}

var errGone = errors.New("the transaction's function did not return")

func (m *Member) attempt(t turn) {
	result := Attempt{Err: errGone, Gone: true}
	defer func() { t.ended(result) }() // also when the function panics
	err := m.run(t.conn, t.now)
	result = Attempt{Err: err}
}

// Take claims the member; whoever gets true owns it.
func (m *Member) Take() bool { return m.taken.CompareAndSwap(false, true) }

// Start gives the member a turn; its goroutine tells ended how it went.
func (m *Member) Start(conn sqldb.Conn, now time.Time, ended func(Attempt)) {
	m.turns <- turn{conn: conn, now: now, ended: ended}
}

// Turn gives the member a turn and waits for its end.
func (m *Member) Turn(conn sqldb.Conn, now time.Time) Attempt {
	ends := make(chan Attempt, 1)
	m.Start(conn, now, func(a Attempt) { ends <- a })
	return <-ends
}

// Answer lets the caller go.
func (m *Member) Answer(err error) { m.turns <- turn{answered: true, answer: err} }
