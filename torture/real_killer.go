package torture

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// killer ends, freezes and restarts workers at moments that its seed gives.
type killer struct {
	fleet   *fleet
	rand    *rand.Rand
	fault   func(error)
	kills   atomic.Int64
	freezes atomic.Int64
	jumps   atomic.Int64
	busy    []atomic.Bool // a place that is being dealt with
	wg      sync.WaitGroup
}

func newKiller(f *fleet, seed uint64, fault func(error)) *killer {
	return &killer{fleet: f, rand: rand.New(rand.NewPCG(seed, seed)), fault: fault, busy: make([]atomic.Bool, len(f.workers))}
}

const (
	// A worker lives for a moment between two kills: long enough to come up and work, short enough that many calls are cut off.
	shortestLife, longestLife = 200 * time.Millisecond, 1800 * time.Millisecond
	longestJump               = 6 * time.Second
)

// run goes on until ctx ends; then everything that was frozen or down is up again.
func (k *killer) run(ctx context.Context) {
	for {
		linger(ctx, shortestLife+time.Duration(k.rand.Int64N(int64(longestLife-shortestLife))))
		if ctx.Err() != nil {
			break
		}
		k.strike(ctx)
	}
	k.wg.Wait()
	if k.fleet.clock {
		k.fleet.moveClock(context.WithoutCancel(ctx), 0)
	}
}

func (k *killer) strike(ctx context.Context) {
	place, what := k.rand.IntN(len(k.busy)), k.rand.IntN(100)
	long := time.Duration(k.rand.Int64N(int64(3 * realLease)))
	switch many := len(k.busy) > 1; {
	case k.fleet.clock && what < 15:
		k.jumps.Add(1)
		k.fleet.moveClock(ctx, time.Duration(k.rand.Int64N(int64(longestJump))))
	case many && canFreeze && what < 25:
		k.hold(place, func() { k.freeze(ctx, place, long) })
	case many && what < 35:
		for i := range k.busy {
			k.hold(i, func() { k.kill(i) })
		}
	default:
		k.hold(place, func() { k.kill(place) })
	}
}

// hold does something to a place unless something is done to it already.
func (k *killer) hold(place int, do func()) {
	if k.busy[place].CompareAndSwap(false, true) {
		k.wg.Go(func() {
			defer k.busy[place].Store(false)
			do()
		})
	}
}

func (k *killer) kill(place int) {
	if k.fleet.kill(place) {
		k.kills.Add(1)
	}
	if err := k.fleet.raise(place); err != nil {
		k.fault(err)
	}
}

// freeze stops a worker in its tracks for longer than its leases last, now and then, and lets it go on as if nothing had been.
func (k *killer) freeze(ctx context.Context, place int, long time.Duration) {
	p := k.fleet.at(place)
	if p == nil {
		return
	}
	if err := freeze(p.cmd.Process); err != nil {
		k.fault(err)
		return
	}
	k.freezes.Add(1)
	linger(ctx, long)
	if err := thaw(p.cmd.Process); err != nil {
		k.fault(err)
	}
}
