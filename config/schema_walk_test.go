package config

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemaKey is one value that the schema describes.
type schemaKey struct {
	path string                     // as faults name it, with x for names of the user
	doc  string                     // as the page names it
	node map[string]any             // its schema
	file func(value any) (file any) // a whole configuration with this value
}

func (k schemaKey) properties() map[string]any {
	properties, _ := k.node["properties"].(map[string]any)
	return properties
}

// walkSchema returns every key of the schema, with a file around it that the schema accepts.
func walkSchema(root map[string]any) (keys []schemaKey) {
	var walk func(k schemaKey)
	walk = func(k schemaKey) {
		keys = append(keys, k)
		if properties, ok := k.node["properties"].(map[string]any); ok {
			for _, name := range slices.Sorted(maps.Keys(properties)) {
				walk(schemaKey{join(k.path, name), strings.TrimPrefix(k.doc+"."+name, "."), properties[name].(map[string]any),
					func(value any) any {
						object := goodValue(k.node).(map[string]any)
						object[name] = value
						return k.file(object)
					}})
			}
		}
		if inner, ok := k.node["additionalProperties"].(map[string]any); ok {
			walk(schemaKey{k.path + ".x", k.doc + ".NAME", inner,
				func(value any) any { return k.file(map[string]any{"x": value}) }})
		}
		if inner, ok := k.node["items"].(map[string]any); ok {
			walk(schemaKey{k.path + "[0]", k.doc + "[]", inner, func(value any) any { return k.file([]any{value}) }})
		}
	}
	walk(schemaKey{node: root, file: func(value any) any { return value }})
	return keys
}

// branch returns the schema that describes a value itself, without the alternatives of null and of the environment.
func branch(node map[string]any) map[string]any {
	if branches, ok := node["anyOf"].([]any); ok {
		return branches[0].(map[string]any)
	}
	return node
}

func typeOf(node map[string]any) string {
	switch t := branch(node)["type"].(type) {
	case string:
		return t
	case []any:
		return t[0].(string)
	}
	return ""
}

func goodValue(node map[string]any) any {
	own := branch(node)
	if words, ok := own["enum"].([]any); ok {
		return words[0]
	}
	switch typeOf(node) {
	case "object":
		object := map[string]any{}
		for _, name := range list(own["required"]) {
			object[name.(string)] = goodValue(own["properties"].(map[string]any)[name.(string)].(map[string]any))
		}
		return object
	case "array":
		return []any{}
	case "integer", "number":
		if least, ok := own["minimum"]; ok {
			return least
		}
		return 1
	case "boolean":
		return true
	}
	return "x"
}

func list(v any) []any {
	values, _ := v.([]any)
	return values
}

// badValues returns values that neither the schema nor the decoder may accept, nil where everything is accepted.
func badValues(node map[string]any) (bad []any) {
	own := branch(node)
	if _, isEnum := own["enum"]; isEnum {
		return []any{"no such word", 12}
	}
	switch typeOf(node) {
	case "object":
		bad = []any{"a text", []any{}}
		if own["additionalProperties"] == false {
			bad = append(bad, map[string]any{"no_such_key": 1})
		}
	case "array":
		bad = []any{"a text", map[string]any{"a": 1}}
	case "integer":
		bad = []any{"many", 1.5, []any{}}
	case "number":
		bad = []any{"many", map[string]any{}}
	case "boolean":
		bad = []any{"perhaps", 1}
	case "string":
		bad = []any{12, true, []any{}}
	}
	if least, ok := own["minimum"].(float64); ok {
		bad = append(bad, least-1)
	}
	if most, ok := own["maximum"].(float64); ok {
		bad = append(bad, most+1)
	}
	return bad
}

// structKeys returns the fields of the structs that are read, by the key as the page names it.
func structKeys(t *testing.T) map[string]reflect.StructField {
	t.Helper()
	keys := map[string]reflect.StructField{}
	var walk func(of reflect.Type, path string)
	walk = func(of reflect.Type, path string) {
		switch of.Kind() {
		case reflect.Pointer:
			walk(of.Elem(), path)
		case reflect.Map:
			walk(of.Elem(), path+".NAME")
		case reflect.Slice:
			walk(of.Elem(), path+"[]")
		case reflect.Struct:
			for field := range of.Fields() {
				if !field.IsExported() {
					continue
				}
				key := field.Tag.Get("yaml")
				if key == "" || field.Tag.Get("doc") == "" {
					t.Errorf("%s.%s has no key or no description", of, field.Name)
				}
				inner := strings.TrimPrefix(path+"."+key, ".")
				keys[inner] = field
				walk(field.Type, inner)
			}
		}
	}
	walk(reflect.TypeFor[Config](), "")
	return keys
}

