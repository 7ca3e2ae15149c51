package torture

import (
	"context"
	crand "crypto/rand"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/api"
	"github.com/holdshort/holdshort/engine"
)

// bulk decides many at once, in one call under one key: each stands or falls by itself.
func (l *load) bulk(ctx context.Context, r *rand.Rand) {
	for n := 0; ctx.Err() == nil; n++ {
		linger(ctx, time.Duration(300+r.IntN(700))*time.Millisecond)
		asked := time.Now()
		page, _, err := l.hands.until(ctx, order{Open: new(string)})
		if err != nil {
			return
		}
		actor := l.reviewer(n % 3)
		var in []engine.DecideInput
		body := api.Many{}
		for _, req := range page.Requests {
			if !l.ours(req) || (req.RunID == "") != (l.guest != nil) || req.Kind != holdshort.Approval || r.IntN(3) > 0 || len(in) == 12 {
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
