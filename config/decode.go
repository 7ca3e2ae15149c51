package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// maxFaults bounds the report of a hostile or wrong file.
const maxFaults = 200

// decoder puts a tree of YAML into a Config, strictly, and remembers where everything stood.
type decoder struct {
	file    string
	lines   []string
	env     func(string) (string, bool)
	anchors map[string]ast.Node
	places  map[string]place
	texts   map[string]text
	faults  Faults
	unread  []string // paths whose values could not be read
	reset   []string // those of them that have their default instead
	budget  int      // nodes: aliases of aliases must not eat the machine
	depth   int
}

// maxDepth of nesting: an alias inside its own anchor has no end.
const maxDepth = 60

type place struct{ line, column int }

// texted is a type of its own that is written as one scalar.
type texted interface{ setText(string) error }

func (d *decoder) fault(node ast.Node, path, message, hint string) Fault {
	f := Fault{File: d.file, Path: path, Message: message, Hint: hint}
	if tk := tokenOf(node); tk != nil && tk.Position != nil {
		f.Line, f.Column = tk.Position.Line, tk.Position.Column
		f.Excerpt = excerpt(d.lines, f.Line, f.Column)
	}
	return f
}

// at makes the fault of a path that was read, or of the nearest part above it.
func (d *decoder) at(path, message, hint string) Fault {
	if f, ok := d.atText(path, message, hint); ok {
		return f
	}
	f := Fault{File: d.file, Path: path, Message: message, Hint: hint}
	for p := path; ; p = p[:strings.LastIndexAny(p, ".[")] {
		if found, ok := d.places[p]; ok {
			f.Line, f.Column = found.line, found.column
			f.Excerpt = excerpt(d.lines, f.Line, f.Column)
			return f
		}
		if strings.LastIndexAny(p, ".[") < 0 {
			return f
		}
	}
}

func (d *decoder) wrong(node ast.Node, path, message, hint string) {
	d.unread = append(d.unread, path)
	d.report(node, path, message, hint)
}

// report adds a fault that leaves the value at path readable.
func (d *decoder) report(node ast.Node, path, message, hint string) {
	if len(d.faults) < maxFaults {
		d.faults = append(d.faults, d.fault(node, path, message, hint))
	}
}

// value puts node into v.
func (d *decoder) value(node ast.Node, v reflect.Value, path string) {
	node, ok := d.plain(node, path)
	if !ok {
		return
	}
	d.depth++
	defer func() { d.depth-- }()
	if _, isNull := node.(*ast.NullNode); isNull {
		return // a key without a value is the default
	}
	if own, ok := v.Addr().Interface().(texted); ok {
		if text, ok := d.scalar(node, path, "a duration"); ok {
			if err := own.setText(text); err != nil {
				d.wrong(node, path, err.Error(), "")
			}
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(node, v.Elem(), path)
	case reflect.Struct:
		d.object(node, v, path)
	case reflect.Map:
		d.table(node, v, path)
	case reflect.Slice:
		d.list(node, v, path)
	case reflect.Interface:
		if found := d.free(node, path); found != nil {
			v.Set(reflect.ValueOf(found))
		}
	default:
		d.atom(node, v, path)
	}
}

// plain follows anchors, aliases and tags to the value itself.
func (d *decoder) plain(node ast.Node, path string) (ast.Node, bool) {
	if d.budget--; d.budget < 0 || d.depth > maxDepth {
		if d.budget == -1 || d.depth > maxDepth {
			d.budget = min(d.budget, -1)
			d.wrong(node, path, "too much: its aliases repeat one another", "write it out, or use fewer aliases")
		}
		return nil, false
	}
	switch n := node.(type) {
	case *ast.AnchorNode:
		d.anchors[n.Name.GetToken().Value] = n.Value
		return d.plain(n.Value, path)
	case *ast.AliasNode:
		name := n.Value.GetToken().Value
		target, known := d.anchors[name]
		if !known {
			d.wrong(n.Value, path, fmt.Sprintf("the alias *%s has no anchor before it", name), fmt.Sprintf("write &%s before the value that it repeats", name))
			return nil, false
		}
		return d.plain(target, path)
	case *ast.TagNode:
		d.wrong(node, path, "tags such as "+n.Start.Value+" are not read", "take it away")
		return nil, false
	}
	return node, true
}

// entries gives the keys and values of a mapping.
func (d *decoder) entries(node ast.Node, path string) ([]*ast.MappingValueNode, bool) {
	var entries []*ast.MappingValueNode
	switch n := node.(type) {
	case *ast.MappingNode:
		entries = n.Values
	case *ast.MappingValueNode:
		entries = []*ast.MappingValueNode{n}
	default:
		d.wrong(node, path, "want keys and values, found "+nameOf(node), "")
		return nil, false
	}
	for _, e := range entries {
		if e.Key.IsMergeKey() {
			d.wrong(e.Key, path, "merge keys (<<) are not read", "write the keys out")
			return nil, false
		}
	}
	return entries, true
}

func (d *decoder) note(path string, node ast.Node) {
	if tk := tokenOf(node); tk != nil && tk.Position != nil {
		d.places[path] = place{tk.Position.Line, tk.Position.Column}
	}
}

// object puts a mapping with known keys into a struct.
func (d *decoder) object(node ast.Node, v reflect.Value, path string) {
	entries, ok := d.entries(node, path)
	if !ok {
		return
	}
	fields := fieldsOf(v.Type())
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = f.key
	}
	for _, e := range entries {
		key := keyOf(e)
		i := indexOf(known, key)
		if i < 0 {
			hint := "known here: " + strings.Join(known, ", ")
			if near := nearest(key, known); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
				d.unread = append(d.unread, join(path, near))
			}
			d.report(e.Key, path, fmt.Sprintf("unknown key %q", key), hint)
			continue
		}
		inner := join(path, key)
		d.note(inner, e.Key)
		d.noteText(inner, e.Value)
		before := len(d.faults)
		d.value(e.Value, v.Field(fields[i].index), inner)
		if len(d.faults) == before {
			d.bounds(e.Value, v.Field(fields[i].index), fields[i], inner)
		}
	}
}

