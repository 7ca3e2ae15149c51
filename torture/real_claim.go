package torture

import (
	"context"
	crand "crypto/rand"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/api"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/tool"
)

const claimLease = 2 * time.Second

func approved(req api.Request) bool {
	return req.Status == holdshort.RequestResolved && (req.Outcome == holdshort.Approved || req.Outcome == holdshort.Edited)
}

func (l *load) claimVisit(me string, id holdshort.RequestID) visit {
	return visit{method: http.MethodPost, path: "/v1/requests/" + string(id) + "/claim", secret: l.public.keys[me], key: crand.Text(), body: map[string]string{"lease": claimLease.String()}, final: true}
}

// claimAll claims what was approved, now and then with several claimers at once; one of them gets it. Nobody else's key does, and nobody gets
// what was not approved.
func (l *load) claimAll(ctx context.Context, r *rand.Rand, me string, req api.Request) {
	if other := raiserName(r.IntN(raisers)); other != me && r.IntN(4) == 0 {
		if a, _, err := l.public.door.until(ctx, l.claimVisit(other, req.ID)); err == nil {
			if l.ledger.add(&l.ledger.refused); a.status != http.StatusForbidden && a.status != http.StatusNotFound {
				l.ledger.report.Violate(OnlyEntitled, "%s: another key claimed and was answered with %d %s", req.ID, a.status, a.code())
			}
		}
	}
	if !approved(req) {
		if a, _, err := l.public.door.until(ctx, l.claimVisit(me, req.ID)); err == nil {
			if l.ledger.add(&l.ledger.refused); a.ok() {
				l.ledger.report.Violate(NeverUnasked, "%s is %s %s and was handed out", req.ID, req.Status, req.Outcome)
			}
		}
		return
	}
	var wg sync.WaitGroup
	for range 1 + 2*(r.IntN(4)/3) {
		own := rand.New(rand.NewPCG(r.Uint64(), 0))
		wg.Go(func() { l.claim(ctx, own, me, req) })
	}
	wg.Wait()
}

// claim tries to get the approved calls, and makes them if it does.
func (l *load) claim(ctx context.Context, r *rand.Rand, me string, req api.Request) {
	v := l.claimVisit(me, req.ID)
	got, ok := l.claimOnce(ctx, req.ID, v)
	if !ok {
		return
	}
	if r.IntN(3) == 0 { // as somebody would who lost the answer
		if again, ok := l.claimOnce(ctx, req.ID, v); ok && !sameJSON(again.Actions, got.Actions) {
			l.ledger.report.Violate(SameCall, "%s: a repeated claim got other actions", req.ID)
		}
	}
	for _, action := range got.Actions {
		if want := decidedArgs(req, action); string(action.Args) != want {
			l.ledger.report.Violate(SameCall, "%s: %s was approved and %s was handed out", req.ID, want, action.Args)
			return
		}
		if !l.act(ctx, r, me, req.ID, got, action) {
			return // this one is dead
		}
	}
}

// decidedArgs are the arguments that a decision stands for.
func decidedArgs(req api.Request, action engine.ClaimedAction) string {
	if req.Decision != nil {
		for _, c := range req.Decision.Calls {
			if c.CallID == action.CallID && c.Action == holdshort.Edit {
				return string(c.Args)
			}
		}
	}
	for _, a := range req.Actions {
		if a.CallID == action.CallID && a.Tool == action.Tool {
			return string(a.Args)
		}
	}
	return ""
}

func (l *load) claimOnce(ctx context.Context, id holdshort.RequestID, v visit) (got engine.Claimed, ok bool) {
	a, _, err := l.public.door.until(ctx, v)
	switch {
	case err != nil:
		return got, false
	case a.code() == holdshort.DecisionUsed: // somebody else has it, or the lease of this very claim is over
		l.ledger.add(&l.ledger.conflicts)
		return got, false
	case !a.ok():
		l.ledger.refusal("claim", a)
		return got, false
	}
	if got, err = read[engine.Claimed](a); err != nil || got.Token == "" {
		l.ledger.refusal("claim", a)
		return got, false
	}
	if a.replayed {
		l.ledger.add(&l.ledger.replayed)
	}
	l.ledger.atGate(id, func(c *gateCase) {
		if c.token != "" && c.token != got.Token {
			l.ledger.report.Violate(AtMostOnce, "%s was handed out twice", id)
		}
		if c.token == "" {
			l.ledger.claimed++
		}
		c.token = got.Token
	})
	return got, true
}

// act makes one call and reports it. false: the claimer died at that, or does not know what became of it.
func (l *load) act(ctx context.Context, r *rand.Rand, me string, id holdshort.RequestID, got engine.Claimed, action engine.ClaimedAction) bool {
	fate := draw(r, weighed[string]{75, "reports"}, weighed[string]{6, "dies before"}, weighed[string]{10, "dies after"}, weighed[string]{9, "reports late"})
	if fate == "dies before" {
		return false
	}
	status, known := l.perform(ctx, action)
	if fate == "dies after" || !known {
		return false
	}
	if fate == "reports late" {
		linger(ctx, claimLease+time.Duration(r.IntN(1500))*time.Millisecond)
	}
	return l.report(ctx, r, me, id, got.Token, action, status)
}

