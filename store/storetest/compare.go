package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

func testCompareAndSet(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	t.Run("concurrent updaters lose nothing", func(t *testing.T) { testUpdaters(&bed{t, b.db}) })
	t.Run("a stale revision writes nothing", func(t *testing.T) { testStale(&bed{t, b.db}) })
	t.Run("new rows are never overwritten", func(t *testing.T) { testNewRows(&bed{t, b.db}) })
	t.Run("appending to one stream is no conflict", func(t *testing.T) { testOneStream(&bed{t, b.db}) })
}

// testUpdaters: each reads, adds one and puts; whoever lost reads again.
func testUpdaters(b *bed) {
	for name, rows := range map[string]func(holdshort.RunID) []store.Row{
		"named":   func(id holdshort.RunID) []store.Row { return []store.Row{store.RunRow(id)} },
		"unnamed": func(holdshort.RunID) []store.Row { return nil },
	} {
		run := newRun(birth)
		b.update(func(tx store.Tx) error { return tx.PutRun(run) })
		const updaters, each = 16, 4
		faults := make(chan error, updaters)
		var wg sync.WaitGroup
		for range updaters {
			wg.Go(func() {
				for done := 0; done < each; {
					err := b.try(func(tx store.Tx) error {
						r, err := tx.Run(run.ID)
						if err != nil {
							return err
						}
						r.Wake++
						return tx.PutRun(r)
					}, rows(run.ID)...)
					switch {
					case err == nil:
						done++
					case !errors.Is(err, holdshort.Conflict):
						faults <- err
						return
					}
				}
			})
		}
		wg.Wait()
		close(faults)
		for err := range faults {
			b.Errorf("%s: %v", name, err)
		}
		got := load(b, func(tx store.ReadTx) (holdshort.Run, error) { return tx.Run(run.ID) })
		if got.Wake != updaters*each || got.Revision != updaters*each+1 {
			b.Errorf("%s: %d updates left wake %d and revision %d", name, updaters*each, got.Wake, got.Revision)
		}
	}
}

// testStale: a transaction with one stale row writes none of the others, whichever comes first.
func testStale(b *bed) {
	for _, n := range nouns() {
		if n.changes == nil {
			continue
		}
		row := n.full(&filler{at: birth})
		b.update(func(tx store.Tx) error { return n.put(tx, row) })
		current := load(b, func(tx store.ReadTx) (any, error) { return n.get(tx, row) })
		b.update(func(tx store.Tx) error { return n.put(tx, current) })
		for name, revision := range map[string]int64{"old": 1, "never": 99} {
			companion := newRun(birth)
			stale := reflect.New(reflect.TypeOf(row)).Elem()
			stale.Set(reflect.ValueOf(row))
			stale.FieldByName("Revision").SetInt(revision)
			for _, last := range []bool{false, true} {
				err := b.try(func(tx store.Tx) error {
					if last {
						return firstError(tx.PutRun(companion), tx.AddEvent(holdshort.Event{Type: "run.created", Run: companion.ID}), n.put(tx, stale.Interface()))
					}
					return firstError(n.put(tx, stale.Interface()), tx.PutRun(companion), tx.AddEvent(holdshort.Event{Type: "run.created", Run: companion.ID}))
				})
				if !errors.Is(err, holdshort.Conflict) {
					b.Errorf("%s with the %s revision: got %v, want conflict", n.name, name, err)
				}
				absent(b, "what was written beside a stale "+n.name, func(tx store.ReadTx) (holdshort.Run, error) { return tx.Run(companion.ID) })
				if n := b.number("SELECT COUNT(*) FROM events WHERE stream = ?", string(companion.ID)); n != 0 {
					b.Errorf("%d events of a transaction that failed", n)
				}
			}
		}
	}
}

func testNewRows(b *bed) {
	for _, n := range nouns() {
		if n.changes == nil {
			continue
		}
		row := n.full(&filler{at: birth, n: 5000})
		b.update(func(tx store.Tx) error { return n.put(tx, row) })
		err := b.try(func(tx store.Tx) error { return n.put(tx, row) })
		if !errors.Is(err, holdshort.Duplicate) {
			b.Errorf("a second new %s of the same id: got %v, want duplicate", n.name, err)
		}
	}
}

// testOneStream: events of one stream follow one another; whoever only adds one has nothing to read again.
func testOneStream(b *bed) {
	const writers = 24
	errs := make(chan error, writers)
	for i := range writers {
		go func() {
			errs <- b.try(func(tx store.Tx) error {
				return tx.AddEvent(holdshort.Event{Type: "access.denied", Actor: fmt.Sprint("actor ", i)})
			})
		}()
	}
	for range writers {
		if err := receive(b, "a writer of the tenant's stream", errs); err != nil {
			b.Errorf("adding an event to the tenant's stream: %v", err)
		}
	}
}

func testDeciding(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	t.Run("of a hundred deciders who look first", func(t *testing.T) { testDeciders(&bed{t, b.db}, true) })
	t.Run("of a hundred deciders who do not look", func(t *testing.T) { testDeciders(&bed{t, b.db}, false) })
	t.Run("one vote per actor", func(t *testing.T) { testVotes(&bed{t, b.db}) })
	t.Run("one use per decision and call", func(t *testing.T) { testUses(&bed{t, b.db}) })
}

