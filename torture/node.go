package torture

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// Mode is what befalls an engine at a point.
type Mode string

const (
	Before       Mode = "before"        // it dies; the call never reaches the database
	After        Mode = "after"         // it dies; the call took place, its answer is lost
	FrozenBefore Mode = "frozen before" // it stands still before the call, somebody takes over, then it goes on
	FrozenAfter  Mode = "frozen after"  // the same with the call done and its answer on the way
)

func (m Mode) frozen() bool { return m == FrozenBefore || m == FrozenAfter }

// Fault is one mode at one call of the store, counted from 1. The zero value is none.
type Fault struct {
	Point int
	Mode  Mode
	Again int // the engine that comes after it dies, or stands still, too, in the same way, at this call; 0: it does not
}

func (f Fault) String() string {
	if f.Again > 0 {
		return fmt.Sprintf("%s %d, then %d", f.Mode, f.Point, f.Again)
	}
	return fmt.Sprintf("%s %d", f.Mode, f.Point)
}

// node is a real store as one process sees it: it numbers the calls, and one of them can be the last.
type node struct {
	store.Store
	witness *witness
	fault   Fault
	shared  bool // several processes have the database open

	mu      sync.Mutex
	calls   []string // what they were
	reached string   // the one that met the fault
	dead    bool
	stands  bool           // still, until thaw
	began   time.Time      // when one of its commits last let a tool begin
	flights sync.WaitGroup // calls of the store and of tools that were under way when it froze

	froze chan struct{} // closed when it stands still
	thaw  chan struct{} // closed when it may go on
}

var _ store.Store = (*node)(nil)

func newNode(s store.Store, w *witness, f Fault, shared bool) *node {
	return &node{Store: s, witness: w, fault: f, shared: shared, froze: make(chan struct{}), thaw: make(chan struct{})}
}

// errDead is what a process that is no more would never hear. Its code is one that nobody tries again after.
var errDead = &holdshort.Error{Code: holdshort.StoreClosed, Message: "the process died here"}

// call counts, and lets the call through unless this is where the process ends or stands still.
func (n *node) call(what string, do func() error) error {
	n.mu.Lock()
	if n.dead {
		n.mu.Unlock()
		return errDead
	}
	n.calls = append(n.calls, what)
	mode := Mode("")
	if len(n.calls) == n.fault.Point {
		n.reached, mode = what, n.fault.Mode
		n.dead, n.stands = mode == Before || mode == After, mode.frozen()
	}
	stands := n.stands && mode == ""
	if !stands && mode == "" {
		n.flights.Add(1)
	}
	n.mu.Unlock()
	if stands { // all of a process stands still
		<-n.thaw
		return do()
	}
	switch mode {
	case Before:
		return errDead
	case After:
		_ = do() // whatever it was, nobody hears it
		return errDead
	case FrozenBefore:
		close(n.froze)
		<-n.thaw
		return do()
	case FrozenAfter:
		err := do()
		close(n.froze)
		<-n.thaw
		return err
	}
	err := do()
	n.flights.Done()
	if n.isDead() {
		return errDead // it was under way when the process died
	}
	if n.isStill() {
		<-n.thaw // it was under way when the process froze
	}
	return err
}

// begins notes that a tool may be called from now on.
func (n *node) begins() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.began = time.Now()
}

// rest is how long it takes until the time of every call that the node began is over, by the node's own clock.
func (n *node) rest() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.began.IsZero() {
		return 0
	}
	return time.Until(n.began.Add(shortTimeout + shortTimeout/4))
}

func (n *node) isStill() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stands
}

// kill ends the process here, wherever it is.
func (n *node) kill() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dead = true
}

func (n *node) isDead() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dead
}

func (n *node) met() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.reached
}

func (n *node) counted() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.calls)
}

// looks reports whether a call of the store changes nothing: to die before it and to die after it is the same.
func looks(call string) bool {
	return slices.Contains([]string{"view", "now", "due timers", "unrouted inbound", "verify", "health"}, call)
}

// Keyring lets the engine find the store's own.
func (n *node) Keyring() *holdshort.Keyring {
	return n.Store.(interface{ Keyring() *holdshort.Keyring }).Keyring()
}

func (n *node) Exclusive() bool { return !n.shared && n.Store.Exclusive() }

func (n *node) System() store.System { return &system{n.Store.System(), n} }

func (n *node) Update(ctx context.Context, tenant holdshort.TenantID, fn func(store.Tx) error, rows ...store.Row) error {
	return n.call("update", func() error {
		var seen *transaction
		err := n.Store.Update(ctx, tenant, func(tx store.Tx) error {
			seen = &transaction{} // it may run twice
			return fn(n.watch(tx, seen))
		}, rows...)
		if err == nil {
			n.witness.committed(seen)
			if slices.ContainsFunc(seen.operations, func(o holdshort.Operation) bool { return o.Status == holdshort.OperationStarted }) {
				n.begins()
			}
		}
		return err
	})
}

