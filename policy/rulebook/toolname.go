package rulebook

import (
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
)

// ToolName is a literal that a condition compares the name of the tool with.
type ToolName struct {
	Rule         int // index
	Tool         string
	Line, Column int // within the condition, from 1
}

// ToolNames returns the tools that conditions name with ==, != or in. Patterns such as startsWith name no tool:
// they are for later ones too.
func (b *Book) ToolNames() (all []ToolName) {
	for i := range b.rules {
		for _, n := range b.rules[i].tools {
			n.Rule = i
			all = append(all, n)
		}
	}
	return all
}

func toolNamesOf(checked *ast.AST) (list []ToolName) {
	add := func(e ast.Expr) {
		if text, ok := literal(e); ok {
			place := checked.SourceInfo().GetStartLocation(e.ID())
			list = append(list, ToolName{Tool: text, Line: place.Line(), Column: place.Column() + 1})
		}
	}
	isTool := func(e ast.Expr) bool {
		variable, ok := variableOf(e)
		return ok && variable == aTool
	}
	ast.PreOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		args := e.AsCall().Args()
		switch e.AsCall().FunctionName() {
		case operators.Equals, operators.NotEquals:
			for i := range args {
				if isTool(args[i]) {
					add(args[1-i])
				}
			}
		case operators.In:
			if isTool(args[0]) && args[1].Kind() == ast.ListKind {
				for _, item := range args[1].AsList().Elements() {
					add(item)
				}
			}
		}
	}))
	return list
}
