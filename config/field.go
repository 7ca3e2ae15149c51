package config

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort/policy"
)

// field is what a struct's tags say of one key.
type field struct {
	index  int
	key    string
	doc    string
	enum   []string
	min    *bound
	max    *bound
	needed bool
	secret bool
}

func fieldsOf(t reflect.Type) []field {
	list := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			continue
		}
		tag := t.Field(i).Tag
		f := field{index: i, key: tag.Get("yaml"), doc: tag.Get("doc"), needed: tag.Get("need") != "", secret: tag.Get("secret") != ""}
		if words := tag.Get("enum"); words != "" {
			f.enum = strings.Split(words, ",")
		}
		f.min, f.max = boundOf(t.Field(i).Type, tag.Get("min")), boundOf(t.Field(i).Type, tag.Get("max"))
		list = append(list, f)
	}
	return list
}

// bound is the least or greatest value of a key.
type bound struct {
	value float64 // of a duration: in nanoseconds
	text  string  // as people write it
}

func boundOf(t reflect.Type, text string) *bound {
	if text == "" {
		return nil
	}
	if t == reflect.TypeFor[Duration]() {
		var d Duration
		if d.setText(text) != nil {
			return nil
		}
		return &bound{float64(d), text}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil
	}
	return &bound{n, text}
}

// outside returns the message of a value that is not within the bounds, or "". Never is longer than every duration.
func (f field) outside(v reflect.Value) string {
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	var n float64
	switch {
	case v.CanInt():
		n = float64(v.Int())
	case v.CanFloat():
		n = v.Float()
	default:
		return ""
	}
	shown := fmt.Sprint(v.Interface())
	if d, ok := v.Interface().(Duration); ok {
		if shown = time.Duration(d).String(); time.Duration(d) == policy.Never {
			n, shown = math.Inf(1), "never"
		}
	}
	switch {
	case f.min != nil && n < f.min.value:
		return shown + " is less than " + f.min.text
	case f.max != nil && n > f.max.value:
		return shown + " is more than " + f.max.text
	}
	return ""
}

// limits says which values a key takes.
func (f field) limits() string {
	switch {
	case f.min != nil && f.max != nil:
		return "write " + f.min.text + " to " + f.max.text
	case f.min != nil:
		return "write " + f.min.text + " or more"
	case f.max != nil:
		return "write " + f.max.text + " or less"
	}
	return ""
}
