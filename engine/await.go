package engine

import (
	"context"
	"time"

	"github.com/holdshort/holdshort"
)

// Ended is what most wait for: the run is over.
func Ended(run holdshort.Run) bool { return run.Status.Ended() }

// Resting waits until a run has ended, waits for somebody, or is held.
func Resting(run holdshort.Run) bool {
	return run.Status.Ended() || run.Status == holdshort.RunWaiting || run.Held != nil
}

// AwaitRun waits until the run is as enough wants it, or ctx ends: then it gives the run as it stood, with ctx's error.
func (e *Engine) AwaitRun(ctx context.Context, tenant holdshort.TenantID, id holdshort.RunID, enough func(holdshort.Run) bool) (holdshort.Run, error) {
	e.mu.Lock()
	s := e.running[runKey{tenant, id}]
	e.mu.Unlock()
	if s != nil { // it is executed here: nobody need look into the store to see how that ends
		select {
		case <-s.over:
		case <-ctx.Done():
		}
		if run := s.snapshot(); ctx.Err() == nil && run.Revision > 0 && enough(run) {
			return run, nil
		}
	}
	return await(ctx, e, runTopic(id), func() (holdshort.Run, error) { return e.RunByID(ctx, tenant, id) }, enough)
}

// AwaitRequest waits until the request is no longer open.
func (e *Engine) AwaitRequest(ctx context.Context, tenant holdshort.TenantID, id holdshort.RequestID) (holdshort.Request, error) {
	return await(ctx, e, requestTopic(id), func() (holdshort.Request, error) { return e.RequestByID(ctx, tenant, id) },
		func(r holdshort.Request) bool { return r.Status != holdshort.RequestOpen })
}

// await subscribes first and looks then, so that nothing is missed in between. A hint may be lost: it looks again after a while anyway.
func await[T any](ctx context.Context, e *Engine, topic string, look func() (T, error), enough func(T) bool) (T, error) {
	hints, end := e.store.Wake().Subscribe(topic)
	defer end()
	for {
		v, err := look()
		if err != nil || enough(v) {
			return v, err
		}
		timer := time.NewTimer(time.Second)
		select {
		case <-hints:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return v, ctx.Err()
		}
		timer.Stop()
	}
}
