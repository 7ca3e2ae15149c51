package storetest

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/testall"
	"github.com/holdshort/holdshort/store"
)

// acme is the tenant of tests that need one only.
const acme holdshort.TenantID = "acme"

// patience is how long a test waits for what must come. It is no measure: nothing that works comes near it.
const patience = 5 * time.Minute

// bed is one database under test.
type bed struct {
	*testing.T
	db Database
}

func open(t *testing.T, d Driver, o Options) *bed {
	t.Helper()
	return &bed{t, d.Open(t, o)}
}

func (b *bed) store() store.Store   { return b.db.Store() }
func (b *bed) system() store.System { return b.db.Store().System() }

func (b *bed) try(fn func(store.Tx) error, rows ...store.Row) error {
	return b.store().Update(context.Background(), acme, fn, rows...)
}

func (b *bed) update(fn func(store.Tx) error, rows ...store.Row) {
	b.Helper()
	b.updateOf(acme, fn, rows...)
}

func (b *bed) updateOf(tenant holdshort.TenantID, fn func(store.Tx) error, rows ...store.Row) {
	b.Helper()
	if err := b.store().Update(context.Background(), tenant, fn, rows...); err != nil {
		b.Fatalf("update: %v", err)
	}
}

func (b *bed) view(fn func(store.ReadTx) error) {
	b.Helper()
	b.viewOf(acme, fn)
}

func (b *bed) viewOf(tenant holdshort.TenantID, fn func(store.ReadTx) error) {
	b.Helper()
	if err := b.store().View(context.Background(), tenant, fn); err != nil {
		b.Fatalf("view: %v", err)
	}
}

// now is the store's time.
func (b *bed) now() time.Time {
	b.Helper()
	now, err := b.system().Now(context.Background())
	if err != nil {
		b.Fatalf("ask for the time: %v", err)
	}
	return now
}

// refused wants the error with that code, and that people are told something.
func (b *bed) refused(err error, code holdshort.Code) {
	b.Helper()
	if holdshort.CodeOf(err) != code {
		b.Fatalf("got %v (%v), want %s", err, holdshort.CodeOf(err), code)
	}
	var e *holdshort.Error
	if !errors.As(err, &e) || e.Message == "" {
		b.Fatalf("%v says nothing to people", err)
	}
}

// absent wants the row not to be there.
func absent[T any](b *bed, what string, get func(store.ReadTx) (T, error)) {
	b.Helper()
	err := b.store().View(context.Background(), acme, func(tx store.ReadTx) error {
		_, err := get(tx)
		return err
	})
	if !errors.Is(err, holdshort.NotFound) {
		b.Errorf("%s: got %v, want it not to be there", what, err)
	}
}

// load reads one thing of acme.
func load[T any](b *bed, get func(store.ReadTx) (T, error)) T {
	b.Helper()
	return loadOf(b, acme, get)
}

func loadOf[T any](b *bed, tenant holdshort.TenantID, get func(store.ReadTx) (T, error)) T {
	b.Helper()
	var out T
	b.viewOf(tenant, func(tx store.ReadTx) (err error) {
		out, err = get(tx)
		return err
	})
	return out
}

// eventually waits until the condition holds. It gives way to others instead of sleeping.
func (b *bed) eventually(what string, holds func() bool) {
	b.Helper()
	deadline := time.Now().Add(patience)
	for !holds() {
		if time.Now().After(deadline) {
			b.Fatalf("waited %s in vain: %s", patience, what)
		}
		runtime.Gosched()
	}
}

// receive takes from c or gives up.
func receive[T any](b *bed, what string, c <-chan T) T {
	b.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		b.Fatalf("waited %s in vain: %s", patience, what)
		panic("unreachable")
	}
}

// Every returns the distance between the crash points that a test takes: sample in an ordinary run, 1 in the
// complete one. The points are the same in every run.
func Every(sample int) int {
	if testall.Enabled() {
		return 1
	}
	return sample
}

// number reads one number by SQL.
func (b *bed) number(text string, args ...any) int64 {
	b.Helper()
	rows := b.db.Rows(b, text, args...)
	if len(rows) != 1 {
		b.Fatalf("%s gives %d rows", text, len(rows))
	}
	return rows[0][0].(int64)
}
