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
	if l.guest != nil {
		l.guest.narrow(r, &body)
	}
	for n := range 1 + r.IntN(2)*r.IntN(2) {
		c := drawCall(r, n)
		if l.guest != nil {
			c = planned{toolPrefix + draw(r, weighed[string]{2, payTool}, weighed[string]{1, shipTool}), callArgs{Amount: c.Args.Amount, Key: c.Args.Key, World: c.Args.World}}
		}
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
	own, wait := rand.New(rand.NewPCG(r.Uint64(), 0)), time.Duration(500+r.IntN(3000))*time.Millisecond
	var wg sync.WaitGroup
	defer func() { done(); wg.Wait() }()
	wg.Go(func() {
		if own.IntN(6) == 0 {
			l.decideOwn(ctx, me, req)
		}
		if own.IntN(20) == 0 {
			l.callOff(ctx, me, req)
		}
		if soon(req.Request) && own.IntN(4) == 0 { // nobody looks at it in time
			linger(waiting, time.Until(req.ExpiresAt)+50*time.Millisecond)
		}
		for playful := true; waiting.Err() == nil; playful = false {
			l.contend(ctx, own, req.Request, playful) // also who comes too late is answered
			linger(waiting, 100*time.Millisecond)
		}
	})
	for ctx.Err() == nil {
		if closed, ok = l.readRequest(ctx, me, req.ID, wait); !ok {
			return closed, false
		}
		if closed.Status != holdshort.RequestOpen {
			l.ledger.closed(closed)
			return closed, true
		}
	}
	return closed, false
}

// closed notes what somebody who waited was told: the decision that stands, or that there will be none.
func (l *ledger) closed(req api.Request) {
	if d := standing(req.Decision); d != nil {
		l.stands(req.ID, *d)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.asked[req.ID]; p != nil && req.Status == holdshort.RequestExpired {
		p.expired = true
	}
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
