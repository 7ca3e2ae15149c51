package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// BenchmarkCycle measures what the kernel does over and over for a run that asks a person once: start and pause, decide, read the journal,
// finish. Callers go through it side by side; b.N is how many cycles they do together.
func BenchmarkCycle(b *testing.B, s store.Store, callers int) {
	ctx := context.Background()
	keyring := holdshort.NewKeyring()
	var left atomic.Int64
	left.Store(int64(b.N))
	var mu sync.Mutex
	var decides []time.Duration
	b.ResetTimer()
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			var took []time.Duration
			for left.Add(-1) >= 0 {
				d, err := cycle(ctx, s, keyring)
				if err != nil {
					b.Errorf("cycle: %v", err)
					return
				}
				took = append(took, d)
			}
			mu.Lock()
			decides = append(decides, took...)
			mu.Unlock()
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
	if len(decides) > 0 {
		slices.Sort(decides)
		b.ReportMetric(float64(decides[len(decides)/2].Microseconds()), "decide-p50-µs")
		b.ReportMetric(float64(decides[len(decides)*99/100].Microseconds()), "decide-p99-µs")
	}
}

// BenchmarkRow measures the smallest commit: one journal row.
func BenchmarkRow(b *testing.B, s store.Store, callers int) {
	var next atomic.Int64
	run := holdshort.NewRunID(time.Now())
	var mu sync.Mutex
	var all []time.Duration
	b.ResetTimer()
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			var took []time.Duration
			for {
				n := next.Add(1)
				if n > int64(b.N) {
					break
				}
				start := time.Now()
				err := s.Update(context.Background(), acme, func(tx store.Tx) error {
					return tx.AddJournal(newEntry(run, fmt.Sprint("step-", n), tx.Now()))
				}, store.Row(fmt.Sprint("row ", n)))
				if err != nil {
					b.Errorf("add: %v", err)
					return
				}
				took = append(took, time.Since(start))
			}
			mu.Lock()
			all = append(all, took...)
			mu.Unlock()
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	if len(all) > 0 {
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2].Microseconds()), "p50-µs")
	}
}

// BenchmarkSweep measures how long a person waits for a decision while many requests expire at once, and while nothing else happens. b.N is how
// many expire, sixteen at a time.
func BenchmarkSweep(b *testing.B, s store.Store) {
	ctx := context.Background()
	keyring := holdshort.NewKeyring()
	park := func(n int) []asked {
		out := make([]asked, n)
		var wg sync.WaitGroup
		for worker := range 16 {
			wg.Go(func() {
				for i := worker; i < n; i += 16 {
					out[i] = newAsked()
					if err := out[i].start(ctx, s); err != nil {
						b.Error(err)
					}
				}
			})
		}
		wg.Wait()
		return out
	}
	decide := func(a asked) time.Duration {
		start := time.Now()
		if err := a.decide(ctx, s, keyring); err != nil {
			b.Error(err)
		}
		return time.Since(start)
	}
	due, waiting := park(b.N), park(2000)
	var idle, beside []time.Duration
	for _, a := range waiting[:500] {
		idle = append(idle, decide(a))
	}
	b.ResetTimer()
	var wg sync.WaitGroup
	for worker := range 16 {
		wg.Go(func() {
			for i := worker; i < len(due); i += 16 {
				if err := due[i].expire(ctx, s); err != nil {
					b.Error(err)
				}
			}
		})
	}
	over := make(chan struct{})
	go func() { wg.Wait(); close(over) }()
	for _, a := range waiting[500:] {
		select {
		case <-over:
		default:
			beside = append(beside, decide(a))
		}
	}
	<-over
	b.StopTimer()
	slices.Sort(idle)
	slices.Sort(beside)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "expiries/s")
	b.ReportMetric(float64(idle[len(idle)/2].Microseconds()), "idle-p50-µs")
	b.ReportMetric(float64(beside[len(beside)/2].Microseconds()), "beside-p50-µs")
}

