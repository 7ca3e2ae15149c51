package flowcheck

import (
	"go/ast"
	"go/types"
	"slices"
)

// prepare finds what the walk over a flow has to know before: which literals are steps, and which variables hold maps that effects gave.
func (i *inspection) prepare(body *ast.BlockStmt) {
	literals := map[types.Object]*ast.FuncLit{}
	bind := func(names []ast.Expr, values []ast.Expr) {
		for n, value := range values {
			id, ok := names[min(n, len(names)-1)].(*ast.Ident)
			if !ok {
				continue
			}
			o := i.info.Defs[id]
			if o == nil {
				o = i.info.Uses[id]
			}
			switch v := value.(type) {
			case *ast.FuncLit:
				literals[o] = v
			case *ast.CallExpr:
				if o != nil && i.givesMap(v) {
					i.tables[o] = true
				}
			}
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			bind(n.Lhs, n.Rhs)
		case *ast.ValueSpec:
			var names []ast.Expr
			for _, id := range n.Names {
				names = append(names, id)
			}
			bind(names, n.Values)
		}
		return true
	})
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if name, _ := i.effectOf(call); name != "Step" && name != "Model" {
			return true
		}
		for _, arg := range call.Args {
			switch a := arg.(type) {
			case *ast.FuncLit:
				i.steps[a] = true
			case *ast.Ident:
				if lit := literals[i.info.Uses[a]]; lit != nil {
					i.steps[lit] = true
				}
			}
		}
		return true
	})
}

// givesMap reports whether an effect's outcome is a map: by its type argument, or by the function that it is given.
func (i *inspection) givesMap(call *ast.CallExpr) bool {
	name, instance := i.effectOf(call)
	if name == "" {
		return false
	}
	if len(instance) > 0 {
		return isMap(i.info.TypeOf(instance[0]))
	}
	for _, arg := range call.Args {
		if signature, ok := i.info.TypeOf(arg).(*types.Signature); ok && signature.Results().Len() > 0 && (name == "Step" || name == "Model") {
			return isMap(signature.Results().At(0).Type())
		}
	}
	return false
}

func isMap(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// ranges refuses loops whose order is another one each time, when effects follow it.
func (i *inspection) ranges(loop *ast.RangeStmt, own []types.Object) {
	if t := i.info.TypeOf(loop.X); t != nil {
		if _, ok := t.Underlying().(*types.Chan); ok {
			i.report(loop, "receives from a channel, which no restart survives", "use flow.Wait, or the results of flow.All and flow.Each")
			return
		}
	}
	if !i.unordered(loop.X) {
		return
	}
	effects := false
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && slices.Contains(own, i.info.Uses[id]) {
			effects = true
		}
		return !effects
	})
	if effects {
		i.report(loop, "does effects in the order of a map, which is another one on every replay", "range over slices.Sorted(maps.Keys(…))")
	}
}

// unordered reports whether an expression is a map, or the keys and values of one as they come.
func (i *inspection) unordered(x ast.Expr) bool {
	if isMap(i.info.TypeOf(x)) {
		return true
	}
	switch x := x.(type) {
	case *ast.ParenExpr:
		return i.unordered(x.X)
	case *ast.Ident:
		return i.tables[i.info.Uses[x]]
	case *ast.CallExpr:
		if s, ok := x.Fun.(*ast.SelectorExpr); ok {
			return i.imported(s) == "maps" && slices.Contains([]string{"All", "Keys", "Values", "Clone", "Collect"}, s.Sel.Name) ||
				i.imported(s) == "slices" && s.Sel.Name == "Collect" && len(x.Args) == 1 && i.unordered(x.Args[0])
		}
	}
	return false
}
