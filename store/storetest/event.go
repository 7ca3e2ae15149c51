package storetest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// testStreams: each stream is a chain of its own, and an event comes back with every field.
func testStreams(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	var full holdshort.Event
	(&filler{at: birth}).fill(&full)
	full.Type = "hitl.request.decided"
	full.ID, full.Position, full.Stream, full.Seq, full.Prev = holdshort.NewEventID(birth), 0, "", 0, nil
	b.update(func(tx store.Tx) error { return tx.AddEvent(holdshort.Event{Type: "run.created", Run: full.Run}) })
	b.update(func(tx store.Tx) error { return tx.AddEvent(full) })
	b.log(40)
	b.update(func(tx store.Tx) error { // several of one stream in one transaction, with a read between
		e := holdshort.Event{Type: "run.waiting", Run: full.Run}
		if err := firstError(tx.AddEvent(e), tx.AddEvent(e)); err != nil {
			return err
		}
		if _, err := tx.Journal(full.Run); err != nil {
			return err
		}
		return firstError(tx.AddEvent(e), tx.AddEvent(holdshort.Event{Type: "access.denied"}))
	})
	heads := map[string]holdshort.Event{}
	for _, e := range b.events(acme) {
		if e.Stream != e.StreamOf() {
			b.Errorf("event %d is in stream %s, want %s", e.Position, e.Stream, e.StreamOf())
		}
		before, follows := heads[e.Stream]
		hash := before.Hash(acme)
		if e.Seq != before.Seq+1 || follows && !bytes.Equal(e.Prev, hash[:]) || !follows && len(e.Prev) > 0 {
			b.Errorf("event %d of %s does not follow %d: %+v", e.Seq, e.Stream, before.Seq, e)
		}
		heads[e.Stream] = e
		if e.ID != full.ID {
			continue
		}
		if empty := zeros(e); len(empty) > 0 {
			b.Errorf("the full event lost %v", empty)
		}
		for _, field := range differences(e, full) {
			if !slices.Contains([]string{"Position", "Stream", "Seq", "Prev", "At"}, field) {
				b.Errorf("event.%s came back as %s, was %s", field, show(e, field), show(full, field))
			}
		}
	}
	if heads[string(full.Run)].Seq != 5 {
		b.Errorf("the run's stream ends at %d, want 5", heads[string(full.Run)].Seq)
	}
	b.verifies()
}

// testPositions: without a hole, in the order of commits, whatever fails in between.
func testPositions(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	const writers, each = 8, 5
	done := make(chan error, writers*each)
	for i := range writers {
		go func() {
			for j := range each {
				done <- b.store().Update(context.Background(), holdshort.TenantID(fmt.Sprint("t", i%3)), func(tx store.Tx) error {
					run := newRun(birth)
					err := firstError(tx.PutRun(run), tx.AddEvent(holdshort.Event{Type: "run.created", Run: run.ID}))
					if j == 2 {
						return errOwn
					}
					return err
				})
			}
		}()
	}
	for range writers * each {
		receive(b, "a writer", done)
	}
	b.stamp()
	next := int64(1)
	for _, r := range b.export() {
		if r.Event.Position != next {
			b.Errorf("position %d follows %d", r.Event.Position, next-1)
		}
		next = r.Event.Position + 1
	}
	if next != writers*(each-1)+1 {
		b.Errorf("the log ends at %d, want %d", next-1, writers*(each-1))
	}
	b.db.Crash(t)
	b.update(func(tx store.Tx) error { return tx.AddEvent(holdshort.Event{Type: "access.denied"}) })
	b.stamp()
	if list := b.export(); list[len(list)-1].Event.Position != next {
		b.Errorf("after a crash position %d follows %d", list[len(list)-1].Event.Position, next-1)
	}
	t.Run("a stale sequencer stamps nothing", func(t *testing.T) {
		b := &bed{t, b.db}
		b.update(func(tx store.Tx) error { return tx.AddEvent(holdshort.Event{Type: "access.denied"}) })
		stale := b.sequencer()
		stale.Epoch--
		if n, err := b.system().Stamp(context.Background(), stale, 10); n != 0 || err != nil && holdshort.CodeOf(err) != holdshort.LeaseLost {
			b.Errorf("a stale sequencer stamped %d (%v)", n, err)
		}
		_, err := b.system().Seal(context.Background(), stale, 10)
		b.refused(err, holdshort.LeaseLost)
	})
}

// testWatchers: whoever asks from the last position sees each event once.
func testWatchers(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	t.Run("commits out of order", func(t *testing.T) { testOutOfOrder(&bed{t, b.db}) })
	b2 := open(t, d, Options{})
	t.Run("filters", func(t *testing.T) { testEventFilters(&bed{t, b2.db}) })
}

