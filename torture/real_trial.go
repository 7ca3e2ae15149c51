package torture

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// trial is one torture under way.
type trial struct {
	RealOptions
	folder string
	report *Report
	world  outside
	fleet  *fleet
	hands  hands
	public public
	stream *watcher // nil: nobody watches
}

func (t *trial) run(ctx context.Context, out RealReport) (RealReport, error) {
	l := &load{hands: t.hands, http: t.HTTP, public: t.public, crowd: 12, ledger: newLedger(t.report), world: t.world, seed: t.Seed}
	k := newKiller(t.fleet, t.Seed, func(err error) { t.report.Violate(Progress, "%v", err) })
	began := time.Now()
	t.Progress(fmt.Sprintf("killing for %s, seed %d", t.Duration, t.Seed))
	killing, stop := context.WithCancel(ctx)
	defer stop()
	watching, enough := context.WithCancel(ctx)
	defer enough()
	var watched sync.WaitGroup
	if t.HTTP {
		t.stream = &watcher{door: t.public.door, secret: t.public.keys[root.ID], report: t.report}
		watched.Go(func() { t.stream.run(watching) })
	}
	var wg sync.WaitGroup
	wg.Go(func() { k.run(killing) })
	wg.Go(func() { l.run(killing, t.Clients) })
	prolong(ctx, t.Duration, t.Enough, func(ctx context.Context) Activity { return t.activity(ctx, l.ledger, k) })
	stop()
	wg.Wait()
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	out.Duration, out.Kills, out.Freezes, out.ClockJumps = time.Since(began), k.kills.Load(), k.freezes.Load(), k.jumps.Load()
	t.Progress(fmt.Sprintf("%d kills; letting %d runs come to their end", out.Kills, len(l.ledger.unfinished())))
	settling := time.Now()
	t.settle(ctx, l)
	out.Settled = time.Since(settling)
	seen, err := t.world.seen(ctx)
	if err != nil {
		return out, err
	}
	if t.HTTP {
		t.catchUp(ctx)
		enough()
		watched.Wait()
	}
	for _, fault := range t.fleet.stop() {
		t.report.Violate(Progress, "%v", fault)
	}
	t.Progress("comparing what was told, what happened and what is stored")
	return t.examine(ctx, l.ledger, seen, out)
}

// settle answers everything that is still asked, until nothing is.
func (t *trial) settle(ctx context.Context, l *load) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	left := make(chan holdshort.RunID)
	var wg sync.WaitGroup
	for n := range t.Clients {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(t.Seed, uint64(n)+1_000_000))
			for id := range left {
				bounded, cancel := context.WithTimeout(ctx, patience/3)
				l.pursue(bounded, r, id, false)
				cancel()
			}
		})
	}
	for _, id := range l.ledger.unfinished() {
		left <- id
	}
	close(left)
	wg.Wait()
	t.sweep(ctx, l)
}

// catchUp gives the watcher time to see what is stored by now.
func (t *trial) catchUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience/4)
	defer cancel()
	a, _, err := t.fleet.until(ctx, order{Position: true})
	if err != nil {
		return
	}
	for t.stream.at() < a.Position {
		if linger(ctx, 20*time.Millisecond); ctx.Err() != nil {
			t.report.Violate(Audited, "the event stream stands at %d, and %d is stored", t.stream.at(), a.Position)
			return
		}
	}
}

// sweep waits for runs that nobody pursues, and answers what runs that are over still ask: what became of a call whose answer was lost is wanted
// even then.
func (t *trial) sweep(ctx context.Context, l *load) {
	r := rand.New(rand.NewPCG(t.Seed, 0))
	if t.HTTP {
		linger(ctx, claimLease+workerTimeout) // whoever claimed at the last moment is given up on when the lease ends
	}
	for quiet := 0; quiet < 3 && ctx.Err() == nil; {
		asked := time.Now()
		page, _, err := l.hands.until(ctx, order{Open: new(string)})
		if err != nil {
			return
		}
		rest, _, err := l.hands.until(ctx, order{Unfinished: true})
		if err != nil {
			return
		}
		if quiet++; len(page.Requests)+len(rest.Runs) > 0 {
			quiet = 0
		}
		for _, req := range page.Requests {
			switch {
			case req.RunID != "":
				l.pursue(ctx, r, req.RunID, false)
			case req.Kind == holdshort.Reconcile:
				l.reconcileGate(ctx, r, req, asked)
			default:
				l.ledger.told(req, asked)
				l.contend(ctx, r, req, false)
			}
		}
		for _, run := range rest.Runs {
			switch {
			case run.Held != nil:
				l.release(ctx, run)
			case run.Flow == patientFlow: // started at the last moment, by a client that was never told
				l.post(ctx, r, run.ID)
			}
		}
		linger(ctx, workerTimeout/2) // a call that was cut off is asked about when its deadline has passed
	}
}

// examine opens the store and draws up the report.
func (t *trial) examine(ctx context.Context, l *ledger, seen Seen, out RealReport) (RealReport, error) {
	s, err := openReal(ctx, t.Store, t.Keyring, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		return out, err
	}
	defer s.Close()
	if err := stamped(ctx, s); err != nil {
		return out, err
	}
	x := &examiner{store: s, ledger: l, seen: seen, report: t.report, counts: out, stream: t.stream}
	if err := x.examine(ctx); err != nil {
		return out, err
	}
	out = x.counts
	out.Votes, out.Conflicts, out.Refused, out.Released, out.Lost = l.votes, l.conflicts, l.refused, l.held, x.events["operation.unknown"]
	out.HTTP, out.Raised, out.Claimed, out.Replayed = t.HTTP, l.raised, l.claimed, l.replayed
	out.Surprises, out.Faults, out.Violations = l.surprises, t.report.Faults, map[Promise]int{}
	for _, p := range Promises {
		out.Violations[p] = 0
	}
	maps.Copy(out.Violations, t.report.Violations)
	if out.Broken() || len(out.Surprises) > 0 {
		out.Kept = t.folder
	}
	return out, nil
}

// stamped gives the last events their positions, which the workers may have had no time for.
func stamped(ctx context.Context, s store.Store) error {
	for {
		lease, err := s.System().Acquire(ctx, store.SequencerLease, "examiner", 10*time.Second)
		if holdshort.CodeOf(err) == holdshort.LeaseLost { // of a worker that is gone: it ends by itself
			if linger(ctx, 200*time.Millisecond); ctx.Err() != nil {
				return ctx.Err()
			}
			continue
		}
		if err != nil {
			return err
		}
		n, err := s.System().Stamp(ctx, lease, 1000)
		if err != nil || n == 0 {
			return err
		}
	}
}
