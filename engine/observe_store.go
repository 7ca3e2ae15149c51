package engine

import (
	"context"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// observedStore tells an observer the events of every commit that is made through it.
type observedStore struct {
	store.Store
	observer Observer
}

// observedBy wraps a store so that no commit of the engine goes past the observer.
func observedBy(observer Observer, s store.Store) store.Store {
	if _, none := observer.(unobserved); none {
		return s
	}
	return observedStore{s, observer}
}

func (s observedStore) reporting(ctx context.Context) context.Context {
	return store.WithEvents(ctx, func(_ holdshort.TenantID, events []holdshort.Event) {
		for _, e := range events {
			s.observer.Fact(e)
		}
	})
}

func (s observedStore) Update(
	ctx context.Context, tenant holdshort.TenantID, fn func(store.Tx) error, rows ...store.Row,
) error {
	return s.Store.Update(s.reporting(ctx), tenant, fn, rows...)
}

func (s observedStore) System() store.System { return observedSystem{s.Store.System(), s} }

// observedSystem covers the calls in which the store writes events.
type observedSystem struct {
	store.System
	store observedStore
}

func (s observedSystem) ClaimRuns(
	ctx context.Context, claim store.RunClaim, fn func(store.Tx, holdshort.Run) error,
) (int, error) {
	return s.System.ClaimRuns(s.store.reporting(ctx), claim, fn)
}

func (s observedSystem) ClaimDeliveries(
	ctx context.Context, claim store.DeliveryClaim, fn func(store.Tx, holdshort.Delivery) error,
) (int, error) {
	return s.System.ClaimDeliveries(s.store.reporting(ctx), claim, fn)
}

func (s observedSystem) Seal(ctx context.Context, lease holdshort.Lease, limit int) (*holdshort.Seal, error) {
	return s.System.Seal(s.store.reporting(ctx), lease, limit)
}

func (s observedSystem) Prune(ctx context.Context, retention store.Retention) (store.Pruned, error) {
	return s.System.Prune(s.store.reporting(ctx), retention)
}
