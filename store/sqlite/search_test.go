package sqlite

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// TestVacuumedSearch: a VACUUM numbers the rows anew, under which words are kept. The index notices, and is made anew.
func TestVacuumedSearch(t *testing.T) {
	t.Parallel()
	f := newFile(t, Options{})
	ctx := context.Background()
	index := func() {
		t.Helper()
		for n := 1; n > 0; {
			var err error
			if n, err = f.store.System().Index(ctx, holdshort.Lease{}, 10); err != nil {
				t.Fatal(err)
			}
		}
	}
	finds := func(word string, want int) {
		t.Helper()
		err := f.store.View(ctx, "acme", func(tx store.ReadTx) error {
			page, err := tx.Search(store.SearchQuery{Words: word})
			if err == nil && len(page.Items) != want {
				t.Errorf("%q finds %d, want %d", word, len(page.Items), want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	err := f.store.Update(ctx, "acme", func(tx store.Tx) error {
		for i := range 40 {
			r := holdshort.Request{ID: holdshort.RequestID(fmt.Sprintf("req_%02d", i)), Kind: holdshort.Approval, Status: holdshort.RequestResolved, ClosedAt: tx.Now(), Fingerprint: "f",
				Question: fmt.Sprintf("question number%02d", i)}
			if i%2 == 0 {
				r.ClosedAt = tx.Now().Add(-time.Hour)
			}
			if err := tx.PutRequest(r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	index()
	finds("number07", 1)
	if _, err := f.store.System().Prune(ctx, store.Retention{Records: time.Minute}); err != nil {
		t.Fatal(err)
	}
	finds("question", 20)
	f.close(t)
	conn, err := dial(f.path, f.options, false)
	if err == nil {
		err = conn.Exec("VACUUM")
		conn.close()
	}
	if err != nil {
		t.Fatal(err)
	}
	f.open(t)
	index()
	finds("question", 20)
	for i := range 40 {
		finds(fmt.Sprintf("number%02d", i), i%2)
	}
	if err := f.store.Check(ctx); err != nil {
		t.Error(err)
	}
}
