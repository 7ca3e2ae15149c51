package api

import (
	"encoding/json"
	"path"
	"reflect"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
)

// schemas writes JSON Schemas of Go types: named ones once, as components.
type schemas struct {
	components map[string]any
}

type object = map[string]any

var enums = map[reflect.Type][]string{
	reflect.TypeFor[holdshort.RunStatus]():       {"queued", "running", "waiting", "completed", "failed", "canceled"},
	reflect.TypeFor[holdshort.RequestStatus]():   {"open", "resolved", "expired", "canceled"},
	reflect.TypeFor[holdshort.OperationStatus](): {"started", "done", "failed", "unknown"},
	reflect.TypeFor[holdshort.ExpectedInput]():   {"yes_no", "single_choice", "multi_choice", "free_text", "form"},
}

// of gives the schema of a type, or a reference to it.
func (s *schemas) of(t reflect.Type) any {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[time.Duration]():
		return object{"type": "string", "examples": []string{"30s"}}
	case reflect.TypeFor[Duration]():
		return object{"oneOf": []any{object{"type": "string", "examples": []string{"10m", "never"}}, object{"type": "number", "description": "seconds"}}}
	case reflect.TypeFor[json.RawMessage]():
		return object{"description": "any JSON value"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.String:
		if values, ok := enums[t]; ok {
			return object{"type": "string", "enum": values}
		}
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint64:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": "string", "format": "byte"}
		}
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		return s.structure(t)
	}
	return object{}
}

func (s *schemas) structure(t reflect.Type) any {
	name := componentName(t)
	if name == "" {
		return s.fields(t)
	}
	if _, known := s.components[name]; !known {
		s.components[name] = object{} // it may refer to itself
		s.components[name] = s.fields(t)
	}
	return object{"$ref": "#/components/schemas/" + name}
}

// componentName is the type's, without the package and without brackets: Page[Request] is PageOfRequest.
func componentName(t reflect.Type) string {
	name := t.Name()
	if outer, inner, generic := strings.Cut(name, "["); generic {
		inner = strings.TrimSuffix(inner, "]")
		name = outer + "Of" + inner[strings.LastIndexAny(inner, "./*")+1:]
	}
	if name != "" && t.PkgPath() != reflect.TypeFor[Request]().PkgPath() && (name == "Request" || name == "Run" || name == "Decision") {
		name = "Bare" + name // ours have more
	}
	switch path.Base(t.PkgPath()) { // a model has messages and calls too, and they are not ours
	case "model":
		name = "Model" + name
	case "agent":
		name = "Execution" + name
	}
	return name
}

func (s *schemas) fields(t reflect.Type) object {
	properties, required := object{}, []string{}
	s.collect(t, properties, &required)
	out := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

func (s *schemas) collect(t reflect.Type, properties object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case name == "-":
			continue
		case f.Anonymous && !tagged:
			s.collect(f.Type, properties, required)
			continue
		case !f.IsExported() || !tagged:
			continue
		}
		schema := s.of(f.Type)
		if f.Type.Kind() == reflect.Pointer && !strings.Contains(options, "omit") {
			schema = object{"anyOf": []any{schema, object{"type": "null"}}}
		}
		properties[name] = schema
		if !strings.Contains(options, "omit") {
			*required = append(*required, name)
		}
	}
}
