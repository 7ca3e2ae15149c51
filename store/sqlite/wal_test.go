package sqlite

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// relay opens views that overlap, so that there is never a moment without one, until stop is closed.
func (f *file) relay(t *testing.T, stop <-chan struct{}) *sync.WaitGroup {
	opened := make(chan struct{}) // by the next view
	var wg, both sync.WaitGroup
	both.Add(2)
	for range 2 {
		wg.Go(func() {
			both.Done()
			for first := true; ; first = false {
				select {
				case <-stop:
					return
				default:
				}
				err := f.store.View(context.Background(), "acme", func(tx store.ReadTx) error {
					if _, err := tx.Run("run_0"); err != nil {
						return err
					}
					if first {
						both.Wait()
					}
					select { // lets the one before go, then stays until the next one is there
					case opened <- struct{}{}:
					case <-opened:
						return nil
					case <-stop:
						return nil
					}
					select {
					case <-opened:
					case <-stop:
					}
					return nil
				})
				if err != nil {
					t.Errorf("view: %v", err)
					return
				}
			}
		})
	}
	return &wg
}

// TestLogStaysShort: views that overlap for ever do not make the write-ahead log grow for ever.
func TestLogStaysShort(t *testing.T) {
	t.Parallel()
	const body, writes, most = 512 << 10, 280, longLog + 16<<20
	f := newFile(t, Options{relaxed: true})
	write := func(n int, input string) {
		id := holdshort.RunID(fmt.Sprint("run_", n))
		err := f.store.Update(context.Background(), "acme", func(tx store.Tx) error {
			return tx.PutRun(holdshort.Run{ID: id, Status: holdshort.RunQueued, Flow: "refund", Input: []byte(input), CreatedAt: tx.Now()})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	write(0, `"small"`)
	stop := make(chan struct{})
	views := f.relay(t, stop)
	defer views.Wait()
	defer close(stop)
	large := `"` + strings.Repeat("x", body) + `"`
	for n := 1; n <= writes; n++ {
		f.Advance(t, 2*time.Second) // the log is looked at once in a second
		write(n, large)
		state, err := os.Stat(f.path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		if state.Size() > most {
			t.Fatalf("after %d MiB the log has %d MiB", n*body>>20, state.Size()>>20)
		}
	}
}
