package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// measureSweep lets many requests expire at one moment, under an engine whose timers loop carries it out, while a person goes on deciding others.
func measureSweep(ctx context.Context, t *target, o Options, report *Report) error {
	if o.Due == 0 {
		return nil
	}
	own, drop, err := t.fresh(ctx, "sweep")
	if err != nil {
		return err
	}
	defer drop()
	model, err := takePattern(ctx)
	if err != nil {
		return fmt.Errorf("park one run: %w", err)
	}
	s, err := own.open(ctx, 256, 1)
	if err != nil {
		return err
	}
	defer s.Close()
	o.Progress(fmt.Sprintf("parking %d runs that expire together", o.Due))
	due, err := s.System().Now(ctx)
	if err != nil {
		return err
	}
	if _, err := model.load(ctx, s, o.Due, o.Due, func(time.Time) time.Time { return due }); err != nil {
		return err
	}
	open, err := model.load(ctx, s, max(40, o.Due/5), 1, tomorrow) // as many as can be decided meanwhile
	if err != nil {
		return err
	}
	o.Progress("deciding beside the sweep")
	result := Sweep{Timers: o.Due}
	k, err := startKernel(ctx, s, 64)
	if err != nil {
		return err
	}
	defer k.stop()
	start := time.Now()
	over := make(chan struct{})
	var fault error
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		defer close(over)
		fault = swept(watching, s)
	}()
	var beside, idle []time.Duration
	half := len(open) * 3 / 4
	if err = decideUntil(ctx, k, open[:half], over, &beside); err != nil {
		stop()
	}
	<-over
	if err == nil {
		err = fault
	}
	if err != nil {
		return err
	}
	result.Took = time.Since(start)
	if err := k.Settle(ctx); err != nil {
		return err
	}
	o.Progress("deciding, idle")
	if err := decideUntil(ctx, k, open[half:min(half+1000, len(open))], nil, &idle); err != nil {
		return err
	}
	health, err := s.System().Health(ctx)
	if err != nil {
		return err
	}
	result.Expired = o.Due + len(open) - int(health.Open) - len(beside) - len(idle)
	result.Decisions, result.Rate = len(beside), float64(result.Expired)/result.Took.Seconds()
	result.IdleP50, result.BesideP50, result.BesideP99 = quantile(idle, 0.5), quantile(beside, 0.5), quantile(beside, 0.99)
	result.Slowdown = float64(result.BesideP50) / float64(max(result.IdleP50, 1))
	report.Sweep = &result
	return nil
}

// swept returns when nothing is due any more.
func swept(ctx context.Context, s store.Store) error {
	for {
		due, _, err := s.System().DueTimers(ctx, 1)
		if err != nil || len(due) == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// decideUntil decides one request after the other until they are used up or over closes.
func decideUntil(ctx context.Context, k *kernel, ids []holdshort.RequestID, over <-chan struct{}, times *[]time.Duration) error {
	for _, id := range ids {
		select {
		case <-over:
			return nil
		default:
		}
		took, err := k.decide(ctx, id)
		if err != nil {
			return err
		}
		*times = append(*times, took)
	}
	return nil
}
