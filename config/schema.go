package config

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// schemed is a type that knows its own schema.
type schemed interface{ schema() map[string]any }

// Schema gives the JSON Schema of holdshort.yaml, for editors: what Parse refuses by its shape, the schema refuses too.
func Schema() ([]byte, error) {
	root := schemaOf(reflect.TypeFor[Config]())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "holdshort.yaml"
	return json.MarshalIndent(root, "", "  ")
}

func schemaOf(t reflect.Type) map[string]any {
	if own, ok := reflect.Zero(t).Interface().(schemed); ok {
		return own.schema()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Struct:
		return objectSchema(t)
	case reflect.Map:
		if t.Elem().Kind() == reflect.Interface {
			return map[string]any{"type": []any{"object", "null"}}
		}
		return map[string]any{"type": []any{"object", "null"}, "additionalProperties": schemaOf(t.Elem())}
	case reflect.Slice:
		return map[string]any{"type": []any{"array", "null"}, "items": schemaOf(t.Elem())}
	case reflect.Interface:
		return map[string]any{}
	case reflect.Int:
		return orVariable(map[string]any{"type": "integer"})
	case reflect.Float64:
		return orVariable(map[string]any{"type": "number"})
	case reflect.Bool:
		return orVariable(map[string]any{"type": "boolean"})
	}
	return map[string]any{"type": []any{"string", "null"}}
}

// orVariable lets a value come from the environment.
func orVariable(s map[string]any) map[string]any {
	return map[string]any{"anyOf": []any{s, map[string]any{"type": "string", "pattern": `\$\{.*\}`}, map[string]any{"type": "null"}}}
}

func objectSchema(t reflect.Type) map[string]any {
	properties := map[string]any{}
	var required []any
	for _, f := range fieldsOf(t) {
		s := schemaOf(t.Field(f.index).Type)
		if len(f.enum) > 0 {
			words := []any{}
			for _, w := range f.enum {
				words = append(words, w)
			}
			s = orVariable(map[string]any{"enum": words})
		}
		bounds(s, f, t.Field(f.index).Type)
		s["description"] = f.doc
		if f.secret {
			s["writeOnly"] = true // editors and viewers may hide it
		}
		if f.needed {
			required = append(required, f.key)
		}
		properties[f.key] = s
	}
	s := map[string]any{"type": []any{"object", "null"}, "properties": properties, "additionalProperties": false}
	if required != nil {
		s["required"] = required
	}
	return s
}

// bounds puts the least and greatest value into the first branch of a schema: the one of a number. That of a
// duration counts seconds, and never is longer than every greatest value.
func bounds(s map[string]any, f field, t reflect.Type) {
	unit := 1.0
	if t == reflect.TypeFor[Duration]() {
		unit = float64(time.Second)
	}
	for key, b := range map[string]*bound{"minimum": f.min, "maximum": f.max} {
		if b != nil {
			s["anyOf"].([]any)[0].(map[string]any)[key] = b.value / unit
		}
	}
	if f.max != nil && t == reflect.TypeFor[Duration]() {
		text := s["anyOf"].([]any)[1].(map[string]any)
		text["pattern"] = strings.Replace(text["pattern"].(string), "never|", "", 1)
	}
}
