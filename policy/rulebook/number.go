package rulebook

import (
	"errors"
	"math"
	"strconv"

	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// arithmetic lets whole numbers and others be reckoned with one another. JSON does not tell them apart, and a rule that works for 120.5 and cannot
// be evaluated for 120, or divides 60 by 100 and gets 0, is a trap. What is beyond a number (1 / 0) is an error, never an infinity.
func arithmetic(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	call, ok := i.(interpreter.InterpretableCall)
	if !ok {
		return i, nil
	}
	switch args := call.Args(); call.Function() {
	case operators.Add, operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo:
		if len(args) == 2 {
			return &binary{InterpretableCall: call, left: args[0], right: args[1]}, nil
		}
	case overloads.TypeConvertString:
		if len(args) == 1 {
			return &written{InterpretableCall: call, arg: args[0]}, nil
		}
	}
	return i, nil
}

// binary is one operation on two values.
type binary struct {
	interpreter.InterpretableCall
	left, right interpreter.InterpretableV2
}

// Eval implements interpreter.Interpretable.
func (b *binary) Eval(vars interpreter.Activation) ref.Val {
	return b.Exec(interpreter.AsFrame(vars))
}

// Exec implements interpreter.InterpretableV2.
func (b *binary) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	l := b.left.Exec(frame)
	if types.IsUnknownOrError(l) {
		return l
	}
	r := b.right.Exec(frame)
	if types.IsUnknownOrError(r) {
		return r
	}
	if b.Function() == operators.Modulo {
		l, r = whole(l), whole(r)
	} else if x, y, ok := doubles(l, r); ok {
		return reckon(b.Function(), x, y)
	}
	switch b.Function() {
	case operators.Add:
		if n, ok := l.(traits.Adder); ok {
			return n.Add(r)
		}
	case operators.Subtract:
		if n, ok := l.(traits.Subtractor); ok {
			return n.Subtract(r)
		}
	case operators.Multiply:
		if n, ok := l.(traits.Multiplier); ok {
			return n.Multiply(r)
		}
	case operators.Divide:
		if n, ok := l.(traits.Divider); ok {
			return n.Divide(r)
		}
	case operators.Modulo:
		if n, ok := l.(traits.Modder); ok {
			return n.Modulo(r)
		}
	}
	return types.MaybeNoSuchOverloadErr(l)
}

// doubles gives both as doubles if one is and both are numbers.
func doubles(l, r ref.Val) (x, y float64, ok bool) {
	_, left := l.(types.Double)
	_, right := r.(types.Double)
	if !left && !right {
		return 0, 0, false
	}
	x, left = double(l)
	y, right = double(r)
	return x, y, left && right
}

func double(v ref.Val) (float64, bool) {
	switch n := v.(type) {
	case types.Double:
		return float64(n), true
	case types.Int:
		return float64(n), true
	case types.Uint:
		return float64(n), true
	}
	return 0, false
}

func reckon(operator string, x, y float64) ref.Val {
	var n float64
	switch operator {
	case operators.Add:
		n = x + y
	case operators.Subtract:
		n = x - y
	case operators.Multiply:
		n = x * y
	case operators.Divide:
		if y == 0 {
			return types.WrapErr(errors.New("division by zero"))
		}
		n = x / y
	}
	if math.IsInf(n, 0) || math.IsNaN(n) {
		return types.WrapErr(errors.New("the result is no number"))
	}
	return types.Double(n)
}

// exact is the bound below which every whole number is a double of its own.
const exact = 1 << 53

// whole makes a double that is a whole number one.
func whole(v ref.Val) ref.Val {
	if n, ok := v.(types.Double); ok && float64(n) == math.Trunc(float64(n)) && math.Abs(float64(n)) <= exact {
		return types.Int(int64(n))
	}
	return v
}

// written is a value as text. A whole number reads 10000000, not 1e+07.
type written struct {
	interpreter.InterpretableCall
	arg interpreter.InterpretableV2
}

// Eval implements interpreter.Interpretable.
func (w *written) Eval(vars interpreter.Activation) ref.Val {
	return w.Exec(interpreter.AsFrame(vars))
}

// Exec implements interpreter.InterpretableV2.
func (w *written) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	v := w.arg.Exec(frame)
	if types.IsUnknownOrError(v) {
		return v
	}
	if n, ok := whole(v).(types.Int); ok {
		return types.String(strconv.FormatInt(int64(n), 10))
	}
	return v.ConvertToType(types.StringType)
}
