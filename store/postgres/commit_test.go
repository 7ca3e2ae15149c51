package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/storetest"
)

// behindProxy is a database whose node reaches it through a proxy.
func behindProxy(t *testing.T, o Options) (*database, *proxy) {
	t.Helper()
	d := migratedDatabase(t, o)
	p, through := newProxy(t, d.url)
	direct := d.url
	d.url = through
	d.open(t)
	d.url = direct
	if err := d.store.Update(ctx, "warm", count("run_warm"), store.RunRow("run_warm")); err != nil { // its lane is connected
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.deny(0)
		d.close(t)
		if len(p.fates) > 0 {
			t.Errorf("%d commits that the test speaks of never came by", len(p.fates))
		}
	})
	return d, p
}

// count adds one to a run's wake, and an event: done twice it would show.
func count(id holdshort.RunID) func(store.Tx) error {
	return func(tx store.Tx) error {
		run, err := tx.Run(id)
		if errors.Is(err, holdshort.NotFound) {
			run = holdshort.Run{ID: id, Status: holdshort.RunQueued, Flow: "refund", CreatedAt: tx.Now()}
		} else if err != nil {
			return err
		}
		run.Wake++
		return errors.Join(tx.PutRun(run), tx.AddEvent(holdshort.Event{Type: "run.started", Run: id}))
	}
}

// counted gives how often count took effect.
func (d *database) counted(t *testing.T, id holdshort.RunID) (wake, events int64) {
	t.Helper()
	for _, row := range d.Rows(t, "SELECT wake FROM runs WHERE id = ?", string(id)) {
		wake = row[0].(int64)
	}
	return wake, d.Rows(t, "SELECT COUNT(*) FROM events WHERE stream = ?", string(id))[0][0].(int64)
}

var ctx = context.Background()

// TestLostCommit: the connection breaks around COMMIT, in every way. The caller gets the truth, and the effect is there once.
func TestLostCommit(t *testing.T) {
	t.Parallel()
	for name, fates := range map[string][]fate{
		"never sent":            {neverSent},
		"half sent":             {halfSent},
		"committed, not told":   {unanswered},
		"committed, half told":  {halfTold},
		"never sent, twice":     {neverSent, neverSent},
		"half sent, never sent": {halfSent, neverSent},
		"half sent, not told":   {halfSent, unanswered},
	} {
		t.Run(name, func(t *testing.T) {
			d, p := behindProxy(t, Options{Lanes: 1})
			for round := range int64(3) {
				p.decide(fates...)
				if err := d.store.Update(ctx, "acme", count("run_1"), store.RunRow("run_1")); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
				if wake, events := d.counted(t, "run_1"); wake != round+1 || events != round+1 {
					t.Fatalf("round %d: it took effect %d times, with %d events", round, wake, events)
				}
			}
		})
		t.Run(name+", in a group", func(t *testing.T) {
			d, p := behindProxy(t, Options{Lanes: 1})
			const members = 12
			for round := range int64(3) {
				hold, held := make(chan struct{}), make(chan struct{}, 9)
				first := make(chan error, 1)
				go func() {
					first <- d.store.Update(ctx, "plug", func(tx store.Tx) error {
						held <- struct{}{}
						<-hold
						return tx.SetTimer(holdshort.Timer{Kind: holdshort.TimerSleep, Subject: "x"})
					})
				}()
				<-held
				errs := make(chan error, members)
				for i := range members {
					id := holdshort.RunID(fmt.Sprint("run_", i))
					go func() { errs <- d.store.Update(ctx, "acme", count(id), store.RunRow(id)) }()
				}
				for d.Queued() < members {
					d.Rows(t, "SELECT 1")
				}
				p.decide(append([]fate{arrives}, fates...)...)
				close(hold)
				if err := <-first; err != nil {
					t.Fatalf("the first: %v", err)
				}
				for range members {
					if err := <-errs; err != nil {
						t.Fatalf("round %d: %v", round, err)
					}
				}
				for i := range members {
					if wake, events := d.counted(t, holdshort.RunID(fmt.Sprint("run_", i))); wake != round+1 || events != round+1 {
						t.Errorf("round %d: member %d took effect %d times, with %d events", round, i, wake, events)
					}
				}
			}
		})
	}
}

