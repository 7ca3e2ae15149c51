package repair

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"
)

// value is one that a field may have.
type value struct {
	json   json.RawMessage // canonical
	text   string          // as people write it
	tokens []token
	names  [][]token // what else the schema or the fault calls it
}

const maxValues = 256 // of one field; more are no choice

func valueOf(raw json.RawMessage) (value, bool) {
	raw, err := canonical(raw)
	if err != nil || len(raw) > MaxValue {
		return value{}, false
	}
	v := value{json: raw, text: plainText(raw)}
	v.tokens, _ = tokenize(v.text)
	return v, true
}

// plainText is a string without its quotes, and any other value as JSON.
func plainText(raw json.RawMessage) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// spellings are the value and its other names.
func (v *value) spellings() iter.Seq[[]token] {
	return func(yield func([]token) bool) {
		if !yield(v.tokens) {
			return
		}
		for _, name := range v.names {
			if !yield(name) {
				return
			}
		}
	}
}

// values lists what a schema allows, if it is a list: an enum, a const, alternatives that are all that, or the two booleans.
func (s shape) values(node any, hops int) (found []value, listed bool) {
	object, ok := node.(map[string]any)
	if !ok || hops > maxHops {
		return nil, false
	}
	list, listed := object["enum"].([]any)
	if one, ok := object["const"]; ok && !listed {
		list, listed = []any{one}, true
	}
	if listed {
		return listedValues(object, list), true
	}
	if ref, ok := object["$ref"].(string); ok {
		if found, listed = s.values(s.follow(ref), hops+1); listed {
			return found, true
		}
	}
	all, _ := object["allOf"].([]any)
	for _, part := range all {
		if found, listed = s.values(part, hops+1); listed {
			return found, true
		}
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		if found, listed = s.alternatives(object[key], hops); listed {
			return found, true
		}
	}
	if types := typesOf(object); len(types) == 1 && types[0] == "boolean" {
		return listedValues(nil, []any{true, false}), true
	}
	return nil, false
}

func listedValues(node map[string]any, list []any) []value {
	var found []value
	for _, one := range list {
		raw, err := json.Marshal(one)
		if v, ok := valueOf(raw); err == nil && ok && len(found) < maxValues {
			found = append(found, v)
		}
	}
	title, _ := node["title"].(string)
	if len(found) == 1 && node["enum"] == nil { // {const: "1:1", title: "Square"}
		found[0].call(title)
	}
	return found
}

func (s shape) alternatives(node any, hops int) ([]value, bool) {
	list, _ := node.([]any)
	var found []value
	for _, part := range list {
		if object, ok := part.(map[string]any); ok && object["type"] == "null" {
			continue
		}
		more, listed := s.values(part, hops+1)
		if !listed || len(found)+len(more) > maxValues {
			return nil, false
		}
		found = append(found, more...)
	}
	return found, len(found) > 0
}

// call gives a value another name. Names that are only small words or too long to be one are not taken.
func (v *value) call(name string) {
	tokens, _ := tokenize(name)
	if len(tokens) == 0 || len(tokens) > maxPhrase || len(name) > 100 {
		return
	}
	known := 0
	for _, k := range tokens {
		switch kind := words[k.word]; {
		case kind == deny || kind == either || kind == cancel:
			return
		case kind != unknown || len([]rune(k.word)) < 2:
			known++
		}
	}
	if known < len(tokens) {
		v.names = append(v.names, tokens)
	}
}

