package script

import (
	"encoding/json"
	"strings"

	"github.com/holdshort/holdshort/model"
)

// call makes the call that a rule describes.
func (s CallSpec) call(req model.Request, found match, index int) (model.Call, error) {
	id, err := callID(req.Messages, index)
	if err != nil {
		return model.Call{}, err
	}
	var shape schema
	for _, t := range req.Tools {
		if t.Name == s.Tool {
			shape = schemaOf(t.Schema)
		}
	}
	args, err := json.Marshal(found.fill(s.Args, shape))
	if err != nil {
		return model.Call{}, err
	}
	if s.Args == nil {
		args = json.RawMessage("{}")
	}
	return model.Call{ID: id, Tool: s.Tool, Args: args}, nil
}

// fill expands every text in a value. A text in which nothing was expanded stays what it is, whatever the schema says: rules may be wrong on purpose.
func (m match) fill(value any, shape schema) any {
	switch v := value.(type) {
	case map[string]any:
		filled := make(map[string]any, len(v))
		for name, inner := range v {
			filled[name] = m.fill(inner, shape.property(name))
		}
		return filled
	case []any:
		filled := make([]any, len(v))
		for i, inner := range v {
			filled[i] = m.fill(inner, shape.item())
		}
		return filled
	case string:
		return m.fillText(v, shape)
	default:
		return value
	}
}

func (m match) fillText(text string, shape schema) any {
	// A whole {result.x} keeps its type, unless the schema wants a text.
	if raw, ok := m.wholeResult(text); ok {
		value := plain(raw)
		if shape.wants("string") {
			return value
		}
		if value == string(raw) {
			return raw
		}
	}
	expanded := m.expand(text)
	if expanded == text || shape.wants("string") {
		return expanded
	}
	raw := json.RawMessage(strings.TrimSpace(expanded))
	if !json.Valid(raw) || len(raw) == 0 {
		return expanded
	}
	switch c := raw[0]; {
	case (c == 't' || c == 'f') && shape.wants("boolean"), (c == '-' || c >= '0' && c <= '9') && (shape.wants("number") || shape.wants("integer")):
		return raw
	}
	return expanded
}

// wholeResult is what a text stands for that is nothing but {result…}.
func (m match) wholeResult(text string) (json.RawMessage, bool) {
	inner, opens := strings.CutPrefix(text, "{")
	inner, closes := strings.CutSuffix(inner, "}")
	if !opens || !closes {
		return nil, false
	}
	return m.resultAt(inner)
}
