package flow_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
)

func TestCallsOfABatch(t *testing.T) {
	m := newMemory()
	m.tools["read"] = func(args json.RawMessage) (any, error) { return "read " + string(args), nil }
	m.tools["write"] = func(args json.RawMessage) (any, error) {
		return nil, &holdshort.Error{Code: holdshort.Denied, Message: "no"}
	}
	m.parked["write"] = true
	f := made(func(c *flow.Context) (string, error) {
		got, err := flow.Calls(c, "act", []flow.Request{{Tool: "read", Args: 1}, {ID: "w", Tool: "write", Args: map[string]int{"b": 2, "a": 1}}, {Tool: "read", Args: 2}})
		text := ""
		for _, r := range got {
			text += fmt.Sprintf("%s %s %s %v; ", r.ID, r.Tool, r.Value, holdshort.CodeOf(r.Err))
		}
		return text, err
	})
	suspended(t, m.run(f, ""))
	same(t, "batch", m.batches["act"], []string{`call_1=read1`, `w=write{"a":1,"b":2}`, `call_3=read2`})
	is(t, "calls before the decision", len(m.did), 0)
	m.parked["write"] = false
	want := `"call_1 read \"read 1\" ; w write  denied; call_3 read \"read 2\" ; "`
	completed(t, m.run(f, ""), want)
	completed(t, m.run(f, ""), want)
	for _, key := range []string{"act/1", "act/2", "act/3"} {
		is(t, "times of "+key, m.times(key), 1)
	}
}

func TestCallsThatCannotBe(t *testing.T) {
	tests := []struct {
		name string
		fn   func(c *flow.Context) (any, error)
		code holdshort.Code
	}{
		{"two of one id", func(c *flow.Context) (any, error) {
			return flow.Calls(c, "x", []flow.Request{{ID: "call_2", Tool: "t"}, {Tool: "t"}})
		}, holdshort.Invalid},
		{"arguments of no JSON", func(c *flow.Context) (any, error) { return flow.Call[int](c, "x", "t", func() {}) }, ""},
		{"arguments of no number", func(c *flow.Context) (any, error) { return flow.Call[int](c, "x", "t", math.NaN()) }, ""},
		{"broken JSON", func(c *flow.Context) (any, error) { return flow.Call[int](c, "x", "t", json.RawMessage(`{"a":`)) }, ""},
		{"a key twice", func(c *flow.Context) (any, error) {
			return flow.Call[int](c, "x", "t", json.RawMessage(`{"a":1,"a":2}`))
		}, holdshort.NotCanonical},
		{"a number that a double loses", func(c *flow.Context) (any, error) {
			return flow.Call[int](c, "x", "t", json.RawMessage(`9007199254740993`))
		}, holdshort.NotCanonical},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory()
			m.tools["t"] = func(json.RawMessage) (any, error) { return 1, nil }
			e := m.run(made(tt.fn), "")
			if e.State != flow.Failed || tt.code != "" && e.Failure.Code != tt.code || e.Failure.Code == holdshort.Internal {
				t.Error(show(e))
			}
			is(t, "calls", len(m.did), 0)
		})
	}
	completed(t, newMemory().run(made(func(c *flow.Context) (int, error) {
		got, err := flow.Calls(c, "x", nil)
		return len(got), err
	}), ""), "0")
}

func TestErrorOfACall(t *testing.T) {
	m := newMemory()
	m.tools["t"] = func(json.RawMessage) (any, error) { return nil, fmt.Errorf("ask: %w", holdshort.OutcomeUnknown) }
	f := made(func(c *flow.Context) (int, error) {
		n, err := flow.Call[int](c, "x", "t", nil)
		var step *flow.StepError
		if !errors.As(err, &step) || step.Step != "x" || !errors.Is(err, holdshort.OutcomeUnknown) {
			t.Errorf("error is %#v", err)
		}
		return n, err
	})
	failed(t, m.run(f, ""), holdshort.OutcomeUnknown)
	failed(t, m.run(f, ""), holdshort.OutcomeUnknown)
	is(t, "calls", m.times("x"), 1)
}

func TestCallHashTellsToolAndArguments(t *testing.T) {
	seen := map[string]string{}
	for _, c := range [][2]string{{"a", `1`}, {"a", `2`}, {"b", `1`}, {"a1", ``}, {"", `a1`}} {
		h := flow.CallHash(c[0], json.RawMessage(c[1]))
		if was, ok := seen[h]; ok {
			t.Errorf("%v and %s hash alike", c, was)
		}
		seen[h] = fmt.Sprint(c)
	}
}
