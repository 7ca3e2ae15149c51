package storetest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
)

// filler puts something into every field of a noun, down to the last, and never the same twice: what a store forgets or mixes up shows.
type filler struct {
	at time.Time
	n  int
}

// hostile is text that a careless encoder changes.
const hostile = `<b>"5 > 4" & more</b> \ ` + "\u2028\u2029\t\u0000 é ﷽ 😀 \ufffd"

func (f *filler) fill(pointer any) { f.value(reflect.ValueOf(pointer).Elem()) }

func (f *filler) value(v reflect.Value) {
	f.n++
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		*p = f.at.Add(time.Duration(f.n) * time.Microsecond)
		return
	case *json.RawMessage:
		*p = rawJSON(f.n)
		return
	case *holdshort.RunID:
		*p = holdshort.NewRunID(f.at)
		return
	case *holdshort.SessionID:
		*p = holdshort.NewSessionID(f.at)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d é 😀 <&>", f.n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(f.n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.value(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			f.value(v.Index(i))
		}
	case reflect.Uint8:
		v.SetUint(uint64(f.n%255 + 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		f.value(key)
		f.value(value)
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			f.value(v.Field(i))
		}
	default:
		panic("fill " + v.Type().String() + ": teach the filler this kind")
	}
}

// rawJSON is canonical, so that its bytes must come back as they were.
func rawJSON(n int) json.RawMessage {
	text, err := json.Marshal(map[string]any{"hostile": hostile, "n": n, "list": []any{1, 2.5, nil, true, "x"}, "deep": map[string]any{"a": []int{}, "b": ""}})
	if err != nil {
		panic(err)
	}
	canonical, err := holdshort.Canonical(text)
	if err != nil {
		panic(err)
	}
	return canonical
}

// zeros names the fields that hold nothing, down to the last, except those named.
func zeros(value any, except ...string) []string {
	var found []string
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		if slices.Contains(except, path) {
			return
		}
		if v.IsZero() || (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0 {
			found = append(found, path)
			return
		}
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		switch v.Kind() {
		case reflect.Pointer:
			walk(path, v.Elem())
		case reflect.Slice:
			for i := range v.Len() {
				if v.Index(i).Kind() == reflect.Struct {
					walk(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
				}
			}
		case reflect.Struct:
			for i := range v.NumField() {
				name := v.Type().Field(i).Name
				if path != "" {
					name = path + "." + name
				}
				walk(name, v.Field(i))
			}
		}
	}
	walk("", reflect.ValueOf(value))
	return found
}

// differences names the top fields in which two values of one type differ.
func differences(a, b any) []string {
	var out []string
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range va.NumField() {
		if !reflect.DeepEqual(va.Field(i).Interface(), vb.Field(i).Interface()) {
			out = append(out, va.Type().Field(i).Name)
		}
	}
	return out
}

// show prints what a comparison needs.
func show(v any, field string) string {
	f := reflect.ValueOf(v).FieldByName(field).Interface()
	if raw, ok := f.(json.RawMessage); ok {
		return fmt.Sprintf("%q", raw)
	}
	return fmt.Sprintf("%#v", f)
}
