package rulebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// facts are what conditions see of one call, each made when it is first looked at.
type facts struct {
	call   policy.Call
	values [12]ref.Val
	weight weight // of the arguments, once they were looked at
}

var _ interpreter.Activation = (*facts)(nil)

// Parent is nobody: a condition sees nothing but the facts.
func (f *facts) Parent() interpreter.Activation { return nil }

// ResolveName gives a variable.
func (f *facts) ResolveName(name string) (any, bool) {
	i := 0
	switch name {
	case "tool":
	case "args":
		i = 1
	case "effect":
		i = 2
	case "reversible":
		i = 3
	case "idempotent":
		return types.Bool(f.call.Idempotent), true
	case "requires_approval":
		return types.Bool(f.call.Guarded), true
	case "changed":
		return types.Bool(f.call.Changed), true
	case "hints.read_only":
		return types.Bool(f.call.ReadOnly), true
	case "hints.destructive":
		return types.Bool(f.call.Destroys), true
	case "hints.trusted":
		return types.Bool(f.call.Trusted), true
	case "cost":
		i = 4
	case "agent":
		i = 5
	case "flow":
		i = 6
	case "actor":
		i = 7
	case "session":
		i = 8
	case "run":
		i = 9
	case "tenant":
		i = 10
	case "now":
		i = 11
	default:
		return nil, false
	}
	if f.values[i] == nil {
		f.values[i] = f.make(i)
	}
	return f.values[i], true
}

// weigh gives the weight of the arguments.
func (f *facts) weigh() weight {
	f.ResolveName("args")
	return f.weight
}

func (f *facts) make(i int) ref.Val {
	switch i {
	case 1:
		value, err := decode(f.call.Args)
		if err != nil {
			return types.WrapErr(fmt.Errorf("read the arguments: %w", err))
		}
		return f.weight.valueOf(value)
	case 4:
		return types.Int(f.call.Cost)
	case 11:
		return types.Timestamp{Time: f.call.Now.UTC()}
	}
	return types.String(f.text(i))
}

func (f *facts) text(i int) string {
	switch i {
	case 0:
		return f.call.Tool
	case 2:
		return f.call.Effect
	case 3:
		return f.call.Reversible
	case 5:
		return f.call.Agent
	case 6:
		return f.call.Flow
	case 7:
		return f.call.User
	case 8:
		return string(f.call.Session)
	case 9:
		return string(f.call.Run)
	}
	return string(f.call.Tenant)
}

// decode reads arguments. What could mean two things is refused, as it is where calls are stored.
func decode(args json.RawMessage) (any, error) {
	if len(bytes.TrimSpace(args)) == 0 {
		return map[string]any{}, nil
	}
	canonical, err := holdshort.Canonical(args)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(canonical))
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("more than one value")
	}
	return value, finite(value)
}

func finite(value any) error {
	if n, ok := value.(float64); ok && (math.IsInf(n, 0) || math.IsNaN(n)) {
		return errors.New("a number beyond all bounds")
	}
	return nil
}
