package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// Crashes ends the store before every single statement of a run's life, from its first message to the outcome of what was approved. Each
// step of it is there as a whole or not at all, everything that was acknowledged is there, and what is left of the life can be lived.
func Crashes(t *testing.T, d Driver) {
	var crashes int
	reached := map[int]int{}
	d.Crashes(t, func(s store.Store, acknowledge func()) { newLife().live(s, acknowledge) }, func(t *testing.T, s store.Store, acknowledged int) {
		crashes++
		reached[acknowledged]++
		newLife().check(&crashBed{t, s}, acknowledged)
	})
	steps := len(newLife().steps)
	t.Logf("%d crashes, by steps that were acknowledged before: %v", crashes, reached)
	for i := range steps {
		if reached[i] < 2 {
			t.Errorf("only %d crashes after %d steps: the statements are not seen", reached[i], i)
		}
	}
}

type crashBed struct {
	*testing.T
	store store.Store
}

// life is a script whose rows have the same names each time it is played.
type life struct {
	session   holdshort.Session
	run       holdshort.Run
	inbound   holdshort.Inbound
	request   holdshort.Request
	decision  holdshort.Decision
	operation holdshort.Operation
	prompt    holdshort.Delivery
	notice    holdshort.Delivery
	steps     []lifeStep
}

// lifeStep is one transaction and the signs that it happened.
type lifeStep struct {
	name  string
	do    func(store.Store) error
	signs map[string]func(store.ReadTx) (bool, error)
}

func newLife() *life {
	l := &life{session: newSession(birth), run: newRun(birth), inbound: newInbound("wamid.1", birth), request: newRequest(birth), prompt: newDelivery("prompt", birth), notice: newDelivery("notice", birth)}
	l.session.ID, l.run.ID, l.request.ID, l.prompt.ID, l.notice.ID, l.inbound.ID = "ses_1", "run_1", "req_1", "dlv_1", "dlv_2", "inb_1"
	l.inbound.SessionID, l.inbound.RunID, l.inbound.Routed = l.session.ID, l.run.ID, true
	l.run.SessionID = l.session.ID
	l.request.RunID, l.request.OriginStepID, l.request.SessionID = l.run.ID, "ask", l.session.ID
	l.decision = newDecision(l.request.ID, "ann", birth)
	l.decision.ID = "dec_1"
	l.operation = newOperation(l.run.ID, "call", birth)
	l.steps = []lifeStep{
		{"accept", l.update(l.accept), map[string]func(store.ReadTx) (bool, error){
			"inbound": found(func(tx store.ReadTx) error {
				_, err := tx.Inbound(l.inbound.Channel, l.inbound.Address, l.inbound.Key)
				return err
			}),
			"session": found(func(tx store.ReadTx) error { _, err := tx.Session(l.session.ID); return err }),
			"message": func(tx store.ReadTx) (bool, error) {
				p, err := tx.Messages(store.MessageQuery{Session: l.session.ID})
				return len(p.Items) == 1, err
			},
			"run":   found(func(tx store.ReadTx) error { _, err := tx.Run(l.run.ID); return err }),
			"event": l.event("run.created"),
		}},
		{"claim", l.claim, map[string]func(store.ReadTx) (bool, error){
			"epoch": func(tx store.ReadTx) (bool, error) {
				r, err := tx.Run(l.run.ID)
				return r.Lease.Epoch == 1, ignoreMissing(err)
			},
			"event": l.event("run.started"),
		}},
		{"raise", l.update(l.raise), map[string]func(store.ReadTx) (bool, error){
			"request":  found(func(tx store.ReadTx) error { _, err := tx.Request(l.request.ID); return err }),
			"seats":    l.seated,
			"prompt":   found(func(tx store.ReadTx) error { _, err := tx.Delivery(l.prompt.ID); return err }),
			"event":    l.event("hitl.interrupt.paused"),
			"revision": l.revision(3),
		}},
		{"decide", l.update(l.decide), map[string]func(store.ReadTx) (bool, error){
			"decision": found(func(tx store.ReadTx) error { _, err := tx.Decision(l.request.ID); return err }),
			"request": func(tx store.ReadTx) (bool, error) {
				r, err := tx.Request(l.request.ID)
				return r.Status == holdshort.RequestResolved, ignoreMissing(err)
			},
			"journal":  l.journaled("ask"),
			"notice":   found(func(tx store.ReadTx) error { _, err := tx.Delivery(l.notice.ID); return err }),
			"event":    l.event("hitl.request.decided"),
			"revision": l.revision(4),
		}},
		{"start", l.update(l.start), map[string]func(store.ReadTx) (bool, error){
			"operation": found(func(tx store.ReadTx) error { _, err := tx.Operation(l.operation.ID); return err }),
			"event":     l.event("operation.started"),
		}},
		{"finish", l.update(l.finish), map[string]func(store.ReadTx) (bool, error){
			"operation": func(tx store.ReadTx) (bool, error) {
				o, err := tx.Operation(l.operation.ID)
				return o.Status == holdshort.OperationDone, ignoreMissing(err)
			},
			"journal": l.journaled("call"),
			"event":   l.event("operation.done"),
		}},
	}
	return l
}

