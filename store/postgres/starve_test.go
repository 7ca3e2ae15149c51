package postgres

import (
	"sync"
	"testing"

	"github.com/holdshort/holdshort/store"
)

// TestStarvation: whoever wants two rows is not overtaken on the one while it waits for the other. Who wants neither goes past.
func TestStarvation(t *testing.T) {
	t.Parallel()
	const others = 5
	d := newDatabase(t, Options{Lanes: 2})
	held, let := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	release := sync.OnceFunc(func() { close(let) })
	defer release()
	wg.Go(func() {
		begun := sync.OnceFunc(func() { close(held) })
		if err := d.store.Update(ctx, "acme", func(store.Tx) error { begun(); <-let; return nil }, store.RunRow("run_a")); err != nil {
			t.Errorf("the holder: %v", err)
		}
	})
	<-held

	var mu sync.Mutex
	var order []string
	begun := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(order)
	}
	submit := func(name string, rows ...store.Row) {
		wg.Go(func() {
			err := d.store.Update(ctx, "acme", func(tx store.Tx) error {
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
				return count("run_counted")(tx)
			}, rows...)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	submit("both", store.RunRow("run_a"), store.RunRow("run_b"), store.RunRow("run_counted"))
	until(t, "both is queued", func() bool { return d.Queued() == 1 })
	for range others {
		submit("one", store.RunRow("run_b"), store.RunRow("run_counted"))
	}
	until(t, "the others are queued", func() bool { return d.Queued() == 1+others || begun() > 0 })
	if err := d.store.Update(ctx, "acme", count("run_c"), store.RunRow("run_c")); err != nil { // and it does not wait for the holder
		t.Errorf("who wants neither: %v", err)
	}
	release()
	wg.Wait()
	if len(order) < 1+others || order[0] != "both" {
		t.Errorf("they went in the order %v", order)
	}
	if wake, events := d.counted(t, "run_counted"); wake != 1+others || events != 1+others {
		t.Errorf("they took effect %d times, with %d events", wake, events)
	}
}
