package bench

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/api"
	"github.com/holdshort/holdshort/engine"
)

const doorConnections = 64

// measureDoor compares whole lives of runs over HTTP with the same in the process, and sees how soon a waiting caller has the answer.
func measureDoor(ctx context.Context, t *target, o Options, report *Report) error {
	if !o.Door {
		return nil
	}
	own, drop, err := t.fresh(ctx, "door")
	if err != nil {
		return err
	}
	defer drop()
	s, err := own.open(ctx, 256, 1)
	if err != nil {
		return err
	}
	defer s.Close()
	k, err := startKernel(ctx, s, doorConnections+64)
	if err != nil {
		return err
	}
	defer k.stop()
	d, err := openDoor(ctx, k, doorConnections)
	if err != nil {
		return err
	}
	defer d.close()
	out := &Door{Connections: doorConnections, Pollers: o.Pollers, Idle: o.IdleConnections}
	if err := out.rates(ctx, d, o); err != nil {
		return err
	}
	o.Progress("one connection")
	one, _, err := laps(ctx, 1, o.Duration, d.httpCycle)
	if err != nil {
		return err
	}
	out.OneDecidedP50 = quantile(decidedOf(one), 0.5)
	if err := out.polls(ctx, d, o); err != nil {
		return err
	}
	if err := out.idle(ctx, d, o); err != nil {
		return err
	}
	report.Door = out
	return nil
}

// rates alternates both ways, so that both meet the same machine.
func (out *Door) rates(ctx context.Context, d *door, o Options) error {
	const rounds = 3
	var inside, outside int
	var insideTime, outsideTime time.Duration
	var all []lap
	for range rounds {
		o.Progress("cycles in the process")
		laps1, took, err := d.cycles(ctx, doorConnections, o.Duration/rounds)
		if err != nil {
			return err
		}
		inside, insideTime = inside+len(laps1), insideTime+took
		o.Progress("cycles over HTTP")
		laps2, took, err := laps(ctx, doorConnections, o.Duration/rounds, d.httpCycle)
		if err != nil {
			return err
		}
		outside, outsideTime, all = outside+len(laps2), outsideTime+took, append(all, laps2...)
	}
	out.InProcess, out.PerSecond = float64(inside)/insideTime.Seconds(), float64(outside)/outsideTime.Seconds()
	out.Ratio = out.PerSecond / out.InProcess
	out.DecidedP50 = quantile(decidedOf(all), 0.5)
	return nil
}

func decidedOf(all []lap) (times []time.Duration) {
	for _, l := range all {
		times = append(times, l.decided)
	}
	return times
}

// polls lets many wait, each for a request of its own, and decides some of them: how soon does who waits know?
func (out *Door) polls(ctx context.Context, d *door, o Options) error {
	if o.Pollers == 0 {
		return nil
	}
	o.Progress(fmt.Sprintf("%d long polls", o.Pollers))
	waiter := *d
	waiter.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: o.Pollers, DisableCompression: true}}
	defer waiter.client.CloseIdleConnections()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answered := make([]chan time.Time, o.Pollers)
	ids := make([]holdshort.RequestID, o.Pollers)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for i := range ids {
		run, err := d.Start(ctx, tenant, engine.StartInput{Flow: cycleFlow.Name, Input: input, User: "ben", Agent: "desk"})
		if err == nil {
			run, err = d.AwaitRun(ctx, tenant, run.ID, engine.Resting)
		}
		if err != nil {
			return err
		}
		ids[i], _ = d.store.request(run.ID)
		answered[i] = make(chan time.Time, 1)
		wg.Go(func() {
			for ctx.Err() == nil {
				var req struct {
					Status holdshort.RequestStatus `json:"status"`
				}
				if err := waiter.call(ctx, "GET", "/v1/requests/"+string(ids[i])+"?wait=60s", nil, &req); err == nil && req.Status != holdshort.RequestOpen {
					answered[i] <- time.Now()
					return
				}
			}
		})
	}
	if err := pause(ctx, 2*time.Second); err != nil { // until all of them wait
		return err
	}
	var times, commits []time.Duration
	for i := range min(200, o.Pollers/2) {
		begin := time.Now()
		if err := d.call(ctx, "POST", "/v1/requests/"+string(ids[i])+"/decision", api.Choice{Action: "approve"}, nil); err != nil {
			return err
		}
		commits = append(commits, time.Since(begin))
		select {
		case at := <-answered[i]:
			times = append(times, at.Sub(begin))
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	out.PollP50, out.PollP99, out.DecideP50 = quantile(times, 0.5), quantile(times, 0.99), quantile(commits, 0.5)
	return nil
}
