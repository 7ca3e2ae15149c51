package repair

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/holdshort/holdshort"
)

const (
	maxSteps = 16  // of a path
	maxPath  = 512 // bytes
)

var brackets = regexp.MustCompile(`\[(\d+)\]`)

// plainPath writes a path in the one way of this package: "lines[0].sku" is "lines.0.sku".
func plainPath(field string) string {
	return strings.TrimPrefix(brackets.ReplaceAllString(field, ".$1"), ".")
}

// steps cuts a path at its dots, as they fit the arguments: a key may have a dot of its own. What is not there yet is cut at every dot.
func steps(args json.RawMessage, path string) ([]string, error) {
	if path == "" || len(path) > maxPath || !utf8.ValidString(path) || strings.Count(path, ".") >= maxSteps {
		return nil, badPath(path, "a field needs a name", "write it as name, or as outer.inner")
	}
	if object, ok := objectOf(args); ok && strings.Contains(path, ".") {
		_, whole := object[path]
		outer, _, _ := strings.Cut(path, ".")
		if _, nested := object[outer]; whole && nested {
			return nil, badPath(path, "the name can mean two fields", "rename one of them")
		}
		if whole {
			return []string{path}, nil
		}
	}
	way := strings.Split(path, ".")
	for _, step := range way {
		if step == "" {
			return nil, badPath(path, "a part of the field's name is empty", "write it as name, or as outer.inner")
		}
	}
	return way, nil
}

func badPath(path, message, hint string) error {
	return &holdshort.Error{Code: holdshort.Invalid, Op: "patch arguments", Field: shorten(path, 64), Message: message, Hint: hint}
}

func objectOf(raw json.RawMessage) (map[string]json.RawMessage, bool) {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil || object == nil {
		return nil, false
	}
	return object, true
}

func listOf(raw json.RawMessage) ([]json.RawMessage, bool) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || list == nil {
		return nil, false
	}
	return list, true
}

// at finds the value at a path.
func at(args json.RawMessage, path string) (json.RawMessage, bool) {
	way, err := steps(args, path)
	if err != nil {
		return nil, false
	}
	for _, step := range way {
		if object, ok := objectOf(args); ok {
			inner, there := object[step]
			if !there {
				return nil, false
			}
			args = inner
			continue
		}
		list, ok := listOf(args)
		if i, err := strconv.Atoi(step); ok && err == nil && i >= 0 && i < len(list) {
			args = list[i]
			continue
		}
		return nil, false
	}
	return args, true
}

// put gives args with the value at the end of way. Objects that are missing on the way are made, elements of lists are not.
func put(args json.RawMessage, way []string, value json.RawMessage) (json.RawMessage, error) {
	if len(way) == 0 {
		return value, nil
	}
	if object, ok := objectOf(args); ok {
		inner, there := object[way[0]]
		if !there {
			inner = json.RawMessage("{}")
		}
		changed, err := put(inner, way[1:], value)
		if err != nil {
			return nil, err
		}
		object[way[0]] = changed
		return json.Marshal(object)
	}
	list, ok := listOf(args)
	i, err := strconv.Atoi(way[0])
	if !ok || err != nil || i < 0 || i >= len(list) {
		return nil, badPath(strings.Join(way, "."), "there is no such place in the arguments", "name a field that the arguments have, or one of their schema")
	}
	if list[i], err = put(list[i], way[1:], value); err != nil {
		return nil, err
	}
	return json.Marshal(list)
}
