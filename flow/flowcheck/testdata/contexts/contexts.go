package contexts

import (
	"context"

	fl "github.com/holdshort/holdshort/flow"
)

func Outer(c *fl.Context, in int) (int, error) {
	_, err := fl.All(c, "all",
		fl.Branch[int]{Key: "right", Run: func(c *fl.Context) (int, error) { fl.Say(c, "hi", "hi"); return 1, nil }},
		fl.Branch[int]{Key: "wrong", Run: func(inner *fl.Context) (int, error) { fl.Say(c, "hi", "hi"); return 1, nil }}, // want "c is the Context of the function around"
		fl.Branch[int]{Key: "nameless", Run: func(*fl.Context) (int, error) {
			fl.Say(c, "hi", "hi") // want "c is the Context of the function around"
			return 1, nil
		}})
	if err != nil {
		return 0, err
	}
	_, err = fl.Each(c, "each", []int{1}, func(int) string { return "a" }, func(inner *fl.Context, n int) (int, error) {
		return fl.Step(inner, "x", func(context.Context) (int, error) {
			fl.Say(inner, "hi", "hi") // want "inner is used inside a step"
			fl.Say(c, "hi", "hi")     // want "c is used inside a step"
			return n, nil
		})
	})
	later := func() { fl.Say(c, "later", "the same function's own") }
	later()
	return 1, err
}
