package torture

import (
	"context"
	crand "crypto/rand"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/api"
	"github.com/holdshort/holdshort/engine"
)

// gateCase is what an agent outside was told about a request that it raised.
type gateCase struct {
	token    string                               // of the claim
	outcomes map[string]holdshort.OperationStatus // by operation: reports that were acknowledged
}

// atGate changes what is known of a request that was raised.
func (l *ledger) atGate(id holdshort.RequestID, change func(*gateCase)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.gates[id]
	if c == nil {
		c = &gateCase{outcomes: map[string]holdshort.OperationStatus{}}
		l.gates[id] = c
	}
	change(c)
}

// gate is an agent that lives outside: it raises, waits, claims, acts and reports, all over HTTP, until ctx ends.
func (l *load) gate(ctx context.Context, r *rand.Rand, n int) {
	me := raiserName(n % raisers)
	for ctx.Err() == nil {
		if req, ok := l.raise(ctx, r, me); ok {
			l.follow(ctx, r, me, req)
		}
	}
}

// raise asks for something, as often as it takes and now and then once more: that is the same request.
func (l *load) raise(ctx context.Context, r *rand.Rand, me string) (req api.Request, ok bool) {
	body := api.Raise{Kind: holdshort.Approval}
	for n := range 1 + r.IntN(2)*r.IntN(2) {
		c := drawCall(r, n)
		args, err := holdshort.CanonicalValue(c.Args)
		if err != nil {
			return req, false
		}
		body.Actions = append(body.Actions, engine.AskAction{Tool: c.Tool, Args: args})
	}
	v := visit{method: http.MethodPost, path: "/v1/requests", secret: l.public.keys[me], key: crand.Text(), body: body}
	times := 1 + r.IntN(8)/7
	answers := make([]api.Request, times)
	var wg sync.WaitGroup
	for i := range times {
		wg.Go(func() { answers[i] = l.raiseOnce(ctx, v) })
	}
	wg.Wait()
	for _, a := range answers {
		switch {
		case a.ID == "":
		case req.ID == "":
			req = a
		case req.ID != a.ID:
			l.ledger.report.Violate(InboundOnce, "one key raised both %s and %s", req.ID, a.ID)
		}
	}
	if req.ID != "" && times > 1 {
		body.Actions = body.Actions[:1]
		body.Question = "Something else?"
		v.body = body
		if a, _, err := l.public.door.until(ctx, v); err == nil && a.code() != holdshort.KeyReused && a.code() != holdshort.Duplicate {
			l.ledger.report.Violate(InboundOnce, "%s: another request under the same key was answered with %d %q", req.ID, a.status, a.code())
		}
	}
	return req, req.ID != ""
}

func (l *load) raiseOnce(ctx context.Context, v visit) (req api.Request) {
	asked := time.Now()
	a, _, err := l.public.door.until(ctx, v)
	if err != nil {
		return req
	}
	if !a.ok() {
		l.ledger.refusal("raise", a)
		return req
	}
	if req, err = read[api.Request](a); err != nil {
		l.ledger.refusal("raise", a)
		return api.Request{}
	}
	if l.ledger.add(&l.ledger.raised); a.replayed {
		l.ledger.add(&l.ledger.replayed)
	}
	if (a.status == http.StatusCreated) == a.replayed {
		l.ledger.report.Violate(InboundOnce, "%s was raised with status %d, replayed %t", req.ID, a.status, a.replayed)
	}
	if req.Status == holdshort.RequestOpen {
		l.ledger.told(req.Request, asked)
	}
	return req
}

// refusal counts an answer that no caller expected.
func (l *ledger) refusal(what string, r reply) {
	l.surprise(answered{Code: r.code(), Message: what + ": " + r.problem.Detail})
}

// follow waits for a decision, goes on to what is asked instead, and claims.
func (l *load) follow(ctx context.Context, r *rand.Rand, me string, req api.Request) {
	for ctx.Err() == nil {
		closed, ok := l.awaitGate(ctx, r, me, req)
		if !ok {
			return
		}
		if closed.Next == "" {
			l.claimAll(ctx, r, me, closed)
			return
		}
		asked := time.Now()
		if req, ok = l.readRequest(ctx, me, closed.Next, 0); !ok {
			return
		}
		if req.Status == holdshort.RequestOpen {
			l.ledger.told(req.Request, asked)
		}
	}
}

// readRequest reads a request as its raiser, and waits for its decision if there is a wait.
func (l *load) readRequest(ctx context.Context, me string, id holdshort.RequestID, wait time.Duration) (req api.Request, ok bool) {
	path := "/v1/requests/" + string(id)
	if wait > 0 {
		path += "?wait=" + wait.String()
	}
	a, _, err := l.public.door.until(ctx, visit{method: http.MethodGet, path: path, secret: l.public.keys[me], wait: wait})
	if err != nil {
		return req, false
	}
	if !a.ok() {
		l.ledger.report.Violate(PauseKept, "%s was acknowledged, and is answered with %d %s", id, a.status, a.code())
		return req, false
	}
	if req, err = read[api.Request](a); err != nil {
		l.ledger.refusal("read", a)
		return req, false
	}
	if late := wait > 0 && req.Status == holdshort.RequestOpen; late != (a.status == http.StatusAccepted) {
		l.ledger.report.Violate(PauseKept, "%s is %s and was answered with status %d", id, req.Status, a.status)
	}
	return req, true
}

