package flow_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
)

func TestNothingStopsASuspension(t *testing.T) {
	var reached, tried bool
	wait := func(c *flow.Context) { flow.Sleep(c, "pause", time.Minute) }
	effect := func(c *flow.Context) {
		tried = true
		flow.Step(c, "late", func(context.Context) (int, error) { reached = true; return 1, nil })
		reached = true
	}
	tests := []struct {
		name    string
		fn      func(c *flow.Context)
		tries   bool
		unwound string
	}{
		{"recover", func(c *flow.Context) {
			func() {
				defer func() {
					if p := recover(); p != nil {
						reached = true
					}
				}()
				wait(c)
			}()
			reached = true
		}, false, ""},
		{"recover in every frame, and a loop", func(c *flow.Context) {
			for {
				func() {
					defer func() { _ = recover() }()
					func() {
						defer func() { _ = recover() }()
						wait(c)
					}()
					reached = true
				}()
				reached = true
			}
		}, false, ""},
		{"an effect in a deferred function", func(c *flow.Context) { defer effect(c); wait(c) }, true, ""},
		{"two of them", func(c *flow.Context) { defer effect(c); defer effect(c); wait(c) }, true, ""},
		{"a question in a deferred function", func(c *flow.Context) { defer flow.Ask(c, "late", flow.Question{}); wait(c) }, false, ""},
		{"a call in a deferred function", func(c *flow.Context) { defer flow.Call[int](c, "late", "t", nil); wait(c) }, false, ""},
		{"branches in a deferred function", func(c *flow.Context) {
			defer flow.All(c, "late", flow.Branch[int]{Key: "a", Run: func(*flow.Context) (int, error) { reached = true; return 1, nil }})
			wait(c)
		}, false, ""},
		{"a flow in a deferred function", func(c *flow.Context) {
			inner := flow.New("inner", 1, func(*flow.Context, int) (int, error) { reached = true; return 1, nil })
			defer flow.Sub[int](c, "late", inner, 1)
			wait(c)
		}, false, ""},
		{"End in a deferred function", func(c *flow.Context) { defer flow.End(c, "over"); wait(c) }, false, ""},
		{"End with what cannot be written", func(c *flow.Context) { defer flow.End(c, func() {}); wait(c) }, false, ""},
		{"a panic in a deferred function", func(c *flow.Context) { defer func() { panic("oops") }(); wait(c) }, false, "oops"},
		{"a panic that is recovered", func(c *flow.Context) {
			defer func() { _ = recover() }()
			defer func() { panic("oops") }()
			wait(c)
			reached = true
		}, false, ""},
		{"a panic, then an effect", func(c *flow.Context) { defer effect(c); defer func() { panic("oops") }(); wait(c) }, true, ""}, // the runtime forgets it
		{"an effect, then a panic", func(c *flow.Context) { defer func() { panic("oops") }(); defer effect(c); wait(c) }, true, "oops"},
		{"leaving by itself while it unwinds", func(c *flow.Context) { defer runtime.Goexit(); wait(c) }, false, ""},
		{"in a flow within", func(c *flow.Context) {
			defer effect(c)
			inner := flow.New("inner", 1, func(c *flow.Context, _ int) (int, error) { defer effect(c); wait(c); return 1, nil })
			flow.Sub[int](c, "sub", inner, 1)
			reached = true
		}, true, ""},
		{"in a branch", func(c *flow.Context) {
			defer effect(c)
			flow.All(c, "all", flow.Branch[int]{Key: "a", Run: func(c *flow.Context) (int, error) {
				defer func() { _ = recover() }()
				defer effect(c)
				wait(c)
				return 1, nil
			}})
			reached = true
		}, true, ""},
		{"in a callback", func(c *flow.Context) {
			for range func(yield func(int) bool) {
				defer effect(c)
				for yield(1) {
				}
			} {
				wait(c)
			}
		}, true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory()
			reached, tried = false, false
			e := m.run(made(func(c *flow.Context) (int, error) { tt.fn(c); reached = true; return 1, nil }), "")
			suspended(t, e)
			if reached {
				t.Error("code after the pause ran")
			}
			is(t, "tried an effect", tried, tt.tries)
			is(t, "journal", len(m.keys()), 0)
			is(t, "questions", len(m.asked), 0)
			if (e.Unwound != "") != (tt.unwound != "") || !strings.Contains(e.Unwound, tt.unwound) {
				t.Errorf("unwound says %q, want %q", e.Unwound, tt.unwound)
			}
			if tt.unwound != "" && !strings.Contains(e.Unwound, "suspend_test.go") {
				t.Errorf("unwound has no stack of the deferred function: %s", e.Unwound)
			}
		})
	}
}

