package archtest

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

var (
	emptyPackages = []string{"util", "utils", "common", "helper", "helpers", "types", "models", "core", "pkg", "base", "misc", "shared"}
	emptySuffixes = []string{"Manager", "Helper", "Util", "Utils", "Processor", "Impl", "Wrapper", "Base"}
)

// Names refuses names that say nothing.
func Names(files []*File) []Finding {
	var found []Finding
	for dir, members := range packages(files) {
		first := members[0]
		name := strings.TrimSuffix(first.Syntax.Name.Name, "_test")
		for _, word := range append(strings.Split(dir, "/"), name) {
			if slices.Contains(emptyPackages, word) {
				found = append(found, first.at(first.Syntax.Name, "package %s: %q says nothing; name it for what it holds or talks to", dir, word))
				break
			}
		}
		for _, f := range members {
			found = append(found, emptyTypes(f)...)
		}
	}
	return found
}

func emptyTypes(f *File) []Finding {
	var found []Finding
	ast.Inspect(f.Syntax, func(node ast.Node) bool {
		spec, ok := node.(*ast.TypeSpec)
		if !ok || !spec.Name.IsExported() {
			return true
		}
		for _, suffix := range emptySuffixes {
			if strings.HasSuffix(spec.Name.Name, suffix) {
				found = append(found, f.at(spec, "type %s: %q says nothing; name it for what it does or holds", spec.Name.Name, suffix))
			}
		}
		return true
	})
	return found
}

// doubleL is the spelling we do not use, put together so that this file passes its own test.
const doubleL = "cancel" + "led"

// SpellingIn returns the checker of the one spelling. People write both: word lists that read what they wrote
// are in the exceptions, as patterns of path.Match.
func SpellingIn(exceptions []string) func([]*File) []Finding {
	return func(files []*File) []Finding {
		var found []Finding
		for _, f := range files {
			if f.Generated || excepted(exceptions, f.Path) {
				continue
			}
			wrong := func(node ast.Node, text string) {
				if strings.Contains(strings.ToLower(text), doubleL) {
					found = append(found, f.at(node, "spelling: canceled, with one l, in code, tables, JSON and text alike"))
				}
			}
			ast.Inspect(f.Syntax, func(node ast.Node) bool {
				switch n := node.(type) {
				case *ast.Ident:
					wrong(n, n.Name)
				case *ast.BasicLit:
					wrong(n, n.Value)
				}
				return true
			})
			for _, group := range f.Syntax.Comments {
				for _, comment := range group.List {
					wrong(comment, comment.Text)
				}
			}
		}
		return found
	}
}

func excepted(exceptions []string, name string) bool {
	return slices.ContainsFunc(exceptions, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// ErrorText refuses the opening that tells nobody anything: an error is there because something failed.
func ErrorText(files []*File) []Finding {
	var found []Finding
	for _, f := range files {
		ast.Inspect(f.Syntax, func(node ast.Node) bool {
			lit, ok := node.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(lit.Value); err == nil && strings.HasPrefix(strings.ToLower(text), "failed"+" to") {
				found = append(found, f.at(lit, "error text: say verb, object, cause: \"open file: %%w\""))
			}
			return true
		})
	}
	return found
}
