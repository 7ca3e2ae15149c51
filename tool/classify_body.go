package tool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// fieldsOf lists the arguments by name, those within others as "a.b", shallow ones first.
func fieldsOf(args json.RawMessage) []string {
	v, err := decodeNumbers(args)
	if err != nil {
		return nil
	}
	var list []string
	var walk func(prefix string, v any, depth int)
	walk = func(prefix string, v any, depth int) {
		object, ok := v.(map[string]any)
		if !ok || depth > 4 || len(list) > 1000 {
			return
		}
		for name, member := range object {
			list = append(list, prefix+name)
			walk(prefix+name+".", member, depth+1)
		}
	}
	walk("", v, 0)
	slices.SortFunc(list, func(a, b string) int {
		if d := strings.Count(a, ".") - strings.Count(b, "."); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return list
}

// readTree looks for the shapes that error bodies usually have, most telling first.
func readTree(tree any, known []string) finding {
	switch tree := tree.(type) {
	case string:
		return finding{message: tree}
	case []any:
		return readList(tree, known)
	case map[string]any:
		return readObject(tree, known)
	}
	return finding{}
}

func readObject(o map[string]any, known []string) finding {
	general := finding{message: firstText(o, "detail", "message", "error_description", "msg", "reason", "title", "error")}
	if field := named(o, known); field != "" {
		general.field, general.allowed = field, listed(o)
		if general.message == "" {
			general.message = describe(o)
		}
	}
	for _, name := range []string{"detail", "errors", "error", "invalid-params", "invalid_params", "violations", "details", "issues", "fields", "data"} {
		var inner finding
		switch member := o[name].(type) {
		case []any:
			inner = readList(member, known)
		case map[string]any:
			if inner = readFields(member, known); inner.field == "" {
				inner = readObject(member, known)
			}
		default:
			continue
		}
		if inner.field != "" && general.field == "" || general.message == "" {
			if inner.message == "" {
				inner.message = general.message
			}
			general = inner
		}
	}
	if general.field == "" { // {"size":["is too big"]}, as some frameworks answer
		if inner := readFields(o, known); inner.field != "" {
			return inner
		}
	}
	return general
}

// readList reads a list of errors: the first that names an argument, else the first.
func readList(list []any, known []string) finding {
	var first finding
	for _, item := range list {
		found := readTree(item, known)
		if found.field != "" {
			return found
		}
		if first.message == "" {
			first = found
		}
	}
	return first
}

// readFields reads {"size": ["is not one of a, b"]} and {"size": "is too big"}: names of arguments, each with what is wrong.
func readFields(o map[string]any, known []string) finding {
	for _, name := range known {
		said, ok := o[name]
		if !ok {
			continue
		}
		switch said := said.(type) {
		case string:
			return finding{field: name, message: said}
		case []any:
			found := readList(said, nil)
			if found.message != "" {
				return finding{field: name, message: found.message, allowed: found.allowed}
			}
		case map[string]any:
			if text := describe(said); text != "" {
				return finding{field: name, message: text, allowed: listed(said)}
			}
		}
	}
	return finding{}
}

// named finds the argument that an error object names.
func named(o map[string]any, known []string) string {
	for _, key := range []string{"loc", "pointer", "param", "field", "name", "path", "property", "parameter", "source", "instancePath", "dataPath", "attribute"} {
		switch at := o[key].(type) {
		case string:
			if field := match(splitPath(at), known); field != "" {
				return field
			}
		case []any:
			var steps []string
			for _, step := range at {
				steps = append(steps, fmt.Sprint(step))
			}
			if field := match(steps, known); field != "" {
				return field
			}
		case map[string]any: // JSON:API: source.pointer
			if field := named(at, known); field != "" {
				return field
			}
		}
	}
	return ""
}

// splitPath takes "/a/b", "#/a/b", "$.a.b", "a.b" and "a[0].b" apart.
func splitPath(text string) []string {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "#"), "$")
	return strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '.' || r == '[' || r == ']' })
}

// match finds the argument that a path of the other side means: the longest end of the path that is one. What comes before ("body", "data",
// "attributes") is the other side's own.
func match(steps, known []string) string {
	for from := range steps {
		for to := len(steps); to > from; to-- {
			if name := strings.Join(steps[from:to], "."); slices.Contains(known, name) {
				return name
			}
		}
	}
	return ""
}

// listed gives the allowed values of an error object.
func listed(o map[string]any) []json.RawMessage {
	for _, key := range []string{"allowed", "allowed_values", "allowedValues", "enum", "enum_values", "options", "choices", "valid_values", "permitted", "expected", "ctx", "context", "params", "constraints", "meta"} {
		switch at := o[key].(type) {
		case []any:
			if values := scalars(at); len(values) > 0 {
				return values
			}
		case map[string]any:
			if values := listed(at); len(values) > 0 {
				return values
			}
		case string:
			if values := splitValues(at); len(values) > 1 {
				return values
			}
		}
	}
	return nil
}

func scalars(list []any) (values []json.RawMessage) {
	for _, item := range list {
		switch item.(type) {
		case string, json.Number, bool:
			raw, err := json.Marshal(item)
			if err == nil && len(raw) <= 200 {
				values = append(values, raw)
			}
		default:
			return nil
		}
	}
	return values
}

func firstText(o map[string]any, keys ...string) string {
	for _, key := range keys {
		if text, ok := o[key].(string); ok && strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

func describe(o map[string]any) string {
	return firstText(o, "msg", "message", "detail", "reason", "description", "error", "title")
}
