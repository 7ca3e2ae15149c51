package rulebook

import (
	"bytes"
	"encoding/json"
	"fmt"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// facts are what conditions see of one call, each made when it is first looked at.
type facts struct {
	call   policy.Call
	values [variables]ref.Val
	weight weight // of the arguments, once they were looked at
}

var _ interpreter.Activation = (*facts)(nil)

// The variables by number. Those before theArgs are texts that every call has.
const (
	aTool = iota
	anEffect
	aReversible
	anAgent
	aFlow
	anActor
	aTenant
	aSession
	aRun
	theArgs
	theCost
	theTime
	isIdempotent
	isGuarded
	isChanged
	isReadOnly
	isDestructive
	isTrusted
	variables
)

// number of a variable, -1 for none.
func number(name string) int {
	switch name {
	case "tool":
		return aTool
	case "effect":
		return anEffect
	case "reversible":
		return aReversible
	case "agent":
		return anAgent
	case "flow":
		return aFlow
	case "actor":
		return anActor
	case "tenant":
		return aTenant
	case "session":
		return aSession
	case "run":
		return aRun
	case "args":
		return theArgs
	case "cost":
		return theCost
	case "now":
		return theTime
	case "idempotent":
		return isIdempotent
	case "requires_approval":
		return isGuarded
	case "changed":
		return isChanged
	case "hints.read_only":
		return isReadOnly
	case "hints.destructive":
		return isDestructive
	case "hints.trusted":
		return isTrusted
	}
	return -1
}

// Parent is nobody: a condition sees nothing but the facts.
func (f *facts) Parent() interpreter.Activation { return nil }

// ResolveName gives a variable.
func (f *facts) ResolveName(name string) (any, bool) {
	n := number(name)
	if n < 0 {
		return nil, false
	}
	if f.values[n] == nil {
		f.values[n] = f.value(n)
	}
	return f.values[n], true
}

func (f *facts) value(n int) ref.Val {
	switch n {
	case theArgs:
		decoded, err := decode(f.call.Args)
		if err != nil {
			return types.WrapErr(fmt.Errorf("read the arguments: %w", err))
		}
		return f.weight.valueOf(decoded)
	case theCost:
		return types.Int(f.call.Cost)
	case theTime:
		return types.Timestamp{Time: f.call.Now.UTC()}
	case isIdempotent:
		return types.Bool(f.call.Idempotent)
	case isGuarded:
		return types.Bool(f.call.Guarded)
	case isChanged:
		return types.Bool(f.call.Changed)
	case isReadOnly:
		return types.Bool(f.call.ReadOnly)
	case isDestructive:
		return types.Bool(f.call.Destroys)
	case isTrusted:
		return types.Bool(f.call.Trusted)
	}
	return types.String(f.text(n))
}

func (f *facts) text(n int) string {
	switch n {
	case aTool:
		return f.call.Tool
	case anEffect:
		return f.call.Effect
	case aReversible:
		return f.call.Reversible
	case anAgent:
		return f.call.Agent
	case aFlow:
		return f.call.Flow
	case anActor:
		return f.call.User
	case aTenant:
		return string(f.call.Tenant)
	case aSession:
		return string(f.call.Session)
	}
	return string(f.call.Run)
}

// weigh gives the weight of the arguments.
func (f *facts) weigh() weight {
	f.ResolveName("args")
	return f.weight
}

// decode reads arguments. What could mean two things is refused, as it is where calls are stored.
func decode(args json.RawMessage) (value any, err error) {
	if len(bytes.TrimSpace(args)) == 0 {
		return map[string]any{}, nil
	}
	canonical, err := holdshort.Canonical(args)
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(canonical, &value)
	return value, err
}
