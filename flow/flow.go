package flow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
)

// Flow is one version of a named durable function. Versions live side by side: a run keeps the one it was started with.
type Flow struct {
	Name    string
	Version int
	// Tools that it calls. A node claims only runs whose tools it has. Default: none are demanded.
	Tools []string
	// MaxSteps is how many effects one run may have. Default: 10,000.
	MaxSteps int
	// Concurrency is how many runs of it a node runs at once. Default: no limit of its own.
	Concurrency int

	run func(*Context, json.RawMessage) (json.RawMessage, error)
}

const defaultMaxSteps = 10_000

// New makes a flow of a function. In and Out are what encoding/json can read and write.
func New[In, Out any](name string, version int, fn func(c *Context, in In) (Out, error)) Flow {
	return Flow{Name: name, Version: version, run: func(c *Context, raw json.RawMessage) (json.RawMessage, error) {
		var in In
		if len(bytes.TrimSpace(raw)) > 0 {
			if err := json.Unmarshal(raw, &in); err != nil {
				return nil, &holdshort.Error{Code: holdshort.Invalid, Op: "read input of " + name, Field: "input", Message: "the input does not fit the flow", Err: err,
					Hint: "start it with the JSON that it takes"}
			}
		}
		out, err := fn(c, in)
		if err != nil {
			return nil, err
		}
		return encode("result of "+name, out)
	}}
}

// Check refuses a flow that cannot be run.
func (f Flow) Check() error {
	if f.run == nil || f.Version < 1 || f.Concurrency < 0 || f.MaxSteps < 0 {
		return &holdshort.Error{Code: holdshort.Invalid, Op: "register flow " + f.Name, Message: "a flow has a function, a version from 1 on, and no negative limits",
			Hint: "make it with flow.New"}
	}
	return checkName(f.Name)
}

// Title is the name with its version: refund@2.
func (f Flow) Title() string { return fmt.Sprintf("%s@%d", f.Name, f.Version) }

func encode(what string, v any) (json.RawMessage, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, &holdshort.Error{Code: holdshort.Invalid, Op: "encode " + what, Message: "it cannot be written as JSON", Err: err, Hint: "return what encoding/json can write"}
	}
	return raw, nil
}

// Ending is how an execution came to rest.
type Ending struct {
	State   State
	Result  json.RawMessage    // of Completed
	Failure *holdshort.Failure // of Failed
	Code    holdshort.Code     // of Held
	Err     error              // of Abandoned, and why it is Held
	// Unwound is the stack of a deferred function that panicked while the flow was suspended; the pause stands all the same.
	Unwound string
}

// State is where an execution stopped.
type State uint8

const (
	Completed State = iota
	Suspended       // every branch has ended or waits
	Failed
	Held      // it cannot go on for a reason outside its code
	Abandoned // the node gave it up: stopping, lease lost, store away
)

// Never is an expiry that somebody wrote.
const Never time.Duration = -1
