package holdshorttest

import (
	"context"
	"encoding/json"
	"time"

	"github.com/holdshort/holdshort"
)

// rounds is how often a kit looks for more to do before it says that there is no end to it.
const rounds = 10_000

// settle waits until no code of flows and tools runs any more.
func (k *Kit) settle() {
	k.t.Helper()
	for {
		ctx, cancel := context.WithTimeout(context.Background(), k.options.Patience)
		err := k.engine.Settle(ctx)
		cancel()
		if err != nil {
			k.t.Fatalf("holdshorttest: a step or a tool has not come back for %s: it blocks, or waits for something that the test does later; "+
				"start the run in its own goroutine, or set Options.Patience", k.options.Patience)
		}
		if !k.died() {
			return
		}
		k.restart()
	}
}

// Settle does everything that can be done now without moving the clock and without asking anybody: runs go on, what is due fires, what is
// to be sent is sent.
func (k *Kit) Settle() {
	k.t.Helper()
	for range rounds {
		k.settle()
		n, err := k.engine.Tick(context.Background())
		if k.died() {
			continue
		}
		k.must("carry on what waits", err)
		k.settle()
		if n == 0 {
			return
		}
	}
	k.t.Fatalf("holdshorttest: there is always more to do at %s: a flow that starts itself again, or a timer that never ends", k.Now().Format(time.TimeOnly))
}

// Advance moves the clock by d. Whatever falls due on the way happens at its time: timers, then the scripted people.
func (k *Kit) Advance(d time.Duration) {
	k.t.Helper()
	k.advanceTo(k.Now().Add(d))
}

func (k *Kit) advanceTo(target time.Time) {
	k.t.Helper()
	for range rounds {
		k.Settle()
		act := k.agenda(func(holdshort.Request) bool { return true })
		at, timer := earlier(k.nextTimer(), k.nextDelivery()), false
		switch {
		case !at.IsZero() && (act == nil || !at.After(act.at)):
			timer = true
		case act != nil:
			at = act.at
		}
		if at.IsZero() || at.After(target) {
			k.clock.moveTo(target)
			k.Settle()
			return
		}
		k.clock.moveTo(at)
		if !timer {
			k.act(act)
		}
	}
	k.t.Fatalf("holdshorttest: more than %d things happen until %s: a flow that sleeps or asks for ever", rounds, target.Format(time.TimeOnly))
}

// earlier of two moments; zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// nextTimer is when the next timer is due, zero if none is set.
func (k *Kit) nextTimer() time.Time {
	k.t.Helper()
	_, next, err := k.store.System().DueTimers(context.Background(), 1)
	k.must("look for timers", err)
	return next
}

// Wait lets a run go on for as long as the scripted people have something to say about it, moves the clock as far as they need, and gives
// the run as it then stands: ended, held, or waiting for somebody whom no script mentions or for time that only Advance lets pass.
func (k *Kit) Wait(run holdshort.RunID) holdshort.Run {
	k.t.Helper()
	for range rounds {
		k.Settle()
		now := k.Run(run)
		if now.Status.Ended() || now.Held != nil {
			return now
		}
		act := k.agenda(func(req holdshort.Request) bool { return req.RunID == run })
		if act == nil {
			return now
		}
		k.advanceTo(act.at)
	}
	k.t.Fatalf("holdshorttest: run %s asks for ever: %s", run, k.Why(run))
	panic("unreachable")
}

// Result waits for a run and gives what it returned. A run that does not complete fails the test.
func Result[T any](k *Kit, run holdshort.RunID) T {
	k.t.Helper()
	var value T
	k.Result(run, &value)
	return value
}

// Result is the function of the same name for those who have a place for the value.
func (k *Kit) Result(run holdshort.RunID, value any) {
	k.t.Helper()
	r := k.Wait(run)
	if r.Status != holdshort.RunCompleted {
		k.t.Fatalf("holdshorttest: %s", k.Why(run))
	}
	if err := json.Unmarshal(r.Result, value); err != nil {
		k.t.Fatalf("holdshorttest: the result of run %s is %s, which is no %T: %v", run, r.Result, value, err)
	}
}

// Failure waits for a run and gives how it failed. A run that does not fail fails the test.
func (k *Kit) Failure(run holdshort.RunID) holdshort.Failure {
	k.t.Helper()
	r := k.Wait(run)
	if r.Status != holdshort.RunFailed || r.Error == nil {
		k.t.Fatalf("holdshorttest: the run was to fail: %s", k.Why(run))
	}
	return *r.Error
}
