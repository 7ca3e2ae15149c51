package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// Model compares a store with what its callers were told. Each call adds an entry to the journal of one or two runs and one to their
// counters, under names that are right, wrong, overlapping or none, by functions that succeed or go wrong in every way, with contexts that
// end whenever they like. nil: the entry is there once. A definite error: it is not. An unknown outcome: all of it or nothing. disturb, if
// there is one, works against the store meanwhile; it ends with its context.
func Model(t *testing.T, d Driver, seed uint64, disturb func(ctx context.Context)) {
	const counters, callers, calls = 6, 24, 30
	b := open(t, d, Options{})
	m := &model{bed: b, told: map[string]told{}}
	for range counters {
		run := newRun(birth)
		run.Wake = 0
		b.update(func(tx store.Tx) error { return tx.PutRun(run) })
		m.runs = append(m.runs, run.ID)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var disturber, wg sync.WaitGroup
	if disturb != nil {
		disturber.Go(func() { disturb(ctx) })
	}
	for c := range callers {
		wg.Go(func() {
			dice := rand.New(rand.NewPCG(seed, uint64(c)))
			for i := range calls {
				m.call(fmt.Sprintf("%d.%d", c, i), dice)
			}
		})
	}
	wg.Wait()
	cancel()
	disturber.Wait()
	m.compare()
	if t.Failed() {
		t.Logf("seed %d", seed)
	}
}

// told is what a caller was told of its entry.
type told struct {
	runs []int
	err  error
}

type model struct {
	*bed
	runs []holdshort.RunID
	mu   sync.Mutex
	told map[string]told
}

var misdeeds = []string{"fail", "panic", "exit", "read", "fail late", "twice", "stale", "ignore"}

func (m *model) call(key string, dice *rand.Rand) {
	runs := []int{dice.IntN(len(m.runs))}
	if other := dice.IntN(len(m.runs)); other != runs[0] && dice.IntN(4) == 0 {
		runs = append(runs, other)
	}
	misdeed := ""
	if dice.IntN(2) == 0 {
		misdeed = misdeeds[dice.IntN(len(misdeeds))]
	}
	var rows []store.Row
	switch dice.IntN(4) {
	case 0: // no names
	case 1:
		rows = append(rows, store.Row(fmt.Sprint("wrong:", dice.IntN(5)))) // names are for speed, revisions for truth
	default:
		for _, r := range runs {
			rows = append(rows, store.RunRow(m.runs[r]))
		}
	}
	ctx, cancel := context.Background(), context.CancelFunc(func() {})
	if dice.IntN(4) == 0 {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(dice.IntN(4000))*time.Microsecond)
	}
	defer cancel()
	err := survive(func() error {
		return m.store().Update(ctx, acme, func(tx store.Tx) error { return m.add(tx, key, runs, misdeed) }, rows...)
	})
	if err == nil && misdeed != "" && misdeed != "read" {
		m.Errorf("%s: a function that does %q was told nil", key, misdeed)
	}
	if errors.Is(err, holdshort.Duplicate) && misdeed != "twice" && misdeed != "ignore" {
		m.Errorf("%s: was there before it was answered: %v", key, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told[key] = told{runs, err}
}

var errSurvived = errors.New("the function did not return")

// survive gives an error for a panic or an end of the goroutine.
func survive(fn func() error) error {
	err := errSurvived
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil && p != any(errOwn) {
				panic(p)
			}
		}()
		err = fn()
	}()
	<-done
	return err
}

func (m *model) add(tx store.Tx, key string, runs []int, misdeed string) error {
	if misdeed == "fail" {
		return errOwn
	}
	for _, i := range runs {
		run, err := tx.Run(m.runs[i])
		if err != nil {
			return err
		}
		run.Wake++
		err = firstError(tx.PutRun(run), tx.AddJournal(newEntry(run.ID, key, birth)), tx.AddEvent(holdshort.Event{Type: "run.created", Run: run.ID}))
		if err != nil {
			return err
		}
	}
	id := m.runs[runs[0]]
	switch misdeed {
	case "panic":
		panic(errOwn)
	case "exit":
		runtime.Goexit()
	case "fail late":
		return errOwn
	case "read":
		_, err := tx.Journal(id)
		return err
	case "twice":
		return tx.AddJournal(newEntry(id, key, birth))
	case "stale":
		run, err := tx.Run(id)
		run.Revision += 5
		return firstError(err, tx.PutRun(run))
	case "ignore":
		if err := tx.AddJournal(newEntry(id, key, birth)); err == nil {
			_, _ = tx.Run(id) // this is where the second entry is refused
		}
	}
	return nil
}

// compare reads everything back.
func (m *model) compare() {
	there := map[string]bool{}
	for i, id := range m.runs {
		m.view(func(tx store.ReadTx) error {
			run, err := tx.Run(id)
			if err != nil {
				return err
			}
			entries, err := tx.Journal(id)
			for _, e := range entries {
				there[fmt.Sprint(e.Key, " of ", i)] = true
			}
			if int(run.Wake) != len(entries) || run.Revision != run.Wake+1 {
				m.Errorf("run %d counted %d in %d revisions, and has %d entries", i, run.Wake, run.Revision, len(entries))
			}
			return err
		})
		entries, events := m.number("SELECT COUNT(*) FROM journal WHERE run_id = ?", string(id)), m.number("SELECT COUNT(*) FROM events WHERE stream = ?", string(id))
		if entries != events {
			m.Errorf("run %d has %d entries and %d events", i, entries, events)
		}
	}
	for key, told := range m.told {
		var found []string
		for _, i := range told.runs {
			if there[fmt.Sprint(key, " of ", i)] {
				found = append(found, fmt.Sprint(i))
			}
		}
		switch n := len(found); {
		case told.err == nil && n < len(told.runs):
			m.Errorf("%s was acknowledged, and is in %q of %v only", key, strings.Join(found, " "), told.runs)
		case told.err != nil && !errors.Is(told.err, holdshort.OutcomeUnknown) && n > 0:
			m.Errorf("%s was refused (%v), and is in %q", key, told.err, strings.Join(found, " "))
		case n > 0 && n < len(told.runs):
			m.Errorf("%s is half there: %q of %v", key, strings.Join(found, " "), told.runs)
		}
	}
}
