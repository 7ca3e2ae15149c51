package rulebook

import (
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
)

// guard is what one variable must be for a condition to be anything but false. It is one of the texts that every call has, so that comparing it
// cannot fail.
type guard struct {
	variable int
	patterns []pattern
}

// pattern is a whole text or the beginning of one.
type pattern struct {
	text   string
	prefix bool
}

func (p pattern) matches(text string) bool {
	return text == p.text || p.prefix && strings.HasPrefix(text, p.text)
}

// guardsOf finds, from the text of a condition alone, for which calls it is false whatever else it says. CEL's && is false as soon as one side is,
// even where the other cannot be evaluated, in whichever order they stand: leaving such a rule out changes nothing.
func guardsOf(e ast.Expr) []guard {
	if e.Kind() != ast.CallKind {
		return nil
	}
	call := e.AsCall()
	args := call.Args()
	switch call.FunctionName() {
	case operators.LogicalAnd:
		var all []guard
		for _, a := range args {
			all = append(all, guardsOf(a)...)
		}
		return all
	case operators.LogicalOr:
		return either(args)
	case operators.Equals:
		for i := range args {
			if name, ok := variableOf(args[i]); ok {
				if text, ok := literal(args[1-i]); ok {
					return []guard{{name, []pattern{{text: text}}}}
				}
			}
		}
	case operators.In:
		name, ok := variableOf(args[0])
		if !ok || args[1].Kind() != ast.ListKind {
			return nil
		}
		g := guard{variable: name}
		for _, item := range args[1].AsList().Elements() {
			text, ok := literal(item)
			if !ok {
				return nil
			}
			g.patterns = append(g.patterns, pattern{text: text})
		}
		return []guard{g}
	case overloads.StartsWith:
		if name, ok := variableOf(call.Target()); ok && len(args) == 1 {
			if text, ok := literal(args[0]); ok {
				return []guard{{name, []pattern{{text: text, prefix: true}}}}
			}
		}
	}
	return nil
}

// either: only what every side insists on holds for the whole.
func either(sides []ast.Expr) []guard {
	common := guardsOf(sides[0])
	for _, side := range sides[1:] {
		others := guardsOf(side)
		var both []guard
		for _, g := range common {
			if i := slices.IndexFunc(others, func(o guard) bool { return o.variable == g.variable }); i >= 0 {
				both = append(both, guard{g.variable, slices.Concat(g.patterns, others[i].patterns)})
			}
		}
		common = both
	}
	return common
}

func variableOf(e ast.Expr) (int, bool) {
	if e == nil || e.Kind() != ast.IdentKind {
		return 0, false
	}
	n := number(e.AsIdent())
	return n, n >= 0 && n < theArgs
}

func literal(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	text, ok := e.AsLiteral().Value().(string)
	return text, ok
}

// mayMatch reports whether the condition can be anything but false.
func (r *compiled) mayMatch(f *facts) bool {
	for _, g := range r.guards {
		text := f.text(g.variable)
		if !slices.ContainsFunc(g.patterns, func(p pattern) bool { return p.matches(text) }) {
			return false
		}
	}
	return true
}

// index sorts the rules by the tools that they can match.
func (b *Book) index() {
	b.byTool = map[string][]int{}
	for i, r := range b.rules {
		at := slices.IndexFunc(r.guards, func(g guard) bool {
			return g.variable == aTool && !slices.ContainsFunc(g.patterns, func(p pattern) bool { return p.prefix })
		})
		if at < 0 {
			b.general = append(b.general, i)
			continue
		}
		for _, p := range r.guards[at].patterns {
			if list := b.byTool[p.text]; len(list) == 0 || list[len(list)-1] != i {
				b.byTool[p.text] = append(list, i)
			}
		}
	}
}
