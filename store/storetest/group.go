package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

var errOwn = errors.New("the function's own error")

// testGroups: 64 transactions share commits, and some of them go wrong in every way there is. The others commit; of those nothing is left.
func testGroups(t *testing.T, d Driver) {
	for _, size := range []int{1, 7, 256} {
		for _, named := range []bool{true, false} {
			t.Run(fmt.Sprintf("of %d, rows named %v", size, named), func(t *testing.T) {
				g := newGate()
				testGroup(open(t, d, Options{MaxGroup: size, Narrow: true, OnStatement: g.hook}), g, named, uint64(size))
			})
		}
	}
}

// place is what a good member leaves: rows of many kinds, so that half of it would show.
type place struct {
	run       holdshort.Run
	operation holdshort.Operation
}

func newPlace() place {
	run := newRun(birth)
	return place{run, newOperation(run.ID, "call", birth)}
}

func (p place) write(tx store.Tx) error {
	return firstError(tx.PutRun(p.run), tx.AddJournal(newEntry(p.run.ID, "step", birth)), tx.PutOperation(p.operation),
		tx.SetTimer(holdshort.Timer{Kind: holdshort.TimerSleep, Subject: string(p.run.ID), DueAt: birth}),
		tx.AddEvent(holdshort.Event{Type: "run.created", Run: p.run.ID}))
}

// left counts what is there of it, of 5.
func (p place) left(b *bed) int64 {
	id := string(p.run.ID)
	return b.number("SELECT (SELECT COUNT(*) FROM runs WHERE id = ?) + (SELECT COUNT(*) FROM journal WHERE run_id = ?) + (SELECT COUNT(*) FROM operations WHERE run_id = ?)"+
		" + (SELECT COUNT(*) FROM timers WHERE subject = ?) + (SELECT COUNT(*) FROM events WHERE stream = ?)", id, id, id, id, id)
}

type groupCase struct {
	member
	place place
	gone  bool // nothing may be left
	check func(b *bed, e ending)
}

