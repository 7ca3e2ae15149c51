// Package schema checks JSON against a JSON Schema, of a tool's arguments or of a form.
// It may import the root package and the schema library.
package schema

import (
	"bytes"
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/holdshort/holdshort"
)

// Schema is a compiled JSON Schema. The nil Schema takes anything.
type Schema struct {
	resolved *jsonschema.Resolved
	hash     string
}

// Compile reads a JSON Schema (draft 2020-12 or draft-07). An empty text is the nil Schema. References to other documents are refused: what
// a person approved must not depend on what an address gives out later.
func Compile(raw json.RawMessage) (*Schema, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	canonical, err := holdshort.Canonical(raw)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(canonical, &tree); err != nil {
		return nil, bad(err)
	}
	if err := checkShape(tree); err != nil {
		return nil, bad(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(canonical, &s); err != nil {
		return nil, bad(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, bad(err)
	}
	return &Schema{resolved: resolved, hash: holdshort.ArgsHash(canonical)}, nil
}

func bad(err error) error {
	return &holdshort.Error{Code: holdshort.Invalid, Field: "schema", Message: "the JSON Schema does not compile", Err: err,
		Hint: "write it in draft 2020-12, without references to other documents"}
}

// Hash names the schema: it changes when the schema does.
func (s *Schema) Hash() string {
	if s == nil {
		return ""
	}
	return s.hash
}

// Validate checks value: DoesNotFit with what is wrong.
func (s *Schema) Validate(value json.RawMessage) error {
	if s == nil {
		return nil
	}
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return &holdshort.Error{Code: holdshort.Invalid, Message: "it is not JSON", Err: err, Hint: "send a JSON value"}
	}
	if err := s.resolved.Validate(v); err != nil {
		field, wrong := plain(err.Error())
		if field != "" {
			wrong = field + ": " + wrong
		}
		return &holdshort.Error{Code: holdshort.DoesNotFit, Field: field, Message: "it does not fit the schema: " + wrong, Hint: "correct the named field and send it again"}
	}
	return nil
}
