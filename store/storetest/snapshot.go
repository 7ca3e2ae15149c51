package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// testSnapshots: a view sees one state of the whole database, however long it takes and whatever others commit meanwhile.
func testSnapshots(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	run := newRun(birth)
	b.update(func(tx store.Tx) error { return tx.PutRun(run) })
	b.view(func(tx store.ReadTx) error {
		before, err := tx.Run(run.ID)
		if err != nil {
			return err
		}
		other := newRun(birth)
		if err := b.try(func(tx store.Tx) error {
			r := before
			r.Wake++
			return firstError(tx.PutRun(r), tx.PutRun(other))
		}); err != nil {
			return err
		}
		after, err := tx.Run(run.ID)
		if err != nil || after.Wake != before.Wake {
			b.Errorf("within one view the run changed from %d to %d (%v)", before.Wake, after.Wake, err)
		}
		if _, err := tx.Run(other.ID); !errors.Is(err, holdshort.NotFound) {
			b.Errorf("within one view a run appeared (%v)", err)
		}
		return nil
	})
	if got := load(b, func(tx store.ReadTx) (holdshort.Run, error) { return tx.Run(run.ID) }); got.Wake != 1 {
		b.Errorf("the next view sees %d", got.Wake)
	}
}

// testTransfers moves amounts between rows, two in each transaction, while others count: the sum is the same in every view and at the end.
func testTransfers(t *testing.T, d Driver) {
	for _, named := range []bool{true, false} {
		t.Run(fmt.Sprint("rows named ", named), func(t *testing.T) {
			b := open(t, d, Options{})
			const accounts, start, movers, moves = 6, 100, 6, 12
			var ids []holdshort.RunID
			b.update(func(tx store.Tx) error {
				ids = nil
				for range accounts {
					run := newRun(birth)
					run.Wake = start
					ids = append(ids, run.ID)
					if err := tx.PutRun(run); err != nil {
						return err
					}
				}
				return nil
			})
			total := func() (sum int64, err error) {
				err = b.store().View(context.Background(), acme, func(tx store.ReadTx) error {
					sum = 0
					for _, id := range ids {
						r, err := tx.Run(id)
						if err != nil {
							return err
						}
						sum += r.Wake
					}
					return nil
				})
				return sum, err
			}
			var moving, counting sync.WaitGroup
			for m := range movers {
				moving.Go(func() {
					random := rand.New(rand.NewPCG(uint64(m), 7))
					for done := 0; done < moves; {
						i, amount := random.IntN(accounts), int64(random.IntN(10))
						j := (i + 1 + random.IntN(accounts-1)) % accounts
						var rows []store.Row
						if named {
							rows = []store.Row{store.RunRow(ids[i]), store.RunRow(ids[j])}
						} else if i > j {
							i, j, amount = j, i, -amount // whoever names no rows takes them in one order
						}
						err := b.try(func(tx store.Tx) error {
							from, err1 := tx.Run(ids[i])
							to, err2 := tx.Run(ids[j])
							from.Wake, to.Wake = from.Wake-amount, to.Wake+amount
							return firstError(err1, err2, tx.PutRun(from), tx.PutRun(to))
						}, rows...)
						switch {
						case err == nil:
							done++
						case !errors.Is(err, holdshort.Conflict):
							b.Errorf("move: %v", err)
							return
						case named:
							b.Errorf("whoever named the rows got a conflict: %v", err)
							return
						}
					}
				})
			}
			stop := make(chan struct{})
			for range 2 {
				counting.Go(func() {
					for {
						if sum, err := total(); err != nil || sum != accounts*start {
							b.Errorf("a view counts %d (%v), want %d", sum, err, accounts*start)
							return
						}
						select {
						case <-stop:
							return
						default:
						}
					}
				})
			}
			moving.Wait()
			close(stop)
			counting.Wait()
			if revisions := b.number("SELECT CAST(SUM(revision) AS BIGINT) FROM runs"); revisions != accounts+2*movers*moves {
				b.Errorf("%d updates, want %d", revisions-accounts, 2*movers*moves)
			}
		})
	}
}

// testClock: time does not go back by a little; by much it does, and what happened by then stays.
func testClock(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	last := b.now()
	read := func() time.Time {
		b.Helper()
		var inside time.Time
		b.update(func(tx store.Tx) error {
			inside = tx.Now()
			return tx.AddEvent(holdshort.Event{Type: "access.denied"})
		})
		if inside.Nanosecond()%1000 != 0 || inside.Location() != time.UTC {
			b.Errorf("the time is %v: not to the microsecond, or not UTC", inside)
		}
		return inside
	}
	for _, back := range []time.Duration{time.Millisecond, 5 * time.Second, 20 * time.Second} {
		b.db.Advance(t, -back)
		for range 3 {
			now := read()
			if now.Before(last) {
				b.Errorf("after a step of %s back, time went from %v to %v", back, last, now)
			}
			last = now
		}
	}
	lease, err := b.system().Acquire(context.Background(), "job", "a", time.Minute)
	if err != nil {
		b.Fatal(err)
	}
	request := newRequest(last)
	request.ExpiresAt = last.Add(time.Millisecond)
	b.update(func(tx store.Tx) error { return tx.PutRequest(request) })
	b.db.Advance(t, 3*time.Hour)
	far := read()
	if far.Sub(last) < 2*time.Hour {
		b.Errorf("three hours later it is %v, was %v", far, last)
	}
	b.update(func(tx store.Tx) error {
		r, err := tx.Request(request.ID)
		if err != nil {
			return err
		}
		r, err = r.Expire(tx.Now())
		return firstError(err, tx.PutRequest(r))
	})
	stolen, err := b.system().Acquire(context.Background(), "job", "b", time.Minute)
	if err != nil || stolen.Epoch <= lease.Epoch {
		b.Fatalf("a lease that is over: %+v (%v)", stolen, err)
	}
	b.db.Advance(t, -time.Hour)
	if now := read(); far.Sub(now) < 50*time.Minute {
		b.Errorf("after an hour back it is %v, was %v: time stands still for too long", now, far)
	}
	b.view(func(tx store.ReadTx) error {
		r, err := tx.Request(request.ID)
		if err == nil && r.StatusAt(tx.Now()) != holdshort.RequestExpired {
			b.Errorf("it un-expired: %+v", r)
		}
		return err
	})
	if _, err := b.system().Acquire(context.Background(), "job", "a", time.Minute); holdshort.CodeOf(err) != holdshort.LeaseLost {
		b.Errorf("whoever lost the lease got it back when the clock moved: %v", err)
	}
	if again, err := b.system().Acquire(context.Background(), "job", "b", time.Minute); err != nil || again.Epoch != stolen.Epoch {
		b.Errorf("whoever has it could not renew it: %+v (%v)", again, err)
	}
	b.verifies()
}
