package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// lap is how long one cycle took: start to completed, and of that from the decision on.
type lap struct{ whole, decided time.Duration }

// cycle starts a run, decides what it asks and waits until it is completed.
func (k *kernel) cycle(ctx context.Context) (lap, error) {
	begin := time.Now()
	run, err := k.Start(ctx, tenant, engine.StartInput{Flow: cycleFlow.Name, Input: input, User: "ben", Agent: "desk"})
	if err == nil && !engine.Resting(run) {
		run, err = k.AwaitRun(ctx, tenant, run.ID, engine.Resting)
	}
	if err != nil {
		return lap{}, err
	}
	request, ok := k.store.request(run.ID)
	if !ok {
		return lap{}, fmt.Errorf("run %s is %s and asks nothing", run.ID, run.Status)
	}
	decided := time.Now()
	if _, err := k.Decide(ctx, tenant, engine.DecideInput{Request: request, Action: holdshort.Approve, Actor: reviewer}); err != nil {
		return lap{}, err
	}
	run, err = k.AwaitRun(ctx, tenant, run.ID, engine.Ended)
	if err == nil && run.Status != holdshort.RunCompleted {
		err = fmt.Errorf("run %s is %s", run.ID, run.Status)
	}
	return lap{time.Since(begin), time.Since(decided)}, err
}

// cycles lets callers do one cycle after the other for a while.
func (k *kernel) cycles(ctx context.Context, callers int, d time.Duration) ([]lap, time.Duration, error) {
	return laps(ctx, callers, d, k.cycle)
}
