package torture

import (
	"context"
	crand "crypto/rand"
	"net/http"
	"net/url"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/api"
	"github.com/holdshort/holdshort/engine"
)

// hands carry out a client's order: by the workers' private endpoint, or as anybody does, over the public API.
type hands interface {
	// until repeats an order until somebody answers it. sent counts how often it may have been carried out.
	until(ctx context.Context, o order) (a answered, sent int, err error)
}

// public hands speak HTTP with whichever worker is up. What has no public call still goes to the private endpoint.
type public struct {
	door
	keys  keychain
	fleet *fleet
}

func (p public) until(ctx context.Context, o order) (a answered, sent int, err error) {
	var shape func(reply) (answered, error)
	var v visit
	switch {
	case o.Start != nil:
		v = visit{method: http.MethodPost, path: "/v1/runs", secret: p.keys[o.Start.Actor.ID], key: string(o.Start.ID),
			body: api.Begin{Flow: o.Start.Flow, Agent: o.Start.Agent, SessionID: o.Start.Session, Input: o.Start.Input, TraceID: string(o.Start.ID)}}
		shape = ofRun
	case o.Decide != nil:
		v, shape = p.decision(*o.Decide), ofDecision
	case o.Session != nil:
		v = visit{method: http.MethodPost, path: "/v1/sessions", secret: p.keys[o.Session.User], key: o.Session.Address, body: api.NewSession{User: o.Session.User, Flow: o.Session.Flow, Agent: o.Session.Agent}}
		shape = func(r reply) (a answered, err error) {
			s, err := read[holdshort.Session](r)
			a.Opened = &s
			return a, err
		}
	case o.Receive != nil:
		v = visit{method: http.MethodPost, path: "/v1/sessions/" + string(o.In) + "/messages", secret: p.keys[owner.ID], body: api.Incoming{ID: o.Receive.ID, Text: o.Receive.Text}}
		shape = func(reply) (answered, error) { return answered{}, nil }
	case o.Cancel != "":
		v = visit{method: http.MethodPost, path: "/v1/runs/" + string(o.Cancel) + "/cancel", secret: p.keys[o.Actor.ID], key: crand.Text(), body: map[string]string{"reason": "called_off"}}
		shape = ofRun
	case o.Retry != "":
		v = visit{method: http.MethodPost, path: "/v1/runs/" + string(o.Retry) + "/retry", secret: p.keys[o.Actor.ID], key: crand.Text()}
		shape = ofRun
	case o.Open != nil:
		return p.open(ctx, url.Values{"status": {"open"}, "sort": {"newest"}, "limit": {"200"}}, *o.Open)
	case o.Unfinished:
		return p.unfinished(ctx)
	case o.Look != nil:
		return p.look(ctx, *o.Look)
	default:
		return p.fleet.until(ctx, o)
	}
	r, sent, err := p.door.until(ctx, v)
	if err != nil {
		return a, sent, err
	}
	a, err = refusalOr(r, shape)
	return a, sent, err
}

// refusalOr reads a success; a refusal is an answer too.
func refusalOr(r reply, shape func(reply) (answered, error)) (a answered, err error) {
	if r.ok() {
		a, err = shape(r)
	} else {
		a.Code, a.Message = r.code(), r.problem.Detail
		if r.problem.Request != nil {
			a.Request = &r.problem.Request.Request
		}
		a.Decision = standing(r.problem.Decision)
	}
	a.Replayed, a.Status = r.replayed, r.status
	return a, err
}

func ofRun(r reply) (a answered, err error) {
	run, err := read[holdshort.Run](r)
	a.Run = &run
	return a, err
}

// decision makes the call that decides. The token that a decision carries as its message is its idempotency key too.
func (p public) decision(in engine.DecideInput) visit {
	return visit{method: http.MethodPost, path: "/v1/requests/" + string(in.Request) + "/decision", secret: p.keys[in.Actor.ID], key: in.Message, body: choice(in)}
}

func choice(in engine.DecideInput) api.Choice {
	return api.Choice{Action: string(in.Action), Message: in.Message, Args: in.Args, OptionIDs: in.OptionIDs, Value: in.Value, Calls: in.Calls, Fingerprint: in.Fingerprint}
}

