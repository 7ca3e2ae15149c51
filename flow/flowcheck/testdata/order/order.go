package order

import (
	"context"
	"maps"
	"slices"

	"github.com/holdshort/holdshort/flow"
)

type bag map[string]int

type input struct {
	Lines map[string]int
	Names []string
}

func load() bag { return nil }

func helper(c *flow.Context, name string) {}

func Loop(c *flow.Context, in input, extra map[string]bool) error {
	for name := range in.Lines { // want "does effects in the order of a map"
		flow.Say(c, name, "hello")
	}
	for name := range extra { // want "does effects in the order of a map"
		helper(c, name)
	}
	for name := range load() { // want "in the order of a map"
		if name != "" {
			flow.Say(c, name, "hello")
		}
	}
	for name := range maps.Keys(in.Lines) { // want "in the order of a map"
		flow.Say(c, name, "hello")
	}
	for _, name := range slices.Collect(maps.Keys(in.Lines)) { // want "in the order of a map"
		flow.Say(c, name, "hello")
	}
	got, _ := flow.Step(c, "load", func(context.Context) (map[string]int, error) { return nil, nil })
	for name := range got { // want "in the order of a map"
		flow.Say(c, name, "hello")
	}
	called, err := flow.Call[bag](c, "call", "tool", nil)
	for name := range called { // want "in the order of a map"
		flow.Say(c, name, "hello")
	}
	for _, name := range slices.Sorted(maps.Keys(in.Lines)) {
		flow.Say(c, name, "hello")
	}
	for _, name := range in.Names {
		flow.Say(c, name, "hello")
	}
	sum := 0
	var branches []flow.Branch[int]
	for name, n := range in.Lines { // no effect: the order does not matter, and All sorts by key
		sum += n
		branches = append(branches, flow.Branch[int]{Key: name, Run: func(c *flow.Context) (int, error) { return n, nil }})
	}
	_, failed := flow.All(c, "all", branches...)
	if failed != nil {
		return failed
	}
	return err
}