func testGroup(b *bed, g *gate, named bool, seed uint64) {
	taken, fenced, broken := newPlace(), newRun(birth), newRun(birth)
	fenced.Lease.Epoch = 7
	b.update(func(tx store.Tx) error { return firstError(taken.write(tx), tx.PutRun(fenced), tx.PutRun(broken)) })
	b.db.Exec(b, "UPDATE runs SET fixed = ? WHERE id = ?", []byte("{broken"), string(broken.ID))

	var cases []*groupCase
	add := func(name string, gone bool, fn func(p place, tx store.Tx) error, check func(b *bed, e ending)) *groupCase {
		c := &groupCase{place: newPlace(), gone: gone, check: check}
		c.member = member{name: name, fn: func(tx store.Tx) error { return fn(c.place, tx) }}
		if named {
			c.rows = []store.Row{store.RunRow(c.place.run.ID)}
		}
		cases = append(cases, c)
		return c
	}
	fails := func(code holdshort.Code) func(*bed, ending) {
		return func(b *bed, e ending) {
			b.Helper()
			b.refused(e.err, code)
		}
	}
	fine := func(b *bed, e ending) {
		b.Helper()
		if e.err != nil || e.panic != nil || e.exited {
			b.Errorf("got %+v, want success", e)
		}
	}
	for range 48 {
		add("good", false, func(p place, tx store.Tx) error { return p.write(tx) }, fine)
	}
	add("returns an error", true, func(p place, tx store.Tx) error { return firstError(p.write(tx), errOwn) }, func(b *bed, e ending) {
		if !errors.Is(e.err, errOwn) {
			b.Errorf("got %v, want the function's own error", e.err)
		}
	})
	add("returns an error after it read its own writes", true, func(p place, tx store.Tx) error {
		_, err := tx.Run(newRun(birth).ID)
		if err := firstError(p.write(tx)); err != nil {
			return err
		}
		_, err = tx.Run(p.run.ID)
		return firstError(err, errOwn)
	}, func(b *bed, e ending) {
		if !errors.Is(e.err, errOwn) {
			b.Errorf("got %v, want the function's own error", e.err)
		}
	})
	add("panics", true, func(p place, tx store.Tx) error {
		p.write(tx)
		panic("at the disco")
	}, func(b *bed, e ending) {
		if e.panic != "at the disco" {
			b.Errorf("got %+v, want the panic to reach the caller", e)
		}
	})
	add("panics after it wrote", true, func(p place, tx store.Tx) error {
		p.write(tx)
		tx.Run(p.run.ID)
		panic("at the disco")
	}, func(b *bed, e ending) {
		if e.panic != "at the disco" {
			b.Errorf("got %+v, want the panic to reach the caller", e)
		}
	})
	add("ends its goroutine", true, func(p place, tx store.Tx) error {
		p.write(tx)
		tx.Run(p.run.ID)
		runtime.Goexit()
		return nil
	}, func(b *bed, e ending) {
		if !e.exited {
			b.Errorf("got %+v, want the goroutine to have ended", e)
		}
	})
	over, cancelOver := context.WithCancel(context.Background())
	cancelOver()
	c := add("was canceled before", true, func(p place, tx store.Tx) error { return p.write(tx) }, func(b *bed, e ending) {
		if !errors.Is(e.err, context.Canceled) || e.runs != 0 {
			b.Errorf("got %v after %d runs, want canceled after none", e.err, e.runs)
		}
	})
	c.ctx = over
	for _, reads := range []bool{false, true} {
		ctx, cancel := context.WithCancel(context.Background())
		c = add(fmt.Sprint("is canceled while it runs, reads ", reads), false, func(p place, tx store.Tx) error {
			cancel()
			if reads {
				if _, err := tx.Run(newRun(birth).ID); !errors.Is(err, holdshort.NotFound) {
					return err
				}
			}
			return p.write(tx)
		}, fine)
		c.ctx = ctx
	}
	add("takes a taken key", true, func(p place, tx store.Tx) error { return firstError(p.write(tx), tx.PutRun(taken.run)) }, fails(holdshort.Duplicate))
	add("takes a taken key and looks", true, func(p place, tx store.Tx) error {
		err := firstError(p.write(tx), tx.PutRun(taken.run))
		if err == nil {
			_, err = tx.Run(p.run.ID)
		}
		return err
	}, fails(holdshort.Duplicate))
	add("has a stale revision", true, func(p place, tx store.Tx) error {
		stale := taken.run
		stale.Revision = 99
		return firstError(p.write(tx), tx.PutRun(stale))
	}, fails(holdshort.Conflict))
	add("lost its lease", true, func(p place, tx store.Tx) error { return firstError(tx.FenceRun(fenced.ID, 6), p.write(tx)) }, fails(holdshort.LeaseLost))
	add("has its lease", false, func(p place, tx store.Tx) error { return firstError(tx.FenceRun(fenced.ID, 7), p.write(tx)) }, fine)
	add("reads what it wrote", false, func(p place, tx store.Tx) error {
		if err := p.write(tx); err != nil {
			return err
		}
		got, err := tx.Run(p.run.ID)
		if err == nil && (got.Revision != 1 || got.ID != p.run.ID) {
			err = fmt.Errorf("read %+v", got)
		}
		return err
	}, fine)
	add("reads a corrupt row", true, func(p place, tx store.Tx) error {
		_, err := tx.Run(broken.ID)
		return firstError(p.write(tx), err)
	}, fails(holdshort.Corrupt))
	add("reads a corrupt row and goes on", false, func(p place, tx store.Tx) error {
		if _, err := tx.Run(broken.ID); !errors.Is(err, holdshort.Corrupt) {
			return fmt.Errorf("read a corrupt row: %w", err)
		}
		return p.write(tx)
	}, fine)
	add("writes nothing", true, func(_ place, tx store.Tx) error {
		_, err := tx.Run(taken.run.ID)
		return err
	}, fine)
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })

	var members []member
	for _, c := range cases {
		members = append(members, c.member)
	}
	endings := b.gather(g, members).finish()
	for i, c := range cases {
		b.Run(c.name, func(t *testing.T) {
			b := &bed{t, b.db}
			c.check(b, endings[i])
			want := int64(5)
			if c.gone {
				want = 0
			}
			if got := c.place.left(b); got != want {
				b.Errorf("%d of its 5 rows are there, want %d", got, want)
			}
		})
	}
	b.update(newPlace().write)
	b.verifies()
}
