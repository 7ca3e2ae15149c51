package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
)

// decode fills in from the call: fields tagged path:"…" and query:"…", and the field tagged body from the body. What nobody asked for is
// refused by name: a misspelt field must not be taken for its default.
func (c *call) decode(in any) error {
	v := reflect.ValueOf(in).Elem()
	t := v.Type()
	known := map[string]bool{}
	query := c.r.URL.Query()
	var body reflect.Value
	for i := range t.NumField() {
		f := t.Field(i)
		if name, ok := f.Tag.Lookup("path"); ok {
			if err := set(v.Field(i), name, c.r.PathValue(name)); err != nil {
				return err
			}
		}
		if name, ok := f.Tag.Lookup("query"); ok {
			known[name] = true
			values := query[name]
			if len(values) > 1 && v.Field(i).Kind() != reflect.Slice {
				return bad(name, "it is given twice", "give it once")
			}
			if v.Field(i).Kind() == reflect.Slice {
				for _, one := range values {
					v.Field(i).Set(reflect.Append(v.Field(i), reflect.ValueOf(one).Convert(v.Field(i).Type().Elem())))
				}
			} else if len(values) == 1 && values[0] != "" {
				if err := set(v.Field(i), name, values[0]); err != nil {
					return err
				}
			}
		}
		if _, ok := f.Tag.Lookup("body"); ok {
			body = v.Field(i)
		}
	}
	for name := range query {
		if !known[name] {
			return bad(name, "there is no such query parameter", "leave it out; /openapi.json lists what there is")
		}
	}
	if !body.IsValid() {
		return c.noBody()
	}
	return c.decodeBody(body.Addr().Interface())
}

// set parses a value of the path or the query.
func set(field reflect.Value, name, text string) error {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }) {
		return bad(name, "it has characters that no value has", "check how it is encoded")
	}
	switch field.Interface().(type) {
	case time.Duration:
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return bad(name, "it is not a duration", "write it like 30s or 5m")
		}
		field.SetInt(int64(d))
		return nil
	case *bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return bad(name, "it is neither true nor false", "")
		}
		field.Set(reflect.ValueOf(&b))
		return nil
	}
	switch field.Kind() {
	case reflect.String:
		field.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return bad(name, "it is neither true nor false", "")
		}
		field.SetBool(b)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return bad(name, "it is not a whole number", "")
		}
		field.SetInt(n)
	default:
		return fmt.Errorf("api: a parameter of type %s", field.Type())
	}
	return nil
}

func bad(field, message, hint string) error {
	return &holdshort.Error{Code: holdshort.Invalid, Field: field, Message: field + ": " + message, Hint: hint}
}

// noBody takes a body that is empty or {}, where none is needed.
func (c *call) noBody() error {
	if c.r.Method == http.MethodGet || c.r.Method == http.MethodHead {
		return nil
	}
	return c.decodeBody(&none{})
}

// decodeBody reads the body as strict JSON. An empty one is the zero value.
func (c *call) decodeBody(into any) error {
	raw, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, c.options.BodyLimit))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return &holdshort.Error{Code: holdshort.TooLarge, Message: fmt.Sprintf("the body is over %d bytes", c.options.BodyLimit), Hint: "send less"}
	case err != nil:
		return &holdshort.Error{Code: holdshort.Invalid, Message: "the body ended too early", Hint: "send it again", Err: err}
	}
	c.body = raw
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	if kind := c.r.Header.Get("Content-Type"); kind != "" {
		media, _, err := mime.ParseMediaType(kind)
		if err != nil || (media != "application/json" && !strings.HasSuffix(media, "+json")) {
			return &holdshort.Error{Code: holdshort.Invalid, Field: "Content-Type", Message: "the body is not JSON", Hint: "send Content-Type: application/json"}
		}
	}
	return strictly(raw, into)
}

// strictly decodes JSON, naming what does not fit.
func strictly(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			return &holdshort.Error{Code: holdshort.Invalid, Message: "something follows the JSON value", Hint: "send one JSON object"}
		}
		return twice(raw)
	}
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	var coded *holdshort.Error
	switch {
	case errors.As(err, &coded):
		return coded
	case errors.As(err, &wrong):
		field := wrong.Field
		if field == "" {
			field = "body"
		}
		return &holdshort.Error{Code: holdshort.Invalid, Field: field, Message: field + ": expected " + kindName(wrong.Type) + ", got " + wrong.Value, Hint: "/openapi.json has the types"}
	case errors.As(err, &syntax):
		return &holdshort.Error{Code: holdshort.Invalid, Message: fmt.Sprintf("the body is not JSON: at byte %d: %s", syntax.Offset, syntax), Hint: "send a JSON object"}
	case strings.HasPrefix(err.Error(), "json: unknown field "):
		name, _ := strconv.Unquote(strings.TrimPrefix(err.Error(), "json: unknown field "))
		return &holdshort.Error{Code: holdshort.Invalid, Field: name, Message: fmt.Sprintf("there is no field %q", name), Hint: "check its spelling; /openapi.json lists the fields"}
	}
	return &holdshort.Error{Code: holdshort.Invalid, Message: "the body is not JSON", Hint: "send a JSON object", Err: err}
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a number"
}

func notOfField(r rune) bool { return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9') }

// ofCallers are the fields whose value is the caller's own JSON: what it is called in there is theirs.
var ofCallers = map[string]bool{"args": true, "value": true, "input": true, "context": true, "metadata": true, "schema": true, "action_data": true, "data": true, "result": true, "external_ids": true}

// twice refuses a key that stands twice in one object, and one of ours in other letters: readers disagree about which of them counts.
func twice(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	type frame struct {
		keys  map[string]bool // nil: a list
		value bool            // the next token of an object is a value
		free  bool            // it is the caller's own
		next  bool            // what the next value is
	}
	var stack []*frame
	for {
		token, err := d.Token()
		if err != nil {
			return nil // it was decoded before: this is the end
		}
		top := func() *frame {
			if len(stack) == 0 {
				return nil
			}
			return stack[len(stack)-1]
		}()
		if delim, ok := token.(json.Delim); ok && (delim == '}' || delim == ']') {
			stack = stack[:len(stack)-1]
			continue
		}
		if top != nil && top.keys != nil && !top.value {
			name := token.(string)
			if top.keys[name] {
				return bad(name, "it stands twice in one object", "give it once")
			}
			if !top.free && strings.ContainsFunc(name, notOfField) { // the decoder does not care about capitals
				return bad(name, "there is no such field", "check its spelling; /openapi.json lists the fields")
			}
			top.keys[name], top.value, top.next = true, true, top.free || ofCallers[name]
			continue
		}
		if top != nil {
			top.value = false
		}
		free := top != nil && (top.free || top.next)
		switch token {
		case json.Delim('{'):
			stack = append(stack, &frame{keys: map[string]bool{}, free: free})
		case json.Delim('['):
			stack = append(stack, &frame{free: free})
		}
	}
}
