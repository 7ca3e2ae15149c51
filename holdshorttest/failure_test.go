package holdshorttest_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/tool"
)

func TestFailuresSayWhatToDo(t *testing.T) {
	start := func(t holdshorttest.TB) (*holdshorttest.Kit, holdshort.RunID) {
		k, _ := newRefunds(t)
		return k, k.As("ben").Start("refund", Refund{"77", 120})
	}
	tests := []struct {
		name string
		test func(t holdshorttest.TB)
		says []string
	}{
		{"nobody decides", func(t holdshorttest.TB) {
			k, run := start(t)
			k.Result(run, new(string))
		}, []string{"(refund@1) waits for request req_", `refund {"amount":120,"order":"77"}, asked of role finance`, "expires at 09:10:00",
			`k.WhenAsked(holdshorttest.Match{Tool: "refund"}).By("ana", "finance").Approve()`}},
		{"an unknown flow", func(t holdshorttest.TB) {
			k, _ := newRefunds(t)
			k.Start("refnud", nil)
		}, []string{"start refnud", "Options.Flows"}},
		{"somebody who may not", func(t holdshorttest.TB) {
			k, _ := newRefunds(t)
			k.WhenAsked(refundTool).By("eve", "intern").Approve()
			k.Wait(k.As("ben").Start("refund", Refund{"77", 120}))
		}, []string{"eve (roles [intern]) may not decide request req_", "it asks role finance"}},
		{"what the request does not take", func(t holdshorttest.TB) {
			k, run := start(t)
			k.As("ana", "finance").Answer(k.Request(run), "blue")
		}, []string{"ana (roles [finance]) cannot answer request", "it takes"}},
		{"a script without an end", func(t holdshorttest.TB) {
			k, _ := newRefunds(t)
			k.WhenAsked(refundTool).By("ana", "finance").After(time.Minute)
		}, []string{"who, and not what", `WhenAsked(Match{Tool: "refund"})`}},
		{"a run that sleeps", func(t holdshorttest.TB) {
			k := holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{clocked}})
			k.Result(k.Start("clocked", []time.Duration{time.Hour}), new(string))
		}, []string{`waits in "nap/1h0m0s/pause" until 2026-03-02 10:00:00`, "k.Advance(1h0m0s)"}},
		{"a run that waits for a post", func(t holdshorttest.TB) {
			k := holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{twoStep}})
			k.Result(k.Start("two step", nil), new(string))
		}, []string{`k.Post(run, "go", …)`}},
		{"a run that failed", func(t holdshorttest.TB) {
			f := flow.New("bad", 1, func(c *flow.Context, _ int) (int, error) {
				return flow.Step(c, "try", func(context.Context) (int, error) { return 0, errors.New("no route") })
			})
			k := holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{f}})
			k.Result(k.Start("bad", 0), new(int))
		}, []string{"(bad@1) failed: try: no route", "at try"}},
		{"a run that was canceled", func(t holdshorttest.TB) {
			k, run := start(t)
			k.Cancel(run, "no need")
			k.Result(run, new(string))
		}, []string{"was canceled by operator (canceled)"}},
		{"a result of another type", func(t holdshorttest.TB) {
			k, run := start(t)
			k.As("ana", "finance").Approve(k.Request(run))
			k.Result(run, new(int))
		}, []string{`is "customer of 77 got re_1", which is no *int`}},
		{"a run that was to fail", func(t holdshorttest.TB) {
			k, run := start(t)
			k.As("ana", "finance").Approve(k.Request(run))
			k.Failure(run)
		}, []string{"was to fail", "completed with"}},
		{"no request", func(t holdshorttest.TB) {
			k, run := start(t)
			k.As("ana", "finance").Approve(k.Request(run))
			k.Request(run)
		}, []string{"has 0 open requests, not one"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := failing(t, tt.test)
			if text == "" {
				t.Fatal("it did not fail")
			}
			wants(t, text, tt.says...)
		})
	}
}

func TestBlockedCodeFails(t *testing.T) {
	gate := make(chan struct{})
	block := flow.New("block", 1, func(c *flow.Context, _ int) (int, error) {
		flow.Sleep(c, "pause", time.Minute)
		return flow.Step(c, "stuck", func(context.Context) (int, error) { <-gate; return 0, nil })
	})
	text := failing(t, func(t holdshorttest.TB) {
		k := holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{block}, Patience: 50 * time.Millisecond})
		defer close(gate)
		k.Start("block", 0)
		k.Advance(time.Hour)
	})
	wants(t, text, "has not come back for 50ms")
}

func TestNothingIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 3 {
		t.Run("kit", func(t *testing.T) {
			refund := holdshorttest.Counter("refund").Returning("re_1")
			k := holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refund.Tool()}, Policy: finance})
			k.Start("refund", Refund{"77", 120}) // and it waits for ever
			k.Restart()
			k.WhenAsked(refundTool).Approve()
			k.Result(k.Start("refund", Refund{"78", 120}), new(string))
		})
	}
	// A goroutine that has closed its last channel still has to return: nothing tells when, so it is asked again for a while.
	for patience := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(patience) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
}

func TestRefusedDecisionIsTold(t *testing.T) {
	k, refund := newRefunds(t)
	run := k.As("ben").Start("refund", Refund{"77", 120})
	in := holdshorttest.Decision(k.Request(run), "eve", "intern")
	in.Action = holdshort.Approve
	if _, err := k.Decide(in); holdshort.CodeOf(err) != holdshort.NotFound || refund.Calls() != 0 {
		t.Errorf("eve's approval: %v", err)
	}
}