func TestDeferredFunctionsRunWhenSuspended(t *testing.T) {
	m := newMemory()
	released := 0
	f := made(func(c *flow.Context) (int, error) {
		defer func() { released++ }()
		flow.Sleep(c, "pause", time.Minute)
		return 1, nil
	})
	suspended(t, m.run(f, ""))
	is(t, "released", released, 1)
	m.pass(time.Minute)
	completed(t, m.run(f, ""), "1")
	is(t, "released", released, 2)
}

// A deferred effect of a flow that panics may wait: the panic comes back when it has its answer.
func TestADeferredEffectOfAPanicMayWait(t *testing.T) {
	m := newMemory()
	f := made(func(c *flow.Context) (int, error) {
		defer flow.Confirm(c, "tell", flow.Question{Text: "It broke. Seen?"})
		panic("broke")
	})
	suspended(t, m.run(f, ""))
	m.answer("tell", yes("tell"))
	failed(t, m.run(f, ""), holdshort.Panicked)
}

func TestWaiting(t *testing.T) {
	m := newMemory()
	f := made(func(c *flow.Context) (string, error) {
		v, err := flow.Wait[string](c, "word", time.Hour)
		if err != nil {
			return string(holdshort.CodeOf(err)), nil
		}
		w, err := flow.Wait[string](c, "word", 0)
		return v + w, err
	})
	m.post("other", `"x"`)
	suspended(t, m.run(f, ""))
	m.post("word", `"one "`)
	suspended(t, m.run(f, ""))
	m.pass(2 * time.Hour)
	suspended(t, m.run(f, "")) // the second one waits for ever
	m.post("word", `"two"`)
	completed(t, m.run(f, ""), `"one two"`)

	late := newMemory()
	suspended(t, late.run(f, ""))
	late.pass(time.Hour)
	completed(t, late.run(f, ""), `"timed_out"`)
	late.post("word", `"late"`)
	completed(t, late.run(f, ""), `"timed_out"`)
}

func TestARecorderDecidesHowAFlowStops(t *testing.T) {
	away := errors.New("store away")
	tests := []struct {
		name  string
		fault error
		state flow.State
	}{
		{"waits", flow.Suspend, flow.Suspended},
		{"held", flow.Hold(holdshort.KeyUnknown, errors.New("no key")), flow.Held},
		{"fails", flow.Fail(holdshort.Failure{Code: holdshort.LimitReached, Message: "too much"}), flow.Failed},
		{"gives up", away, flow.Abandoned},
		{"gives up, said aloud", &flow.Signal{State: flow.Abandoned, Err: away}, flow.Abandoned},
	}
	ops := map[string]func(c *flow.Context){
		"record": func(c *flow.Context) { flow.Step(c, "x", func(context.Context) (int, error) { return 1, nil }) },
		"ask":    func(c *flow.Context) { flow.Ask(c, "x", flow.Question{}) },
		"calls":  func(c *flow.Context) { flow.Call[int](c, "x", "t", nil) },
		"say":    func(c *flow.Context) { flow.Say(c, "x", "hi") },
		"emit":   func(c *flow.Context) { _ = flow.Emit(c, "x", 1) },
		"sleep":  func(c *flow.Context) { flow.Sleep(c, "x", 0) },
		"wait":   func(c *flow.Context) { flow.Wait[int](c, "x", 0) },
	}
	for _, tt := range tests {
		for op, effect := range ops {
			t.Run(op+" "+tt.name, func(t *testing.T) {
				m := newMemory()
				m.fault = func(got, key string) error {
					if got != op {
						t.Errorf("%s was called for %s", got, key)
					}
					return tt.fault
				}
				e := m.run(made(func(c *flow.Context) (int, error) {
					effect(c)
					t.Error("the flow went on")
					return 1, nil
				}), "")
				if e.State != tt.state {
					t.Fatal(show(e))
				}
				switch tt.state {
				case flow.Abandoned:
					is(t, "error", e.Err, away)
				case flow.Held:
					is(t, "code", e.Code, holdshort.KeyUnknown)
				case flow.Failed:
					is(t, "code", e.Failure.Code, holdshort.LimitReached)
				}
				is(t, "journal", len(m.keys()), 0)
			})
		}
	}
}
