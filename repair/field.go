package repair

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/holdshort/holdshort/tool"
)

// field is one argument that a patch may set.
type field struct {
	path    string
	names   [][]string // folded words that people may call it by
	words   []string   // of its own name and title, one by one
	types   []string   // of JSON, null aside; empty: anything
	format  string
	allowed []value // empty: nobody said
	inner   bool    // it has fields of its own
	now     json.RawMessage
}

// table is all that can be patched of one call.
type table struct {
	fields []*field
	faulty *field          // nil: nobody said, and there are several
	torn   map[string]bool // names that could mean the faulty field or another
	args   json.RawMessage
	shape  shape
}

// tableOf finds the fields of the schema, or those of the arguments where the schema names none. args must be canonical.
func tableOf(f tool.Fault, args, schema json.RawMessage) *table {
	s := shapeOf(schema)
	t := &table{args: args, shape: s}
	s.each(func(path string, node any) { t.add(s, path, node) })
	if len(t.fields) == 0 {
		object, _ := objectOf(args)
		for i, name := range slices.Sorted(maps.Keys(object)) {
			if i < maxTable {
				t.add(s, name, nil)
			}
		}
	}
	t.faulty = t.find(plainPath(f.Field))
	if t.faulty == nil && f.Field != "" {
		if node, ok := s.down(plainPath(f.Field)); ok && strings.ContainsAny(f.Field, ".[") { // through a list
			if _, there := at(args, plainPath(f.Field)); there {
				t.faulty = t.add(s, plainPath(f.Field), node)
			}
		}
	}
	if t.faulty == nil && f.Field == "" && len(t.fields) == 1 {
		t.faulty = t.fields[0]
	}
	if t.faulty != nil {
		t.faulty.blame(f)
	}
	t.unname()
	return t
}

func (t *table) add(s shape, path string, node any) *field {
	fd := &field{path: path}
	nodes := s.nodes(node)
	fd.now, _ = at(t.args, path)
	for _, n := range nodes {
		fd.types = append(fd.types, typesOf(n)...)
		if format, ok := n["format"].(string); ok && fd.format == "" {
			fd.format = format
		}
	}
	fd.inner = len(s.parts(nodes)) > 0
	fd.allowed, _ = s.values(node, 0)
	if len(fd.types) == 0 && len(fd.allowed) == 0 && fd.now != nil && string(fd.now) != "null" { // the schema does not say: what is there does
		fd.types = []string{typeOf(fd.now)}
	}
	title := ""
	if len(nodes) > 0 {
		title, _ = nodes[0]["title"].(string)
		fd.alias(nodes)
	}
	fd.name(title)
	t.fields = append(t.fields, fd)
	return fd
}

// blame adds what the fault knows of the field.
func (fd *field) blame(f tool.Fault) {
	if fd.now == nil {
		fd.now, _ = canonical(f.Value)
	}
	if len(f.Allowed) > 0 {
		known := fd.allowed
		fd.allowed = nil
		for _, raw := range f.Allowed {
			if v, ok := valueOf(raw); ok {
				for _, k := range known {
					if string(k.json) == string(v.json) {
						v.names = k.names
					}
				}
				fd.allowed = append(fd.allowed, v)
			}
		}
		fd.unambiguous()
	}
	fd.documented(f.Message)
	if len(fd.types) == 0 {
		for _, v := range fd.allowed {
			fd.types = append(fd.types, typeOf(v.json))
		}
	}
}

// find gives the field of a path: as it is written, else as people spell it, else without what a protocol put before it ("body.width").
func (t *table) find(path string) *field {
	for _, fd := range t.fields {
		if fd.path == path {
			return fd
		}
	}
	for path != "" {
		var found *field
		for _, fd := range t.fields {
			if squash(fd.path) == squash(path) {
				if found != nil {
					return nil
				}
				found = fd
			}
		}
		if found != nil {
			return found
		}
		_, path, _ = strings.Cut(path, ".")
	}
	return nil
}

// squash writes a name without what separates its words.
func squash(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return r
	}, foldWord(name))
}

// name finds the words that people may call the field by: its path, the last step of it, its title; in one word or in several.
func (fd *field) name(title string) {
	leaf := fd.path[strings.LastIndexByte(fd.path, '.')+1:]
	for _, name := range []string{fd.path, leaf, title} {
		if len(name) > maxPath {
			continue
		}
		fd.call(name)
		fd.call(strings.ReplaceAll(spaced(name), ".", " "))
		fd.call(squash(name))
	}
	for _, name := range []string{leaf, title} {
		tokens, _ := tokenize(spaced(name))
		for _, k := range tokens {
			if _, known := words[k.word]; !known && !slices.Contains(fd.words, k.word) {
				fd.words = append(fd.words, k.word)
			}
		}
	}
}

func (fd *field) call(name string) {
	tokens, _ := tokenize(name)
	if len(tokens) == 0 || len(tokens) > maxPhrase {
		return
	}
	sequence := make([]string, len(tokens))
	for i := range tokens {
		sequence[i] = tokens[i].word
	}
	if !slices.ContainsFunc(fd.names, func(known []string) bool { return slices.Equal(known, sequence) }) {
		fd.names = append(fd.names, sequence)
	}
}

// spaced cuts aspectRatio into its words.
func spaced(name string) string {
	var out strings.Builder
	before := rune(0)
	for _, r := range name {
		if unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsDigit(before)) {
			out.WriteByte(' ')
		}
		out.WriteRune(r)
		before = r
	}
	return out.String()
}

// unname takes away the names that could mean two fields. A field's whole path stays its own, unless the faulty field goes by it too.
func (t *table) unname() {
	owners, whole := map[string][]*field{}, map[string]*field{}
	for _, fd := range t.fields {
		whole[foldWord(fd.path)] = fd
		for _, name := range fd.names {
			joined := strings.Join(name, " ")
			owners[joined] = append(owners[joined], fd)
		}
	}
	t.torn = map[string]bool{}
	for name, fields := range owners {
		if len(fields) > 1 && whole[name] != nil && whole[name] != t.faulty && slices.Contains(fields, t.faulty) {
			t.torn[name] = true
		}
	}
	for _, fd := range t.fields {
		fd.names = slices.DeleteFunc(fd.names, func(name []string) bool {
			joined := strings.Join(name, " ")
			return t.torn[joined] || len(owners[joined]) > 1 && whole[joined] != fd
		})
	}
}

func typesOf(node map[string]any) []string {
	var found []string
	switch t := node["type"].(type) {
	case string:
		found = []string{t}
	case []any:
		for _, one := range t {
			if name, ok := one.(string); ok {
				found = append(found, name)
			}
		}
	}
	return slices.DeleteFunc(found, func(name string) bool { return name == "null" })
}

func typeOf(raw json.RawMessage) string {
	switch {
	case len(raw) == 0:
		return ""
	case raw[0] == '"':
		return "string"
	case raw[0] == '{':
		return "object"
	case raw[0] == '[':
		return "array"
	case raw[0] == 't' || raw[0] == 'f':
		return "boolean"
	case raw[0] == 'n':
		return "null"
	}
	return "number"
}

func (fd *field) is(kinds ...string) bool {
	return slices.ContainsFunc(fd.types, func(t string) bool { return slices.Contains(kinds, t) })
}
