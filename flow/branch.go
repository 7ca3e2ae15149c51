package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/holdshort/holdshort"
)

// Branch is one of several things that go on at the same time.
type Branch[T any] struct {
	Key string // unique among its siblings; it stands in the journal keys of its effects
	Run func(c *Context) (T, error)
}

// BranchError is the error of one branch.
type BranchError struct {
	Key string
	Err error
}

func (e *BranchError) Error() string { return e.Key + ": " + e.Err.Error() }
func (e *BranchError) Unwrap() error { return e.Err }

// All runs branches at the same time and gives their results ordered by key, however they arrive. It goes on when every one has ended; while
// some wait, the run waits. No branch cancels another: errors come joined, in the order of keys.
func All[T any](c *Context, name string, branches ...Branch[T]) ([]T, error) {
	branches = slices.Clone(branches)
	slices.SortFunc(branches, func(a, b Branch[T]) int { return strings.Compare(a.Key, b.Key) })
	return fork(c, name, branches)
}

// Each runs fn for every item at the same time, in a branch named by key, and gives the results in the order of the items.
func Each[T, R any](c *Context, name string, items []T, key func(T) string, fn func(c *Context, item T) (R, error)) ([]R, error) {
	branches := make([]Branch[R], len(items))
	for i, item := range items {
		branches[i] = Branch[R]{Key: key(item), Run: func(c *Context) (R, error) { return fn(c, item) }}
	}
	return fork(c, name, branches)
}

// fork gives a branch a path and a goroutine of its own.
func fork[T any](c *Context, name string, branches []Branch[T]) ([]T, error) {
	key := c.enter("branches", name)
	c.vacant(key, "branches")
	path := key + "/"
	known := map[string]bool{}
	for _, b := range branches {
		if err := checkName(b.Key); err != nil || known[b.Key] {
			c.obey(Fail(holdshort.Failure{Code: holdshort.Invalid, Message: fmt.Sprintf("branch key %q is no name or names two branches", clipTo(b.Key, 60)), Step: path}))
		}
		known[b.Key] = true
	}
	results, faults, returned := make([]T, len(branches)), make([]error, len(branches)), make([]bool, len(branches))
	c.x.busy(-1) // the branches' effects count, their own code does not
	var wg sync.WaitGroup
	for i, b := range branches {
		wg.Go(func() {
			returned[i] = c.x.branch(path+b.Key+"/", func(c *Context) { results[i], faults[i] = b.Run(c) })
		})
	}
	wg.Wait()
	c.x.busy(1)
	c.leave()
	if slices.Contains(returned, false) {
		c.unwind() // a branch waits, or the execution is over
	}
	var joined []error
	for i, err := range faults {
		if err != nil {
			joined = append(joined, &BranchError{branches[i].Key, err})
		}
	}
	return results, errors.Join(joined...)
}

const agentMark = "agent:"

// ForAgent is the name of a Sub that is the work of an agent: what it calls is judged as that agent's.
func ForAgent(name string) string { return agentMark + name }

// AgentOf gives the agent that a step is of where one works for another, the innermost one; empty: the run's own.
func AgentOf(key string) string {
	segments := strings.Split(key, "/")
	for _, s := range slices.Backward(segments[:len(segments)-1]) {
		if name, ok := strings.CutPrefix(s, agentMark); ok {
			name, _, _ = strings.Cut(name, "#")
			return name
		}
	}
	return ""
}

// Sub runs another flow as a part of this run, under its own path of the journal.
func Sub[Out any](c *Context, name string, sub Flow, input any) (out Out, err error) {
	key := c.enter("flow", name)
	c.vacant(key, "flow")
	c.leave()
	raw, err := encode("input of "+sub.Name, input)
	if err != nil {
		return out, err
	}
	if sub.run == nil {
		return out, &holdshort.Error{Code: holdshort.Invalid, Op: "run flow " + sub.Name, Message: "it has no function", Hint: "make it with flow.New"}
	}
	child := &Context{x: c.x, path: key + "/", lane: c.lane}
	defer child.ended.Store(true)
	result, err := sub.run(child, raw)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(result, &out); err != nil {
		return out, &holdshort.Error{Code: holdshort.Invalid, Op: "read result of " + sub.Name, Message: fmt.Sprintf("it is no %T", out), Err: err, Hint: "ask for what the flow returns"}
	}
	return out, nil
}
