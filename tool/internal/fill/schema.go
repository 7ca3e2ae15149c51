package fill

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// SchemaOf makes the schema of arguments that templates name: those that are not optional are required.
func SchemaOf(places []Place) json.RawMessage {
	properties, required := map[string]any{}, []string{}
	for _, p := range places {
		if p.Fact {
			continue
		}
		name := p.Path()[0]
		if _, ok := properties[name]; !ok || name == p.Name {
			properties[name] = struct{}{}
		}
		if !p.Optional && !slices.Contains(required, name) {
			required = append(required, name)
		}
	}
	slices.Sort(required)
	s := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return raw
}

// CheckSchema refuses places that name arguments which the schema does not have, as far as that is plain to see.
func CheckSchema(schema json.RawMessage, places []Place) error {
	var root map[string]json.RawMessage
	if json.Unmarshal(schema, &root) != nil {
		return nil // Prepare says what is wrong with it
	}
	for _, p := range places {
		if p.Fact {
			continue
		}
		at := root
		for i, step := range p.Path() {
			var properties map[string]json.RawMessage
			if json.Unmarshal(at["properties"], &properties) != nil || len(properties) == 0 {
				break
			}
			next, ok := properties[step]
			if !ok {
				return fmt.Errorf("{%s} names no argument of the schema: it has no %s", p, strings.Join(p.Path()[:i+1], "."))
			}
			at = nil
			if json.Unmarshal(next, &at) != nil {
				break
			}
		}
	}
	return nil
}
