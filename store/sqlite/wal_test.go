package sqlite

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// look opens a view that has read, and gives what ends it.
func (f *file) look(t *testing.T) (end func()) {
	opened, let, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		err := f.store.View(context.Background(), "acme", func(tx store.ReadTx) error {
			_, err := tx.Run("run_0")
			close(opened)
			<-let
			return err
		})
		if err != nil {
			t.Errorf("view: %v", err)
		}
	}()
	select {
	case <-opened:
	case <-done: // it was refused, and said so
	}
	return func() {
		close(let)
		<-done
	}
}

// TestLogStaysShort: views that overlap for ever do not make the write-ahead log grow for ever. There is one at any time, and each write meets
// one that is older than itself: the usual checkpoints never reach the log's end.
func TestLogStaysShort(t *testing.T) {
	t.Parallel()
	const body, writes, most = 512 << 10, 184, longLog + 16<<20
	f := newFile(t, Options{relaxed: true})
	write := func(n int, input string) {
		err := f.store.Update(context.Background(), "acme", func(tx store.Tx) error {
			return tx.PutRun(holdshort.Run{ID: holdshort.RunID(fmt.Sprint("run_", n)), Status: holdshort.RunQueued, Flow: "refund",
				Input: []byte(input), CreatedAt: tx.Now()})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	write(0, `"small"`)
	large := `"` + strings.Repeat("x", body) + `"`
	end := f.look(t)
	defer func() { end() }()
	for n := 1; n <= writes; n++ {
		f.Advance(t, 2*time.Second) // the log is looked at once in a second
		write(n, large)
		idle := make(chan error, 1) // the writer is done with what it does after a write
		go func() { idle <- f.store.Update(context.Background(), "acme", func(store.Tx) error { return nil }) }()
		for waiting := true; waiting; {
			next := f.look(t)
			end()
			end = next
			select {
			case err := <-idle:
				if err != nil {
					t.Fatal(err)
				}
				waiting = false
			default:
			}
		}
		state, err := os.Stat(f.path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		if state.Size() > most {
			t.Fatalf("after %d MiB the log has %d MiB", n*body>>20, state.Size()>>20)
		}
	}
}
