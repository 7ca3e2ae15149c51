package archtest

import (
	"slices"
	"strings"
)

// ImportsIn returns the checker that holds a table of layers.
func ImportsIn(layers []Layer) func([]*File) []Finding {
	return func(files []*File) []Finding {
		var found []Finding
		unknown := map[string]bool{}
		for _, f := range files {
			row, ok := layer(layers, f.Dir)
			if !ok {
				if !unknown[f.Dir] {
					unknown[f.Dir] = true
					found = append(found, f.at(f.Syntax.Name, "package %s has no row in internal/archtest/layers.go: add one that says what it may import, and draw it in docs/architecture.md", f.Dir))
				}
				continue
			}
			for spec, p := range f.imports() {
				if problem := judge(row, f, p); problem != "" {
					found = append(found, f.at(spec, "%s", problem))
				}
			}
		}
		return found
	}
}

func judge(row Layer, f *File, imported string) string {
	own, internal := folder(imported)
	switch {
	case !internal && standard(imported):
		return ""
	case !internal:
		if f.Test || slices.ContainsFunc(row.Modules, func(m string) bool { return within(imported, m) }) {
			return ""
		}
		return "imports " + imported + ", which its row in internal/archtest/layers.go does not list: use the standard library, or let the package that owns this module do it"
	case own == f.Dir: // an external test imports what it tests
		return ""
	case !f.Test && slices.Contains(testsOnly, own) && !slices.Contains(row.Imports, own):
		return "imports " + imported + ", which is for tests: move the code into a _test.go file"
	case slices.ContainsFunc(row.Imports, func(p string) bool { return matches(p, own) }):
		return ""
	case f.Test && slices.ContainsFunc(row.Tests, func(p string) bool { return matches(p, own) }):
		return ""
	case f.Test:
		return "test imports " + imported + ", which neither Imports nor Tests of its row in internal/archtest/layers.go lists: move the test to the package that wires both"
	}
	return "imports " + imported + ", which its row in internal/archtest/layers.go does not list: calls go down the picture only; pass a value or a func in from above"
}

// folder turns an import path of this module into a folder.
func folder(imported string) (string, bool) {
	if imported == Module {
		return ".", true
	}
	return strings.CutPrefix(imported, Module+"/")
}

// standard tells the standard library by the first element, which has no dot.
func standard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

func within(imported, module string) bool {
	return imported == module || strings.HasPrefix(imported, module+"/")
}
