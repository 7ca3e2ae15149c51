package engine

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// OnceKey is an idempotency key, with the answer that a repeated call gets. The answer is known before: ids are made by the caller.
type OnceKey struct {
	Scope    string // who calls what: actor, method and path
	Key      string // none: the call has no key
	BodyHash string // of what was sent: another body under the same key is refused with KeyReused
	Status   int
	Answer   []byte
}

// Replayed is the error of a call whose key was used before with the same body: nothing was done again, and this is what was answered.
type Replayed struct {
	Status int
	Answer []byte
}

func (r *Replayed) Error() string { return "the call was made before under the same key" }

type onceInContext struct{}

// once is a key on its way to the first transaction of a use case.
type once struct {
	OnceKey
	taken atomic.Bool
}

// Once makes the use case that is called with the context store the answer under the key, in the same transaction as what it does, or give
// back Replayed if the key was used before. A use case that is refused stores nothing. It holds for one use case: take another context for the
// next.
func Once(ctx context.Context, o OnceKey) context.Context {
	if o.Key == "" {
		return ctx
	}
	return context.WithValue(ctx, onceInContext{}, &once{OnceKey: o})
}

// takeOnce gives the key to the transaction that asks first: what follows, a note of a refusal say, is no part of what it guards.
func takeOnce(ctx context.Context) *OnceKey {
	o, ok := ctx.Value(onceInContext{}).(*once)
	if !ok || !o.taken.CompareAndSwap(false, true) {
		return nil
	}
	return &o.OnceKey
}

// unkeyed is the context of a transaction that is no part of the use case in which it is made: the key does not guard it.
func unkeyed(ctx context.Context) context.Context {
	return context.WithValue(ctx, onceInContext{}, nil)
}

// into hands the key to another transaction; nil has none to hand.
func (o *OnceKey) into(ctx context.Context) context.Context {
	if o == nil {
		return ctx
	}
	return Once(ctx, *o)
}

func (o *OnceKey) scope() string  { return "once " + o.Scope }
func (o *OnceKey) row() store.Row { return store.ReplayRow(o.scope(), o.Key) }

const oncePurpose = "once"

// replayed gives Replayed or KeyReused if the key was used, nil if it is new.
func (e *Engine) replayed(tx store.ReadTx, o *OnceKey) error {
	before, err := tx.Replay(o.scope(), o.Key)
	if holdshort.CodeOf(err) == holdshort.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	same, err := e.keyring.SameTenantHash(tx.Tenant(), oncePurpose, before.BodyHash, []byte(o.BodyHash))
	if err != nil {
		return err
	}
	if !same {
		return &holdshort.Error{Code: holdshort.KeyReused, Message: "the idempotency key was used for another call", Hint: "send a new key, or exactly what was sent with this one"}
	}
	return &Replayed{Status: before.Status, Answer: before.Answer}
}

// remember stores the answer under the key.
func (c *change) remember(o *OnceKey) error {
	return c.AddReplay(store.Replay{Scope: o.scope(), Key: o.Key, BodyHash: c.e.keyring.TenantHash(c.Tenant(), oncePurpose, []byte(o.BodyHash)),
		Status: o.Status, Answer: o.Answer, At: c.now})
}

func isReplayed(err error) bool {
	var r *Replayed
	return errors.As(err, &r)
}

// starts are calls of Start with a key that are under way on this node. A run's first steps are done before its first commit, so whoever
// repeats a call waits for the one before: nothing is done twice only to find that out.
type starts struct {
	mu    sync.Mutex
	going map[string]chan struct{}
}

func (s *starts) enter(ctx context.Context, name string) (leave func(), err error) {
	for {
		s.mu.Lock()
		before, busy := s.going[name]
		if !busy {
			if s.going == nil {
				s.going = map[string]chan struct{}{}
			}
			done := make(chan struct{})
			s.going[name] = done
			s.mu.Unlock()
			return func() {
				s.mu.Lock()
				delete(s.going, name)
				s.mu.Unlock()
				close(done)
			}, nil
		}
		s.mu.Unlock()
		select {
		case <-before:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// startOnce waits for a call of Start under the same key, and gives Replayed if it stands.
func (e *Engine) startOnce(ctx context.Context, tenant holdshort.TenantID) (o *OnceKey, leave func(), err error) {
	if o = takeOnce(ctx); o == nil {
		return nil, func() {}, nil
	}
	if leave, err = e.starts.enter(ctx, string(tenant)+"\x00"+o.scope()+"\x00"+o.Key); err != nil {
		return nil, nil, err
	}
	err = e.store.View(ctx, tenant, func(tx store.ReadTx) error { return e.replayed(tx, o) })
	if err != nil {
		leave()
		return nil, nil, err
	}
	return o, leave, nil
}
