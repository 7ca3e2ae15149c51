package torture

import (
	"context"
	crand "crypto/rand"
	"math/rand/v2"
	"net/http"
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
	once := strings.HasSuffix(action.Tool, shipTool) || action.Tool == lookupTool
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
