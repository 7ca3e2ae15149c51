package archtest

import (
	"go/ast"
	"slices"
)

// Sleeps refuses tests that wait for time to pass: they are slow when they pass and flaky when they do not.
func Sleeps(files []*File) []Finding {
	var found []Finding
	for _, f := range files {
		if !f.Test {
			continue
		}
		clock := localName(f, "time")
		ast.Inspect(f.Syntax, func(node ast.Node) bool {
			if s, ok := node.(*ast.SelectorExpr); ok && selects(s, clock, "Sleep") {
				found = append(found, f.at(s, "time.Sleep in a test: wait for a signal, pass a clock, or use testing/synctest"))
			}
			return true
		})
	}
	return found
}

// Skips refuses tests that leave themselves out, wherever a testing.T, B, F or TB is at hand. Only internal/testpg, internal/testnode and internal/browser may, and do so aloud.
// Types of other packages with a method of that name (rapid's T) are theirs.
func Skips(files []*File) []Finding {
	var found []Finding
	for _, f := range files {
		pkg := localName(f, "testing")
		if pkg == "" || f.Dir == "internal/testpg" || f.Dir == "internal/testnode" || f.Dir == "internal/browser" {
			continue
		}
		for _, decl := range f.Syntax.Decls {
			found = append(found, skips(f, pkg, decl, nil)...)
		}
	}
	return found
}

// skips walks one node; tests holds, innermost last, whether a name in scope is one of testing's types.
func skips(f *File, pkg string, root ast.Node, tests []param) []Finding {
	var found []Finding
	ast.Inspect(root, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.FuncDecl:
			if n.Body != nil {
				found = append(found, skips(f, pkg, n.Body, slices.Concat(tests, params(pkg, n.Type)))...)
			}
			return false
		case *ast.FuncLit:
			found = append(found, skips(f, pkg, n.Body, slices.Concat(tests, params(pkg, n.Type)))...)
			return false
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, s.Sel.Name) && isTest(s.X, tests) {
				found = append(found, f.at(n, "%s: a test that leaves itself out proves nothing; make what it needs, or fail and say what is missing", s.Sel.Name))
			}
		}
		return true
	})
	return found
}

type param struct {
	name string
	test bool
}

func params(pkg string, fn *ast.FuncType) []param {
	var all []param
	for _, field := range fn.Params.List {
		kind := field.Type
		if star, ok := kind.(*ast.StarExpr); ok {
			kind = star.X
		}
		s, ok := kind.(*ast.SelectorExpr)
		test := ok && selects(s, pkg, "T", "B", "F", "TB")
		for _, name := range field.Names {
			all = append(all, param{name.Name, test})
		}
	}
	return all
}

func isTest(x ast.Expr, scope []param) bool {
	id, ok := x.(*ast.Ident)
	if !ok {
		return false
	}
	for _, p := range slices.Backward(scope) {
		if p.name == id.Name {
			return p.test
		}
	}
	return false
}
