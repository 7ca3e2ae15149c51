package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/holdshort/holdshort"
)

// execution is one pass over a flow's function, with all its branches.
type execution struct {
	flow     Flow
	recorder Recorder
	ctx      context.Context
	steps    atomic.Int64
	stopped  atomic.Bool // no further effect may begin

	mu     sync.Mutex
	ending *Ending // the first thing that ended it, apart from waiting
	waits  bool    // some branch waits
	unwind string
}

// Execute runs the flow from the top and returns when every branch has ended or waits. It never panics and never leaves a goroutine of its
// own behind; a function that does not come back keeps Execute from coming back.
func (f Flow) Execute(ctx context.Context, recorder Recorder, input json.RawMessage) Ending {
	x := &execution{flow: f, recorder: recorder, ctx: ctx}
	if x.flow.MaxSteps == 0 {
		x.flow.MaxSteps = defaultMaxSteps
	}
	var result json.RawMessage
	var failure *holdshort.Failure
	returned := x.branch("", func(c *Context) {
		out, err := f.run(c, input)
		if result = out; err != nil {
			failure = failureOf(err) // here, because the text of an author's error is author's code
		}
	})
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.ending != nil:
	case x.waits:
		x.ending = &Ending{State: Suspended}
	case !returned:
		x.ending = &Ending{State: Failed, Failure: &holdshort.Failure{Code: holdshort.Misused, Message: "the flow's function ended its goroutine (return, or use flow.End)"}}
	case failure != nil:
		x.ending = &Ending{State: Failed, Failure: failure}
	default:
		x.ending = &Ending{State: Completed, Result: result}
	}
	x.ending.Unwound = x.unwind
	return *x.ending
}

// branch runs fn in a goroutine of its own, so that it can be unwound by Goexit, which no author's code can recover from. It reports whether
// fn came to its end.
func (x *execution) branch(path string, fn func(*Context)) (returned bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		c := &Context{x: x, path: path, lane: &lane{entry: entryPoint()}}
		if path != "" {
			c.lane.goroutine = goroutineID()
		}
		defer func() {
			c.ended.Store(true)
			if p := recover(); p != nil {
				x.panicked(p, debug.Stack(), c.lane.unwinding.Load())
			}
		}()
		fn(c)
		returned = true
	}()
	<-done
	return returned
}

// panicked fails the run. A deferred function that panics because its flow is being suspended does not: the pause stands.
func (x *execution) panicked(p any, stack []byte, unwinding bool) {
	if unwinding {
		x.mu.Lock()
		x.unwind = fmt.Sprintf("%v\n%s", p, clip(string(stack)))
		x.mu.Unlock()
		return
	}
	x.stop(&Ending{State: Failed, Failure: &holdshort.Failure{Code: holdshort.Panicked, Message: clipTo(fmt.Sprint("panic: ", p), 500), Stack: clip(string(stack))}})
}

// busy tells a recorder that wants to know how many effects are under way, so that it can tell a flow that works from one that hangs.
func (x *execution) busy(more int) {
	if b, ok := x.recorder.(interface{ Busy(more int) }); ok {
		b.Busy(more)
	}
}

// stop ends the execution: the first reason counts, effects that are under way finish, no other begins.
func (x *execution) stop(e *Ending) {
	x.mu.Lock()
	if x.ending == nil {
		x.ending = e
	}
	x.mu.Unlock()
	x.stopped.Store(true)
}

// obey carries out what a recorder answered instead of an outcome. It does not return.
func (c *Context) obey(err error) {
	x := c.x
	var s *Signal
	if !errors.As(err, &s) {
		s = &Signal{State: Abandoned, Err: err}
	}
	if s.State == Suspended {
		x.mu.Lock()
		x.waits = true
		x.mu.Unlock()
	} else {
		x.stop(&Ending{State: s.State, Code: s.Code, Failure: s.Failure, Err: s.Err})
	}
	c.unwind()
}

// unwind ends the branch. Deferred functions of the author run; effects that they try are refused by unwinding on.
func (c *Context) unwind() {
	c.lane.unwinding.Store(true)
	runtime.Goexit()
}

const maxStack = 16 << 10

func clip(s string) string { return clipTo(s, maxStack) }

// clipTo also mends what is no UTF-8: the journal could not keep it, and a replay would read another text.
func clipTo(s string, n int) string {
	if len(s) > n {
		s = s[:n] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// failureOf names the step whose error the function returned: it is the one that a retry does again.
func failureOf(err error) *holdshort.Failure {
	f := &holdshort.Failure{Code: holdshort.CodeOf(err), Message: clipTo(err.Error(), 2000)}
	for i, step := range stepsOf(err) {
		if i == 0 {
			f.Step = step
		} else {
			f.Others = append(f.Others, step)
		}
	}
	return f
}

// stepsOf names every step whose error is in err: branches fail side by side.
func stepsOf(err error) []string {
	switch e := err.(type) {
	case nil:
		return nil
	case *StepError:
		return []string{e.Step}
	case interface{ Unwrap() []error }:
		var steps []string
		for _, part := range e.Unwrap() {
			steps = append(steps, stepsOf(part)...)
		}
		return steps
	}
	return stepsOf(errors.Unwrap(err))
}
