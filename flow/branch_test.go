package flow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
)

func branch[T any](key string, fn func(c *flow.Context) (T, error)) flow.Branch[T] {
	return flow.Branch[T]{Key: key, Run: fn}
}

func TestResultsAreOrderedByKey(t *testing.T) {
	m := newMemory()
	// c ends first, a last, whatever the scheduler does
	cDone, bDone := make(chan struct{}), make(chan struct{})
	after := func(wait, done chan struct{}, v string) func(c *flow.Context) (string, error) {
		return func(c *flow.Context) (string, error) {
			return flow.Step(c, "work", func(context.Context) (string, error) {
				if wait != nil {
					<-wait
				}
				if done != nil {
					close(done)
				}
				return v, nil
			})
		}
	}
	f := made(func(c *flow.Context) (string, error) {
		got, err := flow.All(c, "all", branch("b", after(cDone, bDone, "B")), branch("c", after(nil, cDone, "C")), branch("a", after(bDone, nil, "A")))
		return strings.Join(got, ""), err
	})
	completed(t, m.run(f, ""), `"ABC"`)
	completed(t, m.run(f, ""), `"ABC"`)
}

func TestEachKeepsTheOrderOfItsItems(t *testing.T) {
	m := newMemory()
	f := made(func(c *flow.Context) ([]string, error) {
		return flow.Each(c, "each", []int{3, 1, 2}, func(n int) string { return fmt.Sprint("item ", n) }, func(c *flow.Context, n int) (string, error) {
			return flow.Step(c, "double", func(context.Context) (string, error) { return fmt.Sprint(2 * n), nil })
		})
	})
	completed(t, m.run(f, ""), `["6","2","4"]`)
	same(t, "journal", m.keys(), []string{"each/item 1/double", "each/item 2/double", "each/item 3/double"})
	completed(t, newMemory().run(made(func(c *flow.Context) (int, error) {
		got, err := flow.Each(c, "each", []int(nil), func(int) string { return "" }, func(*flow.Context, int) (int, error) { return 1, nil })
		return len(got), err
	}), ""), "0")
}

func TestOneBranchWaitsWhileOthersFinish(t *testing.T) {
	m := newMemory()
	var works, after int
	asked := make(chan struct{})
	f := made(func(c *flow.Context) (int, error) {
		got, err := flow.All(c, "all",
			branch("asks", func(c *flow.Context) (int, error) {
				defer func() { // while it unwinds, the other is still at work
					if after == 0 {
						close(asked)
					}
				}()
				ok, err := flow.Confirm(c, "sure", flow.Question{Text: "Sure?"})
				if !ok {
					return 0, err
				}
				return 1, nil
			}),
			branch("works", func(c *flow.Context) (int, error) {
				for i := range 5 {
					flow.Step(c, "work", func(context.Context) (int, error) {
						if i == 0 {
							<-asked
						}
						works++
						return i, nil
					})
				}
				return 10, nil
			}))
		if after++; err != nil {
			return 0, err
		}
		return got[0] + got[1], nil
	})
	suspended(t, m.run(f, ""))
	is(t, "steps of the other branch", works, 5)
	is(t, "passes over the join", after, 0)
	m.answer("all/asks/sure", yes("sure"))
	after = 0
	// On the second pass nobody waits any more.
	asked = make(chan struct{})
	completed(t, m.run(f, ""), "11")
	is(t, "steps of the other branch", works, 5)
	is(t, "passes over the join", after, 1)
}

func TestErrorsOfBranches(t *testing.T) {
	boom := func(code holdshort.Code) func(c *flow.Context) (int, error) {
		return func(c *flow.Context) (int, error) {
			return flow.Step(c, "try", func(context.Context) (int, error) { return 0, &holdshort.Error{Code: code, Message: string(code)} })
		}
	}
	t.Run("are joined by key, and cancel nobody", func(t *testing.T) {
		m := newMemory()
		bad := make(chan struct{})
		var got []int
		var err error
		f := made(func(c *flow.Context) (int, error) {
			got, err = flow.All(c, "all", branch("z", boom(holdshort.Denied)), branch("a", func(c *flow.Context) (int, error) {
				defer close(bad)
				return boom(holdshort.NotFound)(c)
			}), branch("m", func(c *flow.Context) (int, error) {
				flow.Step(c, "first", func(context.Context) (int, error) { <-bad; return 1, nil })
				return flow.Step(c, "second", func(ctx context.Context) (int, error) { return 7, ctx.Err() })
			}))
			return got[1], nil
		})
		completed(t, m.run(f, ""), "7")
		is(t, "text", err.Error(), "a: all/a/try: not_found\nz: all/z/try: denied")
		if !errors.Is(err, holdshort.Denied) || !errors.Is(err, holdshort.NotFound) {
			t.Errorf("%v does not answer for its codes", err)
		}
		var one *flow.BranchError
		if !errors.As(err, &one) || one.Key != "a" {
			t.Errorf("the first branch error is %+v, want of a", one)
		}
	})
	t.Run("wait for a sibling that waits", func(t *testing.T) {
		m := newMemory()
		f := made(func(c *flow.Context) (int, error) {
			_, err := flow.All(c, "all", branch("bad", boom(holdshort.Denied)), branch("slow", func(c *flow.Context) (int, error) {
				flow.Sleep(c, "pause", time.Minute)
				return step(c, "after", 1, new(int)), nil
			}))
			return 0, err
		})
		suspended(t, m.run(f, ""))
		m.pass(time.Minute)
		e := m.run(f, "")
		failed(t, e, holdshort.Denied)
		is(t, "failed step", e.Failure.Step, "all/bad/try")
		same(t, "journal", m.keys(), []string{"all/bad/try", "all/slow/after"})
		is(t, "times of bad", m.times("all/bad/try"), 1)
	})
}

