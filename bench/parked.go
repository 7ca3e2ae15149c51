package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// enough of decisions and looks for a median; fewer where few are parked.
func enough(parked, most int) int { return max(min(parked/10, most), 10) }

// measureParked compares an engine on an empty store with one on a store in which many runs wait.
func measureParked(ctx context.Context, t *target, o Options, report *Report) error {
	if o.Parked == 0 {
		return nil
	}
	p := Parked{Runs: o.Parked}
	model, err := takePattern(ctx)
	if err != nil {
		return fmt.Errorf("park one run: %w", err)
	}
	empty, dropEmpty, err := t.fresh(ctx, "empty")
	if err != nil {
		return err
	}
	defer dropEmpty()
	full, dropFull, err := t.fresh(ctx, "parked")
	if err != nil {
		return err
	}
	defer dropFull()
	var alone waiting
	if err := empty.alone(ctx, o, &alone); err != nil {
		return err
	}
	p.RSSEmpty, p.GoroutinesEmpty = alone.RSS, alone.Goroutines
	ids, err := p.fill(ctx, full, o, model)
	if err != nil {
		return err
	}
	o.Progress("an engine beside them")
	var crowd waiting
	if err := full.alone(ctx, o, &crowd); err != nil {
		return err
	}
	p.OpenTook, p.ReadyTook, p.RSSParked, p.GoroutinesParked = crowd.Open, crowd.Ready, crowd.RSS, crowd.Goroutines
	p.BytesEach = float64(crowd.Bytes-alone.Bytes) / float64(o.Parked)
	p.InboxP50, p.InboxP99 = quantile(crowd.Inbox, 0.5), quantile(crowd.Inbox, 0.99)
	o.Progress("deciding some of them")
	if err := p.decide(ctx, empty, full, model, ids); err != nil {
		return err
	}
	report.Parked = &p
	return nil
}

// fill parks them and gives the requests of some that are spread over all.
func (p *Parked) fill(ctx context.Context, t *target, o Options, model *pattern) ([]holdshort.RequestID, error) {
	s, err := t.open(ctx, 256, 1)
	if err != nil {
		return nil, err
	}
	o.Progress(fmt.Sprintf("parking %d runs", o.Parked))
	start := time.Now()
	ids, err := model.load(ctx, s, o.Parked, max(o.Parked/enough(o.Parked, 200), 1), tomorrow)
	p.LoadedRate = float64(o.Parked) / time.Since(start).Seconds()
	return ids, errors.Join(err, s.Close()) // closing moves the write-ahead log into the file
}

// decide decides parked runs and, in turn with them, runs of a store that has few.
func (p *Parked) decide(ctx context.Context, empty, full *target, model *pattern, ids []holdshort.RequestID) (err error) {
	var kernels [2]*kernel
	for i, t := range []*target{empty, full} {
		s, err := t.open(ctx, 256, 1)
		if err != nil {
			return err
		}
		defer s.Close()
		if kernels[i], err = startKernel(ctx, s, 64); err != nil {
			return err
		}
		defer kernels[i].stop()
	}
	few, err := model.load(ctx, kernels[0].store, len(ids), 1, tomorrow)
	if err != nil {
		return err
	}
	var times [2][]time.Duration
	for n := range ids {
		for i, id := range []holdshort.RequestID{few[n], ids[n]} {
			took, err := kernels[i].decide(ctx, id)
			if err != nil {
				return err
			}
			times[i] = append(times[i], took)
		}
	}
	p.Decided, p.DecideEmptyP50, p.DecideParkedP50 = len(ids), quantile(times[0], 0.5), quantile(times[1], 0.5)
	p.DecideRatio = float64(p.DecideParkedP50) / float64(max(p.DecideEmptyP50, 1))
	return nil
}

// decide approves a request, waits until its run has ended, and gives how long the decision alone took.
func (k *kernel) decide(ctx context.Context, id holdshort.RequestID) (time.Duration, error) {
	start := time.Now()
	out, err := k.Decide(ctx, tenant, engine.DecideInput{Request: id, Action: holdshort.Approve, Actor: reviewer})
	took := time.Since(start)
	if err != nil {
		return took, err
	}
	run, err := k.AwaitRun(ctx, tenant, out.Run.ID, engine.Ended)
	if err == nil && run.Status != holdshort.RunCompleted {
		err = fmt.Errorf("run %s is %s: %+v", run.ID, run.Status, run.Error)
	}
	return took, err
}
