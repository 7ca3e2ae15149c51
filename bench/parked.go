package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/store"
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
	if err := empty.wait(ctx, &alone, enough(o.Parked, 500), nil); err != nil {
		return err
	}
	p.RSSEmpty, p.GoroutinesEmpty = alone.rss, alone.goroutines
	ids, err := p.fill(ctx, full, o, model)
	if err != nil {
		return err
	}
	o.Progress("an engine beside them")
	var times []time.Duration
	var crowd waiting
	if err := full.wait(ctx, &crowd, enough(o.Parked, 500), &times); err != nil {
		return err
	}
	p.OpenTook, p.ReadyTook, p.RSSParked, p.GoroutinesParked = crowd.open, crowd.ready, crowd.rss, crowd.goroutines
	p.BytesEach = float64(crowd.bytes-alone.bytes) / float64(o.Parked)
	p.InboxP50, p.InboxP99 = quantile(times, 0.5), quantile(times, 0.99)
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

// waiting is what an engine costs that has nothing to do.
type waiting struct {
	open, ready time.Duration
	rss, bytes  int64
	goroutines  int
}

// wait opens the store, starts an engine, reads the inbox and looks at the process.
func (t *target) wait(ctx context.Context, w *waiting, looks int, times *[]time.Duration) (err error) {
	start := time.Now()
	s, err := t.open(ctx, 256, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	w.open = time.Since(start)
	k, err := startKernel(ctx, s, 64)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(k.stop(), err) }()
	w.ready = time.Since(start)
	if w.rss, err = touch(ctx, s, looks, times); err != nil {
		return err
	}
	w.goroutines = runtime.NumGoroutine()
	health, err := s.System().Health(ctx)
	w.bytes = health.Bytes
	return err
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

// touch reads the first page of the inbox many times and says how much memory the process has afterwards.
func touch(ctx context.Context, s store.Store, looks int, times *[]time.Duration) (int64, error) {
	for range looks {
		start := time.Now()
		err := s.View(ctx, tenant, func(tx store.ReadTx) error {
			_, err := tx.Requests(store.RequestQuery{Status: holdshort.RequestOpen, Limit: 50})
			return err
		})
		if err != nil {
			return 0, err
		}
		if times != nil {
			*times = append(*times, time.Since(start))
		}
	}
	debug.FreeOSMemory()
	return residentMemory(), nil
}

// residentMemory of this process in bytes, 0 where the system does not say.
func residentMemory() int64 {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(raw) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmRSS:")); ok {
			kib, _ := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
			return kib << 10
		}
	}
	return 0
}
