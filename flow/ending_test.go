package flow_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
)

type typedNil struct{ text string }

func (e *typedNil) Error() string { return e.text }

type loud struct{}

func (loud) Error() string { panic("even its text") }

func TestPanics(t *testing.T) {
	in := func(fn func()) func(context.Context) (int, error) {
		return func(context.Context) (int, error) { fn(); return 0, nil }
	}
	var none map[string]int
	tests := []struct {
		name, message string
		fn            func(c *flow.Context) error
	}{
		{"in the flow", "panic: broke", func(*flow.Context) error { panic("broke") }},
		{"with an error", "panic: no route", func(*flow.Context) error { panic(errors.New("no route")) }},
		{"with nil", "panic: panic called with nil argument", func(*flow.Context) error { panic(nil) }},
		{"of the runtime", "panic: assignment to entry in nil map", func(*flow.Context) error { none["a"] = 1; return nil }},
		{"with a long text", "panic: aaa", func(*flow.Context) error { panic(strings.Repeat("a", 5000)) }},
		{"in a step", "panic: broke", func(c *flow.Context) error { flow.Step(c, "x", in(func() { panic("broke") })); return nil }},
		{"in a branch", "panic: broke", func(c *flow.Context) error {
			flow.All(c, "all", branch("a", func(c *flow.Context) (int, error) { panic("broke") }), branch("b", func(c *flow.Context) (int, error) { return 1, nil }))
			return nil
		}},
		{"in a branch beside one that waits", "panic: broke", func(c *flow.Context) error {
			flow.All(c, "all", branch("a", func(c *flow.Context) (int, error) { panic("broke") }),
				branch("b", func(c *flow.Context) (int, error) { flow.Sleep(c, "pause", time.Hour); return 1, nil }))
			return nil
		}},
		{"in a flow within", "panic: broke", func(c *flow.Context) error {
			flow.Sub[int](c, "sub", made(func(*flow.Context) (int, error) { panic("broke") }), nil)
			return nil
		}},
		{"in the key of an item", "panic: broke", func(c *flow.Context) error {
			flow.Each(c, "each", []int{1}, func(int) string { panic("broke") }, func(*flow.Context, int) (int, error) { return 1, nil })
			return nil
		}},
		{"in a deferred function of a panic", "panic: second", func(*flow.Context) error {
			defer func() { panic("second") }()
			panic("first")
		}},
		{"with what panics itself", "panic: ", func(*flow.Context) error { panic(loud{}) }},
		{"in the text of its error", "panic: even its text", func(*flow.Context) error { return loud{} }},
		{"in the text of a nil error", "panic: runtime error: invalid memory address", func(*flow.Context) error { var e *typedNil; return e }},
		{"in the text of a step's error", "panic: even its text", func(c *flow.Context) error {
			_, err := flow.Step(c, "x", func(context.Context) (int, error) { return 0, loud{} })
			return err
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory()
			e := m.run(made(func(c *flow.Context) (int, error) { return 0, tt.fn(c) }), "")
			failed(t, e, holdshort.Panicked)
			if !strings.HasPrefix(e.Failure.Message, tt.message) || len(e.Failure.Message) > 600 {
				t.Errorf("message %.700q, want %q", e.Failure.Message, tt.message)
			}
			if !strings.Contains(e.Failure.Stack, "ending_test.go") || len(e.Failure.Stack) > 17<<10 {
				t.Errorf("the stack does not show the author's line: %s", e.Failure.Stack)
			}
			is(t, "journal", len(m.keys()), 0)
		})
	}
	t.Run("that are recovered are the author's own business", func(t *testing.T) {
		m := newMemory()
		completed(t, m.run(made(func(c *flow.Context) (n int, err error) {
			defer func() { n = len(fmt.Sprint(recover())) }()
			flow.Step(c, "x", in(func() { panic("broke") }))
			return 0, nil
		}), ""), "5")
	})
}

