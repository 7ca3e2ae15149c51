package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// measureSweep lets many requests fall due at one moment and sweeps them, as the timer loop does, while people go on deciding others.
func measureSweep(ctx context.Context, t *target, o Options, report *Report) error {
	if o.Due == 0 {
		return nil
	}
	fresh := &target{folder: t.folder, url: t.url, path: t.folder + "/sweep.db"}
	s, err := fresh.open(ctx, 256, 1)
	if err != nil {
		return err
	}
	defer s.Close()
	o.Progress(fmt.Sprintf("parking %d runs that fall due together", o.Due))
	due, err := s.System().Now(ctx)
	if err != nil {
		return err
	}
	if _, err := load(ctx, s, o.Due, func(time.Time, int) time.Time { return due }, false); err != nil {
		return err
	}
	pool := max(200, o.Due/5) // as many as can be decided while the sweep lasts
	decisions := min(1000, pool/4)
	open, err := load(ctx, s, pool, func(now time.Time, _ int) time.Time { return now.Add(time.Hour) }, true)
	if err != nil {
		return err
	}
	var result Sweep
	o.Progress("deciding, idle")
	idle, err := decideSome(ctx, s, open[:decisions], nil)
	if err != nil {
		return err
	}
	o.Progress("deciding beside the sweep")
	swept := make(chan error, 1)
	over := make(chan struct{})
	start := time.Now()
	go func() {
		defer close(over)
		swept <- sweep(ctx, s, &result)
		result.Took = time.Since(start)
	}()
	beside, err := decideSome(ctx, s, open[decisions:], over)
	if err = errors.Join(err, <-swept); err != nil {
		return err
	}
	<-over
	result.Timers, result.Decisions = o.Due, len(beside)
	result.Rate = float64(result.Expired) / result.Took.Seconds()
	result.IdleP50, result.BesideP50, result.BesideP99 = quantile(idle, 0.5), quantile(beside, 0.5), quantile(beside, 0.99)
	result.Slowdown = float64(result.BesideP50) / float64(result.IdleP50)
	report.Sweep = &result
	return nil
}

// atOnce is how many expiries are under way: enough to share commits, few enough that a person who decides does not stand behind hundreds.
const atOnce = 16

// sweep expires what is due, some at a time, until nothing is.
func sweep(ctx context.Context, s store.Store, result *Sweep) error {
	for {
		due, _, err := s.System().DueTimers(ctx, store.MaxPage)
		if err != nil || len(due) == 0 {
			return err
		}
		var wg sync.WaitGroup
		errs := make([]error, atOnce)
		for worker := range atOnce {
			wg.Go(func() {
				for i := worker; i < len(due) && errs[worker] == nil; i += atOnce {
					errs[worker] = expire(ctx, s, due[i])
				}
			})
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		result.Expired += len(due)
	}
}

func expire(ctx context.Context, s store.Store, d store.Due) error {
	id := holdshort.RequestID(d.Timer.Subject)
	return s.Update(ctx, d.Tenant, func(tx store.Tx) error {
		req, err := tx.Request(id)
		if err != nil {
			return err
		}
		if req, err = req.Expire(tx.Now()); err != nil {
			return err
		}
		return errors.Join(tx.PutRequest(req), tx.DropTimer(d.Timer.Kind, d.Timer.Subject, d.Timer.Key),
			tx.AddEvent(holdshort.Event{Type: "hitl.request.expired", Run: req.RunID, Request: req.ID, Trace: req.TraceID, Actor: "system:timeout"}))
	}, store.RequestRow(id))
}

// decideSome decides one request after the other until they are used up or over closes, and gives how long each took.
func decideSome(ctx context.Context, s store.Store, ids []holdshort.RequestID, over <-chan struct{}) ([]time.Duration, error) {
	keyring := holdshort.NewKeyring()
	var times []time.Duration
	for _, id := range ids {
		select {
		case <-over:
			return times, nil
		default:
		}
		start := time.Now()
		err := s.Update(ctx, tenant, func(tx store.Tx) error {
			req, err := tx.Request(id)
			if err != nil {
				return err
			}
			d := holdshort.Decision{ID: holdshort.NewDecisionID(tx.Now()), RequestID: id, Action: holdshort.Approve, Fingerprint: req.Fingerprint,
				Actor: holdshort.Actor{ID: "ana", Kind: holdshort.Person, Assurance: holdshort.AssuranceLogin}, At: tx.Now()}
			if req, err = req.Decide(d, tx.Now()); err != nil {
				return err
			}
			if d, err = keyring.SignDecision(tenant, d); err != nil {
				return err
			}
			return errors.Join(tx.PutRequest(req), tx.AddDecision(d), tx.DropTimer(holdshort.TimerExpiry, string(id), ""),
				tx.AddEvent(holdshort.Event{Type: "hitl.request.decided", Run: req.RunID, Request: id, Trace: req.TraceID, Actor: "ana"}))
		}, store.RequestRow(id))
		if err != nil {
			return times, err
		}
		times = append(times, time.Since(start))
	}
	return times, nil
}