// cycle is one run from its start to its end; it gives how long the decision took.
func cycle(ctx context.Context, s store.Store, keyring *holdshort.Keyring) (time.Duration, error) {
	a := newAsked()
	if err := a.start(ctx, s); err != nil {
		return 0, fmt.Errorf("start: %w", err)
	}
	start := time.Now()
	if err := a.decide(ctx, s, keyring); err != nil {
		return 0, fmt.Errorf("decide: %w", err)
	}
	took := time.Since(start)
	err := s.View(ctx, acme, func(tx store.ReadTx) error {
		entries, err := tx.Journal(a.run.ID)
		if err == nil && len(entries) != 2 {
			err = fmt.Errorf("the journal has %d entries", len(entries))
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("read: %w", err)
	}
	if err := a.finish(ctx, s); err != nil {
		return 0, fmt.Errorf("finish: %w", err)
	}
	return took, nil
}

// asked is a run that asks a person once.
type asked struct {
	run     holdshort.Run
	request holdshort.Request
}

func newAsked() asked {
	at := time.Now()
	run, request := newRun(at), newRequest(at)
	run.Status, run.Agent, run.User, run.TraceID = holdshort.RunWaiting, "desk", "ana", string(holdshort.NewMessageID(at))
	run.Input = json.RawMessage(`{"order":"77","amount":120,"reason":"arrived broken"}`)
	request.RunID, request.OriginStepID, request.TraceID = run.ID, "ask", run.TraceID
	request.Actions = []holdshort.Action{{CallID: "call", Tool: "refund", Args: json.RawMessage(`{"amount":120,"order":"77"}`), ArgsHash: "7d865e959b2466918c9863afca942d0f", NeedsApproval: true}}
	request.ExpiresAt = at.Add(time.Hour)
	return asked{run, request}
}

func (a asked) rows() []store.Row {
	return []store.Row{store.RequestRow(a.request.ID), store.RunRow(a.run.ID)}
}

func (a asked) event(name, actor string) holdshort.Event {
	return holdshort.Event{Type: name, Run: a.run.ID, Request: a.request.ID, Trace: a.run.TraceID, Flow: a.run.Flow, Actor: actor}
}

func (a asked) start(ctx context.Context, s store.Store) error {
	return s.Update(ctx, acme, func(tx store.Tx) error {
		return firstError(tx.PutRun(a.run), tx.AddJournal(newEntry(a.run.ID, "step-1", tx.Now())), tx.PutRequest(a.request),
			tx.SetTimer(holdshort.Timer{Kind: holdshort.TimerExpiry, Subject: string(a.request.ID), DueAt: a.request.ExpiresAt}),
			tx.AddEvent(a.event("run.created", "ana")), tx.AddEvent(a.event("hitl.interrupt.paused", "system:worker")), tx.AddEvent(a.event("run.waiting", "system:worker")))
	}, a.rows()...)
}

func (a asked) decide(ctx context.Context, s store.Store, keyring *holdshort.Keyring) error {
	return s.Update(ctx, acme, func(tx store.Tx) error {
		request, err := tx.Request(a.request.ID)
		if err != nil {
			return err
		}
		run, err := tx.Run(a.run.ID)
		if err != nil {
			return err
		}
		decision := newDecision(request.ID, "ana", tx.Now())
		if decision, err = keyring.SignDecision(acme, decision); err != nil {
			return err
		}
		if request, err = request.Decide(decision, tx.Now()); err != nil {
			return err
		}
		run.Status, run.Claims, run.UpdatedAt = holdshort.RunRunning, run.Claims+1, tx.Now()
		run.Lease = holdshort.Lease{Owner: "node", Epoch: run.Lease.Epoch + 1, Until: tx.Now().Add(leaseTime)}
		return firstError(tx.PutRequest(request), tx.AddDecision(decision), tx.AddJournal(newEntry(run.ID, "ask", tx.Now())),
			tx.DropTimer(holdshort.TimerExpiry, string(request.ID), ""), tx.PutRun(run),
			tx.AddEvent(a.event("hitl.request.decided", "ana")), tx.AddEvent(a.event("run.resumed", "system:worker")))
	}, a.rows()...)
}

func (a asked) expire(ctx context.Context, s store.Store) error {
	return s.Update(store.Patient(ctx), acme, func(tx store.Tx) error {
		request, err := tx.Request(a.request.ID)
		if err != nil {
			return err
		}
		request.Status, request.ClosedAt = holdshort.RequestExpired, tx.Now()
		return firstError(tx.PutRequest(request), tx.DropTimer(holdshort.TimerExpiry, string(request.ID), ""), tx.AddEvent(a.event("hitl.request.expired", "system:timeout")))
	}, a.rows()...)
}

func (a asked) finish(ctx context.Context, s store.Store) error {
	return s.Update(ctx, acme, func(tx store.Tx) error {
		run, err := tx.Run(a.run.ID)
		if err != nil {
			return err
		}
		run.Status, run.Lease.Until, run.EndedAt, run.UpdatedAt, run.Result = holdshort.RunCompleted, time.Time{}, tx.Now(), tx.Now(), json.RawMessage(`{"refunded":true}`)
		return firstError(tx.AddJournal(newEntry(run.ID, "step-2", tx.Now())), tx.PutRun(run), tx.AddEvent(a.event("run.completed", "system:worker")))
	}, store.RunRow(a.run.ID))
}