// testOutOfOrder: the first transaction has its row before the second one, and commits after it. Where writers are serialised the second one
// waits; where they are not it commits first, and a cursor by row numbers would lose the first.
func testOutOfOrder(b *bed) {
	seen := map[string]int{}
	last := int64(0)
	watch := func() {
		b.Helper()
		b.stamp()
		page := load(b, func(tx store.ReadTx) (store.Events, error) { return tx.Events(store.EventQuery{After: last}) })
		for _, e := range page.Items {
			seen[e.Code]++
			if e.Position <= last {
				b.Errorf("position %d after %d", e.Position, last)
			}
		}
		last = page.Last
	}
	write := func(code string, hold <-chan struct{}, written chan<- struct{}) error {
		return b.try(func(tx store.Tx) error {
			run := newRun(birth)
			if err := firstError(tx.PutRun(run), tx.AddEvent(holdshort.Event{Type: "run.created", Run: run.ID, Code: code})); err != nil {
				return err
			}
			if hold == nil {
				return nil
			}
			if _, err := tx.Run(run.ID); err != nil { // now it is in the database
				return err
			}
			written <- struct{}{}
			<-hold
			return nil
		})
	}
	b.update(func(tx store.Tx) error { return tx.PutRun(newRun(birth)) }) // the tenant's own row is there
	for round := range 3 {
		hold, written, errs := make(chan struct{}), make(chan struct{}, 9), make(chan error, 2)
		release := sync.OnceFunc(func() { close(hold) })
		defer release()
		go func() { errs <- write(fmt.Sprint("first ", round), hold, written) }()
		receive(b, "the first row", written)
		second := make(chan error, 1)
		go func() { second <- write(fmt.Sprint("second ", round), nil, nil) }()
		waits := false
		b.eventually("the second one commits or waits", func() bool {
			waits = b.db.Queued() > 0
			return waits || len(second) > 0
		})
		if !waits {
			watch()
		}
		release()
		for _, c := range []chan error{errs, second} {
			if err := receive(b, "a writer", c); err != nil {
				b.Fatal(err)
			}
		}
		watch()
	}
	for round := range 3 {
		for _, name := range []string{"first", "second"} {
			if n := seen[fmt.Sprint(name, " ", round)]; n != 1 {
				b.Errorf("%s of round %d was seen %d times", name, round, n)
			}
		}
	}
}

func testEventFilters(b *bed) {
	streams := b.log(20)
	b.updateOf(rival, func(tx store.Tx) error { return tx.AddEvent(holdshort.Event{Type: "run.created"}) })
	b.update(func(tx store.Tx) error { return tx.AddEvent(holdshort.Event{Type: "hitl.request.asked"}) })
	b.stamp()
	query := func(q store.EventQuery) store.Events {
		b.Helper()
		return load(b, func(tx store.ReadTx) (store.Events, error) { return tx.Events(q) })
	}
	for name, c := range map[string]struct {
		query store.EventQuery
		want  int
	}{
		"all":           {store.EventQuery{}, 21},
		"run":           {store.EventQuery{Run: holdshort.RunID(streams[1])}, 5},
		"session":       {store.EventQuery{Session: holdshort.SessionID(streams[2])}, 10},
		"type":          {store.EventQuery{Types: []string{"hitl.request.asked"}}, 1},
		"globs":         {store.EventQuery{Types: []string{"hitl.*", "nothing.*"}}, 1},
		"any":           {store.EventQuery{Types: []string{"*"}}, 21},
		"none":          {store.EventQuery{Types: []string{"run"}}, 0},
		"unknown run":   {store.EventQuery{Run: newRun(birth).ID}, 0},
		"after the end": {store.EventQuery{After: 1 << 40}, 0},
	} {
		got := query(c.query)
		if len(got.Items) != c.want || got.Gap {
			b.Errorf("%s: %d events (gap %v), want %d", name, len(got.Items), got.Gap, c.want)
		}
		if got.Last < c.query.After {
			b.Errorf("%s: asks on from %d after %d", name, got.Last, c.query.After)
		}
	}
	all := query(store.EventQuery{}).Items
	if rest := query(store.EventQuery{After: all[9].Position}).Items; len(rest) != len(all)-10 || rest[0].ID != all[10].ID {
		b.Errorf("after the tenth of %d come %d", len(all), len(rest))
	}
	page := query(store.EventQuery{Limit: 7, Types: []string{"hitl.*"}})
	if len(page.Items) != 0 || page.Last == 0 {
		b.Errorf("a page of events that do not match: %d, on from %d", len(page.Items), page.Last)
	}
	if err := b.try(func(tx store.Tx) error { return tx.AddEvent(holdshort.Event{Type: "made.up"}) }); holdshort.CodeOf(err) != holdshort.Internal {
		b.Errorf("an event outside the catalogue: %v", err)
	}
}
