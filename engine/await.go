package engine

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/apart"
	"github.com/holdshort/holdshort/store"
)

// Ended is what most wait for: the run is over.
func Ended(run holdshort.Run) bool { return run.Status.Ended() }

// Resting waits until a run has ended, waits for somebody, or is held.
func Resting(run holdshort.Run) bool {
	return run.Status.Ended() || run.Status == holdshort.RunWaiting || run.Held != nil
}

// AwaitRun waits until the run is as enough wants it, or ctx ends: then it gives the run as it stood, with ctx's error.
func (e *Engine) AwaitRun(ctx context.Context, tenant holdshort.TenantID, id holdshort.RunID, enough func(holdshort.Run) bool) (holdshort.Run, error) {
	if run, ok := e.awaitHere(ctx, tenant, id); ok && enough(run) {
		return run, nil
	}
	return await(ctx, e, runTopic(id), func(ctx context.Context) (holdshort.Run, error) { return e.RunByID(ctx, tenant, id) }, enough,
		func(holdshort.Run) time.Duration { return 0 })
}

// awaitHere waits for a run that is executed on this node: nobody need look into the store to see how that ends.
func (e *Engine) awaitHere(ctx context.Context, tenant holdshort.TenantID, id holdshort.RunID) (holdshort.Run, bool) {
	e.mu.Lock()
	s := e.running[runKey{tenant, id}]
	e.mu.Unlock()
	if s == nil {
		return holdshort.Run{}, false
	}
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-s.over:
		return s.snapshot(), true
	case <-timer.C: // it takes long: others may do something with it
	case <-ctx.Done():
	}
	return holdshort.Run{}, false
}

// AwaitRequest waits until the request is no longer open: past its time it reads as expired, swept or not. When ctx ends first it gives the
// request as it stood, with ctx's error.
func (e *Engine) AwaitRequest(ctx context.Context, tenant holdshort.TenantID, id holdshort.RequestID) (holdshort.Request, error) {
	type dated struct {
		req  holdshort.Request
		left time.Duration // until it expires; 0: it does not
	}
	got, err := await(ctx, e, requestTopic(id), func(ctx context.Context) (dated, error) {
		return settled(ctx, e, tenant, id, func(tx store.ReadTx) (dated, bool, error) {
			req, err := tx.Request(id)
			d := dated{req: readAt(req, tx.Now())}
			if due := req.Due(); !due.IsZero() {
				d.left = max(due.Sub(tx.Now()), time.Millisecond)
			}
			return d, overdue(req, tx.Now()), err
		})
	}, func(d dated) bool { return d.req.Status != holdshort.RequestOpen }, func(d dated) time.Duration { return d.left })
	return got.req, err
}

// lookAgain is how long somebody who waits goes without looking when nothing rings. Hints are what they wait for; that one is lost is rare,
// and a thousand who wait must not read the store a thousand times a second, nor all at once.
func lookAgain() time.Duration { return 5*time.Second + rand.N(5*time.Second) }

// await subscribes first and looks then, so that nothing is missed in between. A hint may be lost: it looks again after a while anyway, and
// when what it saw last changes by itself (turns; 0: it does not).
func await[T any](ctx context.Context, e *Engine, topic string, look func(context.Context) (T, error), enough func(T) bool, turns func(T) time.Duration) (T, error) {
	hints, end := e.store.Wake().Subscribe(topic)
	defer end()
	looking := context.WithoutCancel(ctx) // the first look: also who cannot wait at all is told what stands
	var stood T
	for {
		v, err := apart.Do(func() (T, error) { return look(looking) })
		switch {
		case err != nil && looking.Err() != nil:
			return stood, ctx.Err()
		case err != nil || enough(v):
			return v, err
		}
		stood, looking = v, ctx
		pause := lookAgain()
		if left := turns(v); left > 0 {
			pause = min(pause, left)
		}
		if err := pauseFor(ctx, hints, pause); err != nil {
			return stood, err
		}
	}
}
