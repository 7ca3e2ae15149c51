package torture

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// load is the clients: they start runs, see what those ask, and decide, all at once and against one another.
type load struct {
	hands  hands
	ledger *ledger
	world  outside
	seed   uint64
	http   bool // clients speak the public API
	public public
	crowd  int    // most people who join those who decide the same request at the same moment
	guest  *guest // on a server that is not ours; else nil

	mu     sync.Mutex
	parked []holdshort.RunID // left waiting for a later client
}

const mostParked = 500

var (
	owner    = holdshort.Actor{ID: "ben", Kind: holdshort.Person, Assurance: holdshort.AssuranceLogin}
	operator = holdshort.Actor{ID: "olga", Kind: holdshort.Person, Roles: []string{policy.Operator}, Assurance: holdshort.AssuranceLogin}
	stranger = holdshort.Actor{ID: "mallory", Kind: holdshort.Person, Roles: []string{"guest"}, Assurance: holdshort.AssuranceLogin}
)

func reviewer(n int) holdshort.Actor {
	return holdshort.Actor{ID: "ana" + strconv.Itoa(n), Kind: holdshort.Person, Roles: []string{policy.Reviewer}, Assurance: holdshort.AssuranceLogin}
}

// reviewer is one of those who decide.
func (l *load) reviewer(n int) holdshort.Actor {
	a := reviewer(n)
	if l.guest != nil {
		a.ID = l.guest.name + "-" + a.ID
	}
	return a
}

// ours reports whether a request is of this torture.
func (l *load) ours(req holdshort.Request) bool {
	return l.guest == nil || l.guest.raisers[req.Requester.RaisedBy]
}

// run lets clients work until ctx ends.
func (l *load) run(ctx context.Context, clients int) {
	var wg sync.WaitGroup
	for n := range clients {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(l.seed, uint64(n)+1))
			for ctx.Err() == nil {
				id, ok := l.unpark(r)
				if !ok {
					id, ok = l.start(ctx, r)
				}
				if ok {
					l.pursue(ctx, r, id, true)
				}
			}
		})
	}
	for n := range max(1, clients/8) {
		wg.Go(func() { l.chat(ctx, rand.New(rand.NewPCG(l.seed, uint64(n)+1_000)), n) })
	}
	if l.http {
		wg.Go(func() { l.gates(ctx, max(2, clients/4)) })
	}
	wg.Wait()
}

// gates lets agents outside work until ctx ends, with those who look after them.
func (l *load) gates(ctx context.Context, agents int) {
	var wg sync.WaitGroup
	for n := range agents {
		wg.Go(func() { l.gate(ctx, rand.New(rand.NewPCG(l.seed, uint64(n)+2_000)), n) })
	}
	wg.Go(func() { l.clerk(ctx, rand.New(rand.NewPCG(l.seed, 3_000))) })
	wg.Go(func() { l.bulk(ctx, rand.New(rand.NewPCG(l.seed, 4_000))) })
	wg.Wait()
}

func (l *load) unpark(r *rand.Rand) (holdshort.RunID, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.parked) == 0 || len(l.parked) < mostParked && r.IntN(6) > 0 {
		return "", false
	}
	i := r.IntN(len(l.parked))
	id := l.parked[i]
	l.parked[i] = l.parked[len(l.parked)-1]
	l.parked = l.parked[:len(l.parked)-1]
	return id, true
}

func (l *load) park(id holdshort.RunID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parked = append(l.parked, id)
}

// start begins a run under an id of the client's own, as often as it takes, and now and then once more: that is the same run.
func (l *load) start(ctx context.Context, r *rand.Rand) (holdshort.RunID, bool) {
	id := holdshort.NewRunID(time.Now())
	name, p := drawRun(r, id)
	input, err := json.Marshal(p)
	if err != nil {
		return id, false
	}
	in := engine.StartInput{ID: id, Flow: name, User: owner.ID, Actor: owner, Input: input}
	if name == agentFlow && !l.staff(ctx, r, &in) {
		return id, false
	}
	times := 1
	if r.IntN(10) == 0 {
		times = 2
	}
	l.ledger.about(id, func(s *startedRun) { s.flow, s.plan, s.starts = name, p, times })
	if !l.http {
		l.ledger.named(id, id)
	}
	var wg sync.WaitGroup
	for range times {
		wg.Go(func() {
			a, sent, err := l.hands.until(ctx, order{Start: &in})
			l.ledger.about(id, func(s *startedRun) {
				s.starts += sent - 1
				s.stored = s.stored || err == nil && (a.Code == "" || a.Code == holdshort.Duplicate && !l.http)
			})
			switch {
			case err != nil || !l.http && a.Code == holdshort.Duplicate: // of two at the same moment one is first
			case a.Code != "":
				l.ledger.surprise(a)
			case l.http:
				l.ledger.named(id, a.Run.ID)
			}
		})
	}
	wg.Wait()
	if other := in; times > 1 && ctx.Err() == nil {
		p.Sleep++
		other.Input, _ = json.Marshal(p)
		a, _, err := l.hands.until(ctx, order{Start: &other})
		if refused := a.Code == holdshort.Duplicate || l.http && a.Code == holdshort.KeyReused; err == nil && !refused {
			l.ledger.surprise(a)
		}
	}
	stands := l.ledger.run(id)
	return stands.id, stands.stored
}

