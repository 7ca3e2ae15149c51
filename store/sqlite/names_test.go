package sqlite

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/holdshort/holdshort/store"
)

// TestNames: a name has one owner; those who wait get it in their order, and who gives up waiting is not in the way.
func TestNames(t *testing.T) {
	n := newNames()
	rows := []store.Row{"b", "a", "b"}
	give, err := n.take(context.Background(), "acme", rows)
	if err != nil {
		t.Fatal(err)
	}
	if other, err := n.take(context.Background(), "rival", rows); err != nil {
		t.Errorf("another tenant's names: %v", err)
	} else {
		other()
	}
	queue := func(ctx context.Context, at int, row store.Row) <-chan func() {
		out := make(chan func(), 1)
		go func() {
			give, err := n.take(ctx, "acme", []store.Row{row})
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			out <- give
		}()
		for n.queued() < at {
			runtime.Gosched()
		}
		return out
	}
	ctx, cancel := context.WithCancel(context.Background())
	first, second, third := queue(context.Background(), 1, "a"), queue(ctx, 2, "a"), queue(context.Background(), 3, "a")
	cancel()
	if got := <-second; got != nil {
		t.Error("who gave up got the name")
	}
	give()
	one := <-first
	select {
	case <-third:
		t.Error("two have the same name")
	default:
	}
	one()
	(<-third)()
	if n.queued() != 0 || len(n.lines) != 0 {
		t.Errorf("%d wait and %d names are taken after all were given back", n.queued(), len(n.lines))
	}
}