// testDeciders: exactly one wins; everybody else gets a typed error and finds the standing decision.
func testDeciders(b *bed, look bool) {
	run := newRun(birth)
	request := newRequest(birth)
	request.RunID, request.OriginStepID = run.ID, "ask"
	b.update(func(tx store.Tx) error { return firstError(tx.PutRun(run), tx.PutRequest(request)) })
	const deciders = 100
	type result struct {
		actor string
		err   error
		saw   string
	}
	results := make(chan result, deciders)
	for i := range deciders {
		actor := fmt.Sprint("actor ", i)
		go func() {
			err := b.try(func(tx store.Tx) error {
				d := newDecision(request.ID, actor, tx.Now())
				if look {
					standing, err := tx.Request(request.ID)
					if err != nil {
						return err
					}
					decided, err := standing.Decide(d, birth.Add(time.Second))
					if err != nil {
						return err
					}
					if err := tx.PutRequest(decided); err != nil {
						return err
					}
				}
				return firstError(tx.AddDecision(d), tx.AddJournal(newEntry(run.ID, "ask", tx.Now())),
					tx.AddEvent(holdshort.Event{Type: "hitl.request.decided", Run: run.ID, Request: request.ID, Actor: actor}))
			}, store.RequestRow(request.ID))
			saw := ""
			if verr := b.store().View(context.Background(), acme, func(tx store.ReadTx) error {
				d, err := tx.Decision(request.ID)
				saw = d.Actor.ID
				return err
			}); verr != nil {
				saw = verr.Error()
			}
			results <- result{actor, err, saw}
		}()
	}
	winner, seen := "", map[string]int{}
	for range deciders {
		r := receive(b, "a decider's answer", results)
		seen[r.saw]++
		switch {
		case r.err == nil && winner == "":
			winner = r.actor
		case r.err == nil:
			b.Errorf("%s and %s both won", winner, r.actor)
		case !errors.Is(r.err, holdshort.Closed) && !errors.Is(r.err, holdshort.Conflict):
			b.Errorf("%s lost with %v, want closed or conflict", r.actor, r.err)
		}
	}
	if winner == "" || seen[winner] != deciders {
		b.Errorf("%q won, and after their answers the deciders saw %v", winner, seen)
	}
	if n := len(load(b, func(tx store.ReadTx) ([]holdshort.JournalEntry, error) { return tx.Journal(run.ID) })); n != 1 {
		b.Errorf("%d journal entries of one decision", n)
	}
	if n := b.number("SELECT COUNT(*) FROM events WHERE stream = ?", string(run.ID)); n != 1 {
		b.Errorf("%d events of one decision", n)
	}
}

func testVotes(b *bed) {
	request := newRequest(birth)
	b.update(func(tx store.Tx) error { return tx.PutRequest(request) })
	const actors, tries = 5, 8
	errs := make(chan error, actors*tries)
	for i := range actors * tries {
		go func() {
			errs <- b.try(func(tx store.Tx) error {
				return tx.AddVote(newDecision(request.ID, fmt.Sprint("actor ", i%actors), tx.Now()))
			})
		}()
	}
	counted := 0
	for range actors * tries {
		switch err := receive(b, "a vote's answer", errs); {
		case err == nil:
			counted++
		case !errors.Is(err, holdshort.AlreadyVoted):
			b.Errorf("a second vote: got %v, want already_voted", err)
		}
	}
	votes := load(b, func(tx store.ReadTx) ([]holdshort.Vote, error) { return tx.Votes(request.ID) })
	if counted != actors || len(votes) != actors {
		b.Errorf("%d votes were accepted and %d stand, of %d actors", counted, len(votes), actors)
	}
	absent(b, "a decision of votes", func(tx store.ReadTx) (holdshort.Decision, error) { return tx.Decision(request.ID) })
}

func testUses(b *bed) {
	run := newRun(birth)
	decision := newDecision(newRequest(birth).ID, "ann", birth)
	const users = 30
	errs := make(chan error, users)
	for i := range users {
		go func() {
			o := newOperation(run.ID, fmt.Sprint("key", i), birth)
			errs <- b.try(func(tx store.Tx) error {
				return firstError(tx.UseDecision(decision.ID, "call_1", o.ID), tx.PutOperation(o))
			})
		}()
	}
	used := 0
	for range users {
		switch err := receive(b, "a use's answer", errs); {
		case err == nil:
			used++
		case !errors.Is(err, holdshort.DecisionUsed):
			b.Errorf("a second use: got %v, want decision_used", err)
		}
	}
	started := load(b, func(tx store.ReadTx) ([]holdshort.Operation, error) { return tx.Operations(run.ID) })
	if used != 1 || len(started) != 1 {
		b.Errorf("a decision was used %d times and %d operations started", used, len(started))
	}
	b.update(func(tx store.Tx) error { return tx.UseDecision(decision.ID, "call_2", "another operation") })
}
