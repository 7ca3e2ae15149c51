package engine

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/holdshort/holdshort/reply"
)

// formFields gives the fields of a JSON Schema in the order in which it names them: that is how people are asked for them. Whether the values
// fit is the schema's own business, later; here is only how a typed word is read.
func formFields(schema json.RawMessage) []reply.Field {
	var form struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(schema, &form) != nil {
		return nil
	}
	var properties map[string]struct {
		Type json.RawMessage   `json:"type"`
		Enum []json.RawMessage `json:"enum"`
	}
	if json.Unmarshal(form.Properties, &properties) != nil {
		return nil
	}
	var fields []reply.Field
	for _, name := range memberNames(form.Properties) {
		p := properties[name]
		f := reply.Field{Name: name, Type: fieldType(p.Type), Required: slices.Contains(form.Required, name)}
		if words := enumWords(p.Enum); words != nil {
			f.Type, f.Enum = reply.Enum, words
		}
		fields = append(fields, f)
	}
	return fields
}

// memberNames gives the names of an object's members in their order.
func memberNames(object json.RawMessage) []string {
	d := json.NewDecoder(bytes.NewReader(object))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	var names []string
	for d.More() {
		name, err := d.Token()
		text, ok := name.(string)
		var skipped json.RawMessage
		if err != nil || !ok || d.Decode(&skipped) != nil {
			return nil
		}
		if !slices.Contains(names, text) {
			names = append(names, text)
		}
	}
	return names
}

func fieldType(raw json.RawMessage) reply.FieldType {
	var name string
	if json.Unmarshal(raw, &name) != nil {
		return reply.JSON
	}
	switch t := reply.FieldType(name); t {
	case reply.String, reply.Number, reply.Integer, reply.Boolean:
		return t
	}
	return reply.JSON
}

// enumWords gives the values of an enumeration if all of them are words.
func enumWords(values []json.RawMessage) []string {
	var words []string
	for _, v := range values {
		var word string
		if json.Unmarshal(v, &word) != nil {
			return nil
		}
		words = append(words, word)
	}
	return words
}
