package flowcheck

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Finding is one thing that must not stand where it stands.
type Finding struct {
	File         string
	Line, Column int
	Message      string
	Hint         string // what to write instead
}

func (f Finding) String() string {
	return fmt.Sprintf("%s:%d:%d: %s (%s)", f.File, f.Line, f.Column, f.Message, f.Hint)
}

// Dir checks the Go files in a folder and in those below it, without tests, testdata and vendor, in the order of files and lines. The error
// is of a file that cannot be read or parsed.
func Dir(root string) ([]Finding, error) {
	var found []Finding
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !entry.IsDir() {
			return nil
		}
		if base := entry.Name(); name != root && (base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
			return filepath.SkipDir
		}
		here, err := folder(name)
		found = append(found, here...)
		return err
	})
	return found, err
}

// folder checks one package.
func folder(dir string) ([]Finding, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", dir, err)
	}
	fset := token.NewFileSet()
	packages := map[string][]*ast.File{}
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("parse %s: %w", filepath.Join(dir, name), err)
		}
		packages[f.Name.Name] = append(packages[f.Name.Name], f)
	}
	var found []Finding
	for _, files := range packages {
		found = append(found, inspect(fset, files)...)
	}
	slices.SortFunc(found, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return found, nil
}

// inspect looks for flows in the files of one package.
func inspect(fset *token.FileSet, files []*ast.File) []Finding {
	if !slices.ContainsFunc(files, importsFlow) {
		return nil
	}
	i := &inspection{fset: fset, allowed: map[string]string{}, steps: map[*ast.FuncLit]bool{}, tables: map[types.Object]bool{},
		info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}}
	// Imported packages are empty, so most of what the type checker says is not true; what it resolves within the package is.
	config := types.Config{Importer: empty{}, FakeImportC: true, Error: func(error) {}}
	_, _ = config.Check(files[0].Name.Name, fset, files, i.info)
	for _, f := range files {
		i.exceptions(f)
	}
	for _, f := range files {
		ast.Inspect(f, i.outside)
	}
	return i.found
}

func importsFlow(f *ast.File) bool {
	return slices.ContainsFunc(f.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"`+flowPath+`"` })
}

// empty imports every package as one that has nothing in it.
type empty struct{}

var version = regexp.MustCompile(`^v[0-9]+$`)

func (empty) Import(imported string) (*types.Package, error) {
	name := path.Base(imported)
	if version.MatchString(name) {
		name = path.Base(path.Dir(imported))
	}
	p := types.NewPackage(imported, name)
	p.MarkComplete()
	return p, nil
}