func (l *life) update(fn func(store.Tx) error) func(store.Store) error {
	return func(s store.Store) error { return s.Update(context.Background(), acme, fn, store.RunRow(l.run.ID)) }
}

func (l *life) accept(tx store.Tx) error {
	return firstError(tx.PutInbound(l.inbound), tx.PutSession(l.session), tx.PutMessage(newMessage(l.session.ID, 1, birth)), tx.PutRun(l.run),
		tx.AddEvent(holdshort.Event{Type: "run.created", Run: l.run.ID, Session: l.session.ID}))
}

func (l *life) claim(s store.Store) error {
	flows := []store.FlowVersion{{Flow: l.run.Flow, Version: l.run.FlowVersion}}
	n, err := s.System().ClaimRuns(context.Background(), store.RunClaim{Flows: flows}, func(tx store.Tx, r holdshort.Run) error {
		r, err := r.Apply(holdshort.RunClaim, tx.Now())
		r.Lease.Owner, r.Lease.Until = "node", tx.Now().Add(leaseTime)
		return firstError(err, tx.PutRun(r), tx.AddEvent(holdshort.Event{Type: "run.started", Run: r.ID}))
	})
	if err == nil && n != 1 {
		err = fmt.Errorf("claimed %d runs", n)
	}
	return err
}

func (l *life) raise(tx store.Tx) error {
	r, err := tx.Run(l.run.ID)
	if err != nil {
		return err
	}
	epoch := r.Lease.Epoch
	r, err = r.Suspend(r.Wake, tx.Now())
	return firstError(err, tx.FenceRun(r.ID, epoch), tx.PutRun(r), tx.PutRequest(l.request), tx.PutDelivery(l.prompt),
		tx.SetTimer(holdshort.Timer{Kind: holdshort.TimerExpiry, Subject: string(l.request.ID), DueAt: birth}),
		tx.AddEvent(holdshort.Event{Type: "hitl.interrupt.paused", Run: r.ID, Request: l.request.ID}))
}

func (l *life) decide(tx store.Tx) error {
	request, err := tx.Request(l.request.ID)
	if err != nil {
		return err
	}
	run, err := tx.Run(l.run.ID)
	if err != nil {
		return err
	}
	request, err1 := request.Decide(l.decision, birth.Add(time.Second))
	run, err2 := run.Apply(holdshort.RunWake, tx.Now())
	return firstError(err1, err2, tx.PutRequest(request), tx.AddDecision(l.decision), tx.PutRun(run), tx.AddJournal(newEntry(run.ID, "ask", birth)),
		tx.PutDelivery(l.notice), tx.DropTimer(holdshort.TimerExpiry, string(request.ID), ""),
		tx.AddEvent(holdshort.Event{Type: "hitl.request.decided", Run: run.ID, Request: request.ID, Actor: "ann"}))
}

func (l *life) start(tx store.Tx) error {
	return firstError(tx.UseDecision(l.decision.ID, "call", l.operation.ID), tx.PutOperation(l.operation),
		tx.SetTimer(holdshort.Timer{Kind: holdshort.TimerOperation, Subject: l.operation.ID, DueAt: birth}),
		tx.AddEvent(holdshort.Event{Type: "operation.started", Run: l.run.ID}))
}

func (l *life) finish(tx store.Tx) error {
	o, err := tx.Operation(l.operation.ID)
	if err != nil {
		return err
	}
	o, err = o.Apply(holdshort.OperationFinish, o.Nonce, tx.Now())
	return firstError(err, tx.PutOperation(o), tx.AddJournal(newEntry(l.run.ID, "call", birth)),
		tx.DropTimer(holdshort.TimerOperation, o.ID, ""), tx.AddEvent(holdshort.Event{Type: "operation.done", Run: l.run.ID}))
}

// live plays it; it ends where the store ends.
func (l *life) live(s store.Store, acknowledge func()) {
	for _, step := range l.steps {
		if step.do(s) != nil {
			return
		}
		acknowledge()
	}
}

