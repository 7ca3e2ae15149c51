package main

import (
	"cmp"

	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/replay"
)

// toolsOf is what a configuration says of tools. Where it does not have all of a tool's declaration, it gives each that the tool may have.
func toolsOf(read config.Config) replay.Tools {
	return replay.ToolsFunc(func(call policy.Call) []policy.Call {
		from := declare(read, &call)
		written := read.Tools[call.Tool]
		switch {
		case from == unknownTool:
			return nil
		case from == servedTool:
			calls := []policy.Call{call}
			for _, readOnly := range []bool{true, false} {
				p := call
				hint(read, &p, readOnly, !readOnly)
				calls = append(calls, p)
			}
			return calls
		case from == ownTool && (written.Effect == "" || written.Reversible == ""):
			calls := replay.Guesses(call)
			for i := range calls {
				p := &calls[i]
				p.Effect, p.Reversible, p.Idempotent = cmp.Or(written.Effect, p.Effect), cmp.Or(written.Reversible, p.Reversible), written.Idempotent || p.Idempotent
			}
			return calls
		}
		return []policy.Call{call}
	})
}
