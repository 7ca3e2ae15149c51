package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
)

func TestCompile(t *testing.T) {
	tests := []struct{ name, schema, wrong string }{
		{"draft 2020-12", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object"}`, ""},
		{"draft-07", `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"type":"string"}},"$ref":"#/definitions/a"}`, ""},
		{"of everything", `true`, ""},
		{"of nothing", `false`, ""},
		{"several types", `{"type":["string","null"]}`, ""},
		{"a reference within", `{"$ref":"#/$defs/a~1b","$defs":{"a/b":{"type":"string"}}}`, ""},
		{"an anchor", `{"$ref":"#a","$defs":{"x":{"$anchor":"a","type":"string"}}}`, ""},
		{"a tree of itself", `{"properties":{"left":{"$ref":"#"},"right":{"$ref":"#"}},"items":{"$ref":"#"}}`, ""},
		{"a field named like a keyword", `{"properties":{"type":{"type":"string"},"$ref":{"type":"string"},"$id":{"type":"string"},"allOf":{"type":"array"}}}`, ""},
		{"words in a value", `{"enum":[{"type":"strin","$ref":"#"}],"default":{"$ref":"#"},"const":null}`, ""},
		{"what old drafts depend on", `{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"],"c":{"required":["d"]}}}`, ""},
		{"no JSON", `{"type":`, "cut off"},
		{"a key twice", `{"type":"string","type":"number"}`, "twice"},
		{"a list", `[]`, "the schema is no schema"},
		{"a number", `5`, "the schema is no schema"},
		{"nothing written", `null`, "the schema is no schema"},
		{"a null within", `{"properties":{"a":null}}`, "/properties/a is no schema"},
		{"a misspelled type", `{"properties":{"a":{"type":"strin"}}}`, "/properties/a has the unknown type strin: use one of null, boolean"},
		{"a misspelled type of several", `{"items":[{"type":["string","nul"]}]}`, "/items/0 has the unknown type nul"},
		{"a broken pattern", `{"pattern":"("}`, "missing closing )"},
		{"a list that is none", `{"required":"a"}`, "required"},
		{"a reference to nothing", `{"$ref":"#/$defs/a"}`, `"#/$defs/a" names nothing`},
		{"a reference to no anchor", `{"$ref":"#a"}`, `"#a" names no anchor`},
		{"a reference to an address", `{"properties":{"a":{"$ref":"https://example.org/a.json"}}}`, `/properties/a: the reference "https://example.org/a.json" leaves the document`},
		{"a reference to a file", `{"$ref":"file:///etc/passwd"}`, "leaves the document"},
		{"a document within", `{"$defs":{"a":{"$id":"https://example.org/a"}}}`, "/$defs/a has an $id of its own"},
		{"itself", `{"$ref":"#"}`, "the schema refers to itself"},
		{"itself by its name", `{"$anchor":"a","$dynamicRef":"#a"}`, "the schema refers to itself"},
		{"itself in two steps", `{"properties":{"x":{"$ref":"#/$defs/a"}},"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}`, "refers to itself"},
		{"itself if another is there", `{"dependentSchemas":{"a":{"$ref":"#"}}}`, "refers to itself"},
		{"more than anybody can check", fanOut(30), "applies more than 10000 schemas to one value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Compile(json.RawMessage(tt.schema))
			if tt.wrong == "" {
				if err != nil || s == nil || s.Hash() == "" {
					t.Fatalf("gives %v, %v", s, err)
				}
				return
			}
			if err == nil || s != nil || !strings.Contains(err.Error(), tt.wrong) {
				t.Fatalf("gives %v, want %q", err, tt.wrong)
			}
			if code := holdshort.CodeOf(err); code != holdshort.Invalid && code != holdshort.NotCanonical || holdshort.HintOf(err) == "" {
				t.Errorf("%v has code %s and hint %q", err, code, holdshort.HintOf(err))
			}
		})
	}
}

