package torture

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
)

// OutsideOptions of a torture of a server that is not ours.
type OutsideOptions struct {
	// URL of the server, and Token: an administrator's key.
	URL, Token string
	// Duration of it. Default: one minute.
	Duration time.Duration
	// Enough, if set, prolongs it until it reports true: a slow machine does less in the same time.
	Enough func(Activity) bool
	// Agents that raise and claim at once. Default: 16.
	Agents int
	// Seed of what they do. Default: a new one.
	Seed uint64
	// Progress is told what goes on. Default: nobody.
	Progress func(string)
}

func (o OutsideOptions) withDefaults() (OutsideOptions, error) {
	if o.Duration <= 0 {
		o.Duration = time.Minute
	}
	if o.Agents <= 0 {
		o.Agents = 16
	}
	if o.Seed == 0 {
		o.Seed = rand.Uint64N(1 << 32)
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	o.URL = strings.TrimSuffix(o.URL, "/")
	if !strings.HasPrefix(o.URL, "http://") && !strings.HasPrefix(o.URL, "https://") {
		return o, &holdshort.Error{Code: holdshort.Invalid, Op: "torture", Field: "url", Message: "this is no address of a server", Hint: "write it like http://127.0.0.1:8080"}
	}
	if o.Token == "" {
		return o, &holdshort.Error{Code: holdshort.Unauthenticated, Op: "torture", Field: "token", Message: "an administrator's key is needed: keys are made for those who raise and decide", Hint: "set HOLDSHORT_TOKEN"}
	}
	return o, nil
}

// Outside tortures a server through its public API alone, at the gate: what can be seen of the promises from outside. It may be killed and
// started again meanwhile; whoever does that is not this process. Everything it raises is its own and closed in the end, and the keys that it
// makes are revoked.
func Outside(ctx context.Context, options OutsideOptions) (out RealReport, err error) {
	o, err := options.withDefaults()
	if err != nil {
		return out, err
	}
	world, stop, err := ownWorld()
	if err != nil {
		return out, err
	}
	defer stop()
	t := &visitation{OutsideOptions: o, report: &Report{}, world: world}
	d := newDoor(func() string { return o.URL })
	t.guest = &guest{door: d, token: o.Token, name: "torture-" + holdshort.NewSalt()[:8], keys: keychain{operator.ID: o.Token, root.ID: o.Token}, raisers: map[string]bool{}}
	defer func() {
		if left := t.guest.leave(context.WithoutCancel(ctx)); left != nil && err == nil {
			err = left
		}
	}()
	if err := t.guest.arrive(ctx); err != nil {
		return out, err
	}
	return t.run(ctx)
}

// ownWorld counts effects in this process: a server that is not ours need not reach it.
func ownWorld() (*counter, func(), error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	c := newCounter()
	c.address = listener.Addr().String()
	server := &http.Server{Handler: c.handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // until it is closed
	return c, func() { server.Close() }, nil
}

// visitation is one torture of another server under way.
type visitation struct {
	OutsideOptions
	report *Report
	world  *counter
	guest  *guest
}

func (t *visitation) run(ctx context.Context) (out RealReport, err error) {
	l := &load{ledger: newLedger(t.report), world: newOutside(t.world.address), seed: t.Seed, http: true, crowd: deciders - 3, guest: t.guest}
	l.public = public{door: t.guest.door, keys: t.guest.keys}
	l.hands = l.public
	watching, enough := context.WithCancel(ctx)
	defer enough()
	w := &watcher{door: t.guest.door, secret: t.Token, report: t.report, fromNow: true, events: map[holdshort.RequestID]map[string]int{}}
	var watched sync.WaitGroup
	watched.Go(func() { w.run(watching) })
	for w.at() < 0 {
		if linger(ctx, 10*time.Millisecond); ctx.Err() != nil {
			return out, ctx.Err()
		}
	}
	began := time.Now()
	t.Progress(fmt.Sprintf("%d agents and %d deciders for %s, seed %d", t.Agents, deciders, t.Duration, t.Seed))
	working, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		defer stop()
		prolong(working, t.Duration, t.Enough, func(context.Context) Activity {
			now := l.ledger.activity()
			now.Effects = t.world.copy().count()
			return now
		})
	}()
	l.gates(working, t.Agents)
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	out = RealReport{Store: t.URL, Seed: t.Seed, Clients: t.Agents, Duration: time.Since(began), URL: t.URL}
	t.Progress(fmt.Sprintf("%d requests raised; closing what is open", l.ledger.raised))
	settling := time.Now()
	t.settle(ctx, l)
	out.Settled = time.Since(settling)
	t.Progress("comparing what was told, what happened and what the server shows")
	x := &examiner{ledger: l.ledger, seen: t.world.copy(), report: t.report, verify: func(holdshort.Decision) error { return nil }, counts: out, known: map[string]bool{},
		stored: map[holdshort.RequestID]bool{}, events: map[string]int{}, rows: map[string]int{}}
	if err := t.examine(ctx, l, x, w); err != nil {
		return out, err
	}
	t.Progress("revoking keys")
	enough()
	watched.Wait()
	out = x.counts
	out.HTTP, out.Raised, out.Claimed, out.Replayed, out.Streams = true, l.ledger.raised, l.ledger.claimed, l.ledger.replayed, w.streams
	out.Votes, out.Conflicts, out.Refused = l.ledger.votes, l.ledger.conflicts, l.ledger.refused
	out.Surprises, out.Faults, out.Violations = l.ledger.surprises, t.report.Faults, map[Promise]int{}
	for _, p := range Promises {
		out.Violations[p] = 0
	}
	maps.Copy(out.Violations, t.report.Violations)
	return out, nil
}
