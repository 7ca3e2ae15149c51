package config

import (
	"encoding/json"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/jsonschema-go/jsonschema"
)

// What the schema takes, an editor does not underline; it must agree with Parse about shapes.
func TestSchemaAgreesWithParse(t *testing.T) {
	raw, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text string
		ok   bool
	}{
		{whole, true},
		{"server:\n", true},
		{"server: {max_body: \"${SIZE:-2048}\"}", true},
		{"agents: {a: {model: m, task: {input_timeout: 10m}}}\nmodels: {m: {provider: openai, model: x}}", true},
		{"serverr: {}", false},
		{"server: {addr: 1}", false},
		{"server: {max_body: big}", false},
		{"server: {max_body: 1}", false},
		{"server: {log: loud}", false},
		{"server: {shutdown: never}", false},
		{"limits: {silence: never}", false},
		{"retention: {events: never}", true},
		{"stores: {main: {}}", false},
		{"policies: {when: x}", false},
		{"policies: [{when: x, allow: yes please}]", false},
		{"agents: {a: {model: m, task: {input_timeout: soon}}}\nmodels: {m: {provider: openai, model: x}}", false},
	} {
		var value any
		if err := yaml.Unmarshal([]byte(tt.text), &value); err != nil {
			t.Fatal(err)
		}
		value = throughJSON(t, value)
		err := resolved.Validate(value)
		_, parseErr := Parse("x", []byte(tt.text), env("OPENAI_API_KEY", "k"))
		if (err == nil) != tt.ok || (parseErr == nil) != tt.ok {
			t.Errorf("%s\nschema: %v\nparse: %v\nwant ok %v", tt.text, err, parseErr, tt.ok)
		}
	}
}

func throughJSON(t *testing.T, value any) (out any) {
	t.Helper()
	raw, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}