// perform makes a call in the world. A tool that knows an operation which it has seen is called again when nobody answered.
func (l *load) perform(ctx context.Context, action engine.ClaimedAction) (status holdshort.OperationStatus, known bool) {
	once := action.Tool == shipTool || action.Tool == lookupTool
	for range 3 {
		bounded, cancel := context.WithTimeout(ctx, workerTimeout)
		_, err := l.world.call(bounded, action.Tool, once, tool.Call{OperationID: action.OperationID, Attempt: 1, Args: action.Args})
		cancel()
		switch {
		case err == nil:
			return holdshort.OperationDone, true
		case tool.Tool{}.IsDefinite(err):
			return holdshort.OperationFailed, true
		case !once || ctx.Err() != nil:
			return "", false
		}
	}
	return "", false
}

type outcome struct {
	Token       string                    `json:"claim_token"`
	CallID      string                    `json:"call_id"`
	Status      holdshort.OperationStatus `json:"status"`
	ExternalIDs map[string][]string       `json:"external_ids,omitempty"`
}

// report says what became of a call; again, and otherwise, and with a token that is none.
func (l *load) report(ctx context.Context, r *rand.Rand, me string, id holdshort.RequestID, token string, action engine.ClaimedAction, status holdshort.OperationStatus) bool {
	send := func(token string, status holdshort.OperationStatus) (reply, error) {
		a, _, err := l.public.door.until(ctx, visit{method: http.MethodPost, path: "/v1/requests/" + string(id) + "/outcome", secret: l.public.keys[me], final: true,
			body: outcome{token, action.CallID, status, map[string][]string{"receipt": {action.OperationID}}}})
		return a, err
	}
	if r.IntN(8) == 0 {
		forged := token[:len(token)-4] + strings.Map(func(c rune) rune { return 'A' + (c+7)%26 }, token[len(token)-4:])
		if a, err := send(forged, status); err == nil {
			if l.ledger.add(&l.ledger.refused); a.status != http.StatusForbidden && a.status != http.StatusNotFound {
				l.ledger.report.Violate(NeverUnasked, "%s: a report with a forged token was answered with %d %s", id, a.status, a.code())
			}
		}
	}
	a, err := send(token, status)
	switch {
	case err != nil:
		return false
	case a.code() == holdshort.Conflict: // a person settled it meanwhile
		l.ledger.add(&l.ledger.conflicts)
		return true
	case !a.ok():
		l.ledger.refusal("outcome", a)
		return true
	}
	op, err := read[holdshort.Operation](a)
	if err != nil || op.Status != status {
		l.ledger.report.Violate(AtMostOnce, "%s was reported %s and is answered as %q", action.OperationID, status, op.Status)
		return true
	}
	l.ledger.atGate(id, func(c *gateCase) { c.outcomes[action.OperationID] = status })
	if r.IntN(4) == 0 {
		if a, err := send(token, status); err == nil && !a.ok() {
			l.ledger.report.Violate(AtMostOnce, "%s: the same report again was answered with %d %s", action.OperationID, a.status, a.code())
		}
	}
	if other := map[holdshort.OperationStatus]holdshort.OperationStatus{holdshort.OperationDone: holdshort.OperationFailed, holdshort.OperationFailed: holdshort.OperationDone}[status]; r.IntN(4) == 0 {
		if a, err := send(token, other); err == nil {
			if l.ledger.add(&l.ledger.refused); a.code() != holdshort.Conflict {
				l.ledger.report.Violate(AtMostOnce, "%s: the opposite report was answered with %d %s", action.OperationID, a.status, a.code())
			}
		}
	}
	return true
}

// clerk looks for calls whose claimer never spoke, until ctx ends.
func (l *load) clerk(ctx context.Context, r *rand.Rand) {
	for ctx.Err() == nil {
		linger(ctx, 300*time.Millisecond)
		asked := time.Now()
		a, _, err := l.public.open(ctx, url.Values{"kind": {string(holdshort.Reconcile)}, "status": {"open"}, "limit": {"200"}}, "")
		if err != nil {
			return
		}
		for _, req := range a.Requests {
			if req.RunID == "" && r.IntN(3) > 0 { // some are left to the late
				l.reconcileGate(ctx, r, req, asked)
			}
		}
	}
}

// reconcileGate says what became of a claimed call, after a look at the world.
func (l *load) reconcileGate(ctx context.Context, r *rand.Rand, req holdshort.Request, asked time.Time) {
	l.ledger.told(req, asked)
	var about struct {
		Operation string `json:"operation_id"`
	}
	if json.Unmarshal(req.Context, &about) != nil || about.Operation == "" {
		l.ledger.report.Violate(AtMostOnce, "%s asks what became of a call and does not say which", req.ID)
		return
	}
	e, err := l.world.settle(ctx, about.Operation, 1)
	if err != nil {
		return
	}
	in := engine.DecideInput{Request: req.ID, Action: holdshort.Select, OptionIDs: []string{"give_up"}}
	if r.IntN(10) < 7 {
		if in.OptionIDs[0] = "retry"; e.Count > 0 {
			in.OptionIDs[0], in.Value = "happened", json.RawMessage(`{"receipt":"seen"}`)
		}
	}
	for n := range max(1, req.Audience.Needed()) {
		in.Actor, in.Message = reviewer(n), crand.Text()
		l.decide(ctx, in)
	}
}
