package fill

import (
	"encoding/json"
	"fmt"
)

// Structure is JSON whose texts are templates. A text that is one place and nothing else becomes the argument itself, whatever its type; a
// member or item whose optional argument is missing is left out. Values never become syntax.
type Structure struct{ root any }

// ParseStructure reads it.
func ParseStructure(raw json.RawMessage) (Structure, error) {
	tree, err := Decode(raw)
	if err != nil {
		return Structure{}, err
	}
	root, err := parseNode(tree)
	return Structure{root}, err
}

func parseNode(node any) (any, error) {
	switch node := node.(type) {
	case string:
		return Parse(node)
	case []any:
		list := make([]any, len(node))
		for i, item := range node {
			parsed, err := parseNode(item)
			if err != nil {
				return nil, err
			}
			list[i] = parsed
		}
		return list, nil
	case map[string]any:
		object := make(map[string]any, len(node))
		for name, member := range node {
			parsed, err := parseNode(member)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			object[name] = parsed
		}
		return object, nil
	}
	return node, nil
}

// Places gives the places in it, in no order.
func (s Structure) Places() []Place { return places(s.root) }

func places(node any) (all []Place) {
	switch node := node.(type) {
	case Template:
		return node.Places()
	case []any:
		for _, item := range node {
			all = append(all, places(item)...)
		}
	case map[string]any:
		for _, member := range node {
			all = append(all, places(member)...)
		}
	}
	return all
}

// Fill makes the JSON.
func (s Structure) Fill(v Values) (json.RawMessage, error) {
	node, _, err := fillNode(s.root, v)
	if err != nil {
		return nil, err
	}
	return json.Marshal(node)
}

func fillNode(node any, v Values) (any, bool, error) {
	switch node := node.(type) {
	case Template:
		if p, ok := node.Whole(); ok {
			if p.Fact && p.Name == "args" {
				return v.args, true, nil
			}
			return v.Value(p)
		}
		return node.fillText(v)
	case []any:
		list := make([]any, 0, len(node))
		for _, item := range node {
			filled, ok, err := fillNode(item, v)
			if err != nil {
				return nil, false, err
			}
			if ok {
				list = append(list, filled)
			}
		}
		return list, true, nil
	case map[string]any:
		object := make(map[string]any, len(node))
		for name, member := range node {
			filled, ok, err := fillNode(member, v)
			if err != nil {
				return nil, false, err
			}
			if ok {
				object[name] = filled
			}
		}
		return object, true, nil
	}
	return node, true, nil
}

func (t Template) fillText(v Values) (any, bool, error) {
	text, ok, err := t.Fill(v, nil)
	return text, ok, err
}
