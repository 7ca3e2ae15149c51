package tool

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// fieldsOf lists the arguments by name, those within others as "a.b", shallow ones first.
func fieldsOf(args json.RawMessage) []string {
	v, err := decodeNumbers(args)
	if err != nil {
		return nil
	}
	var list []string
	var walk func(prefix string, v any, depth int)
	walk = func(prefix string, v any, depth int) {
		object, ok := v.(map[string]any)
		if !ok || depth > 4 || len(list) > 1000 {
			return
		}
		for name, member := range object {
			list = append(list, prefix+name)
			walk(prefix+name+".", member, depth+1)
		}
	}
	walk("", v, 0)
	slices.SortFunc(list, func(a, b string) int {
		if d := strings.Count(a, ".") - strings.Count(b, "."); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return list
}

// readTree looks for the shapes that error bodies usually have, most telling first.
func readTree(tree any, known []string) finding {
	switch tree := tree.(type) {
	case string:
		return finding{message: tree}
	case []any:
		return readList(tree, known)
	case map[string]any:
		return readObject(tree, known)
	}
	return finding{}
}

func readObject(o map[string]any, known []string) finding {
	general := finding{message: firstText(o, "detail", "message", "error_description", "msg", "reason", "title", "error")}
	if field := named(o, known); field != "" {
		general.field, general.allowed = field, listed(o)
		if general.message == "" {
			general.message = describe(o)
		}
	}
	for _, name := range []string{"detail", "errors", "error", "invalid-params", "invalid_params", "violations", "details", "issues", "fields", "data"} {
		var inner finding
		switch member := o[name].(type) {
		case []any:
			inner = readList(member, known)
		case map[string]any:
			if inner = readFields(member, known); inner.field == "" {
				inner = readObject(member, known)
			}
		default:
			continue
		}
		if inner.field != "" && general.field == "" || general.message == "" {
			if inner.message == "" {
				inner.message = general.message
			}
			general = inner
		}
	}
	if general.field == "" { // {"size":["is too big"]}, as some frameworks answer
		if inner := readFields(o, known); inner.field != "" {
			return inner
		}
	}
	return general
}

// readList reads a list of errors: the first that names an argument, else the first.
func readList(list []any, known []string) finding {
	var first finding
	for _, item := range list {
		found := readTree(item, known)
		if found.field != "" {
			return found
		}
		if first.message == "" {
			first = found
		}
	}
	return first
}

// readFields reads {"size": ["is not one of a, b"]} and {"size": "is too big"}: names of arguments, each with what is wrong.
func readFields(o map[string]any, known []string) finding {
	for _, name := range known {
		said, ok := o[name]
		if !ok {
			continue
		}
		switch said := said.(type) {
		case string:
			return finding{field: name, message: said}
		case []any:
			found := readList(said, nil)
			if found.message != "" {
				return finding{field: name, message: found.message, allowed: found.allowed}
			}
		case map[string]any:
			if text := describe(said); text != "" {
				return finding{field: name, message: text, allowed: listed(said)}
			}
		}
	}
	return finding{}
}

// named finds the argument that an error object names.
func named(o map[string]any, known []string) string {
	for _, key := range []string{"loc", "pointer", "param", "field", "name", "path", "property", "parameter", "source", "instancePath", "dataPath", "attribute"} {
		switch at := o[key].(type) {
		case string:
			if field := match(splitPath(at), known); field != "" {
				return field
			}
		case []any:
			var steps []string
			for _, step := range at {
				steps = append(steps, fmt.Sprint(step))
			}
			if field := match(steps, known); field != "" {
				return field
			}
		case map[string]any: // JSON:API: source.pointer
			if field := named(at, known); field != "" {
				return field
			}
		}
	}
	return ""
}

// splitPath takes "/a/b", "#/a/b", "$.a.b", "a.b" and "a[0].b" apart.
func splitPath(text string) []string {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "#"), "$")
	return strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '.' || r == '[' || r == ']' })
}

// match finds the argument that a path of the other side means: the longest end of the path that is one. What comes before ("body", "data",
// "attributes") is the other side's own.
func match(steps, known []string) string {
	for from := range steps {
		for to := len(steps); to > from; to-- {
			if name := strings.Join(steps[from:to], "."); slices.Contains(known, name) {
				return name
			}
		}
	}
	return ""
}

// listed gives the allowed values of an error object.
func listed(o map[string]any) []json.RawMessage {
	for _, key := range []string{"allowed", "allowed_values", "allowedValues", "enum", "enum_values", "options", "choices", "valid_values", "permitted", "expected", "ctx", "context", "params", "constraints", "meta"} {
		switch at := o[key].(type) {
		case []any:
			if values := scalars(at); len(values) > 0 {
				return values
			}
		case map[string]any:
			if values := listed(at); len(values) > 0 {
				return values
			}
		case string:
			if values := splitValues(at); len(values) > 1 {
				return values
			}
		}
	}
	return nil
}

