package replay

import (
	"math"

	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

// Tools is what is known of the tools that calls name.
type Tools interface {
	// Declared gives the call as its tool's declaration completes it. Where not all of that is known it gives each that it may be, and none for a
	// tool that nobody knows.
	Declared(call policy.Call) []policy.Call
}

// ToolsFunc is Tools as a function.
type ToolsFunc func(call policy.Call) []policy.Call

// Declared calls f.
func (f ToolsFunc) Declared(call policy.Call) []policy.Call { return f(call) }

// Registered are tools that a program has: all of their declaration is known.
func Registered(tools []tool.Tool) Tools {
	byName := make(map[string]tool.Tool, len(tools))
	for _, t := range tools {
		byName[t.Name] = t
	}
	return registered(byName)
}

type registered map[string]tool.Tool

func (r registered) Declared(call policy.Call) []policy.Call {
	t, ok := r[call.Tool]
	if !ok {
		return nil
	}
	call.Known, call.Effect, call.Reversible, call.Idempotent, call.Guarded = true, string(t.Effect), string(t.Reversible), t.Idempotent, t.Guarded
	if call.Effect == "" {
		call.Effect = string(tool.Write)
	}
	if call.Reversible == "" {
		call.Reversible = string(tool.Irreversible)
	}
	if h := t.Hints; h != nil {
		call.Hinted, call.Trusted, call.ReadOnly, call.Destroys = true, h.Trusted, h.ReadOnly, h.Destructive
	}
	call.Cost = costOf(t, call)
	return []policy.Call{call}
}

// dear is the cost of a call that cannot be reckoned, as the kernel takes it.
const dear = math.MaxInt64 >> 16

// costOf asks a tool what a call costs. One that cannot say is never cheap.
func costOf(t tool.Tool, call policy.Call) (cost int64) {
	if t.Cost == nil {
		return 0
	}
	defer func() {
		if recover() != nil || cost < 0 || cost > dear {
			cost = dear
		}
	}()
	return t.Cost(call.Args)
}

// outside takes a call as the gate does: its tool lives elsewhere, and changes things for good.
func outside(call policy.Call) policy.Call {
	call.Known, call.Effect, call.Reversible = true, string(tool.Write), string(tool.Irreversible)
	return call
}

// Guesses are all that a tool can declare, as far as a policy can tell them apart.
func Guesses(call policy.Call) (calls []policy.Call) {
	for _, effect := range []tool.Effect{tool.Read, tool.Write} {
		for _, reversible := range []tool.Reversible{tool.Yes, tool.Irreversible, tool.External} {
			for _, idempotent := range []bool{false, true} {
				p := call
				p.Known, p.Effect, p.Reversible, p.Idempotent = true, string(effect), string(reversible), idempotent
				calls = append(calls, p)
			}
		}
	}
	return calls
}

// changed asks a tool whether it is still what somebody agreed to. One that cannot say is not.
func changed(t tool.Tool) (is bool) {
	if t.Changed == nil {
		return false
	}
	defer func() {
		if recover() != nil {
			is = true
		}
	}()
	return t.Changed()
}