func TestAFlowThatEndsItsGoroutineFails(t *testing.T) {
	for name, fn := range map[string]func(c *flow.Context){
		"itself": func(*flow.Context) { runtime.Goexit() },
		"in a step": func(c *flow.Context) {
			flow.Step(c, "x", func(context.Context) (int, error) { runtime.Goexit(); return 1, nil })
		},
		"in a branch": func(c *flow.Context) {
			flow.All(c, "all", branch("a", func(*flow.Context) (int, error) { runtime.Goexit(); return 1, nil }))
		},
	} {
		t.Run(name, func(t *testing.T) {
			failed(t, newMemory().run(made(func(c *flow.Context) (int, error) { fn(c); return 1, nil }), ""), holdshort.Misused)
		})
	}
}

func TestEnd(t *testing.T) {
	t.Run("ends the run", func(t *testing.T) {
		m := newMemory()
		deferred := false
		completed(t, m.run(made(func(c *flow.Context) (string, error) {
			defer func() { deferred = true }()
			defer flow.Say(c, "late", "refused")
			flow.End(c, map[string]int{"n": 1})
			return "not", nil
		}), ""), `{"n":1}`)
		is(t, "deferred ran", deferred, true)
		is(t, "messages", m.times("late"), 0)
	})
	t.Run("ends it from a flow within", func(t *testing.T) {
		completed(t, newMemory().run(made(func(c *flow.Context) (string, error) {
			return flow.Sub[string](c, "sub", made(func(c *flow.Context) (string, error) { flow.End(c, "over"); return "not", nil }), nil)
		}), ""), `"over"`)
	})
	t.Run("a panic while it unwinds does not undo it", func(t *testing.T) {
		e := newMemory().run(made(func(c *flow.Context) (string, error) {
			defer func() { panic("oops") }()
			flow.End(c, "over")
			return "not", nil
		}), "")
		completed(t, e, `"over"`)
		if !strings.Contains(e.Unwound, "oops") {
			t.Errorf("unwound is %q", e.Unwound)
		}
	})
	t.Run("fails with what is no JSON", func(t *testing.T) {
		failed(t, newMemory().run(made(func(c *flow.Context) (string, error) { flow.End(c, func() {}); return "", nil }), ""), holdshort.Invalid)
	})
}

func TestLimitOfSteps(t *testing.T) {
	f := made(func(c *flow.Context) (int, error) {
		for {
			flow.Sleep(c, "tick", 0)
		}
	})
	f.MaxSteps = 3
	m := newMemory()
	e := m.run(f, "")
	failed(t, e, holdshort.LimitReached)
	is(t, "effects", len(m.did), 3)
	is(t, "step", e.Failure.Step, "tick")

	f.MaxSteps = 0
	m = newMemory()
	failed(t, m.run(f, ""), holdshort.LimitReached)
	is(t, "effects by default", len(m.did), 10_000)
}

func TestACanceledStepIsAbandoned(t *testing.T) {
	cause := errors.New("lease lost")
	for name, give := range map[string]error{"with a value": nil, "with an error": errors.New("interrupted")} {
		t.Run(name, func(t *testing.T) {
			m := newMemory()
			ctx, cancel := context.WithCancelCause(context.Background())
			calls := 0
			f := made(func(c *flow.Context) (int, error) {
				step(c, "before", 1, new(int))
				v, err := flow.Step(c, "x", func(ctx context.Context) (int, error) {
					if calls++; calls == 1 {
						cancel(cause)
						<-ctx.Done()
						return 1, give
					}
					return 2, nil
				}, flow.Retry{Times: 5, Wait: time.Hour})
				if calls == 1 {
					t.Error("the flow went on")
				}
				return v, err
			})
			e := m.runIn(ctx, f, "")
			if e.State != flow.Abandoned || !errors.Is(e.Err, cause) {
				t.Fatal(show(e))
			}
			is(t, "records of it", m.times("x"), 0)
			if e := m.runIn(ctx, f, ""); e.State != flow.Abandoned || !errors.Is(e.Err, cause) {
				t.Fatal(show(e))
			}
			completed(t, m.run(f, ""), "2")
		})
	}
}

