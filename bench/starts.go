package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/api"
	"github.com/holdshort/holdshort/store"
)

const (
	maxStarts   = 400
	startRounds = 4
)

// measureStarts parks runs through the HTTP API of one server, and compares starting a run there with starting one on a
// server without open requests.
func measureStarts(ctx context.Context, t *target, o Options, report *Report) error {
	if o.Open == 0 {
		return nil
	}
	out := &Starts{Open: o.Open, Connections: doorConnections}
	var servers [2]*openServer
	for i, name := range []string{"none_open", "many_open"} {
		own, drop, err := t.fresh(ctx, name)
		if err != nil {
			return err
		}
		defer drop()
		if servers[i], err = newOpenServer(ctx, own); err != nil {
			return err
		}
		defer servers[i].close()
	}
	o.Progress(fmt.Sprintf("parking %d runs through the API", o.Open))
	begin := time.Now()
	if err := servers[1].park(ctx, o.Open); err != nil {
		return err
	}
	out.ParkedRate = float64(o.Open) / time.Since(begin).Seconds()
	o.Progress("starting runs while the engine indexes and seals the parked ones")
	catching, err := compareStarts(ctx, servers, max(enough(o.Open, maxStarts)/4, 10))
	if err != nil {
		return err
	}
	out.CatchingUpRatio = catching.StartRatio
	o.Progress("indexing and sealing the parked ones")
	for _, s := range servers {
		if err := s.catchUp(ctx); err != nil {
			return err
		}
	}
	o.Progress("starting runs")
	if out.OneCaller, err = compareStarts(ctx, servers, enough(o.Open, maxStarts)); err != nil {
		return err
	}
	if err := out.rates(ctx, servers, o); err != nil {
		return err
	}
	report.Starts = out
	return nil
}

// openServer is a store with an engine and its API. The engine can be stopped while the store stays open.
type openServer struct {
	store  store.Store
	server *door
}

func newOpenServer(ctx context.Context, t *target) (*openServer, error) {
	s, err := t.open(ctx, 256, 1)
	if err != nil {
		return nil, err
	}
	o := &openServer{store: s}
	return o, o.start(ctx)
}

func (s *openServer) start(ctx context.Context) error {
	k, err := startKernel(ctx, s.store, doorConnections+64)
	if err != nil {
		return err
	}
	s.server, err = openDoor(ctx, k, doorConnections)
	return err
}

func (s *openServer) stop() error {
	if s.server == nil {
		return nil
	}
	defer func() { s.server = nil }()
	return errors.Join(s.server.close(), s.server.stop())
}

func (s *openServer) close() error { return errors.Join(s.stop(), s.store.Close()) }

// park starts n runs, each of which waits for an approval.
func (s *openServer) park(ctx context.Context, n int) error {
	tickets := make(chan struct{}, n)
	for range n {
		tickets <- struct{}{}
	}
	close(tickets)
	failed := make(chan error, doorConnections)
	for range doorConnections {
		go func() {
			var err error
			for range tickets {
				begin := api.Begin{Flow: cycleFlow.Name, Input: input, Agent: "desk"}
				if err = s.server.call(ctx, "POST", "/v1/runs?wait=30s", begin, nil); err != nil {
					break
				}
			}
			failed <- err
		}()
	}
	var all error
	for range doorConnections {
		all = errors.Join(all, <-failed)
	}
	return all
}

// catchUp finishes the background work of the engine, which would otherwise run during the measurement, and starts a
// new engine.
func (s *openServer) catchUp(ctx context.Context) error {
	if err := s.stop(); err != nil {
		return err
	}
	if err := s.index(ctx); err != nil {
		return err
	}
	if err := s.seal(ctx); err != nil {
		return err
	}
	return s.start(ctx)
}

func (s *openServer) index(ctx context.Context) error {
	return s.leased(ctx, store.IndexerLease, func(lease holdshort.Lease) (bool, error) {
		n, err := s.store.System().Index(ctx, lease, 5000)
		return n > 0, err
	})
}

func (s *openServer) seal(ctx context.Context) error {
	return s.leased(ctx, store.SequencerLease, func(lease holdshort.Lease) (bool, error) {
		n, err := s.store.System().Stamp(ctx, lease, 5000)
		if err != nil || n > 0 && !s.store.Exclusive() {
			return true, err
		}
		seal, err := s.store.System().Seal(ctx, lease, 10_000)
		return seal != nil, err
	})
}

// leased repeats work under a lease until no more is left.
func (s *openServer) leased(ctx context.Context, name string, work func(holdshort.Lease) (bool, error)) error {
	lease, err := s.acquire(ctx, name)
	if err != nil {
		return err
	}
	for more := true; err == nil && more; {
		more, err = work(lease)
	}
	return errors.Join(err, s.store.System().Release(ctx, name, lease))
}

// acquire waits for a lease. An engine that was stopped while it acquired the lease leaves it until its end.
func (s *openServer) acquire(ctx context.Context, name string) (holdshort.Lease, error) {
	for {
		lease, err := s.store.System().Acquire(ctx, name, "bench", time.Hour)
		if holdshort.CodeOf(err) != holdshort.LeaseLost {
			return lease, err
		}
		select {
		case <-ctx.Done():
			return lease, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// compareStarts makes n cycles on each server in turn.
func compareStarts(ctx context.Context, servers [2]*openServer, n int) (out StartTimes, err error) {
	var starts, decisions [2][]time.Duration
	warmup := min(n, 20)
	for i := range n + warmup {
		for j, s := range servers {
			l, err := s.server.httpCycle(ctx)
			if err != nil {
				return out, err
			}
			if i >= warmup {
				starts[j], decisions[j] = append(starts[j], l.whole-l.decided), append(decisions[j], l.decided)
			}
		}
	}
	out.NoneP50, out.OpenP50 = quantile(starts[0], 0.5), quantile(starts[1], 0.5)
	out.NoneP99, out.OpenP99 = quantile(starts[0], 0.99), quantile(starts[1], 0.99)
	out.NoneDecidedP50, out.OpenDecidedP50 = quantile(decisions[0], 0.5), quantile(decisions[1], 0.5)
	out.StartRatio = ratio(out.OpenP50, out.NoneP50)
	out.DecidedRatio = ratio(out.OpenDecidedP50, out.NoneDecidedP50)
	return out, nil
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }

// rates counts cycles at many connections, on each server in turn.
func (out *Starts) rates(ctx context.Context, servers [2]*openServer, o Options) error {
	var cycles [2]int
	var times [2]time.Duration
	for range startRounds {
		for j, s := range servers {
			done, took, err := laps(ctx, doorConnections, o.Duration/startRounds, s.server.httpCycle)
			if err != nil {
				return err
			}
			cycles[j], times[j] = cycles[j]+len(done), times[j]+took
		}
	}
	out.NonePerSecond = float64(cycles[0]) / times[0].Seconds()
	out.OpenPerSecond = float64(cycles[1]) / times[1].Seconds()
	return nil
}
