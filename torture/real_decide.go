package torture

import (
	"context"
	crand "crypto/rand"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// contend lets several people decide the same request at the same moment. Those who may not try too.
func (l *load) contend(ctx context.Context, r *rand.Rand, req holdshort.Request, playful bool) {
	deciders := max(1, req.Audience.Needed())
	if playful {
		whole := 5
		if l.guest != nil { // there is nothing else to do than to decide
			whole = 30
		}
		deciders += draw(r, weighed[int]{50, 0}, weighed[int]{40, 1 + r.IntN(3)}, weighed[int]{whole, l.crowd})
	}
	if playful && soon(req) && r.IntN(10) < 6 { // at the very moment at which it expires
		linger(ctx, time.Until(req.ExpiresAt)-time.Duration(r.IntN(30))*time.Millisecond)
	}
	var wg sync.WaitGroup
	for n := range deciders {
		in := l.verdict(r, req, playful)
		in.Actor = l.reviewer(n)
		if n == 0 && r.IntN(2) == 0 {
			in.Fingerprint = req.Fingerprint
		}
		wg.Go(func() { l.decide(ctx, in) })
	}
	if playful && r.IntN(8) == 0 {
		wg.Go(func() { l.intrude(ctx, req) })
	}
	wg.Wait()
}

// soon reports whether a request expires while somebody can wait for it.
func soon(req holdshort.Request) bool {
	return !req.ExpiresAt.IsZero() && time.Until(req.ExpiresAt) < 5*time.Second
}

// verdict makes up what a person says.
func (l *load) verdict(r *rand.Rand, req holdshort.Request, playful bool) engine.DecideInput {
	in := engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Message: crand.Text()}
	if !playful {
		return in
	}
	verbs := []weighed[holdshort.Verb]{{2, holdshort.Cancel}}
	for _, v := range []weighed[holdshort.Verb]{{60, holdshort.Approve}, {15, holdshort.Reject}, {15, holdshort.Edit}, {8, holdshort.Respond}} {
		if slices.Contains(req.Allowed, v.value) {
			verbs = append(verbs, v)
		}
	}
	in.Action = draw(r, verbs...)
	switch in.Action {
	case holdshort.Respond:
		in.Value = json.RawMessage(`"done by hand"`)
	case holdshort.Edit:
		in.Calls = l.edits(r, req)
	}
	return in
}

// edits decides each call of a batch by itself; at least one gets another amount.
func (l *load) edits(r *rand.Rand, req holdshort.Request) (calls []holdshort.CallDecision) {
	for _, a := range req.Actions {
		if !a.NeedsApproval {
			continue
		}
		call := holdshort.CallDecision{CallID: a.CallID, Action: holdshort.Edit}
		if len(calls) > 0 && req.Audience.Needed() == 1 {
			call.Action = draw(r, weighed[holdshort.Verb]{1, holdshort.Approve}, weighed[holdshort.Verb]{1, holdshort.Reject}, weighed[holdshort.Verb]{1, holdshort.Edit}, weighed[holdshort.Verb]{1, holdshort.Respond})
		}
		switch call.Action {
		case holdshort.Edit:
			var args callArgs
			if json.Unmarshal(a.Args, &args) != nil {
				continue
			}
			args.Amount = r.Int64N(1000)
			call.Args, _ = holdshort.CanonicalValue(args)
		case holdshort.Respond:
			call.Message = "done by hand"
		}
		calls = append(calls, call)
	}
	return calls
}

// decide sends one decision until somebody answers it.
func (l *load) decide(ctx context.Context, in engine.DecideInput) {
	asked := time.Now()
	l.ledger.sends(in.Request, in.Message)
	a, _, err := l.hands.until(ctx, order{Decide: &in})
	if err != nil {
		return
	}
	if a.Next != nil {
		l.ledger.told(*a.Next, asked)
	}
	l.ledger.decided(in.Request, in.Actor.ID, in.Message, a)
	if l.http && a.Code == "" && rand.IntN(6) == 0 {
		l.decideAgain(ctx, in)
	}
}

// decideAgain sends a decision that was acknowledged once more, as somebody who lost the answer, and something else under its key.
func (l *load) decideAgain(ctx context.Context, in engine.DecideInput) {
	v := l.public.decision(in)
	r, _, err := l.public.door.until(ctx, v)
	if err != nil {
		return
	}
	if a, err := refusalOr(r, ofDecision); err != nil || a.Code != "" || !a.Replayed {
		l.ledger.report.Violate(OneDecision, "%s: a decision that was acknowledged was answered with %d %s when it was sent again, replayed %t", in.Request, a.Status, a.Code, a.Replayed)
	} else {
		l.ledger.decided(in.Request, in.Actor.ID, in.Message, a)
	}
	other := choice(in)
	other.Message += " or not"
	v.body = other
	if r, _, err := l.public.door.until(ctx, v); err == nil && r.code() != holdshort.KeyReused {
		l.ledger.report.Violate(OneDecision, "%s: another decision under the same key was answered with %d %s", in.Request, r.status, r.code())
	}
}

// intrude tries what must not work: to decide without a right to, and to decide something else than what stands.
func (l *load) intrude(ctx context.Context, req holdshort.Request) {
	in := engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: l.stranger(), Message: "let me in"}
	if a, _, err := l.hands.until(ctx, order{Decide: &in}); err == nil {
		l.ledger.add(&l.ledger.refused)
		if a.Code != holdshort.NotFound && a.Code != holdshort.Forbidden || a.Decision != nil {
			l.ledger.report.Violate(OnlyEntitled, "%s: somebody who may not decide was answered with %q", req.ID, a.Code)
		}
	}
	in.Actor, in.Fingerprint = l.reviewer(99), strings.Repeat("0", len(req.Fingerprint))
	if a, _, err := l.hands.until(ctx, order{Decide: &in}); err == nil {
		l.ledger.add(&l.ledger.refused)
		if a.Code != holdshort.FingerprintMismatch && a.Code != holdshort.Closed && a.Code != holdshort.Expired {
			l.ledger.report.Violate(SameCall, "%s: a decision about something else was answered with %q", req.ID, a.Code)
		}
	}
}

// reconcile says what became of a call, after a look at the world. Whoever is told to try again has made sure that it cannot happen later.
func (l *load) reconcile(ctx context.Context, r *rand.Rand, req holdshort.Request, ops []holdshort.Operation) {
	step := string(req.RunID) + "/" + strings.TrimSuffix(req.OriginStepID, "!reconcile")
	for _, op := range ops {
		if op.StepID != step {
			continue
		}
		e, err := l.world.settle(ctx, op.ID, op.Attempt)
		if err != nil {
			return
		}
		in := engine.DecideInput{Request: req.ID, Action: holdshort.Select, Actor: reviewer(0), Message: crand.Text(), OptionIDs: []string{"give_up"}}
		if op.RequestID == "" {
			in.Actor = operator
		}
		if r.IntN(10) < 7 {
			if in.OptionIDs[0] = "retry"; e.Count > 0 {
				in.OptionIDs[0], in.Value = "happened", json.RawMessage(`{"receipt":"seen"}`)
			}
		}
		l.decide(ctx, in)
		return
	}
	l.ledger.report.Violate(AtMostOnce, "%s asks what became of a call that the ledger does not know", req.ID)
}
