package flow_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
)

// A flow is changed while one of its runs waits.
func TestNewEffectsDoNotBreakARunThatWaits(t *testing.T) {
	var n, added int
	before := func(c *flow.Context) (int, error) {
		step(c, "load", 1, &n)
		_, err := flow.Approve(c, "ok", flow.Question{Text: "Go?"})
		return step(c, "done", 7, &n), err
	}
	tests := []struct {
		name  string
		after func(c *flow.Context) (int, error)
	}{
		{"before all", func(c *flow.Context) (int, error) { step(c, "new", 1, &added); return before(c) }},
		{"between", func(c *flow.Context) (int, error) {
			step(c, "load", 1, &n)
			step(c, "new", 1, &added)
			_, err := flow.Approve(c, "ok", flow.Question{Text: "Go?"})
			return step(c, "done", 7, &n), err
		}},
		{"after the pause", func(c *flow.Context) (int, error) {
			step(c, "load", 1, &n)
			_, err := flow.Approve(c, "ok", flow.Question{Text: "Another wording?"})
			step(c, "new", 1, &added)
			return step(c, "done", 7, &n), err
		}},
		{"in branches of its own", func(c *flow.Context) (int, error) {
			flow.All(c, "fan", flow.Branch[int]{Key: "a", Run: func(c *flow.Context) (int, error) { return step(c, "new", 1, &added), nil }})
			return before(c)
		}},
		{"one gone", func(c *flow.Context) (int, error) {
			step(c, "new", 1, &added)
			_, err := flow.Approve(c, "ok", flow.Question{Text: "Go?"})
			return step(c, "done", 7, &n), err
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory()
			n, added = 0, 0
			suspended(t, m.run(made(before), ""))
			m.answer("ok", yes("ok"))
			completed(t, m.run(made(tt.after), ""), "7")
			is(t, "old effects", n, 2)
			is(t, "new effects", added, 1)
			is(t, "questions", m.times("ok"), 1)
		})
	}
}

// held says before anything of the changed flow happens.
func TestChangedEffectsHoldTheRun(t *testing.T) {
	type fn = func(c *flow.Context)
	var happened int
	step := func(name string) fn {
		return func(c *flow.Context) {
			flow.Step(c, name, func(context.Context) (int, error) { happened++; return 1, nil })
		}
	}
	call := func(name, tool string, args any) fn {
		return func(c *flow.Context) { flow.Call[int](c, name, tool, args) }
	}
	batch := func(name string, calls ...flow.Request) fn {
		return func(c *flow.Context) { flow.Calls(c, name, calls) }
	}
	sub := func(name string) fn {
		inner := flow.New("inner", 1, func(c *flow.Context, _ int) (int, error) { step("1")(c); return 1, nil })
		return func(c *flow.Context) { flow.Sub[int](c, name, inner, 1) }
	}
	tests := []struct {
		name          string
		before, after fn
	}{
		{"a step becomes a model", step("x"), func(c *flow.Context) {
			flow.Model(c, "x", func(context.Context) (int, error) { happened++; return 1, nil })
		}},
		{"a step becomes a call", step("x"), call("x", "t", nil)},
		{"a step becomes a message", step("x"), func(c *flow.Context) { flow.Say(c, "x", "hello") }},
		{"a step becomes a time", step("x"), func(c *flow.Context) { flow.Now(c, "x") }},
		{"a step becomes a sleep", step("x"), func(c *flow.Context) { flow.Sleep(c, "x", time.Hour) }},
		{"a step becomes a wait", step("x"), func(c *flow.Context) { flow.Wait[int](c, "x", 0) }},
		{"a step becomes a question", step("x"), func(c *flow.Context) { flow.Ask(c, "x", flow.Question{}) }},
		{"a step becomes a flow", step("x"), sub("x")},
		{"a step becomes branches", step("x"), func(c *flow.Context) {
			flow.All(c, "x", flow.Branch[int]{Key: "a", Run: func(c *flow.Context) (int, error) { happened++; return 1, nil }})
		}},
		{"a call becomes a step", call("x", "t", nil), step("x")},
		{"a call of another tool", call("x", "t", 1), call("x", "u", 1)},
		{"a call with other arguments", call("x", "t", map[string]any{"a": 1}), call("x", "t", map[string]any{"a": 2})},
		{"a call becomes a batch", call("x", "t", 1), batch("x", flow.Request{Tool: "t", Args: 1})},
		{"a batch becomes a call", batch("x", flow.Request{Tool: "t", Args: 1}), call("x", "t", 1)},
		{"a batch becomes a flow", batch("x", flow.Request{Tool: "t", Args: 1}), sub("x")},
		{"another call of a batch", batch("x", flow.Request{Tool: "t", Args: 1}, flow.Request{Tool: "t", Args: 2}),
			batch("x", flow.Request{Tool: "t", Args: 1}, flow.Request{Tool: "t", Args: 3})},
		{"a batch in another order", batch("x", flow.Request{Tool: "t", Args: 1}, flow.Request{Tool: "t", Args: 2}),
			batch("x", flow.Request{Tool: "t", Args: 2}, flow.Request{Tool: "t", Args: 1})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory()
			for _, tool := range []string{"t", "u"} {
				m.tools[tool] = func(json.RawMessage) (any, error) { happened++; return 1, nil }
			}
			whole := func(middle fn) flow.Flow {
				return made(func(c *flow.Context) (int, error) {
					middle(c)
					flow.Sleep(c, "pause", time.Minute)
					return 1, nil
				})
			}
			suspended(t, m.run(whole(tt.before), ""))
			was, asked := happened, len(m.asked)
			m.pass(time.Minute)
			e := m.run(whole(tt.after), "")
			held(t, e, holdshort.JournalMismatch)
			if holdshort.HintOf(e.Err) == "" {
				t.Errorf("%v has no hint", e.Err)
			}
			is(t, "what happened since", happened, was)
			is(t, "questions", len(m.asked), asked)
			completed(t, m.run(whole(tt.before), ""), "1") // the old code goes on
		})
	}
}

