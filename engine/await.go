package engine

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/holdshort/holdshort"
	stack "github.com/holdshort/holdshort/internal/apart"
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
	run, err := await(ctx, e, runTopic(id), func(ctx context.Context) (*holdshort.Run, error) {
		run, err := e.RunByID(ctx, tenant, id)
		return &run, err
	}, func(run *holdshort.Run) bool { return enough(*run) }, func(*holdshort.Run) time.Duration { return 0 })
	if run == nil {
		run = &holdshort.Run{}
	}
	return *run, err
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
	looked := func(ctx context.Context) (req holdshort.Request, left time.Duration, err error) {
		req, err = settled(ctx, e, tenant, id, func(tx store.ReadTx) (holdshort.Request, bool, error) {
			req, err := tx.Request(id)
			if due := req.Due(); !due.IsZero() {
				left = max(due.Sub(tx.Now()), time.Millisecond)
			}
			return readAt(req, tx.Now()), overdue(req, tx.Now()), err
		})
		return req, left, err
	}
	type closing struct { // what those who wait need to keep of a request: ten thousand may
		closed *holdshort.Request
		left   time.Duration // until it expires; 0: it does not
	}
	got, err := await(ctx, e, requestTopic(id), func(ctx context.Context) (*closing, error) {
		req, left, err := looked(ctx)
		if req.Status == holdshort.RequestOpen {
			return &closing{left: left}, err
		}
		return &closing{closed: &req}, err
	}, func(c *closing) bool { return c.closed != nil }, func(c *closing) time.Duration { return c.left })
	if err == nil || ctx.Err() == nil {
		if got == nil || got.closed == nil {
			return holdshort.Request{}, err
		}
		return *got.closed, err
	}
	stood, _ := stack.Do(func() (*holdshort.Request, error) {
		req, _, err := looked(context.WithoutCancel(ctx))
		return &req, err
	})
	return *stood, err
}

// lookAgain is how long somebody who waits goes without looking when nothing rings. Hints are what they wait for, and thousands who wait must
// not read the store thousands of times a second, nor all at once. Where others write too, a hint is sent over a connection and may be lost.
func (e *Engine) lookAgain() time.Duration {
	if e.store.Exclusive() {
		return 30*time.Second + rand.N(30*time.Second)
	}
	return 5*time.Second + rand.N(5*time.Second)
}

// await subscribes first and looks then, so that nothing is missed in between. A hint may be lost: it looks again after a while anyway, and
// when what it saw last changes by itself (turns; 0: it does not).
// Whoever waits holds a pointer to what stood, and no more: there may be ten thousand of them.
func await[T any](ctx context.Context, e *Engine, topic string, look func(context.Context) (*T, error), enough func(*T) bool, turns func(*T) time.Duration) (stood *T, err error) {
	hints, end := e.store.Wake().Subscribe(topic)
	defer end()
	looking := context.WithoutCancel(ctx) // the first look: also who cannot wait at all is told what stands
	for {
		v, err := stack.Do(func() (*T, error) { return look(looking) })
		switch {
		case err != nil && looking.Err() != nil:
			return stood, ctx.Err()
		case err != nil || enough(v):
			return v, err
		}
		stood, looking = v, ctx
		pause := e.lookAgain()
		if left := turns(v); left > 0 {
			pause = min(pause, left)
		}
		if err := pauseFor(ctx, hints, pause); err != nil {
			return stood, err
		}
	}
}