// alias reads the names that a schema documents: x-aliases, the lists of names beside an enum, the title and the description.
func (fd *field) alias(nodes []map[string]any) {
	for _, node := range nodes {
		aliases, _ := node["x-aliases"].(map[string]any)
		for key, names := range aliases {
			for _, name := range texts(names) {
				for i := range fd.allowed {
					switch v := &fd.allowed[i]; v.text {
					case key: // value: [names]
						v.call(name)
					case name: // name: value
						v.call(key)
					}
				}
			}
		}
		for _, key := range []string{"enumNames", "x-enumNames", "x-enum-varnames"} {
			names, _ := node[key].([]any)
			for i := range names {
				if name, ok := names[i].(string); ok && len(names) == len(fd.allowed) {
					fd.allowed[i].call(name)
				}
			}
		}
		for _, key := range []string{"title", "description"} {
			if text, ok := node[key].(string); ok {
				fd.documented(text)
			}
		}
	}
	fd.unambiguous()
}

func texts(v any) []string {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return []string{v}
	case []any:
		var found []string
		for _, one := range v {
			found = append(found, texts(one)...)
		}
		return found
	}
	raw, _ := json.Marshal(v)
	return []string{string(raw)}
}

const maxDocument = 4 << 10 // bytes of a description that are looked at

// documented finds names in a text that explains the values: "1:1 (square)", "square (1:1)", "1:1 = square", "square = 1:1".
func (fd *field) documented(text string) {
	if len(text) > maxDocument || len(fd.allowed) == 0 || !strings.ContainsAny(text, "(=") {
		return
	}
	for clause := range strings.FieldsFuncSeq(outside(text), func(r rune) bool { return strings.ContainsRune(",;\n|•)", r) }) {
		left, right, ok := strings.Cut(clause, "(")
		if !ok {
			left, right, ok = strings.Cut(clause, "=")
		}
		if !ok {
			continue
		}
		left = afterColon(left)
		before, _ := tokenize(left)
		behind, _ := tokenize(right)
		for i := range fd.allowed {
			v := &fd.allowed[i]
			n := len(v.tokens)
			switch {
			case n > 0 && len(before) >= n && (len(before) == n || n == 1) && startsWith(before[len(before)-n:], v.tokens):
				for name := range strings.SplitSeq(right, "/") {
					v.call(strings.Trim(name, " ."))
				}
			case n > 0 && len(behind) == n && startsWith(behind, v.tokens):
				v.call(left)
			}
		}
	}
	fd.unambiguous()
}

// outside writes the commas within brackets as slashes, so that those that are left separate the values.
func outside(text string) string {
	depth := 0
	return strings.Map(func(r rune) rune {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth = max(depth-1, 0)
		case (r == ',' || r == ';') && depth > 0:
			return '/'
		}
		return r
	}, text)
}

// afterColon drops what introduces a list: "one of: square" is about square.
func afterColon(text string) string {
	if at := strings.LastIndex(text, ": "); at >= 0 {
		text = text[at+2:]
	}
	return strings.TrimSpace(text)
}

// startsWith reports a run of tokens at the beginning of others, with the same signs between them.
func startsWith(tokens, run []token) bool {
	if len(run) == 0 || len(tokens) < len(run) {
		return false
	}
	for i := range run {
		if tokens[i].word != run[i].word || i > 0 && tokens[i].joint() != run[i].joint() {
			return false
		}
	}
	return true
}

// unambiguous drops the names that two values have, or that are a value themselves.
func (fd *field) unambiguous() {
	owners := map[string]int{} // index, or -1 for several
	own := func(i int, run []token) {
		key := spell(run)
		if owner, taken := owners[key]; taken && owner != i {
			i = -1
		}
		owners[key] = i
	}
	for i := range fd.allowed {
		own(i, fd.allowed[i].tokens)
		for _, name := range fd.allowed[i].names {
			own(i, name)
		}
	}
	for i := range fd.allowed {
		v := &fd.allowed[i]
		itself := spell(v.tokens)
		v.names = slices.DeleteFunc(v.names, func(name []token) bool {
			key := spell(name)
			return owners[key] != i || key == itself
		})
	}
}

// spell writes tokens with the signs between them.
func spell(tokens []token) string {
	var out strings.Builder
	for i, k := range tokens {
		if i > 0 {
			out.WriteByte(k.joint())
		}
		out.WriteString(k.word)
	}
	return out.String()
}
