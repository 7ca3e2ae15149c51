package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/store"
)

// measureSleeps lets runs sleep on an engine that has nothing else to do: how late they wake, and how often it asks the store meanwhile.
func measureSleeps(ctx context.Context, t *target, o Options, report *Report) error {
	if o.Sleeps == 0 {
		return nil
	}
	own, drop, err := t.fresh(ctx, "sleeps")
	if err != nil {
		return err
	}
	defer drop()
	s, err := own.open(ctx, 256, 1)
	if err != nil {
		return err
	}
	defer s.Close()
	k, err := startKernel(ctx, s, 64)
	if err != nil {
		return err
	}
	defer k.stop()
	result := Sleeps{Timers: o.Sleeps}
	if err := k.settled(ctx); err != nil {
		return err
	}
	o.Progress("an engine with nothing to do")
	before := k.store.calls()
	if err := pause(ctx, o.Duration); err != nil {
		return err
	}
	result.IdleCalls = float64(k.store.calls()-before) / o.Duration.Seconds()
	o.Progress(fmt.Sprintf("%d sleeps", o.Sleeps))
	runs := make([]holdshort.RunID, o.Sleeps)
	for i := range runs {
		// Spread, so that the engine is idle between them, and none before all have been started.
		d := time.Duration(o.Sleeps)*2*time.Millisecond + time.Duration(rand.Int64N(int64(o.Sleeps)*int64(25*time.Millisecond)))
		raw, err := json.Marshal(d)
		if err != nil {
			return err
		}
		run, err := k.Start(ctx, tenant, engine.StartInput{Flow: sleepFlow.Name, Input: raw, User: "ben"})
		if err != nil {
			return err
		}
		runs[i] = run.ID
	}
	var late []time.Duration
	for _, id := range runs {
		run, err := k.AwaitRun(ctx, tenant, id, engine.Ended)
		if err != nil {
			return err
		}
		by, err := k.lateness(ctx, run)
		if err != nil {
			return err
		}
		late = append(late, by)
	}
	result.LateP50, result.LateP99 = quantile(late, 0.5), quantile(late, 0.99)
	report.Sleeps = &result
	return nil
}

// lateness is how long after the time that stands in the journal the flow went on.
func (k *kernel) lateness(ctx context.Context, run holdshort.Run) (time.Duration, error) {
	var set struct {
		Until time.Time `json:"until"`
	}
	var woke time.Time
	err := k.store.View(ctx, tenant, func(tx store.ReadTx) error {
		entries, err := tx.Journal(run.ID)
		for _, e := range entries {
			if e.Key == "nap!set" && err == nil {
				err = json.Unmarshal(e.Outcome, &set)
			}
		}
		return err
	})
	if err == nil {
		err = json.Unmarshal(run.Result, &woke)
	}
	if err != nil || set.Until.IsZero() || woke.IsZero() {
		return 0, fmt.Errorf("run %s (%s) does not say when it woke: %v", run.ID, run.Status, err)
	}
	return woke.Sub(set.Until), nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
