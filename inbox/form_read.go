package inbox

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/holdshort/holdshort"
)

// misfit is something typed that does not fit.
func misfit(field, message, hint string) error {
	return &holdshort.Error{Code: holdshort.DoesNotFit, Field: field, Message: message, Hint: hint}
}

// fieldOf is the field that an error is about.
func fieldOf(err error) string {
	for err != nil {
		e, ok := err.(*holdshort.Error)
		if ok && e.Field != "" {
			return e.Field
		}
		u, ok := err.(interface{ Unwrap() error })
		if !ok {
			return ""
		}
		err = u.Unwrap()
	}
	return ""
}

// read gives what a field holds, nil for nothing. What nobody touched is what it was, byte for byte. The schema has the last word on
// whether it fits.
func (f field) read() (json.RawMessage, error) {
	switch f.Input {
	case "fixed":
		return f.was, nil
	case "object":
		return f.readObject()
	case "list":
		return f.readList()
	case "choice":
		if len(f.Fields) > 0 {
			return f.Fields[0].read()
		}
		return f.nothing()
	}
	if f.was != nil && f.Value == f.before {
		return f.was, nil
	}
	if f.Value == "" && !(f.Required && !f.Nullable && (f.Input == "text" || f.Input == "long")) {
		return f.nothing()
	}
	return f.readSimple()
}

// nothing is what a field that was left empty holds.
func (f field) nothing() (json.RawMessage, error) {
	switch {
	case f.Nullable && (f.Required || f.was != nil):
		return json.RawMessage("null"), nil
	case f.Required:
		return nil, misfit(f.Name, cmpLabel(f)+" is missing", "fill it in")
	}
	return nil, nil
}

func cmpLabel(f field) string {
	if f.Label == "" {
		return "this"
	}
	return f.Label
}

func (f field) readSimple() (json.RawMessage, error) {
	switch f.Input {
	case "text", "long", "date", "email", "url":
		return json.Marshal(f.Value)
	case "time":
		text := f.Value
		if len(text) == len("2006-01-02T15:04") {
			text += ":00"
		}
		return json.Marshal(text + "Z")
	case "number":
		text := strings.TrimSpace(f.Value)
		if !looksLikeNumber(text) {
			return nil, misfit(f.Name, cmpLabel(f)+" is not a number", "write it like 12 or 12.5")
		}
		return json.RawMessage(text), nil
	case "select":
		if !slices.ContainsFunc(f.Choices, func(c choice) bool { return c.ID == f.Value }) {
			return nil, misfit(f.Name, cmpLabel(f)+" is none of the choices", "choose one")
		}
		return json.RawMessage(f.Value), nil
	}
	text := bytes.TrimSpace([]byte(f.Value))
	if !json.Valid(text) {
		return nil, misfit(f.Name, cmpLabel(f)+" is not JSON", "check quotes, commas and brackets")
	}
	return text, nil
}

// readObject keeps what the form has no field for.
func (f field) readObject() (json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	for name, raw := range f.extra {
		out[name] = raw
	}
	if !f.Required && f.was == nil && !f.typed() {
		return nil, nil
	}
	for _, inner := range f.Fields {
		raw, err := inner.read()
		if err != nil {
			return nil, err
		}
		if raw != nil {
			out[unescapedName(inner.Number())] = raw
		}
	}
	return json.Marshal(out)
}

// typed reports whether anything within was filled in.
func (f field) typed() bool {
	if f.Value != "" || len(f.Items) > 0 {
		return true
	}
	return slices.ContainsFunc(f.Fields, field.typed)
}

func (f field) readList() (json.RawMessage, error) {
	if len(f.Items) == 0 && f.was == nil && !f.Required {
		return nil, nil
	}
	list := []json.RawMessage{}
	for _, item := range f.Items {
		raw, err := item.read()
		if err != nil {
			return nil, err
		}
		if raw == nil {
			return nil, misfit(item.Name, "an entry is empty", "fill it in, or take it out")
		}
		list = append(list, raw)
	}
	return json.Marshal(list)
}

// redrawn carries out what changes a form without sending it: another entry of a list, one entry less, another alternative.
func redrawn(form url.Values) (url.Values, bool) {
	verb, name, ok := strings.Cut(form.Get("action"), ":")
	if !ok && verb != "draw" {
		return form, false
	}
	out := url.Values{}
	for key, values := range form {
		out[key] = slices.Clone(values)
	}
	switch verb {
	case "add":
		next := 0
		for _, number := range out[name+".#"] {
			if n, err := strconv.Atoi(number); err == nil && n >= next {
				next = n + 1
			}
		}
		out.Add(name+".#", strconv.Itoa(next))
	case "drop":
		i := strings.LastIndexByte(name, '.')
		if i < 0 {
			return form, false
		}
		list := name[:i] + ".#"
		out[list] = slices.DeleteFunc(out[list], func(number string) bool { return number == name[i+1:] })
	case "draw":
	default:
		return form, false
	}
	return out, true
}