// fanOut doubles with every level.
func fanOut(levels int) string {
	defs := ""
	for i := range levels {
		defs += fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	return fmt.Sprintf(`{"$ref":"#/$defs/d0","$defs":{%s"d%d":{}}}`, defs, levels)
}

func TestNoSchemaTakesAnything(t *testing.T) {
	for _, raw := range []string{"", " \n"} {
		s, err := Compile(json.RawMessage(raw))
		if s != nil || err != nil {
			t.Fatalf("%q gives %v, %v", raw, s, err)
		}
		if err := s.Validate(json.RawMessage(`{"a":1}`)); err != nil || s.Hash() != "" {
			t.Errorf("%q: %v, hash %q", raw, err, s.Hash())
		}
	}
}

func TestHash(t *testing.T) {
	hash := func(raw string) string {
		s, err := Compile(json.RawMessage(raw))
		if err != nil {
			t.Fatal(err)
		}
		return s.Hash()
	}
	if hash(`{"type":"object","title":"a"}`) != hash(` { "title":"a", "type":"object" }`) {
		t.Error("spaces and the order of keys change the hash")
	}
	if hash(`{"type":"object"}`) == hash(`{"type":"array"}`) {
		t.Error("another schema has the same hash")
	}
}

func TestValidate(t *testing.T) {
	s, err := Compile(json.RawMessage(`{"type":"object","required":["amount"],"additionalProperties":false,"dependentRequired":{"to":["amount"]},
		"properties":{
			"amount":{"type":"integer","minimum":1,"maximum":500},
			"rate":{"type":"number","multipleOf":0.5,"minimum":0.25},
			"to":{"type":"string","pattern":"^[a-z]+$","maxLength":40},
			"lines":{"type":"array","items":{"type":"object","required":["sku"],"properties":{"sku":{"type":"string"}}}},
			"size":{"enum":["s","m"]},
			"key":{"anyOf":[{"type":"string"},{"type":"integer"}]},
			"one":{"oneOf":[{"type":"string"},{"minLength":2}]},
			"not":{"not":{"type":"string"}},
			"place":{"$ref":"#/$defs/place"},
			"a/b":{"type":"string"}},
		"$defs":{"place":{"type":"object","properties":{"zip":{"type":"string"},"in":{"$ref":"#/$defs/place"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ value, field, wrong string }{
		{`{"amount":5}`, "", ""},
		{`{"amount":5,"lines":[{"sku":"a"}],"place":{"in":{"in":{}}},"key":1,"size":"m","not":1,"to":"ana","rate":1.5}`, "", ""},
		{`{}`, "", `required: missing properties: ["amount"]`},
		{`[]`, "", `type: [] has type "array", want "object"`},
		{`{"amount":5,"x":1}`, "", `unexpected additional properties ["x"]`},
		{`{"amount":0}`, "amount", `amount: minimum: 0 is less than 1`},
		{`{"amount":501}`, "amount", `amount: maximum: 501 is greater than 500`},
		{`{"amount":1.5}`, "amount", `amount: type: 1.5 has type "number", want "integer"`},
		{`{"amount":null}`, "amount", `amount: type: null has type "null", want "integer"`},
		{`{"amount":5,"rate":0}`, "rate", `rate: minimum: 0 is less than 0.25`},
		{`{"amount":5,"to":"validating: 1"}`, "to", `to: pattern: "validating: 1" does not match regular expression "^[a-z]+$"`},
		{`{"amount":5,"lines":[{"sku":"a"},{}]}`, "lines[]", `lines[]: required: missing properties: ["sku"]`},
		{`{"amount":5,"lines":[{"sku":5}]}`, "lines[].sku", `lines[].sku: type: 5 has type "integer", want "string"`},
		{`{"amount":5,"size":"l"}`, "size", `size: enum: l does not equal any of: [s m]`},
		{`{"amount":5,"key":null}`, "key", `key: fits none of the alternatives: type: null has type "null", want "string"; type: null has type "null", want "integer"`},
		{`{"amount":5,"one":"abc"}`, "one", `one: fits more than one of the alternatives`},
		{`{"amount":5,"not":"abc"}`, "not", `not: is what it must not be`},
		{`{"amount":5,"place":{"zip":1}}`, "place.zip", `place.zip: type: 1 has type "integer", want "string"`},
		{`{"amount":5,"a/b":1}`, "a/b", `a/b: type: 1 has type "integer", want "string"`},
	}
	for _, tt := range tests {
		err := s.Validate(json.RawMessage(tt.value))
		if tt.wrong == "" {
			if err != nil {
				t.Errorf("%s: %v", tt.value, err)
			}
			continue
		}
		var e *holdshort.Error
		if !errors.As(err, &e) || e.Code != holdshort.DoesNotFit || e.Hint == "" {
			t.Errorf("%s: %v, want does_not_fit with a hint", tt.value, err)
			continue
		}
		if e.Field != tt.field || e.Message != "it does not fit the schema: "+tt.wrong {
			t.Errorf("%s: field %q, message\n%s\nwant %q\nit does not fit the schema: %s", tt.value, e.Field, e.Message, tt.field, tt.wrong)
		}
	}
	for _, value := range []string{``, `nope`, `{} {}`, `{"amount":1e400}`} {
		if err := s.Validate(json.RawMessage(value)); !errors.Is(err, holdshort.Invalid) {
			t.Errorf("%q: %v, want invalid", value, err)
		}
	}
}

func TestDeepValues(t *testing.T) {
	s, err := Compile(json.RawMessage(`{"items":{"$ref":"#"},"type":"array"}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(json.RawMessage(strings.Repeat("[", 5000) + strings.Repeat("]", 5000))); err != nil {
		t.Error(err)
	}
}
