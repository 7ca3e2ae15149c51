package rulebook

import (
	"math"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// meter says what a call within a condition costs. CEL's own knows it only where it knows the types, which it does not of arguments.
type meter struct{}

var _ interpreter.ActualCostEstimator = meter{}

// CallCost gives 1, and one for each value or ten bytes that are looked at.
func (meter) CallCost(function, _ string, args []ref.Val, result ref.Val) *uint64 {
	cost := uint64(1)
	switch function {
	case operators.In:
		if list, ok := args[1].(traits.Lister); ok {
			cost += heft(list)
		}
	case operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		cost += min(heft(args[0]), heft(args[1]))
	case operators.Add:
		if _, isList := result.(traits.Lister); !isList {
			cost += heft(result)
		}
	case overloads.Matches:
		cost += patternCost(length(args[0]), length(args[1]))
	case overloads.Size:
		if _, isText := args[0].(types.String); isText {
			cost += heft(args[0])
		}
	default:
		for _, a := range args {
			if _, isText := a.(types.String); isText {
				cost += heft(a)
			}
		}
	}
	return &cost
}

// patternCost is of what a pattern of so many bytes takes to go through so many bytes of text.
func patternCost(text, pattern int) uint64 { return (1 + uint64(text)/2) * (1 + uint64(pattern)/10) }

func length(v ref.Val) int {
	text, _ := v.(types.String)
	return len(text)
}

// heft is how much there is in a value.
func heft(v ref.Val) uint64 {
	switch v := v.(type) {
	case types.String:
		return uint64(len(v)) / 10
	case types.Bytes:
		return uint64(len(v)) / 10
	case *object:
		return v.heft
	case *list:
		return v.heft
	case traits.Sizer:
		if n, ok := v.Size().(types.Int); ok && n > 0 {
			return uint64(n)
		}
	}
	return 0
}

// shape is what the text of a condition says of its cost.
type shape struct {
	nodes int
	text  int  // bytes of the texts in it
	depth int  // of loops within loops
	grows bool // it puts texts or lists together
	scans bool // it searches texts or lists, or compares them
	// patterns that it matches, in bytes, and whether arguments are among them
	patterns int
	foreign  bool
}

func shapeOf(e ast.Expr) shape {
	s := shape{depth: depthOf(e)}
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		s.nodes++
		if text, ok := literal(e); ok {
			s.text += len(text)
		}
		if e.Kind() != ast.CallKind {
			return
		}
		switch call := e.AsCall(); call.FunctionName() {
		case operators.Add:
			s.grows, s.scans = true, true
		case overloads.Matches:
			text, ok := literal(call.Args()[len(call.Args())-1])
			s.patterns, s.foreign = s.patterns+1+len(text), s.foreign || !ok
		case operators.In, operators.Equals, operators.NotEquals, overloads.Contains, overloads.StartsWith, overloads.EndsWith, overloads.Size:
			s.scans = true
		}
	}))
	return s
}

func depthOf(e ast.Expr) int {
	switch e.Kind() {
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		inner := max(depthOf(c.LoopCondition()), depthOf(c.LoopStep()))
		return max(1+inner, depthOf(c.IterRange()), depthOf(c.Result()))
	case ast.CallKind:
		deepest := 0
		if target := e.AsCall().Target(); target != nil && e.AsCall().IsMemberFunction() {
			deepest = depthOf(target)
		}
		for _, a := range e.AsCall().Args() {
			deepest = max(deepest, depthOf(a))
		}
		return deepest
	case ast.SelectKind:
		return depthOf(e.AsSelect().Operand())
	case ast.ListKind:
		deepest := 0
		for _, item := range e.AsList().Elements() {
			deepest = max(deepest, depthOf(item))
		}
		return deepest
	case ast.MapKind:
		deepest := 0
		for _, entry := range e.AsMap().Entries() {
			deepest = max(deepest, depthOf(entry.AsMapEntry().Key()), depthOf(entry.AsMapEntry().Value()))
		}
		return deepest
	}
	return 0
}

// most is more than the condition can cost with arguments of this weight, whatever they are. Counting what it really costs takes longer than
// most conditions do: it is left out where even this much is little.
func (s shape) most(w weight) float64 {
	turns, look := float64(max(w.values, s.nodes)), float64(w.values+(w.bytes+s.text)/10) // of one loop; in one look
	if s.grows {
		turns, look = float64(s.nodes*(w.values+1)), look*float64(s.nodes)
	}
	each := 1.0
	if s.scans {
		each += look
	}
	if s.patterns > 0 {
		pattern := s.patterns
		if s.foreign {
			pattern += w.bytes
		}
		each += look + float64(patternCost(int(look)*10, pattern))
	}
	return float64(s.nodes) * math.Pow(turns, float64(s.depth)) * each
}