// watch notes what a transaction of the pass's own tenant writes.
func (n *node) watch(tx store.Tx, seen *transaction) store.Tx {
	if tx.Tenant() != n.witness.tenant {
		return tx
	}
	return &watched{tx, seen, n.witness}
}

func (n *node) View(ctx context.Context, tenant holdshort.TenantID, fn func(store.ReadTx) error) error {
	return n.call("view", func() error { return n.Store.View(ctx, tenant, fn) })
}

// system is the same for what the loops call.
type system struct {
	store.System
	n *node
}

func answer[T any](n *node, what string, do func() (T, error)) (out T, err error) {
	err = n.call(what, func() (err error) {
		out, err = do()
		return err
	})
	if err != nil {
		var none T
		return none, err
	}
	return out, nil
}

func (s *system) Now(ctx context.Context) (time.Time, error) {
	return answer(s.n, "now", func() (time.Time, error) { return s.System.Now(ctx) })
}

func (s *system) DueTimers(ctx context.Context, limit int) (due []store.Due, next time.Time, err error) {
	due, err = answer(s.n, "due timers", func() (_ []store.Due, err error) {
		due, next, err = s.System.DueTimers(ctx, limit)
		return due, err
	})
	return due, next, err
}

func (s *system) ClaimRuns(ctx context.Context, claim store.RunClaim, fn func(store.Tx, holdshort.Run) error) (int, error) {
	return claimThrough(s.n, "claim runs", func(fn func(store.Tx, holdshort.Run) error) (int, error) { return s.System.ClaimRuns(ctx, claim, fn) },
		func(r holdshort.Run) string { return string(r.ID) }, fn)
}

func (s *system) ClaimDeliveries(ctx context.Context, claim store.DeliveryClaim, fn func(store.Tx, holdshort.Delivery) error) (int, error) {
	return claimThrough(s.n, "claim deliveries", func(fn func(store.Tx, holdshort.Delivery) error) (int, error) {
		return s.System.ClaimDeliveries(ctx, claim, fn)
	}, func(d holdshort.Delivery) string { return string(d.ID) }, fn)
}

// claimThrough watches a claim, which is one transaction for all that it hands out.
func claimThrough[T any](n *node, what string, claim func(func(store.Tx, T) error) (int, error), id func(T) string, fn func(store.Tx, T) error) (int, error) {
	return answer(n, what, func() (int, error) {
		seen, first := &transaction{}, ""
		count, err := claim(func(tx store.Tx, row T) error {
			if key := string(tx.Tenant()) + " " + id(row); first == "" || key == first {
				first, seen = key, &transaction{} // it may run twice
			}
			return fn(n.watch(tx, seen), row)
		})
		if err == nil {
			n.witness.committed(seen)
		}
		return count, err
	})
}

func (s *system) UnroutedInbound(ctx context.Context, before time.Time, limit int) ([]store.InboundRef, error) {
	return answer(s.n, "unrouted inbound", func() ([]store.InboundRef, error) { return s.System.UnroutedInbound(ctx, before, limit) })
}

func (s *system) Acquire(ctx context.Context, name, owner string, ttl time.Duration) (holdshort.Lease, error) {
	return answer(s.n, "acquire", func() (holdshort.Lease, error) { return s.System.Acquire(ctx, name, owner, ttl) })
}

func (s *system) Release(ctx context.Context, name string, lease holdshort.Lease) error {
	return s.n.call("release", func() error { return s.System.Release(ctx, name, lease) })
}

func (s *system) Stamp(ctx context.Context, lease holdshort.Lease, limit int) (int, error) {
	return answer(s.n, "stamp", func() (int, error) { return s.System.Stamp(ctx, lease, limit) })
}

func (s *system) Seal(ctx context.Context, lease holdshort.Lease, limit int) (*holdshort.Seal, error) {
	return answer(s.n, "seal", func() (*holdshort.Seal, error) { return s.System.Seal(ctx, lease, limit) })
}

func (s *system) Verify(ctx context.Context) (store.Verdict, error) {
	return answer(s.n, "verify", func() (store.Verdict, error) { return s.System.Verify(ctx) })
}

func (s *system) Prune(ctx context.Context, retention store.Retention) (store.Pruned, error) {
	return answer(s.n, "prune", func() (store.Pruned, error) { return s.System.Prune(ctx, retention) })
}

func (s *system) Health(ctx context.Context) (store.Health, error) {
	return answer(s.n, "health", func() (store.Health, error) { return s.System.Health(ctx) })
}

func (s *system) AcceptRestore(ctx context.Context, by holdshort.Actor) error {
	return s.n.call("accept restore", func() error { return s.System.AcceptRestore(ctx, by) })
}
