package config

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/goccy/go-yaml/ast"
)

// scalar gives the text of a scalar, with the environment filled in.
func (d *decoder) scalar(node ast.Node, path, want string) (string, bool) {
	text, quoted := "", false
	switch n := node.(type) {
	case *ast.StringNode:
		text, quoted = n.Value, true
	case *ast.LiteralNode:
		text, quoted = n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		text = n.GetToken().Value
	default:
		hint := ""
		if _, isEntry := node.(*ast.MappingValueNode); isEntry {
			hint = "quote a text that holds a colon"
		}
		d.wrong(node, path, fmt.Sprintf("want %s, found %s", want, nameOf(node)), hint)
		return "", false
	}
	if !quoted {
		return text, true
	}
	text, _, err := expand(text, d.env)
	if err != nil {
		d.wrong(node, path, err.Error(), "set it, or write ${NAME:-default}; a plain ${ is written $${")
		return "", false
	}
	return text, true
}

// atom puts a text, number or truth into v. A text is never taken for a number, unless it came from the environment.
func (d *decoder) atom(node ast.Node, v reflect.Value, path string) {
	want := map[reflect.Kind]string{reflect.String: "a text", reflect.Int: "a whole number", reflect.Float64: "a number", reflect.Bool: "true or false"}[v.Kind()]
	fromEnv := false
	if s, ok := node.(*ast.StringNode); ok {
		_, fromEnv, _ = expand(s.Value, d.env)
	}
	text, ok := d.scalar(node, path, want)
	if !ok {
		return
	}
	fits := false
	switch v.Kind() {
	case reflect.String:
		_, isText := node.(*ast.StringNode)
		_, isBlock := node.(*ast.LiteralNode)
		if fits = isText || isBlock; fits {
			v.SetString(text)
		}
	case reflect.Int:
		_, isInt := node.(*ast.IntegerNode)
		n, err := strconv.ParseInt(text, 0, 64)
		if fits = err == nil && (isInt || fromEnv); fits {
			v.SetInt(n)
		}
	case reflect.Float64:
		_, isText := node.(*ast.StringNode)
		n, err := strconv.ParseFloat(text, 64)
		if fits = err == nil && (!isText || fromEnv); fits {
			v.SetFloat(n)
		}
	case reflect.Bool:
		_, isBool := node.(*ast.BoolNode)
		b, err := strconv.ParseBool(text)
		if fits = err == nil && (isBool || fromEnv); fits {
			v.SetBool(b)
		}
	}
	if !fits {
		hint := ""
		if v.Kind() == reflect.String {
			hint = fmt.Sprintf("quote it: %q", text)
		}
		d.wrong(node, path, fmt.Sprintf("want %s, found %s", want, nameOf(node)), hint)
	}
}

// free gives what an object of no known shape holds, as JSON has it.
func (d *decoder) free(node ast.Node, path string) any {
	node, ok := d.plain(node, path)
	if !ok {
		return nil
	}
	d.depth++
	defer func() { d.depth-- }()
	switch n := node.(type) {
	case *ast.NullNode:
		return nil
	case *ast.BoolNode:
		return n.Value
	case *ast.IntegerNode:
		return n.Value
	case *ast.FloatNode:
		return n.Value
	case *ast.StringNode, *ast.LiteralNode:
		text, _ := d.scalar(node, path, "a text")
		return text
	case *ast.SequenceNode:
		list := make([]any, len(n.Values))
		for i, item := range n.Values {
			list[i] = d.free(item, path+"["+strconv.Itoa(i)+"]")
		}
		return list
	case *ast.MappingNode, *ast.MappingValueNode:
		entries, _ := d.entries(node, path)
		object := make(map[string]any, len(entries))
		for _, e := range entries {
			object[keyOf(e)] = d.free(e.Value, join(path, keyOf(e)))
		}
		return object
	}
	d.wrong(node, path, "want a value, found "+nameOf(node), "")
	return nil
}

func nameOf(node ast.Node) string {
	switch n := node.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		return "a text"
	case *ast.IntegerNode:
		return "the number " + n.GetToken().Value
	case *ast.FloatNode:
		return "the number " + n.GetToken().Value
	case *ast.BoolNode:
		return n.GetToken().Value
	case *ast.SequenceNode:
		return "a list"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "keys and values"
	case *ast.NullNode:
		return "nothing"
	}
	return "something else"
}
