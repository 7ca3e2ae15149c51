package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// testAnswers stops the store at a group's COMMIT: nobody has been answered, neither those who won nor those who lost, and nobody else sees
// any of it.
func testAnswers(t *testing.T, d Driver) {
	g := newGate()
	b := open(t, d, Options{Narrow: true, OnStatement: g.hook})
	request := newRequest(birth)
	b.update(func(tx store.Tx) error { return tx.PutRequest(request) })
	var places []place
	var members []member
	for range 6 {
		p := newPlace()
		places = append(places, p)
		members = append(members, member{fn: p.write, rows: []store.Row{store.RunRow(p.run.ID)}})
	}
	for i := range 4 { // one of them wins, and the others learn that from what is not committed yet
		members = append(members, member{rows: []store.Row{store.RequestRow(request.ID)}, fn: func(tx store.Tx) error {
			r, err := tx.Request(request.ID)
			if err != nil {
				return err
			}
			d := newDecision(request.ID, fmt.Sprint("actor ", i), birth)
			if r, err = r.Decide(d, birth.Add(time.Second)); err != nil {
				return err
			}
			return firstError(tx.PutRequest(r), tx.AddDecision(d))
		}})
	}
	members = append(members, member{fn: func(tx store.Tx) error { return firstError(newPlace().write(tx), errOwn) }, rows: []store.Row{"loser"}})

	c := b.gather(g, members)
	receive(b, "the group's commit", g.reached)
	for _, p := range places { // each look takes a while: time enough for an answer that comes too early
		absent(b, "a row before its commit", func(tx store.ReadTx) (holdshort.Run, error) { return tx.Run(p.run.ID) })
	}
	absent(b, "a decision before its commit", func(tx store.ReadTx) (holdshort.Decision, error) { return tx.Decision(request.ID) })
	if n := c.answered.Load(); n != 0 {
		b.Errorf("%d members were answered before the commit", n)
	}
	g.pass()
	endings := c.finish()
	won := 0
	for i, e := range endings {
		switch {
		case i < 6 && e.err != nil:
			b.Errorf("member %d: %v", i, e.err)
		case i >= 6 && i < 10 && e.err == nil:
			won++
		case i >= 6 && i < 10 && !errors.Is(e.err, holdshort.Closed) && !errors.Is(e.err, holdshort.Conflict):
			b.Errorf("decider %d lost with %v", i, e.err)
		case i == 10 && !errors.Is(e.err, errOwn):
			b.Errorf("the last got %v, want its own error", e.err)
		}
	}
	if won != 1 {
		b.Errorf("%d deciders won", won)
	}
	for _, p := range places {
		if n := p.left(b); n != 5 {
			b.Errorf("%d of 5 rows are there after the commit", n)
		}
	}
}

func testCanceled(t *testing.T, d Driver) {
	g := newGate()
	b := open(t, d, Options{Narrow: true, OnStatement: g.hook})
	t.Run("while queued", func(t *testing.T) {
		b := &bed{t, b.db}
		ctx, cancel := context.WithCancel(context.Background())
		p := newPlace()
		g.stopAt(isCommit)
		plug := make(chan error, 1)
		go func() { plug <- b.try(newPlace().write) }()
		receive(b, "the first commit", g.reached)
		ran, answer := make(chan struct{}, 9), make(chan error, 1)
		go func() {
			answer <- b.store().Update(ctx, acme, func(tx store.Tx) error { ran <- struct{}{}; return p.write(tx) })
		}()
		b.eventually("it is queued", func() bool { return b.db.Queued() == 1 })
		cancel()
		if err := receive(b, "the answer to whoever gave up, while the store is busy", answer); !errors.Is(err, context.Canceled) {
			b.Errorf("got %v, want canceled", err)
		}
		g.lift()
		if err := receive(b, "the first transaction", plug); err != nil {
			b.Errorf("the first transaction: %v", err)
		}
		b.update(newPlace().write) // whatever was queued before it has had its turn
		if len(ran) > 0 || p.left(b) != 0 {
			b.Errorf("its function ran %d times and left %d rows after the caller was told that it did not", len(ran), p.left(b))
		}
	})
	t.Run("while under way", func(t *testing.T) {
		b := &bed{t, b.db}
		ctx, cancel := context.WithCancel(context.Background())
		p := newPlace()
		g.stopAt(isCommit)
		answer := make(chan error, 1)
		go func() { answer <- b.store().Update(ctx, acme, p.write) }()
		receive(b, "its commit", g.reached)
		cancel()
		b.now() // time enough for an answer that comes too early
		select {
		case err := <-answer:
			b.Errorf("answered %v before anybody knows", err)
		default:
		}
		g.lift()
		err := receive(b, "the answer", answer)
		left := p.left(b)
		if err != nil || left != 5 {
			b.Errorf("got %v and %d of 5 rows, want the truth: it was committed", err, left)
		}
	})
	t.Run("while others of its group have their turn", func(t *testing.T) {
		b := &bed{t, b.db}
		var cancels []context.CancelFunc
		var members []member
		var places []place
		for i := range 6 { // whoever comes first cancels all the others, who have not begun
			ctx, cancel := context.WithCancel(context.Background())
			cancels = append(cancels, cancel)
			p := newPlace()
			places = append(places, p)
			members = append(members, member{ctx: ctx, rows: []store.Row{store.RunRow(p.run.ID)}, fn: func(tx store.Tx) error {
				for j, cancel := range cancels {
					if j != i {
						cancel()
					}
				}
				if _, err := tx.Run(p.run.ID); !errors.Is(err, holdshort.NotFound) { // time enough for an answer that comes too early
					return err
				}
				return p.write(tx)
			}})
		}
		begun := 0
		for i, e := range b.gather(g, members).finish() {
			left := places[i].left(b)
			if errors.Is(e.err, context.Canceled) && e.runs == 0 && left == 0 {
				continue // it was not taken yet
			}
			begun++
			if e.err != nil || left != 5 {
				b.Errorf("member %d: got %v and %d of 5 rows, want the truth: it was committed", i, e.err, left)
			}
		}
		if begun == 0 {
			b.Error("nobody began: the test shows nothing")
		}
	})
	t.Run("a view", func(t *testing.T) {
		b := &bed{t, b.db}
		run := newRun(birth)
		b.update(func(tx store.Tx) error { return tx.PutRun(run) })
		for i := range 20 { // more often than there are connections: none may be spoilt
			ctx, cancel := context.WithCancel(context.Background())
			err := b.store().View(ctx, acme, func(tx store.ReadTx) error {
				if i%2 == 0 {
					if _, err := tx.Run(run.ID); err != nil {
						return err
					}
				}
				cancel()
				_, err := tx.Run(run.ID)
				return err
			})
			if err == nil || holdshort.CodeOf(err) == holdshort.NotFound {
				b.Errorf("a view whose context ended: got %v", err)
			}
			load(b, func(tx store.ReadTx) (holdshort.Run, error) { return tx.Run(run.ID) })
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := b.store().View(ctx, acme, func(store.ReadTx) error { return nil }); err != nil && !errors.Is(err, context.Canceled) {
			b.Errorf("a view that was canceled before: %v", err)
		}
	})
}
