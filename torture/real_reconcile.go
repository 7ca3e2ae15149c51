package torture

import (
	"context"
	crand "crypto/rand"
	"encoding/json"
	"math/rand/v2"
	"net/url"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

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
			if req.RunID == "" && l.ours(req) && r.IntN(3) > 0 { // some are left to the late
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
		in.Actor, in.Message = l.reviewer(n), crand.Text()
		l.decide(ctx, in)
	}
}
