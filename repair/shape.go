package repair

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/holdshort/holdshort/internal/schema"
)

const (
	maxTable = 256 // fields of one schema that can be named
	maxDepth = 6   // of fields within fields
	maxHops  = 16  // references on the way to one schema
)

// shape is a schema as a tree, with the references into it.
type shape struct{ root any }

func shapeOf(raw json.RawMessage) shape {
	var root any
	if len(raw) > 0 && json.Unmarshal(raw, &root) != nil {
		root = nil
	}
	return shape{root}
}

// nodes are the objects that describe one value together: the schema itself, what it refers to, and the parts of its allOf, anyOf and oneOf.
func (s shape) nodes(node any) []map[string]any {
	var found []map[string]any
	hops := 0
	var add func(node any)
	add = func(node any) {
		object, ok := node.(map[string]any)
		if hops++; !ok || hops > maxHops {
			return
		}
		found = append(found, object)
		if ref, ok := object["$ref"].(string); ok {
			add(s.follow(ref))
		}
		for _, key := range []string{"allOf", "anyOf", "oneOf"} {
			list, _ := object[key].([]any)
			for _, part := range list {
				add(part)
			}
		}
	}
	add(node)
	return found
}

// follow finds what a reference into the same document means.
func (s shape) follow(ref string) any {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	node := s.root
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if part == "" {
			continue
		}
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch n := node.(type) {
		case map[string]any:
			node = n[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(n) {
				return nil
			}
			node = n[i]
		default:
			return nil
		}
	}
	return node
}

// parts are the properties of an object's schema, by name.
func (s shape) parts(nodes []map[string]any) map[string]any {
	found := map[string]any{}
	for _, node := range nodes {
		properties, _ := node["properties"].(map[string]any)
		for name, part := range properties {
			if _, known := found[name]; !known {
				found[name] = part
			}
		}
	}
	return found
}

// down finds the schema at a path: through properties, and through items where a step is a number.
func (s shape) down(path string) (any, bool) {
	node := s.root
	for rest := path; rest != ""; {
		nodes := s.nodes(node)
		parts := s.parts(nodes)
		if inner, whole := parts[rest]; whole {
			return inner, true
		}
		step, after, _ := strings.Cut(rest, ".")
		inner, ok := parts[step]
		if _, err := strconv.Atoi(step); !ok && err == nil {
			inner, ok = element(nodes)
		}
		if !ok {
			return nil, false
		}
		node, rest = inner, after
	}
	return node, true
}

func element(nodes []map[string]any) (any, bool) {
	for _, node := range nodes {
		if items, ok := node["items"].(map[string]any); ok {
			return items, true
		}
	}
	return nil, false
}

// each calls visit with every field that the schema names, outer before inner, in the order of the names.
func (s shape) each(visit func(path string, node any)) {
	count := 0
	var walk func(prefix string, node any, depth int)
	walk = func(prefix string, node any, depth int) {
		parts := s.parts(s.nodes(node))
		for _, name := range slices.Sorted(maps.Keys(parts)) {
			if count++; count > maxTable {
				return
			}
			path := join(prefix, name)
			visit(path, parts[name])
			if depth < maxDepth {
				walk(path, parts[name], depth+1)
			}
		}
	}
	walk("", s.root, 1)
}

// fits checks one field's value by its own part of the schema.
func (s shape) fits(path string, value json.RawMessage) bool {
	node, ok := s.down(path)
	root, isObject := s.root.(map[string]any)
	if !ok || !isObject {
		return !isObject || len(s.parts(s.nodes(s.root))) == 0
	}
	alone := map[string]any{"allOf": []any{node}}
	for _, key := range []string{"$schema", "$defs", "definitions"} {
		if shared, ok := root[key]; ok {
			alone[key] = shared
		}
	}
	raw, err := json.Marshal(alone)
	if err != nil {
		return false
	}
	compiled, err := schema.Compile(raw)
	return err == nil && compiled.Validate(value) == nil
}