func ofDecision(r reply) (a answered, err error) {
	d, err := read[api.Decided](r)
	if err != nil {
		return a, err
	}
	a.Request, a.Decision, a.Votes = &d.Request.Request, standing(d.Request.Decision), votes(d.Request.Votes)
	if d.Next != nil {
		a.Next = &d.Next.Request
	}
	return a, nil
}

// standing is a decision as it was shown. Its token says which it is: ids of decisions are nobody's business outside.
func standing(d *api.Decision) *holdshort.Decision {
	if d == nil {
		return nil
	}
	return &holdshort.Decision{Action: d.Action, Actor: d.Actor, Message: d.Message, OptionIDs: d.OptionIDs, Calls: d.Calls}
}

func votes(list []api.Decision) (out []holdshort.Vote) {
	for _, v := range list {
		out = append(out, *standing(&v))
	}
	return out
}

// open reads a page of requests, as somebody who may see all.
func (p public) open(ctx context.Context, query url.Values, cursor string) (a answered, sent int, err error) {
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	r, sent, err := p.door.until(ctx, visit{method: http.MethodGet, path: "/v1/requests?" + query.Encode(), secret: p.keys[operator.ID]})
	if err != nil {
		return a, sent, err
	}
	a, err = refusalOr(r, func(r reply) (a answered, err error) {
		page, err := read[api.Page[api.Request]](r)
		for _, req := range page.Items {
			a.Requests = append(a.Requests, req.Request)
		}
		if page.Next != nil {
			a.Cursor = *page.Next
		}
		return a, err
	})
	return a, sent, err
}

func (p public) unfinished(ctx context.Context) (a answered, sent int, err error) {
	for _, status := range []holdshort.RunStatus{holdshort.RunQueued, holdshort.RunRunning, holdshort.RunWaiting} {
		r, _, err := p.door.until(ctx, visit{method: http.MethodGet, path: "/v1/runs?limit=200&status=" + string(status), secret: p.keys[operator.ID]})
		if err != nil {
			return a, 1, err
		}
		page, err := read[api.Page[holdshort.Run]](r)
		if err != nil {
			return a, 1, err
		}
		a.Runs = append(a.Runs, page.Items...)
	}
	return a, 1, nil
}

const lookAgain = 40 * time.Millisecond

// look waits until a run rests otherwise than the client saw it, and tells what it asks.
func (p public) look(ctx context.Context, l lookAt) (a answered, sent int, err error) {
	path, until := "/v1/runs/"+string(l.Run), time.Now().Add(l.Wait)
	for {
		r, _, err := p.door.until(ctx, visit{method: http.MethodGet, path: path + "?wait=" + l.Wait.String(), secret: p.keys[operator.ID], wait: l.Wait})
		if err != nil {
			return a, 1, err
		}
		if a, err = refusalOr(r, ofRun); err != nil || a.Code != "" {
			return a, 1, err
		}
		if a.Run.Status.Ended() || a.Run.Held != nil || a.Run.UpdatedAt.After(l.Since) || time.Now().After(until) {
			break
		}
		linger(ctx, lookAgain) // it waits for what it waited for before
	}
	asked, _, err := p.open(ctx, url.Values{"run": {string(l.Run)}, "status": {"open"}, "limit": {"200"}}, "")
	if err != nil || asked.Code != "" {
		return asked, 1, err
	}
	if a.Requests = asked.Requests; !hasKind(a.Requests, holdshort.Reconcile) {
		return a, 1, nil
	}
	r, _, err := p.door.until(ctx, visit{method: http.MethodGet, path: path + "/operations", secret: p.keys[operator.ID]})
	if err != nil {
		return a, 1, err
	}
	ops, err := read[api.Page[holdshort.Operation]](r)
	a.Operations = ops.Items
	return a, 1, err
}

func hasKind(list []holdshort.Request, kind holdshort.Kind) bool {
	for _, req := range list {
		if req.Kind == kind {
			return true
		}
	}
	return false
}
