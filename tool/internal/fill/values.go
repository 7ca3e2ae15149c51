package fill

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/holdshort/holdshort/tool"
)

// Values are what the places of a call's templates can take.
type Values struct {
	args  any
	facts map[string]string
}

// ValuesOf reads the arguments of a call.
func ValuesOf(call tool.Call) (Values, error) {
	v := Values{facts: map[string]string{"operation_id": Key(call.OperationID), "run_id": string(call.RunID), "tenant": string(call.Tenant), "args": string(call.Args)}}
	if len(bytes.TrimSpace(call.Args)) == 0 {
		v.facts["args"] = "null"
		return v, nil
	}
	args, err := Decode(call.Args)
	if err != nil {
		return Values{}, tool.NotSent(fmt.Errorf("read arguments: %w", err))
	}
	v.args = args
	return v, nil
}

// Decode reads one JSON value and keeps its numbers as they are written.
func Decode(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}

// At follows a path into decoded JSON: names of fields, and numbers from 0 for the items of a list.
func At(v any, path []string) (any, bool) {
	for _, step := range path {
		switch within := v.(type) {
		case map[string]any:
			next, ok := within[step]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(within) || strconv.Itoa(i) != step {
				return nil, false
			}
			v = within[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// Value gives what a place takes. null counts as missing. It gives false if the place is optional and its argument missing.
func (v Values) Value(p Place) (any, bool, error) {
	if p.Fact {
		return v.facts[p.Name], true, nil
	}
	value, ok := At(v.args, p.Path())
	if ok && value != nil {
		return value, true, nil
	}
	if p.Optional {
		return nil, false, nil
	}
	return nil, false, Wrong(p, nil, "it is missing")
}

// Text gives what a place takes as text: only what has one obvious text has one.
func (v Values) Text(p Place) (string, bool, error) {
	value, ok, err := v.Value(p)
	if err != nil || !ok {
		return "", false, err
	}
	text, ok := TextOf(value)
	if !ok {
		return "", false, Wrong(p, value, "it must be a text, a number, true or false")
	}
	return text, true, nil
}

// TextOf gives the text of a string, number or boolean.
func TextOf(value any) (string, bool) {
	switch value := value.(type) {
	case string:
		return value, true
	case json.Number:
		return value.String(), true
	case bool:
		return strconv.FormatBool(value), true
	}
	return "", false
}

// Wrong is the error of an argument that cannot go where its place is: nothing was sent, and a person can put it right.
func Wrong(p Place, value any, why string) error {
	f := &tool.Fault{Class: tool.Validation, Message: strings.Join([]string{p.String(), why}, ": ")}
	if !p.Fact {
		f.Field = p.Name
	}
	if raw, err := json.Marshal(value); err == nil && value != nil && len(raw) <= 1024 {
		f.Value = raw
	}
	return f
}
