package flowcheck

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// inspection is the look at one package.
type inspection struct {
	fset    *token.FileSet
	info    *types.Info
	allowed map[string]string     // by file and line: why
	steps   map[*ast.FuncLit]bool // handed to flow.Step or flow.Model
	tables  map[types.Object]bool // variables that hold a map which an effect gave
	found   []Finding
}

const allow = "//flowcheck:allow"

func (i *inspection) exceptions(f *ast.File) {
	for _, group := range f.Comments {
		for _, comment := range group.List {
			rest, ok := strings.CutPrefix(comment.Text, allow)
			if !ok {
				continue
			}
			reason, _, _ := strings.Cut(rest, "//")
			if reason = strings.TrimSpace(reason); reason == "" {
				i.report(comment, "an exception without a reason", "write "+allow+" and why it is right")
				continue
			}
			i.allowed[i.line(comment)] = reason
		}
	}
}

func (i *inspection) line(n ast.Node) string {
	p := i.fset.Position(n.Pos())
	return fmt.Sprint(p.Filename, ":", p.Line)
}

func (i *inspection) report(n ast.Node, message, hint string) {
	if i.allowed[i.line(n)] != "" {
		return
	}
	p := i.fset.Position(n.Pos())
	i.found = append(i.found, Finding{File: p.Filename, Line: p.Line, Column: p.Column, Message: message, Hint: hint})
}

// outside walks what is in no flow, until it finds one.
func (i *inspection) outside(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if own := i.contextOf(n.Type); own != nil && n.Body != nil {
			i.flow(n.Body, own, nil)
			return false
		}
	case *ast.FuncLit:
		if own := i.contextOf(n.Type); own != nil {
			i.flow(n.Body, own, nil)
			return false
		}
	}
	return true
}

// contextOf gives the variables of a first parameter that is a *flow.Context; nil when it is none, empty when it has no name.
func (i *inspection) contextOf(fn *ast.FuncType) []types.Object {
	if fn.Params == nil || len(fn.Params.List) == 0 {
		return nil
	}
	field := fn.Params.List[0]
	star, ok := field.Type.(*ast.StarExpr)
	if !ok {
		return nil
	}
	if s, ok := star.X.(*ast.SelectorExpr); !ok || i.imported(s) != flowPath || s.Sel.Name != "Context" {
		return nil
	}
	own := []types.Object{}
	for _, name := range field.Names {
		if o := i.info.Defs[name]; o != nil {
			own = append(own, o)
		}
	}
	return own
}

// imported gives the path of the package that a selector names something of, or "".
func (i *inspection) imported(s *ast.SelectorExpr) string {
	if id, ok := s.X.(*ast.Ident); ok {
		if p, ok := i.info.Uses[id].(*types.PkgName); ok {
			return p.Imported().Path()
		}
	}
	return ""
}

// effectOf gives the name of the function of package flow that a call calls, and its type arguments.
func (i *inspection) effectOf(call *ast.CallExpr) (name string, instance []ast.Expr) {
	fn := call.Fun
	switch f := fn.(type) {
	case *ast.IndexExpr:
		fn, instance = f.X, []ast.Expr{f.Index}
	case *ast.IndexListExpr:
		fn, instance = f.X, f.Indices
	}
	if s, ok := fn.(*ast.SelectorExpr); ok && i.imported(s) == flowPath {
		return s.Sel.Name, instance
	}
	return "", nil
}

// flow checks the body of a function that has the Contexts own; outer are those of the functions around it.
func (i *inspection) flow(body *ast.BlockStmt, own, outer []types.Object) {
	i.prepare(body)
	contexts := slices.Concat(outer, own)
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			if inner := i.contextOf(n.Type); inner != nil {
				i.flow(n.Body, inner, contexts)
				return false
			}
			if i.steps[n] {
				i.step(n.Body, contexts)
				return false
			}
		case *ast.GoStmt:
			i.report(n, "starts a goroutine, whose order no replay repeats", "use flow.All or flow.Each")
		case *ast.SelectStmt:
			i.report(n, "selects between channels, which no replay repeats", "use flow.Wait, or flow.All and flow.Each")
			for _, clause := range n.Body.List {
				for _, s := range clause.(*ast.CommClause).Body {
					ast.Inspect(s, visit)
				}
			}
			return false
		case *ast.SendStmt:
			i.report(n, "sends on a channel, which no restart survives", "return the value, or flow.Emit it")
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				i.report(n, "receives from a channel, which no restart survives", "use flow.Wait, or the results of flow.All and flow.Each")
			}
		case *ast.CallExpr:
			i.builtin(n)
		case *ast.RangeStmt:
			i.ranges(n, own)
		case *ast.SelectorExpr:
			if r, ok := forbidden(i.imported(n), n.Sel.Name); ok {
				i.report(n, i.text(n)+" "+r.message, r.hint)
			}
		case *ast.Ident:
			if slices.Contains(outer, i.info.Uses[n]) {
				i.report(n, n.Name+" is the Context of the function around this one", "use the Context that this function is given")
			}
		}
		return true
	}
	ast.Inspect(body, visit)
}

// step checks the body of a step: everything is free there but effects.
func (i *inspection) step(body *ast.BlockStmt, contexts []types.Object) {
	ast.Inspect(body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && slices.Contains(contexts, i.info.Uses[id]) {
			i.report(id, id.Name+" is used inside a step: an effect cannot contain another", "put the effects one after the other")
		}
		return true
	})
}

func (i *inspection) text(s *ast.SelectorExpr) string {
	return s.X.(*ast.Ident).Name + "." + s.Sel.Name
}

func (i *inspection) builtin(call *ast.CallExpr) {
	id, ok := call.Fun.(*ast.Ident)
	if !ok || len(call.Args) == 0 {
		return
	}
	if _, ok := i.info.Uses[id].(*types.Builtin); !ok {
		return
	}
	_, channel := call.Args[0].(*ast.ChanType)
	if id.Name == "close" || id.Name == "make" && channel {
		i.report(call, id.Name+"s a channel, which no restart survives", "use flow.Wait, or flow.All and flow.Each")
	}
}