// staff has an agent do it, half of the time in a session.
func (l *load) staff(ctx context.Context, r *rand.Rand, in *engine.StartInput) bool {
	in.Flow, in.Agent = "", deskAgent
	if r.IntN(2) == 0 {
		return true
	}
	a, _, err := l.hands.until(ctx, order{Session: &engine.OpenSessionInput{User: owner.ID, Channel: lineChannel, Address: "desk " + string(in.ID), Agent: deskAgent}})
	if err == nil && (a.Code != "" || a.Opened == nil) {
		l.ledger.surprise(a)
	}
	if err != nil || a.Opened == nil {
		return false
	}
	in.Session = a.Opened.ID
	return true
}

// pursue follows a run to its end, or parks it. A playful client also calls off, retries and parks.
func (l *load) pursue(ctx context.Context, r *rand.Rand, id holdshort.RunID, playful bool) {
	var since time.Time
	for ctx.Err() == nil {
		asked := time.Now()
		a, _, err := l.hands.until(ctx, order{Look: &lookAt{Run: id, Since: since, Wait: 500 * time.Millisecond}})
		if err != nil {
			return
		}
		if a.Code != "" || a.Run == nil {
			if l.ledger.run(id).stored {
				l.ledger.report.Violate(PauseKept, "%s was acknowledged, and is answered with %s", id, a.Code)
			}
			return
		}
		for _, req := range a.Requests {
			l.ledger.told(req, asked)
		}
		since = a.Run.UpdatedAt
		switch {
		case a.Run.Held != nil:
			l.answer(ctx, r, a, false) // nobody can let it go on while it is not known what became of a call
			l.release(ctx, *a.Run)
			continue
		case a.Run.Status.Ended() && len(a.Requests) == 0:
			if !playful || !l.retry(ctx, r, *a.Run) {
				l.ledger.about(id, func(s *startedRun) { s.ended = true })
				return
			}
			continue
		}
		if playful && r.IntN(40) == 0 {
			l.cancel(ctx, id)
		}
		if playful && len(a.Requests) > 0 && r.IntN(5) == 0 {
			l.park(id)
			return
		}
		if a.Run.Flow == patientFlow {
			l.post(ctx, r, id)
		}
		l.answer(ctx, r, a, playful)
	}
}

// answer lets people act on everything that a run asks.
func (l *load) answer(ctx context.Context, r *rand.Rand, a answered, playful bool) {
	var wg sync.WaitGroup
	for _, req := range a.Requests {
		own := rand.New(rand.NewPCG(r.Uint64(), 0))
		wg.Go(func() {
			switch {
			case req.Kind == holdshort.Reconcile:
				l.reconcile(ctx, own, req, a.Operations)
			default:
				l.contend(ctx, own, req, playful)
			}
		})
	}
	wg.Wait()
}

func (l *load) cancel(ctx context.Context, id holdshort.RunID) {
	l.ledger.about(id, func(s *startedRun) { s.cancel = true })
	a, _, err := l.hands.until(ctx, order{Cancel: id, Actor: operator})
	switch {
	case err != nil || a.Code == holdshort.WrongState: // it had ended, perhaps by the order before this one
	case a.Code == "":
		l.ledger.about(id, func(s *startedRun) { s.canceled = true })
	default:
		l.ledger.surprise(a)
	}
}

// retry has a failed run tried again, once.
func (l *load) retry(ctx context.Context, r *rand.Rand, run holdshort.Run) bool {
	if run.Status != holdshort.RunFailed || l.ledger.run(run.ID).retried || r.IntN(10) < 3 {
		return false
	}
	l.ledger.about(run.ID, func(s *startedRun) { s.retried = true })
	a, _, err := l.hands.until(ctx, order{Retry: run.ID, Actor: operator})
	if err == nil && a.Code != "" && a.Code != holdshort.WrongState {
		l.ledger.surprise(a)
	}
	return true
}

// release lets a run go on that was cut off too often to be trusted. Any other reason to hold one is a finding.
func (l *load) release(ctx context.Context, run holdshort.Run) {
	if run.Held.Code == holdshort.Poisoned {
		l.ledger.add(&l.ledger.held)
		_, _, _ = l.hands.until(ctx, order{Retry: run.ID, Actor: operator})
		return
	}
	l.ledger.report.Violate(Progress, "%s is held: %s", run.ID, run.Held.Code)
	l.cancel(ctx, run.ID)
}

// post sends what a patient run waits for, now and then twice.
func (l *load) post(ctx context.Context, r *rand.Rand, id holdshort.RunID) {
	body := "news for " + string(id)
	raw, _ := json.Marshal(body)
	for n := range 1 + r.IntN(2) {
		in := engine.PostInput{Run: id, ID: "first", Name: "news", Body: raw, Actor: owner}
		if n == 1 && r.IntN(3) == 0 {
			in.Body = json.RawMessage(`"something else"`)
		}
		a, _, err := l.hands.until(ctx, order{Post: &in})
		switch {
		case err != nil || a.Code == holdshort.Closed: // the run was called off
		case string(in.Body) != string(raw):
			if a.Code != holdshort.Duplicate {
				l.ledger.report.Violate(InboundOnce, "%s: another body under the same id was answered with %q", id, a.Code)
			}
		case a.Code == "":
			l.ledger.about(id, func(s *startedRun) { s.post = body })
		default:
			l.ledger.surprise(a)
		}
	}
}