// TestLostCommitAndServer: after the lost commit the server cannot be reached for a while either.
func TestLostCommitAndServer(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]fate{"committed": unanswered, "not committed": halfSent} {
		t.Run(name+", then it comes back", func(t *testing.T) {
			d, p := behindProxy(t, Options{Lanes: 1})
			p.decide(f)
			p.deny(3)
			if err := d.store.Update(ctx, "acme", count("run_1"), store.RunRow("run_1")); err != nil {
				t.Fatal(err)
			}
			if wake, events := d.counted(t, "run_1"); wake != 1 || events != 1 {
				t.Errorf("it took effect %d times, with %d events", wake, events)
			}
		})
		t.Run(name+", and it stays away", func(t *testing.T) {
			d, p := behindProxy(t, Options{Lanes: 1, Patience: 2 * time.Second})
			p.decide(f)
			p.deny(-1)
			err := d.store.Update(ctx, "acme", count("run_1"), store.RunRow("run_1"))
			if holdshort.CodeOf(err) != holdshort.OutcomeUnknown || holdshort.HintOf(err) == "" {
				t.Errorf("nobody knows, and the answer is %v", err)
			}
			p.deny(0)
			before, _ := d.counted(t, "run_1")
			if err := d.store.Update(ctx, "acme", count("run_1"), store.RunRow("run_1")); err != nil {
				t.Fatalf("after it came back: %v", err)
			}
			if wake, events := d.counted(t, "run_1"); wake != before+1 || events != wake {
				t.Errorf("after it came back it took effect %d times, with %d events, before %d", wake, events, before)
			}
		})
	}
}

// TestStalledServer: the answer to a COMMIT takes its time. Whoever has a deadline and waits in the queue is told; the others get the truth.
func TestStalledServer(t *testing.T) {
	t.Parallel()
	d, p := behindProxy(t, Options{Lanes: 1})
	p.decide(stalls)
	first := make(chan error, 1)
	go func() { first <- d.store.Update(ctx, "acme", count("run_1"), store.RunRow("run_1")) }()
	<-p.stalled
	short, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
	defer cancel()
	if err := d.store.Update(short, "acme", count("run_2"), store.RunRow("run_2")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("whoever waited with a deadline: %v", err)
	}
	if err := d.store.View(ctx, "acme", func(tx store.ReadTx) error { _, err := tx.Run("run_1"); return err }); err != nil {
		t.Errorf("a view meanwhile: %v", err) // it is committed: the answer is on its way
	}
	queued := make(chan error, 1)
	go func() { queued <- d.store.Update(ctx, "acme", count("run_3"), store.RunRow("run_3")) }()
	p.release <- struct{}{}
	for name, c := range map[string]chan error{"the stalled one": first, "the one behind it": queued} {
		if err := <-c; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for id, want := range map[holdshort.RunID]int64{"run_1": 1, "run_2": 0, "run_3": 1} {
		if wake, _ := d.counted(t, id); wake != want {
			t.Errorf("%s took effect %d times, want %d", id, wake, want)
		}
	}
}

// TestStalledForTooLong: an answer that never comes is a lost commit.
func TestStalledForTooLong(t *testing.T) {
	t.Parallel()
	d, p := behindProxy(t, Options{Lanes: 1, Patience: 2 * time.Second})
	p.decide(stalls)
	if err := d.store.Update(ctx, "acme", count("run_1"), store.RunRow("run_1")); err != nil {
		t.Errorf("it was committed, and the answer is %v", err)
	}
	close(p.release)
	if wake, events := d.counted(t, "run_1"); wake != 1 || events != 1 {
		t.Errorf("it took effect %d times, with %d events", wake, events)
	}
	if err := d.store.Update(ctx, "acme", count("run_1"), store.RunRow("run_1")); err != nil {
		t.Errorf("after that: %v", err)
	}
}

// TestCrashBrokenConnections breaks the node's connections at every statement and lets it go on.
func TestCrashBrokenConnections(t *testing.T) {
	t.Parallel()
	storetest.Interruptions(t, databases{}, func(t testing.TB, db storetest.Database) { db.(*database).sever(t) })
}
