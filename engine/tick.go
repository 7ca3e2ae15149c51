package engine

import "context"

// Tick does once what the loops would do now: claims runs, fires timers, sends deliveries, routes messages, stamps events, hands them to webhooks and indexes what can be searched for. It says how much it
// found to do. It is for tests and for programs that drive the engine themselves, in place of Run.
func (e *Engine) Tick(ctx context.Context) (done int, err error) {
	claimed, err := e.tickWorker(ctx)
	if err != nil {
		return claimed, err
	}
	fired, _, err := e.tickTimers(ctx)
	done = claimed + fired
	if err != nil {
		return done, err
	}
	sent, err := e.tickOutbox(ctx)
	done += sent
	if err != nil {
		return done, err
	}
	routed, err := e.tickInbound(ctx)
	done += routed
	if err != nil {
		return done, err
	}
	if _, err = e.tickSequencer(ctx); err != nil {
		return done, err
	}
	fed, err := e.tickFeeder(ctx)
	if err != nil {
		return done + fed, err
	}
	_, err = e.tickIndexer(ctx)
	return done + fed, err
}

// Settle waits until nothing is executed any more: every run waits, has ended, or is queued for somebody to claim.
func (e *Engine) Settle(ctx context.Context) error {
	for {
		e.mu.Lock()
		var s *slice
		for _, s = range e.running {
			break
		}
		e.mu.Unlock()
		if s == nil {
			return nil
		}
		select {
		case <-s.over:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Recover takes up at once what a process before this one left behind, on a store that nobody else has open. Run does it by itself.
func (e *Engine) Recover(ctx context.Context) error { return e.recover(ctx) }

// Drain stops the engine without Run: it claims nothing more, lets calls under way finish, and hands its runs back.
func (e *Engine) Drain() error {
	e.halt()
	return e.drain()
}
