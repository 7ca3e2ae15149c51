package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/holdshort/holdshort"
)

// Func makes a tool of a Go function. The schema of its arguments comes from In: names from `json` tags, descriptions from `jsonschema` tags,
// and what is neither a pointer nor marked omitempty or omitzero is required. It writes and cannot be undone until the caller says otherwise
// (Effect, Reversible, Idempotent). An error leaves the outcome of a writing call unknown unless it is made by Definite or is a Fault.
func Func[In, Out any](name, description string, fn func(ctx context.Context, call Call, in In) (Out, error)) (Tool, error) {
	wrong := func(message, hint string, err error) (Tool, error) {
		return Tool{}, &holdshort.Error{Code: holdshort.Invalid, Op: "register tool " + name, Message: message, Hint: hint, Err: err}
	}
	if fn == nil {
		return wrong("a tool needs a function", "hand one over", nil)
	}
	raw, err := schemaOf[In]()
	if err != nil {
		return wrong(fmt.Sprintf("arguments of type %v have no schema", reflect.TypeFor[In]()), "use a struct of texts, numbers, booleans, lists and such structs", err)
	}
	if _, err := schemaOf[Out](); err != nil {
		return wrong(fmt.Sprintf("results of type %v are no JSON", reflect.TypeFor[Out]()), "give back what encoding/json can encode", err)
	}
	t := Tool{Name: name, Description: description, Schema: raw}
	t.Call = func(ctx context.Context, call Call) (Result, error) {
		var in In
		if err := decodeArgs(call.Args, &in); err != nil {
			return Result{}, err
		}
		out, err := fn(ctx, call, in)
		if err != nil {
			return Result{}, err
		}
		value, err := json.Marshal(out)
		if err != nil { // it happened: that its result cannot be shown must not make that unknown
			value, _ = json.Marshal("it was done; its result cannot be shown: " + err.Error())
		}
		return Result{Value: value}, nil
	}
	return t, nil
}

// schemaOf gives the JSON Schema of a type. A type that can be anything has none.
func schemaOf[T any]() (raw json.RawMessage, err error) {
	switch reflect.TypeFor[T]() {
	case reflect.TypeFor[any](), reflect.TypeFor[json.RawMessage]():
		return nil, nil
	}
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[json.RawMessage](): {}}})
	if err != nil {
		return nil, err
	}
	optionalPointers(reflect.TypeFor[T](), s)
	return json.Marshal(s)
}

// optionalPointers makes pointer fields optional: that is what they are for in Go.
func optionalPointers(t reflect.Type, s *jsonschema.Schema) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s == nil {
		return
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		optionalPointers(t.Elem(), s.Items)
	case reflect.Map:
		optionalPointers(t.Elem(), s.AdditionalProperties)
	case reflect.Struct:
		for _, field := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "" {
				name = field.Name
			}
			property := s.Properties[name]
			if property == nil {
				continue
			}
			optionalPointers(field.Type, property)
			if field.Type.Kind() == reflect.Pointer {
				kept := s.Required[:0]
				for _, required := range s.Required {
					if required != name {
						kept = append(kept, required)
					}
				}
				s.Required = kept
			}
		}
	}
}