func TestBranchesInBranches(t *testing.T) {
	m := newMemory()
	leaf := func(c *flow.Context) (int, error) {
		flow.Sleep(c, "pause", time.Minute)
		return step(c, "leaf", 1, new(int)), nil
	}
	var node func(depth int) func(c *flow.Context) (int, error)
	node = func(depth int) func(c *flow.Context) (int, error) {
		if depth == 0 {
			return leaf
		}
		return func(c *flow.Context) (int, error) {
			got, err := flow.All(c, "all", branch("l", node(depth-1)), branch("r", node(depth-1)))
			if err != nil {
				return 0, err
			}
			return got[0] + got[1], nil
		}
	}
	f := made(node(4))
	suspended(t, m.run(f, ""))
	is(t, "sleeps", len(m.until), 16)
	m.pass(time.Minute)
	completed(t, m.run(f, ""), "16")
	is(t, "leaves", len(m.keys()), 16)
}

func TestKeysOfBranchesAreTheirOwn(t *testing.T) {
	m := newMemory()
	ran := false
	run := func(*flow.Context) (int, error) { ran = true; return 1, nil }
	e := m.run(made(func(c *flow.Context) (int, error) {
		_, err := flow.All(c, "all", branch("a", run), branch("a", run))
		return 0, err
	}), "")
	failed(t, e, holdshort.Invalid)
	if ran || !strings.Contains(e.Failure.Message, `"a"`) {
		t.Errorf("ran: %v, message %q", ran, e.Failure.Message)
	}
}

func TestEndFromABranch(t *testing.T) {
	m := newMemory()
	ended := make(chan struct{})
	var more, joined bool
	f := made(func(c *flow.Context) (string, error) {
		_, err := flow.All(c, "all",
			branch("ends", func(c *flow.Context) (int, error) {
				defer close(ended)
				flow.End(c, "over")
				return 1, nil
			}),
			branch("waits", func(c *flow.Context) (int, error) { flow.Sleep(c, "pause", time.Minute); return 1, nil }),
			branch("works", func(c *flow.Context) (int, error) {
				step(c, "one", 1, new(int))
				flow.Step(c, "two", func(context.Context) (int, error) { <-ended; return 1, nil }) // under way: it finishes
				flow.Step(c, "three", func(context.Context) (int, error) { more = true; return 1, nil })
				more = true
				return 1, nil
			}))
		joined = true
		return "not over", err
	})
	// "works" may meet the end before its second step; then it does not begin.
	completed(t, m.run(f, ""), `"over"`)
	if more || joined {
		t.Errorf("an effect began after the end: %v, or the join was passed: %v", more, joined)
	}
}

func TestSubFlows(t *testing.T) {
	var done int
	inner := flow.New("inner", 1, func(c *flow.Context, in map[string]int) (int, error) {
		step(c, "work", 1, &done)
		flow.Sleep(c, "pause", time.Minute)
		if in["n"] < 0 {
			return 0, &holdshort.Error{Code: holdshort.DoesNotFit, Message: "negative"}
		}
		return in["n"] * 2, nil
	})
	t.Run("pause and return", func(t *testing.T) {
		m := newMemory()
		done = 0
		f := made(func(c *flow.Context) (int, error) { return flow.Sub[int](c, "sub", inner, map[string]int{"n": 4}) })
		suspended(t, m.run(f, ""))
		m.pass(time.Minute)
		completed(t, m.run(f, ""), "8")
		is(t, "done", done, 1)
	})
	for name, tt := range map[string]struct {
		fn   func(c *flow.Context) (any, error)
		code holdshort.Code
	}{
		"their error":       {func(c *flow.Context) (any, error) { return flow.Sub[int](c, "sub", inner, map[string]int{"n": -1}) }, holdshort.DoesNotFit},
		"input of no type":  {func(c *flow.Context) (any, error) { return flow.Sub[int](c, "sub", inner, "text") }, holdshort.Invalid},
		"input of no JSON":  {func(c *flow.Context) (any, error) { return flow.Sub[int](c, "sub", inner, func() {}) }, holdshort.Invalid},
		"result of no type": {func(c *flow.Context) (any, error) { return flow.Sub[string](c, "sub", inner, map[string]int{"n": 4}) }, holdshort.Invalid},
		"no flow":           {func(c *flow.Context) (any, error) { return flow.Sub[string](c, "sub", flow.Flow{}, 1) }, holdshort.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory()
			f := made(tt.fn)
			e := m.run(f, "")
			if e.State == flow.Suspended {
				m.pass(time.Minute)
				e = m.run(f, "")
			}
			failed(t, e, tt.code)
		})
	}
}

// A recorder can tell a flow that works from one that hangs: by the effects that are under way, not by the branches that have them.
func TestEffectsUnderWayAreCounted(t *testing.T) {
	m := newMemory()
	both := make(chan struct{})
	meet := func(context.Context) (int, error) { // two steps at the same time
		select {
		case both <- struct{}{}:
		case <-both:
		}
		return 1, nil
	}
	f := made(func(c *flow.Context) (int, error) {
		is(t, "effects between effects", m.busy, 0)
		if _, err := flow.Each(c, "each", []string{"a", "b"}, func(s string) string { return s }, func(c *flow.Context, _ string) (int, error) { return flow.Step(c, "meet", meet) }); err != nil {
			return 0, err
		}
		is(t, "effects after the branches", m.busy, 0)
		return flow.Sub[int](c, "sub", made(func(c *flow.Context) (int, error) {
			is(t, "effects in a flow within", m.busy, 0)
			return 1, nil
		}), nil)
	})
	completed(t, m.run(f, ""), "1")
	is(t, "effects at the same time", m.busiest, 2)
}
