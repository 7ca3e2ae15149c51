package config

import (
	"reflect"
	"strconv"
	"strings"
)

// field is what a struct's tags say of one key.
type field struct {
	index  int
	key    string
	doc    string
	enum   []string
	min    *float64
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
		if text := tag.Get("min"); text != "" {
			if n, err := strconv.ParseFloat(text, 64); err == nil {
				f.min = &n
			}
		}
		list = append(list, f)
	}
	return list
}
