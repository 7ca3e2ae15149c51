package archtest

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Module is the path of this module; folders in this package are relative to it, "." being the root package.
const Module = "github.com/holdshort/holdshort"

// File is one parsed source file.
type File struct {
	Path      string // slash-separated, relative to the module's root
	Dir       string // of Path; "." for the root package
	Test      bool   // a _test.go file
	Generated bool   // marked "Code generated … DO NOT EDIT."
	Lines     int
	Syntax    *ast.File
	fset      *token.FileSet
}

// Finding is one thing to change. Text says what is wrong and what to do.
type Finding struct {
	Path string
	Line int
	Text string
}

func (f Finding) String() string { return fmt.Sprintf("%s:%d: %s", f.Path, f.Line, f.Text) }

func (f *File) at(node ast.Node, format string, args ...any) Finding {
	return Finding{Path: f.Path, Line: f.fset.Position(node.Pos()).Line, Text: fmt.Sprintf(format, args...)}
}

// Imports gives the path of every import, by its spec.
func (f *File) imports() map[*ast.ImportSpec]string {
	paths := make(map[*ast.ImportSpec]string, len(f.Syntax.Imports))
	for _, spec := range f.Syntax.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths[spec] = p
		}
	}
	return paths
}

// Load parses every Go file of the module at root, whatever its build tags. Folders the go command leaves out
// (testdata, hidden and underscored ones) and nested modules are left out.
func Load(root string) ([]*File, error) {
	var files []*File
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if entry.IsDir() {
			return enter(root, rel)
		}
		if !strings.HasSuffix(rel, ".go") {
			return nil
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := parse(fset, rel, source)
		if err != nil {
			return err
		}
		files = append(files, file)
		return nil
	})
	return files, err
}

func enter(root, rel string) error {
	if rel == "." {
		return nil
	}
	base := path.Base(rel)
	if base == "testdata" || base == "vendor" || base[0] == '.' || base[0] == '_' {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(root, rel, "go.mod")); !errors.Is(err, fs.ErrNotExist) {
		return fs.SkipDir // a module of its own
	}
	return nil
}

func parse(fset *token.FileSet, rel string, source []byte) (*File, error) {
	syntax, err := parser.ParseFile(fset, rel, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &File{
		Path: rel, Dir: path.Dir(rel),
		Test:      strings.HasSuffix(rel, "_test.go"),
		Generated: ast.IsGenerated(syntax),
		Lines:     bytes.Count(source, []byte("\n")),
		Syntax:    syntax, fset: fset,
	}, nil
}

// packages groups the files by folder.
func packages(files []*File) map[string][]*File {
	dirs := map[string][]*File{}
	for _, f := range files {
		dirs[f.Dir] = append(dirs[f.Dir], f)
	}
	return dirs
}
