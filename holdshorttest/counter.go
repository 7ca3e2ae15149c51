package holdshorttest

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/holdshort/holdshort/tool"
)

// Counted is a tool that does nothing and knows what it was asked to do.
type Counted struct {
	declaration tool.Tool
	answer      func(n int, call tool.Call) (any, error)

	mu    sync.Mutex
	calls []tool.Call
}

// Counter makes a tool that counts its calls. It writes, cannot be undone and answers null, unless it is told otherwise.
func Counter(name string) *Counted {
	return &Counted{declaration: tool.Tool{Name: name}, answer: func(int, tool.Call) (any, error) { return nil, nil }}
}

// Returning sets what it answers.
func (c *Counted) Returning(value any) *Counted {
	return c.Doing(func(int, tool.Call) (any, error) { return value, nil })
}

// Failing sets the error that it answers with. Wrapped in tool.Definite it proves that nothing happened; else nobody knows.
func (c *Counted) Failing(err error) *Counted {
	return c.Doing(func(int, tool.Call) (any, error) { return nil, err })
}

// Doing sets what it does. n counts the calls, from 1.
func (c *Counted) Doing(fn func(n int, call tool.Call) (any, error)) *Counted {
	c.answer = fn
	return c
}

// Declared changes its declaration: schema, effect, timeout and so on. The function stays the counter's.
func (c *Counted) Declared(change func(*tool.Tool)) *Counted {
	change(&c.declaration)
	return c
}

// Tool is what goes into Options.Tools.
func (c *Counted) Tool() tool.Tool {
	t := c.declaration
	t.Call = c.call
	return t
}

func (c *Counted) call(_ context.Context, call tool.Call) (tool.Result, error) {
	c.mu.Lock()
	c.calls = append(c.calls, call)
	n := len(c.calls)
	c.mu.Unlock()
	value, err := c.answer(n, call)
	if err != nil {
		return tool.Result{}, err
	}
	raw, err := json.Marshal(value)
	return tool.Result{Value: raw}, err
}

// Calls is how often it was called.
func (c *Counted) Calls() int { return len(c.All()) }

// All gives the calls themselves, in order.
func (c *Counted) All() []tool.Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.calls)
}

// Operations counts the calls by operation id: what must happen once has a 1.
func (c *Counted) Operations() map[string]int {
	counts := map[string]int{}
	for _, call := range c.All() {
		counts[call.OperationID]++
	}
	return counts
}
