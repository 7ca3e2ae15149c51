package script

import (
	"encoding/json"
	"slices"
	"strings"
)

// schema is a place in the JSON Schema of a tool: enough of it to tell which type a value has there.
type schema struct {
	here, root map[string]any
}

func schemaOf(raw json.RawMessage) schema {
	var root map[string]any
	if json.Unmarshal(raw, &root) != nil { // a tool without a schema, or with one that only its own check can name the fault of
		return schema{}
	}
	return schema{root, root}.resolved()
}

// resolved follows references within the schema, but not in circles.
func (s schema) resolved() schema {
	for range 8 {
		ref, ok := s.here["$ref"].(string)
		path, local := strings.CutPrefix(ref, "#")
		if !ok || !local {
			return s
		}
		at := any(s.root)
		for part := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
			if part == "" {
				continue
			}
			object, _ := at.(map[string]any)
			at = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
		}
		s.here, _ = at.(map[string]any)
	}
	return s
}

func (s schema) at(value any) schema {
	here, _ := value.(map[string]any)
	return schema{here, s.root}.resolved()
}

func (s schema) property(name string) schema {
	properties, _ := s.here["properties"].(map[string]any)
	if found, ok := properties[name]; ok {
		return s.at(found)
	}
	return s.at(s.here["additionalProperties"])
}

func (s schema) item() schema { return s.at(s.here["items"]) }

// wants reports whether a value of this type fits here because the schema says so.
func (s schema) wants(kind string) bool { return s.wantsWithin(kind, 4) }

func (s schema) wantsWithin(kind string, depth int) bool {
	switch t := s.here["type"].(type) {
	case string:
		if t == kind {
			return true
		}
	case []any:
		if slices.Contains(t, any(kind)) {
			return true
		}
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		branches, _ := s.here[key].([]any)
		for _, branch := range branches {
			if depth > 0 && s.at(branch).wantsWithin(kind, depth-1) {
				return true
			}
		}
	}
	return false
}
