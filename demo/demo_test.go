package demo

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store/sqlite"
)

// The demo's flows are examples: they keep the rules that flows have.
func TestFlowsAreDurable(t *testing.T) { holdshorttest.CheckFlows(t, ".") }

// desk is an engine over the demo's folder.
func desk(t *testing.T, dir string) (*engine.Engine, *Shop, *Clock) {
	t.Helper()
	shop, err := OpenShop(dir)
	if err != nil {
		t.Fatal(err)
	}
	clock := &Clock{}
	log := slog.New(slog.DiscardHandler)
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, "demo.db"), sqlite.Options{Clock: clock.Now, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	parts, err := (&Desk{Shop: shop}).Parts(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(s, parts.Engine(engine.Config{Flows: Flows(), Clock: clock.Now, Logger: log}))
	if err != nil {
		t.Fatal(err)
	}
	if err := Seed(t.Context(), e, clock); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	<-e.Ready()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return e, shop, clock
}

// A visitor finds requests of different kinds and ages, and may decide each of them.
func TestSeed(t *testing.T) {
	e, shop, _ := desk(t, t.TempDir())
	page, err := e.RequestsFor(t.Context(), Tenant, engine.RequestQuery{Status: holdshort.RequestOpen, Limit: 100}, Visitor())
	if err != nil {
		t.Fatal(err)
	}
	var kinds []holdshort.Kind
	var inputs []holdshort.ExpectedInput
	oldest, newest := time.Duration(0), 1000*time.Hour
	for _, req := range page.Items {
		kinds, inputs = append(kinds, req.Kind), append(inputs, req.ExpectedInput)
		old := time.Since(req.CreatedAt)
		oldest, newest = max(oldest, old), min(newest, old)
		if ok, rule := policy.Can(policy.Decide, Visitor(), policy.Resource{Audience: req.Audience, Owner: req.Requester.User, Requester: req.Requester}); !ok {
			t.Errorf("%s: the visitor may not decide it: %s", req.Question, rule)
		}
	}
	slices.Sort(kinds)
	slices.Sort(inputs)
	if len(page.Items) != 9 || len(slices.Compact(kinds)) < 4 || len(slices.Compact(inputs)) < 4 || oldest < 24*time.Hour || newest > 10*time.Minute {
		t.Errorf("%d requests, %v, %v, %s to %s old", len(page.Items), kinds, inputs, newest, oldest)
	}
	if n := len(shop.Effects()); n != 0 {
		t.Errorf("%d things happened before anybody decided", n)
	}
	if err := Seed(t.Context(), e, &Clock{}); err != nil {
		t.Fatal(err)
	}
	if again, err := e.Requests(t.Context(), Tenant, engine.RequestQuery{Limit: 100}); err != nil || len(again.Items) != 9 {
		t.Errorf("filled twice: %d, %v", len(again.Items), err)
	}
}

// Small refunds need nobody; large ones happen once, after a yes.
func TestRefunds(t *testing.T) {
	e, shop, _ := desk(t, t.TempDir())
	ctx := t.Context()
	start := func(order string) holdshort.Run {
		t.Helper()
		input, _ := json.Marshal(Case{Order: order, Problem: "broken"})
		run, err := e.Start(ctx, Tenant, engine.StartInput{Flow: "complaint", User: "desk", Input: input})
		if err == nil {
			run, err = e.AwaitRun(ctx, Tenant, run.ID, engine.Resting)
		}
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	if run := start("78"); run.Status != holdshort.RunCompleted || len(shop.Effects()) != 1 {
		t.Errorf("48 EUR: %s, %d effects", run.Status, len(shop.Effects()))
	}
	run := start("79")
	open, err := e.Requests(ctx, Tenant, engine.RequestQuery{Run: run.ID})
	if err != nil || len(open.Items) != 1 || len(shop.Effects()) != 1 {
		t.Fatalf("890 EUR: %+v, %v", open, err)
	}
	for _, who := range []holdshort.Actor{Visitor(), Colleague()} { // that much takes two
		if n := len(shop.Effects()); n != 1 {
			t.Fatalf("%d effects before everybody said yes", n)
		}
		if _, err := e.Decide(ctx, Tenant, engine.DecideInput{Request: open.Items[0].ID, Action: holdshort.Approve, Actor: who}); err != nil {
			t.Fatal(err)
		}
	}
	if run, err = e.AwaitRun(ctx, Tenant, run.ID, engine.Ended); err != nil || run.Status != holdshort.RunCompleted || len(shop.Effects()) != 2 {
		t.Errorf("%s, %v, %d effects", run.Status, err, len(shop.Effects()))
	}
	if order, _ := shop.Order("79"); order.Status != "refunded" {
		t.Errorf("%+v", order)
	}
	if run := start("1000"); run.Status != holdshort.RunFailed {
		t.Errorf("an order that is not there: %s", run.Status)
	}
}

// The shop does what it is asked once for each operation, and remembers that across restarts.
func TestShop(t *testing.T) {
	dir := t.TempDir()
	shop, err := OpenShop(dir)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := shop.do("op-1", refund, json.RawMessage(`{}`), "77", "refunded"); err != nil {
			t.Fatal(err)
		}
	}
	if shop, err = OpenShop(dir); err != nil || len(shop.Effects()) != 1 {
		t.Fatalf("%+v, %v", shop, err)
	}
	if order, ok := shop.Order("77"); !ok || order.Status != "refunded" {
		t.Errorf("%+v", order)
	}
	if err := os.WriteFile(filepath.Join(dir, "shop.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenShop(dir); holdshort.CodeOf(err) != holdshort.Corrupt {
		t.Errorf("%v", err)
	}
}
