package inbox

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/schema"
)

// shape is what a form needs to know of a JSON Schema.
type shape struct {
	Ref         string            `json:"$ref"`
	Type        json.RawMessage   `json:"type"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Default     json.RawMessage   `json:"default"`
	Enum        []json.RawMessage `json:"enum"`
	Const       json.RawMessage   `json:"const"`
	Format      string            `json:"format"`
	Pattern     string            `json:"pattern"`
	MaxLength   int               `json:"maxLength"`
	Minimum     json.RawMessage   `json:"minimum"`
	Maximum     json.RawMessage   `json:"maximum"`
	Properties  json.RawMessage   `json:"properties"`
	Required    []string          `json:"required"`
	Items       json.RawMessage   `json:"items"`
	PrefixItems json.RawMessage   `json:"prefixItems"`
	OneOf       []json.RawMessage `json:"oneOf"`
	AnyOf       []json.RawMessage `json:"anyOf"`
	AllOf       []json.RawMessage `json:"allOf"`
}

func shapeOf(raw json.RawMessage) (s shape) {
	if json.Unmarshal(raw, &s) != nil {
		return shape{}
	}
	return s
}

// resolved follows references within the document. One that leads nowhere, or round in a circle, is a shape that anything has.
func (s shape) resolved(root json.RawMessage) shape {
	for range 10 {
		if s.Ref == "" {
			return s
		}
		path, ok := strings.CutPrefix(s.Ref, "#/")
		raw := root
		for name := range strings.SplitSeq(path, "/") {
			var object map[string]json.RawMessage
			if !ok || json.Unmarshal(raw, &object) != nil {
				return shape{}
			}
			raw = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
		}
		title, help, fallback := s.Title, s.Description, s.Default
		s = shapeOf(raw)
		if title != "" {
			s.Title = title
		}
		if help != "" {
			s.Description = help
		}
		if fallback != nil {
			s.Default = fallback
		}
	}
	return shape{}
}

// types are the types that it takes, without null.
func (s shape) types() (names []string, nullable bool) {
	var one string
	if json.Unmarshal(s.Type, &one) == nil && one != "" {
		names = []string{one}
	} else {
		json.Unmarshal(s.Type, &names) // neither a name nor a list: any
	}
	i := slices.Index(names, "null")
	if i >= 0 && len(names) > 1 {
		return slices.Delete(slices.Clone(names), i, i+1), true
	}
	return names, false
}

func (s shape) nullable() bool {
	_, nullable := s.types()
	return nullable
}

// input is what a value of this shape is typed into. Whatever an input cannot hold without losing something is written as JSON.
func (s shape) input(value json.RawMessage, depth int) string {
	names, _ := s.types()
	name := ""
	if len(names) == 1 {
		name = names[0]
	}
	var text string
	isText := json.Unmarshal(value, &text) == nil && value != nil && string(value) != "null"
	empty := value == nil || string(value) == "null" && s.nullable()
	switch {
	case len(s.AllOf) > 0 || depth > deepest:
		return "json"
	case len(s.choices()) > 0:
		return "select"
	case len(s.oneOf()) > 0:
		return "choice"
	case name == "string" && (isText || empty):
		return s.textInput(text)
	case (name == "number" || name == "integer") && (empty || looksLikeNumber(string(value))):
		return "number"
	case name == "object" && len(s.Properties) > 0 && !s.nullable() && (value == nil || value[0] == '{'):
		return "object"
	case name == "array" && len(s.Items) > 0 && s.Items[0] == '{' && len(s.PrefixItems) == 0 && !s.nullable() && (value == nil || value[0] == '['):
		return "list"
	}
	return "json"
}

func (s shape) textInput(text string) string {
	switch {
	case strings.ContainsFunc(text, odd): // in a box nobody sees it, unless it is spelled out
		return "json"
	case strings.ContainsAny(text, "\n\r\t") || s.MaxLength > 200 || len(text) > 120 || s.Format == "textarea":
		return "long"
	case s.Format == "date" && (text == "" || len(text) == len("2006-01-02")):
		return "date"
	case s.Format == "date-time" && (text == "" || isTime(text)):
		return "time"
	case s.Format == "email":
		return "email"
	case s.Format == "uri" || s.Format == "url":
		return "url"
	}
	return "text"
}

// choices are the values that it takes, where they are listed.
func (s shape) choices() (out []choice) {
	list := s.Enum
	if len(list) == 0 && len(s.Const) > 0 {
		list = []json.RawMessage{s.Const}
	}
	if names, _ := s.types(); len(list) == 0 && len(names) == 1 && names[0] == "boolean" {
		list = []json.RawMessage{json.RawMessage("true"), json.RawMessage("false")}
		if s.nullable() {
			list = append(list, json.RawMessage("null"))
		}
	}
	for _, raw := range list {
		out = append(out, choice{ID: canonicalText(raw), Label: choiceLabel(raw)})
	}
	if len(out) > 0 {
		return out
	}
	alternatives := append(slices.Clone(s.OneOf), s.AnyOf...)
	for _, raw := range alternatives {
		one := shapeOf(raw)
		if len(one.Const) == 0 {
			return nil
		}
		c := choice{ID: canonicalText(one.Const), Label: one.Title}
		if c.Label == "" {
			c.Label = choiceLabel(one.Const)
		}
		out = append(out, c)
	}
	return out
}

func choiceLabel(raw json.RawMessage) string {
	switch text := plainLeaf(raw); text {
	case "true":
		return "yes"
	case "false":
		return "no"
	case "":
		return "(empty)"
	default:
		return text
	}
}

// oneOf are the alternatives, where each is an object with fields of its own.
func (s shape) oneOf() []json.RawMessage {
	list := s.OneOf
	if len(list) == 0 {
		list = s.AnyOf
	}
	if len(list) < 2 || len(list) > 20 || len(s.Properties) > 0 {
		return nil
	}
	for _, raw := range list {
		one := shapeOf(raw)
		if names, _ := one.types(); one.Ref == "" && !slices.Equal(names, []string{"object"}) {
			return nil
		}
	}
	return list
}

func (s shape) least() string { return string(s.Minimum) }
func (s shape) most() string  { return string(s.Maximum) }

// properties of an object, in the order in which they were written.
type properties struct {
	order []string
	each  map[string]json.RawMessage
	root  json.RawMessage
}

func (s shape) properties() (p properties, required []string) {
	json.Unmarshal(s.Properties, &p.each)
	p.order = membersOf(s.Properties)
	return p, s.Required
}

// propertiesOf a tool's arguments; none where nobody knows its schema.
func propertiesOf(raw json.RawMessage) (properties, []string) {
	p, required := shapeOf(raw).resolved(raw).properties()
	p.root = raw
	return p, required
}

func (p properties) names() []string { return slices.Clone(p.order) }

// of gives the shape of a property; where the schema does not know it, that of the value that is there.
func (p properties) of(name string, value json.RawMessage) shape {
	if raw, ok := p.each[name]; ok && len(raw) > 0 && raw[0] == '{' {
		return shapeOf(raw)
	}
	if len(value) == 0 {
		return shape{}
	}
	kind := map[byte]string{'"': "string", 't': "boolean", 'f': "boolean"}[value[0]]
	if kind == "" && looksLikeNumber(string(value)) {
		kind = "number"
	}
	if kind == "" {
		return shape{}
	}
	raw, _ := json.Marshal(kind) // a word
	return shape{Type: raw}
}

// canonicalText writes a value in one way, so that two can be compared.
func canonicalText(raw json.RawMessage) string {
	if canonical, err := holdshort.Canonical(raw); err == nil {
		return string(canonical)
	}
	return string(raw)
}

// fits reports whether a value is of an alternative.
func fits(alternative, root, value json.RawMessage) bool {
	whole := alternative
	var defs map[string]json.RawMessage
	if json.Unmarshal(root, &defs) == nil && (defs["$defs"] != nil || defs["definitions"] != nil) {
		var object map[string]json.RawMessage
		if json.Unmarshal(alternative, &object) != nil {
			return false
		}
		for _, name := range []string{"$defs", "definitions"} {
			if defs[name] != nil && object[name] == nil {
				object[name] = defs[name]
			}
		}
		whole, _ = json.Marshal(object) // made of JSON
	}
	compiled, err := schema.Compile(whole)
	return err == nil && compiled.Validate(value) == nil
}
