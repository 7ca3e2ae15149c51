package archtest

import (
	"go/ast"
	"slices"
)

// impureImports reach outside the process; what lies below them in the path does too, but for the exceptions.
var (
	impureImports    = []string{"os", "net", "net/http", "database/sql", "log", "syscall", "io/ioutil"}
	pureAfterAll     = []string{"net/url", "net/netip", "net/mail", "net/textproto", "database/sql/driver"}
	impureTimeThings = []string{"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "Tick", "NewTimer", "NewTicker"}
)

// PureIn returns the checker of the packages marked Pure: what happens in them is a function of what was passed in.
func PureIn(layers []Layer) func([]*File) []Finding {
	return func(files []*File) []Finding {
		var found []Finding
		for _, f := range files {
			if row, ok := layer(layers, f.Dir); ok && row.Pure && !f.Test {
				found = append(found, impurities(f)...)
			}
		}
		return found
	}
}

func impurities(f *File) []Finding {
	var found []Finding
	for spec, p := range f.imports() {
		reaches := func(impure string) bool { return within(p, impure) }
		if slices.ContainsFunc(impureImports, reaches) && !slices.Contains(pureAfterAll, p) {
			found = append(found, f.at(spec, "imports %s in a pure package: do the I/O above and pass the value in", p))
		}
	}
	clock := localName(f, "time")
	ast.Inspect(f.Syntax, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.GoStmt:
			found = append(found, f.at(n, "starts a goroutine in a pure package: return the value and let the engine do the rest"))
		case *ast.SelectorExpr:
			if selects(n, clock, impureTimeThings...) {
				found = append(found, f.at(n, "uses time.%s in a pure package: take the time as a parameter", n.Sel.Name))
			}
		}
		return true
	})
	return found
}

// localName is the name under which a file knows a package of the standard library; "" when it does not import it.
func localName(f *File, imported string) string {
	for spec, p := range f.imports() {
		if p != imported {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return imported
	}
	return ""
}

// selects says whether an expression is pkg.Name for one of the names, called or passed on.
func selects(expr *ast.SelectorExpr, pkg string, names ...string) bool {
	x, ok := expr.X.(*ast.Ident)
	return ok && pkg != "" && x.Name == pkg && slices.Contains(names, expr.Sel.Name)
}
