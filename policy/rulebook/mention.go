package rulebook

import (
	"slices"

	"cel.dev/cel-go/common/ast"
)

// Mention is an argument that a condition cannot do without, in a rule that is for certain tools alone.
type Mention struct {
	Rule         int // index
	Tools        []string
	Argument     string
	Line, Column int // within the condition, from 1
}

// Mentions gives them, for whoever knows which arguments the tools take.
func (b *Book) Mentions() (all []Mention) {
	for i := range b.rules {
		for _, m := range b.rules[i].mentions {
			m.Rule = i
			all = append(all, m)
		}
	}
	return all
}

// mentionsOf finds args.NAME, but not has(args.NAME), which is how a condition asks whether there is one.
func mentionsOf(checked *ast.AST, guards []guard) (list []Mention) {
	var tools []string
	for _, g := range guards {
		if g.variable != aTool || slices.ContainsFunc(g.patterns, func(p pattern) bool { return p.prefix }) {
			continue
		}
		for _, p := range g.patterns {
			tools = append(tools, p.text)
		}
	}
	if len(tools) == 0 {
		return nil
	}
	optional := map[string]bool{}
	ast.PreOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.SelectKind || e.AsSelect().Operand().Kind() != ast.IdentKind || e.AsSelect().Operand().AsIdent() != "args" {
			return
		}
		s := e.AsSelect()
		if s.IsTestOnly() {
			optional[s.FieldName()] = true
			return
		}
		place := checked.SourceInfo().GetStartLocation(e.ID())
		list = append(list, Mention{Tools: tools, Argument: s.FieldName(), Line: place.Line(), Column: place.Column() + 2})
	}))
	return slices.DeleteFunc(list, func(m Mention) bool { return optional[m.Argument] })
}
