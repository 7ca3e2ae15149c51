package engine

import (
	"context"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

const (
	indexerLease = 10 * time.Second
	indexAtOnce  = 500
	indexEvery   = 200 * time.Millisecond
	indexShare   = 4 // for each moment of indexing, so many of rest while there is more: others want to write too
)

// tickIndexer adds what was written to the index that searches use, on the one node that has the lease, and says whether there may be more.
func (e *Engine) tickIndexer(ctx context.Context) (more bool, err error) {
	ctx = store.Patient(ctx)
	if ok, err := e.indexes(ctx); err != nil || !ok {
		return false, err
	}
	n, err := e.store.System().Index(ctx, e.indexer, indexAtOnce)
	if err != nil {
		e.indexer = holdshort.Lease{} // whatever it was, the next tick asks for the lease again
	}
	if holdshort.CodeOf(err) == holdshort.LeaseLost {
		return false, nil
	}
	return n >= indexAtOnce, err
}

// indexes takes the lease, or renews it when half of it is over. Whoever has the store alone needs none.
func (e *Engine) indexes(ctx context.Context) (bool, error) {
	if e.store.Exclusive() || e.indexer.Owner != "" && time.Since(e.indexedAt) < indexerLease/2 {
		return true, nil
	}
	lease, err := e.store.System().Acquire(ctx, store.IndexerLease, e.owner, indexerLease)
	if err != nil {
		e.indexer = holdshort.Lease{}
		if holdshort.CodeOf(err) == holdshort.LeaseLost {
			err = nil
		}
		return false, err
	}
	e.indexer, e.indexedAt = lease, time.Now()
	return true, nil
}

func (e *Engine) indexerLoop(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	more, err := e.tickIndexer(ctx)
	if more {
		return indexShare * time.Since(began), err
	}
	return time.Second, err
}

// leaveIndexer gives the lease back, so that another node, or the next process, need not wait for its end.
func (e *Engine) leaveIndexer() {
	if e.indexer.Owner == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := e.store.System().Release(ctx, store.IndexerLease, e.indexer); err != nil {
		e.log.Warn("give the indexer's lease back", "error", err)
	}
	e.indexer = holdshort.Lease{}
}
