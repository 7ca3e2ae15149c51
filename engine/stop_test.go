package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/store"
)

// pausedStore commits a transaction and returns to its caller only after the test lets it.
type pausedStore struct {
	store.Store
	committed, proceed chan struct{}
}

type pausedCall struct{}

func (s pausedStore) Update(ctx context.Context, tenant holdshort.TenantID, fn func(store.Tx) error, rows ...store.Row) error {
	err := s.Store.Update(ctx, tenant, fn, rows...)
	if ctx.Value(pausedCall{}) != nil {
		close(s.committed)
		<-s.proceed
	}
	return err
}

// TestStopWaitsForADecision: a decision wakes its run on this node. The engine stops between the commit and the moment at which the run is
// executed. It waits for that run, which is handed back.
func TestStopWaitsForADecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := flow.New("ask", 1, func(c *flow.Context, _ int) (string, error) {
			a, err := flow.Approve(c, "ok", flow.Question{Text: "ok?"})
			if err != nil {
				return "", err
			}
			return flow.Step(c, "after", func(context.Context) (string, error) { return string(a.Outcome), nil })
		})
		b := newBed(t, engine.Config{Flows: []flow.Flow{f}, Drain: time.Hour})
		s := pausedStore{b.store, make(chan struct{}), make(chan struct{})}
		conf := b.conf
		conf.Clock, conf.Observer, conf.Keyring = b.clock.now, b.facts, b.store.Keyring()
		var err error
		if b.Engine, err = engine.New(s, conf); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- b.Engine.Run(ctx) }()
		<-b.Ready()
		run, err := b.Start(t.Context(), tenant, engine.StartInput{Flow: "ask", Input: []byte("0"), User: "carl"})
		if err != nil {
			t.Fatal(err)
		}
		waiting := func(r holdshort.Run) bool { return r.Status == holdshort.RunWaiting }
		if _, err := b.AwaitRun(t.Context(), tenant, run.ID, waiting); err != nil {
			t.Fatal(err)
		}
		approval := engine.DecideInput{Request: b.request(run.ID).ID, Action: holdshort.Approve, Actor: ana}
		decided := make(chan error, 1)
		go func() {
			_, err := b.Decide(context.WithValue(t.Context(), pausedCall{}, true), tenant, approval)
			decided <- err
		}()
		<-s.committed
		stop()
		synctest.Wait()
		select {
		case err := <-ended:
			ended <- err
			t.Error("the engine stopped while a decision was about to execute its run")
		default:
		}
		close(s.proceed)
		if err := <-decided; err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if got := b.run(run.ID); got.Status != holdshort.RunQueued || got.Lease.Owner != "" {
			t.Errorf("the run is %s with the lease %+v, want queued without one", got.Status, got.Lease)
		}
	})
}
