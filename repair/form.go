package repair

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/holdshort/holdshort/reply"
)

// fromJSON reads a reply that is a JSON object of fields. Fields within others are named one by one, so that their neighbours keep their values.
func (r *reader) fromJSON() (map[string]json.RawMessage, Reason, string) {
	raw, err := canonical(json.RawMessage(strings.TrimSpace(r.text)))
	if err != nil {
		return nil, Unclear, ""
	}
	set := map[string]json.RawMessage{}
	why, field := r.flatten(set, "", raw)
	if why != "" {
		return nil, why, field
	}
	if len(set) == 0 {
		return nil, Unclear, ""
	}
	return set, "", ""
}

func (r *reader) flatten(set map[string]json.RawMessage, prefix string, raw json.RawMessage) (Reason, string) {
	object, ok := objectOf(raw)
	if !ok || len(object) > maxTable {
		return NotAllowed, prefix
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		path, value := join(prefix, name), object[name]
		fd := r.exact(path)
		if fd == nil {
			return UnknownField, shorten(path, 64)
		}
		if fd.inner && value[0] == '{' {
			if why, field := r.flatten(set, path, value); why != "" {
				return why, field
			}
			continue
		}
		if why := fd.takes(value); why != "" {
			return why, path
		}
		set[path] = value
	}
	return "", ""
}

func (t *table) exact(path string) *field {
	for _, fd := range t.fields {
		if fd.path == path {
			return fd
		}
	}
	return nil
}

// takes checks a value that is JSON already against the list of the field's values. Its schema is checked with the whole.
func (fd *field) takes(value json.RawMessage) Reason {
	for i := range fd.allowed {
		if string(fd.allowed[i].json) == string(value) {
			return ""
		}
	}
	if len(fd.allowed) > 0 {
		return NotAllowed
	}
	return ""
}

// fromLines reads lines of field=value and field: value, as package reply reads a form: then a text may have spaces in it.
func (r *reader) fromLines() (map[string]json.RawMessage, bool) {
	q := reply.Question{Expected: reply.Form, Languages: r.languages}
	var owners []*field
	for _, fd := range r.fields {
		if fd.inner {
			continue
		}
		for _, name := range fd.names {
			q.Fields = append(q.Fields, reply.Field{Name: strings.Join(name, " "), Known: true})
			owners = append(owners, fd)
		}
		if name := fd.path; len(fd.names) > 0 && !contains(fd.names, name) {
			q.Fields = append(q.Fields, reply.Field{Name: name, Known: true})
			owners = append(owners, fd)
		}
	}
	reading := reply.Read(r.text, &q)
	if reading.Verdict != reply.Filled {
		return nil, false
	}
	set := map[string]json.RawMessage{}
	for _, v := range reading.Values {
		fd, text := owners[v.Field], plainText(v.JSON)
		if set[fd.path] != nil {
			return nil, false
		}
		tokens, ends := tokenize(text)
		quoted := strings.Contains(r.text, `"`+text+`"`)
		if len(tokens) == 0 || !quoted && len(fd.allowed) == 0 && (ends == '?' || words[tokens[0].word] == deny) {
			return nil, false
		}
		one := part{tokens: tokens, number: numeric(text)}
		raw, why := fd.read(&one, text, true, r.languages)
		if why != "" {
			return nil, false
		}
		set[fd.path] = raw
	}
	return set, true
}

func contains(names [][]string, name string) bool {
	for _, known := range names {
		if strings.Join(known, " ") == name {
			return true
		}
	}
	return false
}
