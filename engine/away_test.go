package engine_test

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/sqlite"
	"github.com/holdshort/holdshort/tool"
)

// flaky is a real store that nobody can reach for a while.
type flaky struct {
	*sqlite.Store
	away atomic.Bool
}

var errGone = &holdshort.Error{Code: holdshort.StoreUnavailable, Message: "nobody answers"}

func (f *flaky) Update(ctx context.Context, t holdshort.TenantID, fn func(store.Tx) error, rows ...store.Row) error {
	if f.away.Load() {
		return errGone
	}
	return f.Store.Update(ctx, t, fn, rows...)
}

func (f *flaky) View(ctx context.Context, t holdshort.TenantID, fn func(store.ReadTx) error) error {
	if f.away.Load() {
		return errGone
	}
	return f.Store.View(ctx, t, fn)
}

// TestStoreAway: while the store is away everybody is told so, nothing is guessed; a tool's answer waits for it; then everything goes on.
func TestStoreAway(t *testing.T) {
	called, answer := make(chan struct{}), make(chan struct{})
	pay := &counter{do: func(context.Context, tool.Call) (tool.Result, error) {
		close(called)
		<-answer
		return tool.Result{Value: []byte(`{"ok":true}`)}, nil
	}}
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(pay)}})
	f := &flaky{Store: b.store}
	e, err := engine.New(f, engine.Config{Flows: b.conf.Flows, Tools: b.conf.Tools, Clock: b.clock.now, Observer: b.facts, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	b.Engine = e
	run := b.start("refunds", refund{"77", 120})
	req := b.request(run.ID)
	if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana}); err != nil {
		t.Fatal(err)
	}
	<-called
	f.away.Store(true)
	close(answer)
	if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ben}); code(err) != holdshort.StoreUnavailable {
		t.Errorf("decide: %v", err)
	}
	if _, err := b.Start(t.Context(), tenant, engine.StartInput{Flow: "refunds", Input: []byte(`{"order":"1","amount":1}`)}); code(err) != holdshort.StoreUnavailable {
		t.Errorf("start: %v", err)
	}
	f.away.Store(false)
	b.settle()
	b.want(run.ID, holdshort.RunCompleted, `"paid"`)
	if ops := b.operations(run.ID); pay.n() != 1 || ops[0].Status != holdshort.OperationDone {
		t.Errorf("called %d times, %+v", pay.n(), ops)
	}
}

const killerStore = "HOLDSHORT_TEST_KILLER_STORE"

// TestMain is also the process that TestKiller starts: an engine whose flow ends its process.
func TestMain(m *testing.M) {
	path := os.Getenv(killerStore)
	if path == "" {
		os.Exit(m.Run())
	}
	s, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		os.Exit(1)
	}
	f := flow.New("killer", 1, func(c *flow.Context, _ int) (string, error) {
		flow.Sleep(c, "first", time.Millisecond)
		os.Exit(7) //flowcheck:allow the hazard that this test is about
		return "", nil
	})
	e, err := engine.New(s, engine.Config{Flows: []flow.Flow{f}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		os.Exit(1)
	}
	if os.Getenv(killerStore+"_START") != "" {
		if _, err := e.Start(context.Background(), tenant, engine.StartInput{ID: "run_killer", Flow: "killer", Input: []byte("0"), User: "carl"}); err != nil {
			os.Exit(1)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), safetyLimit)
	defer cancel()
	go e.Run(ctx)
	<-e.Ready()
	run, err := e.AwaitRun(ctx, tenant, "run_killer", func(r holdshort.Run) bool { return r.Held != nil })
	if err != nil || run.Held.Code != holdshort.Poisoned {
		os.Exit(2)
	}
	os.Exit(0)
}

// TestKiller: a flow that ends its process takes it down a few times, then its run is held and the process stays.
func TestKiller(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	deaths := 0
	for n := range 10 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), killerStore+"="+path, "GORACE=atexit_sleep_ms=0")
		if n == 0 {
			cmd.Env = append(cmd.Env, killerStore+"_START=1")
		}
		err := cmd.Run()
		if err == nil {
			if deaths < 3 || deaths > 6 {
				t.Errorf("held after %d deaths", deaths)
			}
			return
		}
		if code := cmd.ProcessState.ExitCode(); code != 7 {
			t.Fatalf("exit code %d: %v", code, err)
		}
		deaths++
	}
	t.Errorf("still not held after %d deaths", deaths)
}
