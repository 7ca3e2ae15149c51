package flow_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
)

func TestKeys(t *testing.T) {
	var n int
	sub := flow.New("sub", 1, func(c *flow.Context, in int) (int, error) {
		step(c, "a", 1, new(int))
		step(c, "a", 1, new(int))
		return in, nil
	})
	pair := func(fn func(c *flow.Context) (int, error)) []flow.Branch[int] {
		return []flow.Branch[int]{{Key: "y", Run: fn}, {Key: "x", Run: fn}}
	}
	one := func(c *flow.Context) (int, error) { return step(c, "a", 1, new(int)), nil }
	tests := []struct {
		name string
		fn   func(c *flow.Context) (int, error)
		keys []string
	}{
		{"names", func(c *flow.Context) (int, error) { step(c, "a", 1, &n); step(c, "b c", 1, &n); return 0, nil }, []string{"a", "b c"}},
		{"the same name again", func(c *flow.Context) (int, error) {
			for range 3 {
				step(c, "a", 1, &n)
			}
			flow.Say(c, "a", "other kinds count too")
			return 0, nil
		}, []string{"a", "a#2", "a#3", "a#4"}},
		{"branches", func(c *flow.Context) (int, error) {
			_, err := flow.All(c, "all", pair(one)...)
			return 0, err
		}, []string{"all/x/a", "all/y/a"}},
		{"branches again, and the name outside", func(c *flow.Context) (int, error) {
			flow.All(c, "all", pair(one)...)
			step(c, "a", 1, &n)
			_, err := flow.All(c, "all", pair(one)...)
			return 0, err
		}, []string{"a", "all#2/x/a", "all#2/y/a", "all/x/a", "all/y/a"}},
		{"branches in branches", func(c *flow.Context) (int, error) {
			_, err := flow.All(c, "all", pair(func(c *flow.Context) (int, error) {
				_, err := flow.Each(c, "each", []string{"1", "2"}, func(s string) string { return s }, func(c *flow.Context, _ string) (int, error) { return one(c) })
				return 0, err
			})...)
			return 0, err
		}, []string{"all/x/each/1/a", "all/x/each/2/a", "all/y/each/1/a", "all/y/each/2/a"}},
		{"flows in flows", func(c *flow.Context) (int, error) {
			step(c, "a", 1, &n)
			flow.Sub[int](c, "sub", sub, 1)
			return flow.Sub[int](c, "sub", sub, 2)
		}, []string{"a", "sub#2/a", "sub#2/a#2", "sub/a", "sub/a#2"}},
		{"batches", func(c *flow.Context) (int, error) {
			flow.Calls(c, "calls", []flow.Request{{Tool: "t"}, {Tool: "t"}})
			flow.Call[int](c, "call", "t", nil)
			flow.Calls(c, "calls", []flow.Request{{Tool: "t"}})
			return 0, nil
		}, []string{"call", "calls#2/1", "calls/1", "calls/2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory()
			m.tools["t"] = func(json.RawMessage) (any, error) { return 1, nil }
			if e := m.run(made(tt.fn), ""); e.State != flow.Completed {
				t.Fatal(show(e))
			}
			same(t, "journal", m.keys(), tt.keys)
		})
	}
}

func TestNames(t *testing.T) {
	effects := map[string]func(c *flow.Context, name string){
		"step": func(c *flow.Context, name string) {
			flow.Step(c, name, func(context.Context) (int, error) { return 0, nil })
		},
		"call":   func(c *flow.Context, name string) { flow.Call[int](c, name, "t", nil) },
		"ask":    func(c *flow.Context, name string) { flow.Ask(c, name, flow.Question{}) },
		"sleep":  func(c *flow.Context, name string) { flow.Sleep(c, name, 0) },
		"all":    func(c *flow.Context, name string) { flow.All[int](c, name) },
		"branch": func(c *flow.Context, name string) { flow.All(c, "all", flow.Branch[int]{Key: name}) },
		"sub":    func(c *flow.Context, name string) { flow.Sub[int](c, name, flow.Flow{}, nil) },
	}
	for what, effect := range effects {
		for _, name := range []string{"", "a/b", "a#2", "post!1", "a\x00", strings.Repeat("a", 201)} {
			m := newMemory()
			m.tools["t"] = func(json.RawMessage) (any, error) { return 1, nil }
			e := m.run(made(func(c *flow.Context) (int, error) { effect(c, name); return 0, nil }), "")
			if e.State != flow.Failed || e.Failure.Code != holdshort.Invalid {
				t.Errorf("%s %.20q: %s, want failed with invalid", what, name, show(e))
			}
			if len(m.did) > 0 {
				t.Errorf("%s %.20q: did %v", what, name, m.did)
			}
		}
	}
}