func scalars(list []any) (values []json.RawMessage) {
	for _, item := range list {
		switch item.(type) {
		case string, json.Number, bool:
			raw, err := json.Marshal(item)
			if err == nil && len(raw) <= 200 {
				values = append(values, raw)
			}
		default:
			return nil
		}
	}
	return values
}

func firstText(o map[string]any, keys ...string) string {
	for _, key := range keys {
		if text, ok := o[key].(string); ok && strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

func describe(o map[string]any) string {
	return firstText(o, "msg", "message", "detail", "reason", "description", "error", "title")
}

// oneOf finds the list in "must be one of: a, b or c".
var oneOf = regexp.MustCompile(`(?i)(?:must be one of|should be one of|should be|must be|is not one of|not one of|one of|allowed(?: values)?(?: are| is)?|permitted(?: values)?(?: are)?|valid (?:values|options|choices)(?: are)?|choose (?:from|between)|expected(?: one of)?|supported(?: values)?(?: are)?|options(?: are)?)\s*:?\s*([\[({]?[^.;\n]*(?:\.\d[^.;\n]*)*)`)

// allowedInText reads the allowed values out of a sentence.
func allowedInText(text string) []json.RawMessage {
	for _, m := range oneOf.FindAllStringSubmatch(text, 8) {
		if values := splitValues(m[1]); len(values) > 1 {
			return values
		}
	}
	return nil
}

var (
	quoted    = regexp.MustCompile(`'([^']{1,100})'|"([^"]{1,100})"|` + "`([^`]{1,100})`" + `|“([^”]{1,100})”`)
	separator = regexp.MustCompile(`(?i)\s*(?:,\s*or\s+|,\s*and\s+|,|\||\s+or\s+|\s+and\s+)\s*`)
)

// splitValues reads "a, b or c", "'a' | 'b'" and "[a, b]".
func splitValues(text string) (values []json.RawMessage) {
	var words []string
	if found := quoted.FindAllStringSubmatch(text, mostAllowed+1); len(found) > 1 {
		for _, m := range found {
			words = append(words, m[1]+m[2]+m[3]+m[4])
		}
	} else {
		for _, word := range separator.Split(strings.Trim(strings.TrimSpace(text), "[](){}"), mostAllowed+1) {
			word = strings.Trim(strings.TrimSpace(word), `'"`+"`"+`“”[](){}`)
			if word == "" {
				continue
			}
			if strings.Count(word, " ") > 2 { // a sentence, not a list
				return nil
			}
			words = append(words, word)
		}
	}
	for _, word := range words {
		raw, err := json.Marshal(word)
		if err != nil {
			return nil
		}
		if !slices.ContainsFunc(values, func(v json.RawMessage) bool { return string(v) == string(raw) }) {
			values = append(values, raw)
		}
	}
	return values
}

// typed makes numbers and booleans of allowed values where the value that was sent is one.
func typed(values []json.RawMessage, sent json.RawMessage) []json.RawMessage {
	if len(sent) == 0 || sent[0] == '"' {
		return values
	}
	out := slices.Clone(values)
	for i, raw := range values {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			continue
		}
		if _, err := strconv.ParseFloat(text, 64); err == nil && json.Valid([]byte(text)) || text == "true" || text == "false" {
			out[i] = json.RawMessage(text)
		}
	}
	return out
}

// fieldInText finds the one argument that a sentence names in quotes, or as "name: …" at its beginning, or as a word with an underscore.
func fieldInText(text string, known []string) string {
	lower := strings.ToLower(text)
	if before, _, ok := strings.Cut(lower, ":"); ok {
		for _, name := range known {
			if before == strings.ToLower(name) {
				return name
			}
		}
	}
	var found []string
	for _, name := range known {
		n := strings.ToLower(name)
		for _, form := range []string{"'" + n + "'", `"` + n + `"`, "`" + n + "`", "field " + n, "parameter " + n, "argument " + n, n + " must", n + " should", n + " is ", "invalid " + n} {
			if i := strings.Index(lower, form); i >= 0 && wordAt(lower, i, len(form)) {
				found = append(found, name)
				break
			}
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// wordAt reports whether nothing of a longer word touches lower[i:i+n].
func wordAt(lower string, i, n int) bool {
	letter := func(j int) bool {
		return j >= 0 && j < len(lower) && (lower[j] == '_' || lower[j] >= 'a' && lower[j] <= 'z' || lower[j] >= '0' && lower[j] <= '9')
	}
	return !(letter(i-1) && letter(i)) && !(letter(i+n) && letter(i+n-1))
}
