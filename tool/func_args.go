package tool

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// decodeArgs reads arguments that the schema took already. What still does not fit is the arguments' fault, and nothing happened.
func decodeArgs(args json.RawMessage, in any) error {
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage("null")
	}
	tree, err := decodeNumbers(args)
	if err == nil {
		if field, meant := misspelled(reflect.TypeOf(in).Elem(), tree, ""); field != "" {
			return &Fault{Class: Validation, Field: field, Value: valueAt(args, field), Message: fmt.Sprintf("%s: the field is spelled %s", field, meant)}
		}
		err = json.Unmarshal(args, in)
	}
	if err == nil {
		return nil
	}
	f := &Fault{Class: Validation, Message: "the arguments cannot be read: " + err.Error()}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) && kind.Field != "" {
		f.Field, f.Value = kind.Field, valueAt(args, kind.Field)
		f.Message = fmt.Sprintf("%s: a %s does not fit", kind.Field, kind.Value)
	}
	return f
}

var (
	ownJSON = reflect.TypeFor[json.Unmarshaler]()
	ownText = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// misspelled finds a field whose name differs only by case from one that t has. encoding/json would take it for that one, and what rules and
// people read under the right name would not be what the function gets.
func misspelled(t reflect.Type, value any, at string) (field, meant string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if p := reflect.PointerTo(t); p.Implements(ownJSON) || p.Implements(ownText) {
		return "", ""
	}
	switch value := value.(type) {
	case []any:
		if t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
			return "", ""
		}
		for i, item := range value {
			if field, meant := misspelled(t.Elem(), item, at+strconv.Itoa(i)+"."); field != "" {
				return field, meant
			}
		}
	case map[string]any:
		fields := map[string]reflect.Type{}
		if t.Kind() == reflect.Struct {
			fields = fieldsOfType(t)
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			within, known := fields[name]
			switch {
			case t.Kind() == reflect.Map:
				within = t.Elem()
			case !known:
				for right := range fields {
					if strings.EqualFold(right, name) {
						return at + name, at + right
					}
				}
				continue
			}
			if field, meant := misspelled(within, value[name], at+name+"."); field != "" {
				return field, meant
			}
		}
	}
	return "", ""
}

// fieldsOfType gives the fields of a struct as encoding/json names them.
func fieldsOfType(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Tag.Get("json") == "-", !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && tag == "": // its fields are fields of t
			continue
		case tag == "":
			tag = f.Name
		}
		fields[tag] = f.Type
	}
	return fields
}
