package storetest

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// testCounters: every add counts, and a limit that is read and added to under its name is never passed.
func testCounters(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	value := func(name string) int64 {
		t.Helper()
		return load(b, func(tx store.ReadTx) (int64, error) { return tx.Counter(name) })
	}
	if n := value("nothing"); n != 0 {
		t.Errorf("a counter that nobody added to is at %d", n)
	}
	b.update(func(tx store.Tx) error {
		if err := firstError(tx.AddCounter("own", 3), tx.AddCounter("own", -5)); err != nil {
			return err
		}
		n, err := tx.Counter("own")
		if err == nil && n != -2 {
			err = fmt.Errorf("reads %d of what it added", n)
		}
		return err
	})
	b.try(func(tx store.Tx) error { return firstError(tx.AddCounter("own", 100), errOwn) })
	if n := value("own"); n != -2 {
		t.Errorf("after +3, -5 and an add that was not committed it is at %d", n)
	}
	b.db.Reopen(t)

	const callers, each, limit = 16, 10, 50
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range each {
				if err := b.try(func(tx store.Tx) error { return tx.AddCounter("all", 1) }, store.CounterRow("all")); err != nil {
					t.Errorf("add: %v", err)
				}
				err := b.try(func(tx store.Tx) error {
					n, err := tx.Counter("limited")
					if err != nil || n >= limit {
						return err
					}
					return tx.AddCounter("limited", 1)
				}, store.CounterRow("limited"))
				if err != nil {
					t.Errorf("add up to the limit: %v", err)
				}
			}
		})
	}
	wg.Wait()
	if all, limited := value("all"), value("limited"); all != callers*each || limited != limit {
		t.Errorf("counted %d of %d adds, and %d under a limit of %d", all, callers*each, limited, limit)
	}

	for _, name := range []string{"", "a\x00b", "\xff", strings.Repeat("x", store.MaxText+1)} {
		err := b.try(func(tx store.Tx) error { return tx.AddCounter(name, 1) })
		if code := holdshort.CodeOf(err); code != holdshort.Invalid && code != holdshort.TooLarge {
			t.Errorf("a counter named %.10q: got %v", name, err)
		}
	}
	b.refused(b.try(func(tx store.Tx) error {
		return firstError(tx.AddCounter("own", math.MinInt64), tx.AddCounter("own", math.MinInt64))
	}), holdshort.Internal)
	if n := value("own"); n != -2 {
		t.Errorf("after a sum that no number can hold it is at %d", n)
	}
}
