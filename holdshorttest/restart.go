package holdshorttest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/tool"
)

// fence stands between an engine and its store. Once it is down the engine reaches nothing more: to everybody else its process is dead.
type fence struct {
	store.Store
	down atomic.Bool
}

var errDead = &holdshort.Error{Code: holdshort.LeaseLost, Message: "this process has crashed", Hint: "the test said so"}

func (f *fence) err() error {
	if f.down.Load() {
		return errDead
	}
	return nil
}

func (f *fence) Update(ctx context.Context, tenant holdshort.TenantID, fn func(store.Tx) error, rows ...store.Row) error {
	if err := f.err(); err != nil {
		return err
	}
	return f.Store.Update(ctx, tenant, func(tx store.Tx) error {
		if err := f.err(); err != nil {
			return err
		}
		return fn(tx)
	}, rows...)
}

func (f *fence) View(ctx context.Context, tenant holdshort.TenantID, fn func(store.ReadTx) error) error {
	if err := f.err(); err != nil {
		return err
	}
	return f.Store.View(ctx, tenant, fn)
}

func (f *fence) System() store.System { return fencedSystem{f.Store.System(), f} }

type fencedSystem struct {
	store.System
	fence *fence
}

func (s fencedSystem) ClaimRuns(ctx context.Context, claim store.RunClaim, fn func(store.Tx, holdshort.Run) error) (int, error) {
	if err := s.fence.err(); err != nil {
		return 0, err
	}
	return s.System.ClaimRuns(ctx, claim, fn)
}

func (s fencedSystem) ClaimDeliveries(ctx context.Context, claim store.DeliveryClaim, fn func(store.Tx, holdshort.Delivery) error) (int, error) {
	if err := s.fence.err(); err != nil {
		return 0, err
	}
	return s.System.ClaimDeliveries(ctx, claim, fn)
}

func (s fencedSystem) DueTimers(ctx context.Context, limit int) ([]store.Due, time.Time, error) {
	if err := s.fence.err(); err != nil {
		return nil, time.Time{}, err
	}
	return s.System.DueTimers(ctx, limit)
}

// Restart kills the engine where it stands and starts another over the same store, as after a crash. change is what the new deployment
// has that the old one had not: other flows, other tools, another policy.
func (k *Kit) Restart(change ...func(*Options)) {
	k.t.Helper()
	k.fence.down.Store(true)
	for _, fn := range change {
		fn(&k.options)
	}
	k.restart()
}

func (k *Kit) restart() {
	k.t.Helper()
	k.mu.Lock()
	k.broken = false
	k.mu.Unlock()
	k.past = append(k.past, k.engine)
	if k.options.Path != "" {
		k.must("close the store", k.store.Close())
		k.open()
	}
	k.begin()
}

// died reports whether the process crashed since it was started last.
func (k *Kit) died() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.broken
}

type crashPoint int

const (
	beforeCall crashPoint = iota + 1
	afterCall
)

// CrashBefore lets the process die when a tool is about to be called: the ledger says started, and nothing happened.
func (k *Kit) CrashBefore(tool string) { k.crashAt(tool, beforeCall) }

// CrashAfter lets the process die when a tool has returned: it happened, and nobody wrote it down. The kit starts the next process by
// itself; what becomes of the call is decided after its deadline, so Advance past that.
func (k *Kit) CrashAfter(tool string) { k.crashAt(tool, afterCall) }

func (k *Kit) crashAt(tool string, at crashPoint) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.crash[tool] = at
}

var errCrash = errors.New("the process died here")

// crashable lets a tool be the place of a crash.
func (k *Kit) crashable(t tool.Tool) tool.Tool {
	call := t.Call
	if call == nil {
		return t
	}
	fence := k.fence
	die := func() (tool.Result, error) {
		fence.down.Store(true)
		k.mu.Lock()
		k.broken = true
		k.mu.Unlock()
		return tool.Result{}, errCrash
	}
	t.Call = func(ctx context.Context, c tool.Call) (tool.Result, error) {
		k.mu.Lock()
		at := k.crash[t.Name]
		delete(k.crash, t.Name)
		k.mu.Unlock()
		if at == beforeCall {
			return die()
		}
		result, err := call(ctx, c)
		if at == afterCall {
			return die()
		}
		return result, err
	}
	return t
}
