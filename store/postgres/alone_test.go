package postgres

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/storetest"
)

// TestModel compares the store with what its callers were told.
func TestModel(t *testing.T) {
	t.Parallel()
	storetest.Model(t, databases{}, 1, nil)
}

// until waits for a condition. It gives way to others instead of sleeping.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(safetyLimit); !holds(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// together keeps the only lane busy until all calls are queued, so that they are one group, and gives their answers.
func (d *database) together(t *testing.T, calls ...func() error) []error {
	t.Helper()
	answers := make([]error, len(calls))
	busy, free := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	release := sync.OnceFunc(func() { close(free) })
	defer release()
	wg.Go(func() {
		begun := sync.OnceFunc(func() { close(busy) })
		if err := d.store.Update(ctx, "acme", func(store.Tx) error { begun(); <-free; return nil }); err != nil {
			t.Errorf("whoever goes before: %v", err)
		}
	})
	<-busy
	for i, call := range calls {
		wg.Go(func() { answers[i] = call() })
	}
	until(t, "all are queued", func() bool { return d.Queued() == len(calls) })
	release()
	wg.Wait()
	return answers
}

// TestTranslatedError: a function that has its own words for any read that fails gets the answer in a group that it gets alone.
func TestTranslatedError(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, Options{Lanes: 1})
	var calls []func() error
	for i := range 6 {
		id := holdshort.RunID(fmt.Sprint("run_", i))
		calls = append(calls, func() error {
			return d.store.Update(ctx, "acme", func(tx store.Tx) error {
				if err := tx.PutRun(holdshort.Run{ID: id, Status: holdshort.RunQueued, Flow: "refund", CreatedAt: tx.Now()}); err != nil {
					return err
				}
				if _, err := tx.Run(id); err != nil {
					return fmt.Errorf("look at %s: %v", id, err) // what was wrong cannot be told from it
				}
				return nil
			}, store.RunRow(id))
		})
	}
	for i, err := range d.together(t, calls...) {
		if err != nil {
			t.Errorf("member %d: %v", i, err)
		}
	}
	if n := d.Rows(t, "SELECT COUNT(*) FROM runs")[0][0]; n != int64(len(calls)) {
		t.Errorf("%v runs are there, want %d", n, len(calls))
	}
}

// moody is a codec that panics over some bodies.
type moody struct{ on atomic.Bool }

func (c *moody) Encode(_ string, body []byte) ([]byte, error) { return body, nil }

func (c *moody) Decode(_ string, body []byte) ([]byte, error) {
	if c.on.Load() && bytes.Contains(body, []byte("boom")) {
		panic("codec")
	}
	return body, nil
}

// TestCodecPanics: a codec that panics unwinds whoever reads that row, and nobody else.
func TestCodecPanics(t *testing.T) {
	t.Parallel()
	codec := &moody{}
	d := newDatabase(t, Options{Lanes: 1, Codec: codec})
	inputs := []string{`"fine"`, `"boom"`, `"good"`}
	var calls []func() error
	panicked := make([]any, len(inputs))
	for i, input := range inputs {
		id := holdshort.RunID(fmt.Sprint("run_", i))
		if err := d.store.Update(ctx, "acme", func(tx store.Tx) error {
			return tx.PutRun(holdshort.Run{ID: id, Status: holdshort.RunQueued, Flow: "refund", Input: []byte(input), CreatedAt: tx.Now()})
		}); err != nil {
			t.Fatal(err)
		}
		calls = append(calls, func() (err error) {
			defer func() { panicked[i] = recover() }()
			return d.store.Update(ctx, "acme", count(id), store.RunRow(id))
		})
	}
	codec.on.Store(true)
	answers := d.together(t, calls...)
	for i, input := range inputs {
		id := holdshort.RunID(fmt.Sprint("run_", i))
		wake, _ := d.counted(t, id)
		if input == `"boom"` {
			if panicked[i] != "codec" || wake != 0 {
				t.Errorf("%s: panicked with %v, took effect %d times", input, panicked[i], wake)
			}
		} else if panicked[i] != nil || answers[i] != nil || wake != 1 {
			t.Errorf("%s: panicked with %v, answer %v, took effect %d times", input, panicked[i], answers[i], wake)
		}
	}
}