func TestArgumentsAreComparedAsWritten(t *testing.T) {
	m := newMemory()
	m.tools["t"] = func(json.RawMessage) (any, error) { return 1, nil }
	args := any(json.RawMessage(`{"b":1, "a":2.0}`))
	f := made(func(c *flow.Context) (int, error) { return flow.Call[int](c, "x", "t", args) })
	completed(t, m.run(f, ""), "1")
	args = map[string]int{"a": 2, "b": 1} // the same in canonical JSON
	completed(t, m.run(f, ""), "1")
	is(t, "calls", m.times("x"), 1)
}

func TestAnOutcomeOfAnotherTypeHolds(t *testing.T) {
	m := newMemory()
	m.tools["t"] = func(json.RawMessage) (any, error) { return map[string]int{"a": 1}, nil }
	pause := func(c *flow.Context) { flow.Sleep(c, "pause", time.Minute) }
	text := made(func(c *flow.Context) (int, error) {
		flow.Step(c, "x", func(context.Context) (string, error) { return "seven", nil })
		flow.Call[map[string]int](c, "y", "t", nil)
		pause(c)
		return 1, nil
	})
	number := made(func(c *flow.Context) (int, error) {
		v, err := flow.Step(c, "x", func(context.Context) (int, error) { return 7, nil })
		pause(c)
		return v, err
	})
	call := made(func(c *flow.Context) (int, error) { return flow.Call[int](c, "y", "t", nil) })
	suspended(t, m.run(text, ""))
	held(t, m.run(number, ""), holdshort.JournalMismatch)
	held(t, m.run(call, ""), holdshort.JournalMismatch)
	m.pass(time.Minute)
	completed(t, m.run(text, ""), "1")
}

// What somebody outside sent is not the flow's own outcome: it must not be able to stop the run.
func TestWhatOthersSendIsAnErrorWhenItDoesNotFit(t *testing.T) {
	m := newMemory()
	m.settle(holdshort.JournalEntry{Key: "refund", Kind: flow.KindCall, Hash: flow.CallHash("t", json.RawMessage("null")), Outcome: json.RawMessage(`{"value":"done by hand","by":"ana"}`)})
	m.post("amount", `"plenty"`)
	m.post("amount", `5`)
	f := made(func(c *flow.Context) (int, error) {
		for {
			n, err := flow.Wait[int](c, "amount", 0)
			if holdshort.CodeOf(err) == holdshort.DoesNotFit {
				continue
			}
			if _, err := flow.Call[int](c, "refund", "t", nil); holdshort.CodeOf(err) != holdshort.DoesNotFit {
				t.Errorf("a person's text instead of a number gives %v", err)
			}
			return n, err
		}
	})
	completed(t, m.run(f, ""), "5")
	completed(t, m.run(f, ""), "5")
	same(t, "journal", m.keys(), []string{"amount", "amount#2", "refund"})
}