// awaitGate lets people decide while the raiser waits on a long poll, across whatever is killed.
func (l *load) awaitGate(ctx context.Context, r *rand.Rand, me string, req api.Request) (closed api.Request, ok bool) {
	if req.Status != holdshort.RequestOpen {
		return req, true
	}
	waiting, done := context.WithCancel(ctx)
	defer done()
	own, wait := rand.New(rand.NewPCG(r.Uint64(), 0)), time.Duration(500+r.IntN(3000))*time.Millisecond
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		if own.IntN(6) == 0 {
			l.decideOwn(waiting, me, req)
		}
		if own.IntN(20) == 0 {
			l.callOff(waiting, me, req)
		}
		for playful := true; waiting.Err() == nil; playful = false {
			l.contend(waiting, own, req.Request, playful)
			linger(waiting, 100*time.Millisecond)
		}
	})
	for ctx.Err() == nil {
		if closed, ok = l.readRequest(ctx, me, req.ID, wait); !ok {
			return closed, false
		}
		if closed.Status != holdshort.RequestOpen {
			if d := standing(closed.Decision); d != nil {
				l.ledger.stands(req.ID, *d)
			}
			return closed, true
		}
	}
	return closed, false
}

// decideOwn: the key that raised a request does not decide it.
func (l *load) decideOwn(ctx context.Context, me string, req api.Request) {
	v := visit{method: http.MethodPost, path: "/v1/requests/" + string(req.ID) + "/decision", secret: l.public.keys[me], key: crand.Text(), body: api.Choice{Action: "approve", Message: "I say so"}}
	a, _, err := l.public.door.until(ctx, v)
	if err != nil {
		return
	}
	if l.ledger.add(&l.ledger.refused); a.status != http.StatusForbidden && a.status != http.StatusNotFound {
		l.ledger.report.Violate(OnlyEntitled, "%s: the key that raised it was answered with %d %s when it decided", req.ID, a.status, a.code())
	}
}

// callOff takes a request back.
func (l *load) callOff(ctx context.Context, me string, req api.Request) {
	v := visit{method: http.MethodPost, path: "/v1/requests/" + string(req.ID) + "/cancel", secret: l.public.keys[me], key: crand.Text(), body: map[string]string{"reason": "not_wanted"}}
	a, _, err := l.public.door.until(ctx, v)
	if err == nil && !a.ok() && a.code() != holdshort.Closed && a.code() != holdshort.Expired {
		l.ledger.refusal("cancel request", a)
	}
}

// bulk decides many at once, in one call under one key: each stands or falls by itself.
func (l *load) bulk(ctx context.Context, r *rand.Rand) {
	for n := 0; ctx.Err() == nil; n++ {
		linger(ctx, time.Duration(300+r.IntN(700))*time.Millisecond)
		asked := time.Now()
		page, _, err := l.hands.until(ctx, order{Open: new(string)})
		if err != nil {
			return
		}
		actor := reviewer(n % 3)
		var in []engine.DecideInput
		body := api.Many{}
		for _, req := range page.Requests {
			if req.RunID == "" || req.Kind != holdshort.Approval || r.IntN(3) > 0 || len(in) == 12 {
				continue
			}
			l.ledger.told(req, asked)
			d := l.verdict(r, req, true)
			d.Actor = actor
			l.ledger.sends(req.ID, d.Message)
			in = append(in, d)
			body.Items = append(body.Items, struct {
				ID holdshort.RequestID `json:"id"`
				api.Choice
			}{req.ID, choice(d)})
		}
		if len(in) > 0 {
			l.bulkOnce(ctx, in, visit{method: http.MethodPost, path: "/v1/requests/decisions", secret: l.public.keys[actor.ID], key: crand.Text(), body: body})
		}
	}
}

func (l *load) bulkOnce(ctx context.Context, in []engine.DecideInput, v visit) {
	a, _, err := l.public.door.until(ctx, v)
	if err != nil {
		return
	}
	results, err := read[api.Results](a)
	if err != nil || len(results.Items) != len(in) {
		l.ledger.refusal("decide many", a)
		return
	}
	for i, item := range results.Items {
		one := answered{Status: item.Status}
		if item.Problem != nil {
			if one.Code, one.Message = item.Problem.Code, item.Problem.Detail; passing[one.Code] {
				continue // nobody knows what became of this one
			}
			if item.Problem.Request != nil {
				one.Request = &item.Problem.Request.Request
			}
			one.Decision = standing(item.Problem.Decision)
		} else if item.Request != nil {
			one.Request, one.Decision, one.Votes = &item.Request.Request, standing(item.Request.Decision), votes(item.Request.Votes)
			one.Replayed = one.Decision != nil && one.Decision.Message != in[i].Message // a replayed vote does not say so in the header
		}
		l.ledger.decided(in[i].Request, in[i].Actor.ID, in[i].Message, one)
	}
}
