package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"strings"
)

const maxLines = 800

// Comments wants every package to say what it is for.
func Comments(files []*File) []Finding {
	var found []Finding
	for dir, members := range packages(files) {
		var shipped []*File
		for _, f := range members {
			if !f.Test {
				shipped = append(shipped, f)
			}
		}
		if len(shipped) == 0 {
			continue
		}
		first := shipped[0]
		opening := "Package " + first.Syntax.Name.Name
		if first.Syntax.Name.Name == "main" {
			opening = "Command " + path.Base(dir)
		}
		if !documented(shipped, opening) {
			found = append(found, first.at(first.Syntax.Name,
				"package %s has no comment that begins %q and is a sentence: say in doc.go, in two lines, what it is for and what it may import", dir, opening))
		}
	}
	return found
}

func documented(files []*File, opening string) bool {
	for _, f := range files {
		rest, ok := strings.CutPrefix(f.Syntax.Doc.Text(), opening+" ")
		if ok && len(strings.Fields(rest)) >= 3 && strings.Contains(rest, ".") {
			return true
		}
	}
	return false
}

// Size refuses files that nobody reads to the end.
func Size(files []*File) []Finding {
	var found []Finding
	for _, f := range files {
		if !f.Generated && f.Lines > maxLines {
			found = append(found, Finding{f.Path, f.Lines, fmt.Sprintf("%d lines, more than %d: split it by noun", f.Lines, maxLines)})
		}
	}
	return found
}

// Registries refuses what runs by being linked: func init, and imports for their side effect outside the database drivers.
// Users import what they use and pass the value.
func Registries(files []*File) []Finding {
	drivers := map[string]bool{"store/sqlite": true, "store/postgres": true, "bench": true} // the bench speaks to databases without a store, to compare
	harmless := map[string]bool{"embed": true, "time/tzdata": true}
	var found []Finding
	for _, f := range files {
		if f.Generated {
			continue
		}
		for _, decl := range f.Syntax.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				found = append(found, f.at(fn, "func init runs because it is linked: make it a value or a constructor that the caller passes on"))
			}
		}
		for spec, p := range f.imports() {
			if spec.Name != nil && spec.Name.Name == "_" && !drivers[f.Dir] && !harmless[p] && !f.Test {
				found = append(found, f.at(spec, "imports %s for its side effect: import store/sqlite or store/postgres and pass the value", p))
			}
		}
	}
	return found
}
