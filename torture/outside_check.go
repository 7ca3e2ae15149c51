package torture

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/api"
)

// settle closes everything that this torture raised, also what nobody was told of, and waits until what was claimed has an outcome.
func (t *visitation) settle(ctx context.Context, l *load) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	linger(ctx, claimLease+workerTimeout)
	r := rand.New(rand.NewPCG(t.Seed, 0))
	for quiet := 0; quiet < 3 && ctx.Err() == nil; quiet++ {
		for cursor, more := "", true; more; more = cursor != "" {
			asked := time.Now()
			page, _, err := l.public.open(ctx, url.Values{"status": {"open"}, "sort": {"newest"}, "limit": {"200"}}, cursor)
			if err != nil {
				return
			}
			cursor = page.Cursor
			for _, req := range page.Requests {
				switch {
				case !l.ours(req):
					continue
				case req.Kind == holdshort.Reconcile:
					l.reconcileGate(ctx, r, req, asked)
				default:
					l.ledger.told(req, asked)
					l.contend(ctx, r, req, false)
				}
				quiet = -1
			}
		}
		linger(ctx, workerTimeout/2)
	}
}

// examine reads everything that was told again, over HTTP, and compares.
func (t *visitation) examine(ctx context.Context, l *load, x *examiner, w *watcher) error {
	for id := range l.ledger.asked {
		f, ok, err := t.findings(ctx, id)
		if err != nil {
			return err
		}
		if !ok {
			continue // checkStrays tells that it is gone
		}
		x.checkGate(f)
		t.checkEvents(ctx, f.requests[id], w)
	}
	x.checkStrays()
	x.counts.Streamed = int(w.count.Load())
	return nil
}

// findings are what the server shows of a request.
func (t *visitation) findings(ctx context.Context, id holdshort.RequestID) (f findings, ok bool, err error) {
	r, _, err := t.guest.until(ctx, visit{method: http.MethodGet, path: "/v1/requests/" + string(id), secret: t.Token})
	if err != nil || r.status == http.StatusNotFound {
		return f, false, err
	}
	req, err := read[api.Request](r)
	if err != nil {
		return f, false, err
	}
	f = findings{requests: map[holdshort.RequestID]holdshort.Request{id: req.Request}, decisions: map[holdshort.RequestID]holdshort.Decision{}, votes: map[holdshort.RequestID][]holdshort.Vote{id: votes(req.Votes)}, ops: req.Operations}
	if d := standing(req.Decision); d != nil {
		f.decisions[id] = *d
	}
	return f, true, nil
}

// checkEvents: the stream had one event of the pause and one of its end.
func (t *visitation) checkEvents(ctx context.Context, req holdshort.Request, w *watcher) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	closing := map[holdshort.RequestStatus]string{holdshort.RequestResolved: "hitl.request.decided", holdshort.RequestExpired: "hitl.request.expired", holdshort.RequestCanceled: "hitl.request.canceled"}[req.Status]
	var paused, closed int
	for {
		if paused, closed = w.of(req.ID, "hitl.interrupt.paused"), w.of(req.ID, closing); paused >= 1 && closed >= 1 || ctx.Err() != nil {
			break
		}
		linger(ctx, 50*time.Millisecond) // it may be on its way
	}
	if paused != 1 || closed != 1 {
		t.report.Violate(Audited, "%s is %s, and the stream had %d events of its pause and %d of its end", req.ID, req.Status, paused, closed)
	}
}