// The schema and the decoder refuse the same values: for every key a generated good one, and bad ones of each kind.
func TestSchemaAndDecoderAgreeOnEveryKey(t *testing.T) {
	raw, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var parsed jsonschema.Schema
	root := map[string]any{}
	if err := json.Unmarshal(raw, &parsed); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &root); err != nil {
		t.Fatal(err)
	}
	schema, err := parsed.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(file any) (bySchema bool, byDecoder Faults) {
		t.Helper()
		text, err := json.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		c, _ := Parse("x.yaml", text, nothingSet)
		return schema.Validate(throughJSON(t, file)) != nil, c.origin.faults
	}
	tried, fields := 0, structKeys(t)
	for _, k := range walkSchema(root) {
		for tag, word := range map[string]string{"min": "minimum", "max": "maximum", "enum": "enum"} {
			if _, there := branch(k.node)[word]; fields[k.doc].Tag.Get(tag) != "" && !there {
				t.Errorf("%s: the schema has no %s", k.path, word)
			}
		}
		needed := list(k.node["required"])
		for name := range k.properties() {
			if fields[strings.TrimPrefix(k.doc+"."+name, ".")].Tag.Get("need") != "" && !slices.Contains(needed, any(name)) {
				t.Errorf("%s: the schema does not need %s", k.path, name)
			}
		}
		for _, name := range needed {
			object := goodValue(k.node).(map[string]any)
			delete(object, name.(string))
			text, err := json.Marshal(k.file(object))
			if err != nil {
				t.Fatal(err)
			}
			_, err = Parse("x.yaml", text, nothingSet)
			missing := func(f Fault) bool { return f.Path == join(k.path, name.(string)) }
			if schema.Validate(throughJSON(t, k.file(object))) == nil || !slices.ContainsFunc(FaultsOf(err), missing) {
				t.Errorf("%s: %s may be left out: %v", k.path, name, err)
			}
			tried++
		}
		if bySchema, faults := refused(k.file(goodValue(k.node))); bySchema || len(faults) > 0 {
			t.Errorf("%s: a good value is refused by the schema: %v, by the decoder: %v", k.path, bySchema, faults)
		}
		for _, bad := range badValues(k.node) {
			bySchema, faults := refused(k.file(bad))
			tried++
			if at := slices.ContainsFunc(faults, func(f Fault) bool { return f.Path == k.path && f.Line > 0 }); !bySchema ||
				!at {
				t.Errorf("%s: %v is refused by the schema: %v, by the decoder: %v", k.path, bad, bySchema, faults)
			}
		}
	}
	if tried < 300 {
		t.Errorf("only %d values were tried", tried)
	}
}

// Every key of the structs is in the schema and on the page, and the reverse.
func TestSchemaStructsAndPageHaveTheSameKeys(t *testing.T) {
	raw, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	root := map[string]any{}
	if err := json.Unmarshal(raw, &root); err != nil {
		t.Fatal(err)
	}
	inSchema := map[string]bool{}
	for _, k := range walkSchema(root) {
		if !strings.HasSuffix(k.doc, "[]") && !strings.HasSuffix(k.doc, ".NAME") && k.doc != "" {
			inSchema[k.doc] = true
		}
	}
	inStructs := structKeys(t)
	page, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for key := range inSchema {
		if _, there := inStructs[key]; !there {
			t.Errorf("%s is in the schema, and no struct has it", key)
		}
		if !strings.Contains(string(page), "| `"+key+"` |") {
			t.Errorf("%s is in the schema, and docs/configuration.md does not name it", key)
		}
	}
	for key := range inStructs {
		if !inSchema[key] {
			t.Errorf("%s is read, and the schema does not have it", key)
		}
	}
	if len(inSchema) < 150 {
		t.Errorf("only %d keys were found", len(inSchema))
	}
}