// check looks at what is there, then lives the rest.
func (l *life) check(b *crashBed, acknowledged int) {
	b.Helper()
	lease, err := b.store.System().Acquire(context.Background(), store.SequencerLease, "checker", time.Hour)
	if err != nil {
		b.Fatalf("acquire the sequencer's lease: %v", err)
	}
	stamp := func() {
		if _, err := b.store.System().Stamp(context.Background(), lease, 1000); err != nil {
			b.Fatalf("stamp: %v", err)
		}
	}
	stamp()
	done := 0
	for i, step := range l.steps {
		there, whole := l.signs(b, step)
		switch {
		case there > 0 && !whole:
			b.Fatalf("step %q is there by half after %d steps were acknowledged", step.name, acknowledged)
		case i < acknowledged && there == 0:
			b.Fatalf("step %q was acknowledged and is gone", step.name)
		case i > acknowledged && there > 0:
			b.Fatalf("step %q happened, but only %d were acknowledged", step.name, acknowledged)
		}
		if there > 0 {
			done = i + 1
		}
	}
	for _, step := range l.steps[done:] {
		if err := step.do(b.store); err != nil {
			b.Fatalf("step %q after the crash: %v", step.name, err)
		}
	}
	stamp()
	for _, step := range l.steps {
		if _, whole := l.signs(b, step); !whole {
			b.Errorf("step %q is not there after the life was lived to its end", step.name)
		}
	}
	verdict, err := b.store.System().Verify(context.Background())
	if err != nil || len(verdict.Faults) > 0 || verdict.Events != int64(len(l.steps)) {
		b.Errorf("verify: %+v (%v)", verdict, err)
	}
}

// signs counts those of a step that are there.
func (l *life) signs(b *crashBed, step lifeStep) (there int, whole bool) {
	b.Helper()
	err := b.store.View(context.Background(), acme, func(tx store.ReadTx) error {
		there = 0
		for name, sign := range step.signs {
			seen, err := sign(tx)
			if err != nil {
				return fmt.Errorf("look for the %s of step %q: %w", name, step.name, err)
			}
			if seen {
				there++
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return there, there == len(step.signs)
}

func found(get func(store.ReadTx) error) func(store.ReadTx) (bool, error) {
	return func(tx store.ReadTx) (bool, error) {
		err := get(tx)
		return err == nil, ignoreMissing(err)
	}
}

func ignoreMissing(err error) error {
	if errors.Is(err, holdshort.NotFound) {
		return nil
	}
	return err
}

func (l *life) event(name string) func(store.ReadTx) (bool, error) {
	return func(tx store.ReadTx) (bool, error) {
		page, err := tx.Events(store.EventQuery{Run: l.run.ID, Types: []string{name}})
		return len(page.Items) == 1, err
	}
}

func (l *life) journaled(key string) func(store.ReadTx) (bool, error) {
	return func(tx store.ReadTx) (bool, error) {
		entries, err := tx.Journal(l.run.ID)
		for _, e := range entries {
			if e.Key == key {
				return true, err
			}
		}
		return false, err
	}
}

// seated: the request is there, and on a desk exactly while it is open.
func (l *life) seated(tx store.ReadTx) (bool, error) {
	r, err := tx.Request(l.request.ID)
	if err != nil {
		return false, ignoreMissing(err)
	}
	tally, err := tx.DeskTally(people["all"], "", time.Time{})
	return tally.All.Count == map[bool]int64{true: 1}[r.Status == holdshort.RequestOpen], err
}

func (l *life) revision(atLeast int64) func(store.ReadTx) (bool, error) {
	return func(tx store.ReadTx) (bool, error) {
		r, err := tx.Run(l.run.ID)
		return r.Revision >= atLeast, ignoreMissing(err)
	}
}

// Interruptions breaks the store's connections before every single statement of the same life and lets it live on: nobody notices, and
// nothing happens twice.
func Interruptions(t *testing.T, d Driver, interrupt func(t testing.TB, db Database)) {
	live := func(t *testing.T, at int64) (seen int64) {
		var db Database
		var count atomic.Int64
		count.Store(-1 << 40) // nothing counts before the life begins
		db = d.Open(t, Options{Narrow: true, OnStatement: func(string) {
			if count.Add(1)-1 == at {
				interrupt(t, db)
			}
		}})
		count.Store(0)
		l := newLife()
		for _, step := range l.steps {
			if err := step.do(db.Store()); err != nil {
				t.Fatalf("step %q: %v", step.name, err)
			}
		}
		seen = count.Swap(1 << 40)
		l.check(&crashBed{t, db.Store()}, len(l.steps))
		return seen
	}
	var total int64
	t.Run("none", func(t *testing.T) { total = live(t, -1) })
	for at := int64(0); at < total; at += int64(Every(4)) {
		t.Run(fmt.Sprint("at ", at), func(t *testing.T) { live(t, at) })
	}
}