// bounds checks what the field's tags say of its value.
func (d *decoder) bounds(node ast.Node, v reflect.Value, f field, path string) {
	if len(f.enum) > 0 && v.String() != "" && indexOf(f.enum, v.String()) < 0 {
		hint := ""
		if near := nearest(v.String(), f.enum); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		d.wrong(node, path, fmt.Sprintf("%q is not one of %s", v.String(), strings.Join(f.enum, ", ")), hint)
	}
	if message := f.outside(v); message != "" {
		d.wrong(node, path, message, f.limits())
		d.reset = append(d.reset, path)
		v.SetZero() // the rest is checked as if the key were not written
	}
}

// table puts a mapping with names of the user's own into a map.
func (d *decoder) table(node ast.Node, v reflect.Value, path string) {
	entries, ok := d.entries(node, path)
	if !ok {
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(entries)))
	for _, e := range entries {
		key := keyOf(e)
		inner := join(path, key)
		d.note(inner, e.Key)
		item := reflect.New(v.Type().Elem()).Elem()
		if _, isNull := e.Value.(*ast.NullNode); isNull && item.Kind() == reflect.Interface {
			v.SetMapIndex(reflect.ValueOf(key), item)
			continue
		}
		d.value(e.Value, item, inner)
		v.SetMapIndex(reflect.ValueOf(key), item)
	}
}

func (d *decoder) list(node ast.Node, v reflect.Value, path string) {
	seq, ok := node.(*ast.SequenceNode)
	if !ok {
		d.wrong(node, path, "want a list, found "+nameOf(node), "write [a, b], or a line with - for each")
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, len(seq.Values)))
	for i, n := range seq.Values {
		inner := path + "[" + strconv.Itoa(i) + "]"
		d.note(inner, n)
		item := reflect.New(v.Type().Elem()).Elem()
		d.value(n, item, inner)
		v.Set(reflect.Append(v, item))
	}
}

// tokenOf gives where a node begins. A mapping's own token is its first colon.
func tokenOf(node ast.Node) *token.Token {
	switch n := node.(type) {
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return n.Values[0].Key.GetToken()
		}
	}
	return node.GetToken()
}

func keyOf(e *ast.MappingValueNode) string {
	if s, ok := e.Key.(*ast.StringNode); ok {
		return s.Value
	}
	return e.Key.GetToken().Value
}

func join(path, key string) string {
	if strings.ContainsAny(key, ".[]\" ") || key == "" {
		return path + "[" + strconv.Quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

func indexOf(list []string, word string) int {
	for i, w := range list {
		if w == word {
			return i
		}
	}
	return -1
}
