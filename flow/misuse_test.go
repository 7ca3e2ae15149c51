package flow_test

import (
	"context"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
)

// What durable code cannot do fails the run at once and leaves nothing behind.
func TestMisuse(t *testing.T) {
	var done bool
	effect := func(c *flow.Context) {
		flow.Step(c, "wrong", func(context.Context) (int, error) { done = true; return 1, nil })
	}
	within := func(fn func()) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { fn(); return 1, nil }
	}
	inGoroutine := func(fn func()) {
		var wg sync.WaitGroup
		wg.Go(fn)
		wg.Wait()
	}
	fork := func(c *flow.Context, fn func(inner *flow.Context)) {
		flow.All(c, "all", branch("a", func(inner *flow.Context) (int, error) { fn(inner); return 1, nil }))
	}
	tests := []struct {
		name    string
		fn      func(c *flow.Context)
		message string
	}{
		{"an effect in a goroutine", func(c *flow.Context) { inGoroutine(func() { effect(c) }) }, "step wrong was called from a goroutine"},
		{"a question in a goroutine", func(c *flow.Context) { inGoroutine(func() { flow.Ask(c, "wrong", flow.Question{}) }) }, "ask wrong was called from a goroutine"},
		{"a call in a goroutine", func(c *flow.Context) { inGoroutine(func() { flow.Call[int](c, "wrong", "t", nil) }) }, "call wrong was called from a goroutine"},
		{"a sleep in a goroutine", func(c *flow.Context) { inGoroutine(func() { flow.Sleep(c, "wrong", time.Hour) }) }, "sleep wrong was called from a goroutine"},
		{"branches in a goroutine", func(c *flow.Context) { inGoroutine(func() { fork(c, effect) }) }, "branches all was called from a goroutine"},
		{"a flow in a goroutine", func(c *flow.Context) { inGoroutine(func() { flow.Sub[int](c, "wrong", flow.Flow{}, 1) }) }, "flow wrong was called from a goroutine"},
		{"End in a goroutine", func(c *flow.Context) { inGoroutine(func() { flow.End(c, 1) }) }, "End was called from a goroutine"},
		{"a goroutine deep down", func(c *flow.Context) { inGoroutine(func() { deep(200, func() { effect(c) }) }) }, "step wrong was called from a goroutine"},
		{"a goroutine in a branch", func(c *flow.Context) { fork(c, func(c *flow.Context) { inGoroutine(func() { effect(c) }) }) }, "step wrong was called from a goroutine"},
		{"a goroutine in a step", func(c *flow.Context) { flow.Step(c, "outer", within(func() { inGoroutine(func() { effect(c) }) })) }, "step wrong was called from a goroutine"},
		{"a coroutine", func(c *flow.Context) {
			next, stop := iter.Pull(func(yield func(int) bool) { effect(c); yield(1) })
			defer stop()
			next()
		}, "step wrong was called from a goroutine"},
		{"an effect in a step", func(c *flow.Context) { flow.Step(c, "outer", within(func() { effect(c) })) }, "step wrong was called inside step outer"},
		{"an effect in a model", func(c *flow.Context) { flow.Model(c, "outer", within(func() { effect(c) })) }, "step wrong was called inside model outer"},
		{"a time in a step", func(c *flow.Context) { flow.Step(c, "outer", within(func() { flow.Now(c, "wrong") })) }, "now wrong was called inside step outer"},
		{"a flow in a step", func(c *flow.Context) {
			flow.Step(c, "outer", within(func() { flow.Sub[int](c, "wrong", flow.Flow{}, 1) }))
		}, "flow wrong was called inside step outer"},
		{"End in a step", func(c *flow.Context) { flow.Step(c, "outer", within(func() { flow.End(c, 1) })) }, "End was called inside step outer"},
		{"the outer Context in a branch", func(c *flow.Context) { fork(c, func(*flow.Context) { effect(c) }) }, "step wrong was called inside branches all"},
		{"End of the outer Context in a branch", func(c *flow.Context) { fork(c, func(*flow.Context) { flow.End(c, 1) }) }, "End was called inside branches all"},
		{"the outer Context two branches down", func(c *flow.Context) {
			fork(c, func(outer *flow.Context) { fork(outer, func(*flow.Context) { effect(outer) }) })
		}, "step wrong was called from a goroutine"},
		{"a sibling's Context", func(c *flow.Context) {
			given := make(chan *flow.Context, 1)
			used := make(chan struct{})
			flow.All(c, "all", branch("a", func(c *flow.Context) (int, error) {
				given <- c
				<-used
				return 1, nil
			}), branch("b", func(*flow.Context) (int, error) {
				defer close(used)
				effect(<-given)
				return 1, nil
			}))
		}, "step wrong was called from a goroutine"},
		{"the Context of a branch that ended", func(c *flow.Context) {
			var kept *flow.Context
			fork(c, func(c *flow.Context) { kept = c })
			effect(kept)
		}, "step wrong was called from a goroutine"},
		{"the Context of a flow that ended", func(c *flow.Context) {
			var kept *flow.Context
			flow.Sub[int](c, "sub", made(func(c *flow.Context) (int, error) { kept = c; return 1, nil }), nil)
			effect(kept)
		}, "step wrong was called with the Context of a flow that has ended"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory()
			done = false
			e := m.run(made(func(c *flow.Context) (int, error) {
				tt.fn(c)
				flow.Say(c, "after", "what comes after it does not happen")
				return 1, nil
			}), "")
			failed(t, e, holdshort.Misused)
			if !strings.HasPrefix(e.Failure.Message, tt.message) || !strings.HasSuffix(e.Failure.Message, ")") {
				t.Errorf("message %q, want %q and a hint", e.Failure.Message, tt.message)
			}
			if done || m.times("after") > 0 || m.times("wrong") > 0 {
				t.Errorf("did %v", m.did)
			}
		})
	}
}

// A Context that outlives its flow does nothing, whoever has it.
func TestAContextAfterItsEnd(t *testing.T) {
	m := newMemory()
	var kept *flow.Context
	completed(t, m.run(made(func(c *flow.Context) (int, error) { kept = c; return 1, nil }), ""), "1")
	var wg sync.WaitGroup
	for _, effect := range []func(){
		func() { flow.Say(kept, "late", "hello") },
		func() { flow.End(kept, 2) },
		func() { flow.Ask(kept, "late", flow.Question{}) },
	} {
		wg.Go(func() {
			effect()
			t.Error("the effect came back")
		})
	}
	wg.Wait()
	is(t, "what happened", len(m.did)+len(m.asked), 0)
}

func deep(n int, fn func()) {
	if n > 0 {
		deep(n-1, fn)
		return
	}
	fn()
}

func TestEffectsAtAnyDepth(t *testing.T) {
	for _, depth := range []int{0, 1, 50, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 120, 125, 130, 1000} {
		m := newMemory()
		e := m.run(made(func(c *flow.Context) (int, error) {
			n := 0
			deep(depth, func() { step(c, "work", 1, &n) })
			flow.All(c, "all", branch("a", func(c *flow.Context) (int, error) {
				deep(depth, func() { step(c, "work", 1, &n) })
				return 1, nil
			}))
			return n, nil
		}), "")
		completed(t, e, "2")
	}
}
