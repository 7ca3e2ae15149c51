package engine

import (
	"context"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
)

// loop is something that the engine does again and again. tick does what there is to do and says when it wants to be called again; a wake-up
// on one of its topics calls it earlier.
type loop struct {
	name   string
	topics []string
	least  time.Duration // the shortest pause, whatever the hints say: what comes often is done in batches
	most   time.Duration // the longest pause: a hint may be lost, a look is the truth
	tick   func(ctx context.Context) (pause time.Duration, err error)
}

func (e *Engine) loops() []loop {
	unstamped, positioned := []string(nil), []string{topicEvents}
	if !e.store.Exclusive() {
		unstamped, positioned = []string{topicEvents}, []string{topicStamped}
	}
	return []loop{
		{"worker", []string{topicRuns}, 0, time.Second, e.workerLoop},
		{"timers", []string{topicTimers}, 0, time.Second, e.timersLoop},
		{"outbox", []string{topicOutbox}, 0, time.Second, e.outboxLoop},
		{"inbound", []string{topicInbound}, 0, time.Second, e.inboundLoop},
		{"renew", nil, 0, e.config.Lease / 6, func(ctx context.Context) (time.Duration, error) { e.renew(ctx); return e.config.Lease / 6, nil }},
		{"feeder", positioned, feedEvery, time.Second, e.feederLoop},
		{"indexer", positioned, indexEvery, time.Second, e.indexerLoop},
		{"sequencer", unstamped, stampEvery, sealEvery, e.sequencerLoop},
		{"retention", nil, 0, time.Hour, e.retentionLoop},
	}
}

// Run carries on what waits, until ctx ends. Then it claims nothing more, lets calls under way finish for Config.Drain, hands its runs back
// and returns.
func (e *Engine) Run(ctx context.Context) error {
	if !e.started.CompareAndSwap(false, true) {
		return &holdshort.Error{Code: holdshort.WrongState, Op: "run engine", Message: "it runs already, or has stopped", Hint: "make a new one"}
	}
	if err := e.recover(ctx); err != nil {
		return err
	}
	loops, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var wg sync.WaitGroup
	for _, l := range e.loops() {
		wg.Go(func() { e.turn(loops, l) })
	}
	wg.Go(func() { e.takeStock(loops) })
	close(e.ready)
	<-ctx.Done()
	e.halt()
	stop()
	wg.Wait()
	e.leaveSeat()
	e.leaveFeeder()
	e.leaveIndexer()
	return e.drain()
}

// takeStock tells the log how much waits. Counting millions takes a while: nothing waits for it.
func (e *Engine) takeStock(ctx context.Context) {
	health, err := e.store.System().Health(ctx)
	if err != nil {
		e.log.Warn("count what waits", "error", err)
		return
	}
	e.log.Info("engine is up", "node", e.config.Node, "waiting_runs", health.Waiting, "open_requests", health.Open, "held_runs", health.Held, "overdue_timers", health.Overdue)
}

// recover takes up what a process before this one left behind. What waits keeps waiting: nothing is approved by a restart.
func (e *Engine) recover(ctx context.Context) error {
	if _, _, err := e.store.System().DueTimers(ctx, 1); err != nil { // refused by a store that is quarantined: nothing runs
		return err
	}
	if !e.store.Exclusive() {
		return nil
	}
	for {
		n, err := e.claimRuns(ctx, true)
		if err != nil || n == 0 {
			return err
		}
	}
}

// turn runs one loop. Errors are logged and tried again, later each time: the store may be away for a while.
func (e *Engine) turn(ctx context.Context, l loop) {
	hints, end := e.store.Wake().Subscribe(l.topics...)
	defer end()
	fault := time.Duration(0)
	for ctx.Err() == nil {
		pause, err := l.tick(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			fault = min(max(2*fault, 50*time.Millisecond), 5*time.Second)
			pause = fault
			e.log.Warn("a loop could not do its work; it tries again", "loop", l.name, "error", err, "pause", pause)
		default:
			fault = 0
		}
		rest(ctx, l.least, nil)
		if pause > 0 {
			rest(ctx, min(pause, l.most), hints)
		}
	}
}

// rest waits, until there is a hint.
func rest(ctx context.Context, d time.Duration, hints <-chan struct{}) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-hints:
	}
}

func (e *Engine) workerLoop(ctx context.Context) (time.Duration, error) {
	n, err := e.tickWorker(ctx)
	if n > 0 {
		return 0, err
	}
	return time.Second, err
}

func (e *Engine) timersLoop(ctx context.Context) (time.Duration, error) {
	n, next, err := e.tickTimers(ctx)
	now, clock := e.store.System().Now(ctx)
	if err == nil {
		err = clock
	}
	until := now.Add(time.Second)
	if !next.IsZero() && next.Before(until) {
		until = next
	}
	e.nextDue.Store(until.UnixMicro()) // what is due earlier rings; what was set meanwhile has rung
	switch {
	case err != nil:
		return time.Second, err
	case n > 0:
		return 0, nil
	}
	return max(until.Sub(now), time.Millisecond), nil
}

func (e *Engine) outboxLoop(ctx context.Context) (time.Duration, error) {
	n, _, err := e.dispatch(ctx)
	if n > 0 {
		return 0, err
	}
	return time.Second, err
}

// halt stops what is executed: no run is claimed and no effect begins any more.
func (e *Engine) halt() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.draining.Store(true)
	for _, s := range e.running {
		s.quit(errStopping)
	}
}

// drain lets calls that are out finish. Every run is handed back.
func (e *Engine) drain() error {
	done := make(chan struct{})
	go func() {
		e.wg.Wait()
		close(done)
	}()
	timer := time.NewTimer(e.config.Drain)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-timer.C:
	}
	e.cut() // their time is over: what they did is not known
	last := time.NewTimer(time.Second)
	defer last.Stop()
	select {
	case <-done:
		return nil
	case <-last.C:
		return &holdshort.Error{Code: holdshort.TimedOut, Op: "stop engine", Message: "some code of a flow or tool does not come back", Hint: "its run is taken up by another node when its lease ends"}
	}
}
