package schema

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// most is how many schemas may apply to one value: references that fan out would keep a node busy for ever.
const most = 10_000

var types = []string{"null", "boolean", "object", "array", "number", "string", "integer"}

// Where schemas stand in a schema: those that apply to the same value, and those that apply to its parts or to nothing.
var (
	sameOne   = []string{"not", "if", "then", "else"}
	sameList  = []string{"allOf", "anyOf", "oneOf"}
	sameNamed = []string{"dependentSchemas", "dependencies"}
	partOne   = []string{"items", "additionalItems", "additionalProperties", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "contentSchema"}
	partList  = []string{"items", "prefixItems"}
	partNamed = []string{"properties", "patternProperties", "$defs", "definitions"}
)

// shape looks at what the library takes as it comes: a schema that applies itself to the same value again overflows the stack, which no
// program survives, and a misspelled type fits nothing.
type shape struct {
	root    any
	anchors map[string]string // places by name
	weights map[string]int    // by place; -1 while it is being weighed
}

func checkShape(root any) error {
	s := &shape{root: root, anchors: map[string]string{}, weights: map[string]int{}}
	if err := s.walk("", root); err != nil {
		return err
	}
	return s.weighAll("", root)
}

// walk checks every schema by itself and finds the anchors.
func (s *shape) walk(place string, node any) error {
	schema, ok := node.(map[string]any)
	if !ok {
		if _, boolean := node.(bool); !boolean {
			return fmt.Errorf("%s is no schema: it is neither an object nor true or false", at(place))
		}
		return nil
	}
	if _, ok := schema["$id"]; ok && place != "" {
		return fmt.Errorf("%s has an $id of its own: keep one document", at(place))
	}
	for _, name := range listOf(schema["type"]) {
		if word, ok := name.(string); !ok || !slices.Contains(types, word) {
			return fmt.Errorf("%s has the unknown type %v: use one of %s", at(place), name, strings.Join(types, ", "))
		}
	}
	for _, key := range []string{"$anchor", "$dynamicAnchor"} {
		if name, ok := schema[key].(string); ok {
			s.anchors[name] = place
		}
	}
	for _, child := range children(place, schema, true) {
		if err := s.walk(child.place, child.node); err != nil {
			return err
		}
	}
	return nil
}

func (s *shape) weighAll(place string, node any) error {
	if _, err := s.weigh(place, node); err != nil {
		return err
	}
	if schema, ok := node.(map[string]any); ok {
		for _, child := range children(place, schema, true) {
			if err := s.weighAll(child.place, child.node); err != nil {
				return err
			}
		}
	}
	return nil
}

// weigh counts the schemas that apply to a value when this one does.
func (s *shape) weigh(place string, node any) (int, error) {
	schema, ok := node.(map[string]any)
	if !ok {
		return 1, nil
	}
	if w, ok := s.weights[place]; ok {
		if w < 0 {
			return 0, fmt.Errorf("%s refers to itself without going into the value", at(place))
		}
		return w, nil
	}
	s.weights[place] = -1
	next := children(place, schema, false)
	for _, key := range []string{"$ref", "$dynamicRef"} {
		if ref, ok := schema[key].(string); ok {
			target, err := s.resolve(ref)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", at(place), err)
			}
			next = append(next, target)
		}
	}
	total := 1
	for _, child := range next {
		w, err := s.weigh(child.place, child.node)
		if err != nil {
			return 0, err
		}
		if total += w; total > most {
			return 0, fmt.Errorf("%s applies more than %d schemas to one value", at(place), most)
		}
	}
	s.weights[place] = total
	return total, nil
}

type located struct {
	place string // as a JSON pointer
	node  any
}

// children are the schemas right below: those for the same value, and with parts all others too.
func children(place string, schema map[string]any, parts bool) []located {
	one, list, named := sameOne, sameList, sameNamed
	if parts {
		one, list, named = slices.Concat(one, partOne), slices.Concat(list, partList), slices.Concat(named, partNamed)
	}
	var all []located
	for _, key := range one {
		if node, ok := schema[key]; ok {
			if _, isList := node.([]any); !isList || !slices.Contains(list, key) {
				all = append(all, located{place + "/" + key, node})
			}
		}
	}
	for _, key := range list {
		nodes, _ := schema[key].([]any)
		for i, node := range nodes {
			all = append(all, located{place + "/" + key + "/" + strconv.Itoa(i), node})
		}
	}
	for _, key := range named {
		nodes, _ := schema[key].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(nodes)) {
			if _, isNames := nodes[name].([]any); !isNames { // dependencies may list names
				all = append(all, located{place + "/" + key + "/" + escape.Replace(name), nodes[name]})
			}
		}
	}
	return all
}

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// resolve finds what a reference within the document names.
func (s *shape) resolve(ref string) (located, error) {
	fragment, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return located{}, fmt.Errorf("the reference %q leaves the document", ref)
	}
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		return located{}, fmt.Errorf("the reference %q cannot be read", ref)
	}
	if pointer != "" && !strings.HasPrefix(pointer, "/") {
		place, ok := s.anchors[pointer]
		if !ok {
			return located{}, fmt.Errorf("the reference %q names no anchor", ref)
		}
		pointer = place
	}
	node := s.root
	for _, part := range strings.Split(pointer, "/")[1:] {
		switch n := node.(type) {
		case map[string]any:
			node = n[unescape.Replace(part)]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(n) {
				return located{}, fmt.Errorf("the reference %q names nothing", ref)
			}
			node = n[i]
		default:
			node = nil
		}
		if node == nil {
			return located{}, fmt.Errorf("the reference %q names nothing", ref)
		}
	}
	return located{pointer, node}, nil
}

func listOf(v any) []any {
	if v == nil {
		return nil
	}
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

func at(place string) string {
	if place == "" {
		return "the schema"
	}
	return place
}
