package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/holdshort/holdshort"
)

// maxSize of a file: whoever needs more has the wrong one.
const maxSize = 4 << 20

// Read reads and checks a file, with the process's environment. What is wrong with its content is Faults.
func Read(file string) (Config, error) {
	content, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Config{}, &holdshort.Error{Code: holdshort.NotFound, Op: "read " + file, Message: "there is no such file", Hint: "check --config"}
	case err != nil:
		return Config{}, &holdshort.Error{Code: holdshort.Invalid, Op: "read " + file, Err: err, Hint: "check the file and its rights"}
	}
	return Parse(file, content, os.LookupEnv)
}

// Parse reads and checks a configuration; name is what faults call it.
func Parse(name string, content []byte, env func(string) (string, bool)) (Config, error) {
	var c Config
	d := &decoder{file: name, env: env, anchors: map[string]ast.Node{}, places: map[string]place{}, budget: 100_000}
	if fault := d.read(content, &c); fault != nil {
		d.faults, d.unread = Faults{*fault}, []string{""}
	}
	c.origin = &origin{at: d.at, faults: d.faults, unread: d.unread, reset: d.reset}
	return c, c.Check()
}

// Check returns every fault of a configuration: those of the file that it was read from, and those of its values.
func (c Config) Check() error {
	k := &checker{Config: c, at: func(path, message, hint string) Fault {
		return Fault{Path: path, Message: message,
			Hint: hint}
	}}
	if c.origin != nil {
		k.at, k.faults, k.unread = c.origin.at, slices.Clone(c.origin.faults), c.origin.unread
	}
	k.check()
	if len(k.faults) == 0 {
		return nil
	}
	return k.faults.Sorted()
}

// read decodes content into c. A fault that leaves nothing of the content readable is returned.
func (d *decoder) read(content []byte, c *Config) *Fault {
	if len(content) > maxSize {
		return &Fault{File: d.file, Message: fmt.Sprintf("%d bytes are more than a configuration has", len(content)),
			Hint: "check which file this is"}
	}
	if !utf8.Valid(content) {
		return &Fault{File: d.file, Message: "this is not UTF-8 text", Hint: "save it as UTF-8"}
	}
	d.lines = strings.SplitAfter(string(content), "\n")
	file, err := parser.ParseBytes(content, 0)
	if err != nil {
		fault := d.syntax(err)
		return &fault
	}
	body, fault := d.document(file)
	if body != nil && fault == nil {
		d.value(body, reflect.ValueOf(c).Elem(), "")
	}
	return fault
}

// document gives the one document of a file, nil for an empty one.
func (d *decoder) document(file *ast.File) (ast.Node, *Fault) {
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			f := d.fault(doc.Body, "", "a second document", "a configuration is one document: take the --- away")
			return nil, &f
		}
		body = doc.Body
	}
	return body, nil
}

func (d *decoder) syntax(err error) Fault {
	f := Fault{File: d.file, Message: err.Error(), Hint: "check indents and brackets; quote texts that hold : { } [ ] , # or ${…}"}
	if known, ok := errors.AsType[yaml.Error](err); ok {
		f.Message = known.GetMessage()
		if strings.HasPrefix(f.Message, "mapping key ") {
			f.Hint = "keep one of them"
		}
		if tk := known.GetToken(); tk != nil && tk.Position != nil {
			f.Line, f.Column = tk.Position.Line, tk.Position.Column
			f.Excerpt = excerpt(d.lines, f.Line, f.Column)
		}
	}
	return f
}