func TestInputAndResult(t *testing.T) {
	type order struct{ ID string }
	f := flow.New("read", 1, func(_ *flow.Context, in order) (string, error) { return in.ID, nil })
	completed(t, newMemory().run(f, `{"ID":"77"}`), `"77"`)
	completed(t, newMemory().run(f, ` `), `""`)
	failed(t, newMemory().run(f, `[1]`), holdshort.Invalid)
	failed(t, newMemory().run(made(func(*flow.Context) (any, error) { return make(chan int), nil }), ""), holdshort.Invalid)
	failed(t, newMemory().run(made(func(c *flow.Context) (int, error) {
		_, err := flow.Step(c, "x", func(context.Context) (any, error) { return make(chan int), nil })
		return 1, err
	}), ""), holdshort.Invalid)
	failed(t, newMemory().run(made(func(c *flow.Context) (int64, error) { return flow.Random(c, "x", 0), nil }), ""), holdshort.Invalid)
	failed(t, newMemory().run(flow.Flow{Name: "empty"}, ""), holdshort.Panicked)
}

func TestCheck(t *testing.T) {
	good := made(func(*flow.Context) (int, error) { return 1, nil })
	tests := []struct {
		name   string
		change func(f *flow.Flow)
		ok     bool
	}{
		{"as made", func(*flow.Flow) {}, true},
		{"no version", func(f *flow.Flow) { f.Version = 0 }, false},
		{"no function", func(f *flow.Flow) { *f = flow.Flow{Name: "x", Version: 1} }, false},
		{"no name", func(f *flow.Flow) { f.Name = "" }, false},
		{"a path for a name", func(f *flow.Flow) { f.Name = "a/b" }, false},
		{"fewer than no steps", func(f *flow.Flow) { f.MaxSteps = -1 }, false},
		{"fewer than none at once", func(f *flow.Flow) { f.Concurrency = -1 }, false},
	}
	for _, tt := range tests {
		f := good
		tt.change(&f)
		err := f.Check()
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err != nil && (!errors.Is(err, holdshort.Invalid) || holdshort.HintOf(err) == "") {
			t.Errorf("%s: %v is not invalid with a hint", tt.name, err)
		}
	}
	is(t, "title", good.Title(), "test@1")
}

// An execution leaves no goroutine behind, however it comes to rest.
func TestNoGoroutineStays(t *testing.T) {
	endings := map[string]func(c *flow.Context) (int, error){
		"completed": func(c *flow.Context) (int, error) { return 1, nil },
		"failed":    func(c *flow.Context) (int, error) { return 1, errors.New("no") },
		"panicked":  func(c *flow.Context) (int, error) { panic("no") },
		"suspended": func(c *flow.Context) (int, error) { flow.Sleep(c, "pause", time.Hour); return 1, nil },
		"ended":     func(c *flow.Context) (int, error) { flow.End(c, 1); return 1, nil },
		"held":      func(c *flow.Context) (int, error) { flow.Say(c, "recorded", "as a step"); return 1, nil },
		"misused": func(c *flow.Context) (int, error) {
			go flow.Sleep(c, "x", 0)
			flow.Sleep(c, "pause", time.Hour)
			return 1, nil
		},
	}
	before := runtime.NumGoroutine()
	for range 20 {
		for _, fn := range endings {
			m := newMemory()
			m.settle(holdshort.JournalEntry{Key: "recorded", Kind: flow.KindStep})
			m.run(made(fn), "")
			m.run(made(func(c *flow.Context) (int, error) {
				_, err := flow.All(c, "all", branch("a", fn), branch("b", fn), branch("c", func(c *flow.Context) (int, error) {
					flow.Sleep(c, "pause", time.Hour)
					return 1, nil
				}))
				return 1, err
			}), "")
		}
	}
	deadline := time.Now().Add(time.Minute)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}
