package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// testStall: the database stops answering in the middle of a transaction. Whoever has a deadline is told; afterwards everything goes on.
func testStall(t *testing.T, d Driver) {
	for name, match := range map[string]func(string) bool{
		"at begin":  func(s string) bool { return strings.HasPrefix(s, "BEGIN") },
		"at write":  func(s string) bool { return strings.HasPrefix(s, "INSERT INTO runs") },
		"at commit": isCommit,
	} {
		t.Run(name, func(t *testing.T) {
			g := newGate()
			b := open(t, d, Options{Narrow: true, OnStatement: g.hook})
			g.stopAt(match)
			stuck, late := newPlace(), newPlace()
			first := make(chan error, 1)
			go func() { first <- b.try(stuck.write) }()
			receive(b, "the statement", g.reached)
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
			defer cancel()
			if err := b.store().Update(ctx, acme, late.write); !errors.Is(err, context.DeadlineExceeded) {
				b.Errorf("whoever had a deadline got %v", err)
			}
			if n := b.number("SELECT COUNT(*) FROM runs"); n != 0 { // reading goes on
				b.Errorf("%d runs are seen", n)
			}
			queued := make(chan error, 5)
			var places []place
			for range cap(queued) {
				p := newPlace()
				places = append(places, p)
				go func() { queued <- b.try(p.write) }()
			}
			b.eventually("the others are queued", func() bool { return b.db.Queued() >= cap(queued) })
			g.lift()
			if err := receive(b, "the one that was stuck", first); err != nil || stuck.left(b) != 5 {
				b.Errorf("the one that was stuck: %v, %d of 5 rows", err, stuck.left(b))
			}
			for range cap(queued) {
				if err := receive(b, "one that was queued", queued); err != nil {
					b.Errorf("one that was queued: %v", err)
				}
			}
			for _, p := range places {
				if n := p.left(b); n != 5 {
					b.Errorf("%d of 5 rows", n)
				}
			}
			if n := late.left(b); n != 0 {
				b.Errorf("%d rows of the one that gave up", n)
			}
		})
	}
}

// testClose: what is under way ends, what comes later is refused, and closing twice is no fault.
func testClose(t *testing.T, d Driver) {
	g := newGate()
	b := open(t, d, Options{Narrow: true, OnStatement: g.hook})
	s := b.store()
	run := newRun(birth)
	b.update(func(tx store.Tx) error { return tx.PutRun(run) })
	g.stopAt(isCommit)
	under, queued := newPlace(), newPlace()
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { first <- b.try(under.write) }()
	receive(b, "the commit", g.reached)
	go func() { second <- b.try(queued.write) }()
	b.eventually("the second is queued", func() bool { return b.db.Queued() == 1 })
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	g.lift()
	for _, c := range []chan error{first, second, closed} {
		if err := receive(b, "the end", c); err != nil && holdshort.CodeOf(err) != holdshort.StoreClosed {
			b.Errorf("closing: %v", err)
		}
	}
	ctx := context.Background()
	refused := map[string]error{
		"Update": s.Update(ctx, acme, func(store.Tx) error { return nil }),
		"View":   s.View(ctx, acme, func(store.ReadTx) error { return nil }),
	}
	_, refused["Now"] = s.System().Now(ctx)
	_, refused["ClaimRuns"] = s.System().ClaimRuns(ctx, store.RunClaim{Flows: []store.FlowVersion{{Flow: "refund", Version: 1}}}, nil)
	_, refused["Acquire"] = s.System().Acquire(ctx, "n", "o", time.Minute)
	_, refused["Verify"] = s.System().Verify(ctx)
	_, refused["Health"] = s.System().Health(ctx)
	_, refused["Prune"] = s.System().Prune(ctx, keepFor(day, day, day))
	_, _, refused["DueTimers"] = s.System().DueTimers(ctx, 10)
	for name, err := range refused {
		if holdshort.CodeOf(err) != holdshort.StoreClosed {
			b.Errorf("%s after the end: got %v, want store_closed", name, err)
		}
	}
	s.Wake().Ring("x")
	_, cancel := s.Wake().Subscribe("x")
	cancel()
	if err := s.Close(); err != nil {
		b.Errorf("closing again: %v", err)
	}
	b.db.Reopen(t)
	if n := under.left(b); n != 5 {
		b.Errorf("%d of 5 rows of what was under way", n)
	}
}

func testWake(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	w := b.store().Wake()
	runs, endRuns := w.Subscribe("runs", "timers")
	other, endOther := w.Subscribe("deliveries")
	defer endOther()
	drain := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	drain(runs)
	drain(other)
	w.Ring("timers", "nobody")
	w.Ring("runs")
	receive(b, "the hint", runs)
	if drain(other) {
		b.Error("a hint of another topic")
	}
	endRuns()
	drain(runs)
	for i := range 100 {
		w.Ring(fmt.Sprint("topic ", i), "runs") // nobody listens: it must not block
	}
	if drain(runs) {
		b.Error("a hint after the end of the subscription")
	}
}

func testHealth(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	if !b.store().Durable() {
		b.Error("a store on a disk says that it is not durable")
	}
	now := b.now()
	waiting, stale, held := newRun(now), newRun(now), newRun(now)
	waiting.Status, stale.Status, held.Held = holdshort.RunWaiting, holdshort.RunRunning, &holdshort.Hold{Code: holdshort.Corrupt, Since: now}
	stale.Lease = holdshort.Lease{Owner: "dead", Epoch: 1, Until: now.Add(-time.Minute)}
	b.update(func(tx store.Tx) error {
		return firstError(tx.PutRun(waiting), tx.PutRun(stale), tx.PutRun(held), tx.PutRequest(newRequest(now)),
			tx.SetTimer(holdshort.Timer{Kind: holdshort.TimerSleep, Subject: "x", DueAt: now.Add(-time.Minute)}), tx.AddEvent(holdshort.Event{Type: "access.denied"}))
	})
	b.seal(1000)
	b.log(2)
	b.stamp()
	h, err := b.system().Health(context.Background())
	if err != nil {
		b.Fatalf("health: %v", err)
	}
	if h.Tenants != 1 || h.Waiting != 1 || h.StaleRuns != 1 || h.Held != 1 || h.Open != 1 || h.Overdue != 1 || h.Unstamped != 0 || h.Unsealed != 3 || h.Position != 4 {
		b.Errorf("health says %+v", h)
	}
	if h.Driver == "" || h.Server == "" || h.Schema < 1 || h.Instance == "" || h.Bytes <= 0 || h.SealedAt.IsZero() || h.Quarantine != "" || h.ClockSkew.Abs() > time.Minute {
		b.Errorf("health says %+v", h)
	}
	if slices.ContainsFunc(h.Problems, func(p string) bool { return !strings.Contains(p, "fsync") }) {
		b.Errorf("problems of a healthy store: %v", h.Problems)
	}
	instance := h.Instance
	b.db.Reopen(t)
	if h, err = b.system().Health(context.Background()); err != nil || h.Instance != instance {
		b.Errorf("after reopening the instance is %s, was %s (%v)", h.Instance, instance, err)
	}
}
