package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/internal/testall"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store/sqlite"
	"github.com/holdshort/holdshort/tool"
	"log/slog"
	"path/filepath"
)

// TestStorm lets runs sleep, wait, expire and call at once, in real time: no run waits for something that is there.
func TestStorm(t *testing.T) {
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var mu sync.Mutex
	calls := map[string]int{}
	var approvedArgs sync.Map
	storm := flow.New("storm", 1, func(c *flow.Context, in int) (string, error) {
		_, err := flow.Each(c, "each", []string{"a", "b", "c", "d", "e"}, func(s string) string { return s }, func(c *flow.Context, k string) (string, error) {
			switch k {
			case "a":
				flow.Sleep(c, "nap", 5*time.Millisecond)
				flow.Call[any](c, "pay", "refund", refund{fmt.Sprint(in, k), 1})
			case "b":
				flow.Wait[string](c, "go", 0)
				flow.Call[any](c, "pay", "refund", refund{fmt.Sprint(in, k), 1})
			case "c":
				flow.Approve(c, "ok", flow.Question{Text: "ok?"})
				flow.Sleep(c, "nap", 3*time.Millisecond)
			case "d":
				flow.Wait[string](c, "go", 0)
				flow.Wait[string](c, "go", 4*time.Millisecond)
			case "e":
				flow.Approve(c, "ok", flow.Question{Text: "ok?", Expires: 5 * time.Millisecond})
			}
			return "", nil
		})
		return "done", err
	})
	tl := tool.Tool{Name: "refund", Schema: refundSchema, Timeout: safetyLimit, Call: func(ctx context.Context, c tool.Call) (tool.Result, error) {
		mu.Lock()
		calls[c.OperationID]++
		mu.Unlock()
		if _, ok := approvedArgs.Load(string(c.Args)); !ok {
			t.Errorf("%s was not approved", c.Args)
		}
		return tool.Result{}, nil
	}}
	var facts engine.FactLog
	conf := engine.Config{Observer: &facts, Flows: []flow.Flow{storm}, Tools: []tool.Tool{tl}, Policy: asking(policy.Verdict{Editable: []string{"*"}}), Logger: slog.New(slog.DiscardHandler), Workers: 8, Grace: time.Millisecond}
	e, err := engine.New(s, conf)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- e.Run(ctx) }()
	<-e.Ready()
	n := 40
	if testall.Enabled() {
		n = 150
	}
	ids := make([]holdshort.RunID, n)
	var wg sync.WaitGroup
	sem := make(chan struct{}, 16)
	var decided atomic.Int64
	for i := range n {
		wg.Go(func() {
			sem <- struct{}{}
			defer func() { <-sem }()
			run, err := e.Start(t.Context(), tenant, engine.StartInput{Flow: "storm", User: "carl", Input: json.RawMessage(fmt.Sprint(i))})
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = run.ID
			posted := 0
			deadline := time.Now().Add(safetyLimit)
			for time.Now().Before(deadline) {
				if posted < 3 {
					if _, err := e.Post(t.Context(), tenant, engine.PostInput{Run: run.ID, ID: fmt.Sprint(posted), Name: "go", Body: json.RawMessage(`"x"`), Actor: ops}); err == nil || code(err) == holdshort.Closed {
						posted++
					} else {
						t.Error(err)
					}
				}
				page, err := e.Requests(t.Context(), tenant, engine.RequestQuery{Run: run.ID, Status: holdshort.RequestOpen})
				if err != nil {
					t.Error(err)
				}
				rand.Shuffle(len(page.Items), func(i, j int) { page.Items[i], page.Items[j] = page.Items[j], page.Items[i] })
				for _, r := range page.Items {
					if rand.IntN(3) == 0 {
						continue
					}
					for _, a := range r.Actions {
						approvedArgs.Store(string(a.Args), true)
					}
					_, err := e.Decide(t.Context(), tenant, engine.DecideInput{Request: r.ID, Action: holdshort.Approve, Actor: ana})
					if c := code(err); err != nil && c != holdshort.Expired && c != holdshort.Closed {
						t.Error(err)
					}
					decided.Add(1)
				}
				got, err := e.RunByID(t.Context(), tenant, run.ID)
				if err != nil {
					t.Error(err)
				}
				if got.Status.Ended() {
					if got.Status != holdshort.RunCompleted {
						t.Errorf("%s %+v", got.Status, got.Error)
					}
					return
				}
				wctx, c := context.WithTimeout(t.Context(), 5*time.Millisecond)
				e.AwaitRun(wctx, tenant, run.ID, engine.Ended)
				c()
			}
			got, _ := e.RunByID(t.Context(), tenant, run.ID)
			j, _ := e.Journal(t.Context(), tenant, run.ID)
			t.Errorf("run %s stays %s open %d wake %d held %v", run.ID, got.Status, got.Open, got.Wake, got.Held)
			for _, x := range j {
				t.Log(x.Key, x.Kind, x.Attempt)
			}
		})
	}
	wg.Wait()
	stop()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	mu.Lock()
	for id, n := range calls {
		if n != 1 {
			t.Errorf("%s called %d times", id, n)
		}
	}
	t.Log(len(calls), "operations", decided.Load(), "decisions", runtime.NumGoroutine(), "goroutines")
	mu.Unlock()
	engine.CheckObserved(t, s, &facts)
	if v, err := s.System().Verify(context.Background()); true {
		t.Logf("verify %v %v", err, v)
	}
}
