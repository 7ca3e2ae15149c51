package repair

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/holdshort/holdshort/tool"
)

// TestHostileReplies reads what is as long as it may be, and made to keep a reader busy. None of it is a correction.
func TestHostileReplies(t *testing.T) {
	all := calls(t)
	for _, piece := range []string{"1:1 ", "1:1,", "use ", "not ", "\"", "\"a ", "«", "«a", "“„", "a-", "a_", "_", "-", ":", "=", "a=", "a:\n", "(", "*", "{", "[", `{"a":`, "\u200F", "ל", "ל-", "👍", "#", "1,", "1.", "?", "\\", "aspect ratio ", "count: 1\n", "é", "\u0301", "cancel ", "or ", "𝟘", "\n"} {
		text := strings.Repeat(piece, MaxReply/len(piece))
		for _, name := range []string{"ratio", "count", "email", "name", "square", "size"} {
			c := all[name]
			history := []Line{{Role: "user", Text: text[:min(len(text), longLine)]}, {Role: "user", Text: text}}
			if p, err := Read(text, c.Fault, c.Args, c.Schema, history); err == nil && piece != "1:1 " && piece != "1:1," {
				t.Errorf("%q again and again for %s gives %s", piece, name, outcome(p, nil))
			}
			if _, err := Read("fix it", c.Fault, c.Args, c.Schema, history); err == nil {
				t.Errorf("%q again and again before it was found for %s", piece, name)
			}
		}
	}
}

// TestHostileSchemas reads with schemas that are large, deep, or refer to themselves.
func TestHostileSchemas(t *testing.T) {
	many := map[string]any{}
	for i := range 2000 {
		many[fmt.Sprintf("field_%d", i)] = map[string]any{"type": "string", "enum": []string{"ruby", "teal"}, "description": strings.Repeat("ruby (red), ", 300)}
	}
	wide, _ := json.Marshal(map[string]any{"type": "object", "properties": many})
	var values []string
	for i := range 5000 {
		values = append(values, fmt.Sprintf("value %d", i))
	}
	long, _ := json.Marshal(map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"enum": values, "description": strings.Repeat("value 1 = first, ", 240)}}})
	for name, schema := range map[string]string{
		"wide": string(wide), "long": string(long),
		"deep":      strings.Repeat(`{"type":"object","properties":{"a":`, 60) + `{"type":"integer"}` + strings.Repeat(`}}`, 60),
		"recursive": `{"type":"object","properties":{"a":{"$ref":"#"},"b":{"$ref":"#/properties/a"}}}`,
		"looping":   `{"$ref":"#"}`,
		"fanning":   `{"$defs":{"x":{"allOf":[{"$ref":"#/$defs/x"},{"$ref":"#/$defs/x"}]}},"properties":{"a":{"$ref":"#/$defs/x"}}}`,
		"elsewhere": `{"$ref":"https://example.org/schema"}`,
		"no schema": `7`, "no JSON": `{`,
	} {
		t.Run(name, func(t *testing.T) {
			f := tool.Fault{Class: tool.Validation, Field: "a", Message: "bad"}
			for _, text := range []string{"a: 1", "zebra", "use value 1", "1", "fix it", strings.Repeat("field_1 ", 70)} {
				p, err := Read(text, f, json.RawMessage(`{"a":"x"}`), json.RawMessage(schema), []Line{{Role: "user", Text: "value 1"}})
				if err == nil && name != "long" {
					t.Errorf("%q gives %s", text, outcome(p, nil))
				}
				if b := Prompt(f, json.RawMessage(`{"a":"x"}`), json.RawMessage(schema), nil, text); len(b.User) > 64<<10 || len(b.Schema) > 64<<10 {
					t.Errorf("the brief has %d and %d bytes", len(b.User), len(b.Schema))
				}
			}
		})
	}
}
