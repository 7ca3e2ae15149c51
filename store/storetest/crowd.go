package storetest

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// member is one transaction of a crowd.
type member struct {
	name string
	ctx  context.Context // nil: one that never ends
	fn   func(store.Tx) error
	rows []store.Row
}

// ending is what became of a member.
type ending struct {
	err    error
	panic  any
	exited bool // its goroutine ended inside the transaction's function
	runs   int64
}

// errPending stands for a member that was not answered yet.
var errPending = errors.New("not answered yet")

// crowd is a number of transactions that came while the store was busy, so that they share a commit as far as the driver lets them.
type crowd struct {
	bed      *bed
	gate     *gate
	answered atomic.Int64
	endings  []ending
	done     chan int
}

// gather holds the store at a COMMIT until every member is queued, then lets that one commit go on. Later commits still stop at the gate.
func (b *bed) gather(g *gate, members []member) *crowd {
	b.Helper()
	c := &crowd{bed: b, gate: g, endings: make([]ending, len(members)), done: make(chan int, len(members))}
	g.stopAt(isCommit)
	plug := make(chan error, 1)
	go func() {
		plug <- b.store().Update(context.Background(), "plug", func(tx store.Tx) error {
			return tx.SetTimer(holdshort.Timer{Kind: holdshort.TimerSleep, Subject: "plug", DueAt: birth})
		})
	}()
	receive(b, "the first commit", g.reached)
	for i, m := range members {
		go c.run(i, m)
	}
	b.eventually("every member is queued or gone", func() bool { return b.db.Queued()+int(c.answered.Load()) >= len(members) })
	g.pass()
	if err := receive(b, "the first transaction", plug); err != nil {
		b.Fatalf("the first transaction: %v", err)
	}
	return c
}

func (c *crowd) run(i int, m member) {
	e := &c.endings[i]
	e.err = errPending
	returned := false
	defer func() {
		e.panic = recover()
		e.exited = !returned && e.panic == nil
		c.answered.Add(1)
		c.done <- i
	}()
	ctx := m.ctx
	if ctx == nil {
		ctx = context.Background()
	}
	e.err = c.bed.store().Update(ctx, acme, func(tx store.Tx) error {
		atomic.AddInt64(&e.runs, 1)
		return m.fn(tx)
	}, m.rows...)
	returned = true
}

// finish lets everything commit and gives what became of the members.
func (c *crowd) finish() []ending {
	c.bed.Helper()
	lifted := make(chan struct{})
	c.gate.stopAt(nil)
	go func() { // whoever waits at the gate
		for {
			select {
			case <-c.gate.reached:
				c.gate.pass()
			case <-lifted:
				return
			}
		}
	}()
	for range c.endings {
		receive(c.bed, "a member's answer", c.done)
	}
	close(lifted)
	return c.endings
}
