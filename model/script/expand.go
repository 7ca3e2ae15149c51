package script

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/holdshort/holdshort/model"
)

// expand fills in the groups and results. What names nothing stays as it is, for whoever wrote the rule to see. What is filled in is not
// looked at again.
func (m match) expand(text string) string {
	var out strings.Builder
	for text != "" {
		at := strings.IndexAny(text, "${")
		if at < 0 {
			out.WriteString(text)
			break
		}
		out.WriteString(text[:at])
		text = text[at:]
		value, used := m.placeholder(text)
		if used == 0 {
			value, used = text[:1], 1
		}
		out.WriteString(value)
		text = text[used:]
	}
	return out.String()
}

// placeholder reads the one that text begins with, and gives how long it is; 0: none.
func (m match) placeholder(text string) (value string, used int) {
	if strings.HasPrefix(text, "{") {
		end := strings.IndexByte(text, '}')
		if end < 0 {
			return "", 0
		}
		if raw, ok := m.resultAt(text[1:end]); ok {
			return plain(raw), end + 1
		}
		return "", 0
	}
	switch rest := text[1:]; {
	case strings.HasPrefix(rest, "$"):
		return "$", 2
	case strings.HasPrefix(rest, "{"):
		end := strings.IndexByte(rest, '}')
		if end < 0 {
			return "", 0
		}
		if value, ok := m.group(rest[1:end]); ok {
			return value, 1 + end + 1
		}
		return "", 0
	default:
		// The longest number that is a group: $12 is the first group and a 2 where there are fewer than twelve.
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		for ; digits > 0; digits-- {
			if value, ok := m.group(rest[:digits]); ok {
				return value, 1 + digits
			}
		}
		return "", 0
	}
}

func (m match) group(name string) (string, bool) {
	if n, err := strconv.Atoi(name); err == nil {
		if n < 0 || n >= len(m.groups) {
			return "", false
		}
		return m.groups[n], true
	}
	value, ok := m.names[name]
	return value, ok
}

// resultAt gives what {result}, {result.a.0.b} or {results} stands for, as JSON.
func (m match) resultAt(path string) (json.RawMessage, bool) {
	if len(m.results) == 0 {
		return nil, false
	}
	if path == "results" {
		return quote(joined(m.results)), true
	}
	head, rest, deeper := strings.Cut(path, ".")
	if head != "result" {
		return nil, false
	}
	raw := json.RawMessage(strings.TrimSpace(m.result))
	if !json.Valid(raw) {
		raw = quote(m.result)
	}
	if !deeper {
		return raw, true
	}
	for part := range strings.SplitSeq(rest, ".") {
		var ok bool
		if raw, ok = child(raw, part); !ok {
			return nil, false
		}
	}
	return raw, true
}

func joined(results []model.Message) string {
	texts := make([]string, 0, len(results))
	for _, r := range results {
		raw := json.RawMessage(strings.TrimSpace(r.Text))
		if !json.Valid(raw) {
			raw = quote(r.Text)
		}
		texts = append(texts, plain(raw))
	}
	return strings.Join(texts, "\n")
}

func child(raw json.RawMessage, name string) (json.RawMessage, bool) {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) == nil {
		value, ok := object[name]
		return value, ok
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil, false
	}
	i, err := strconv.Atoi(name)
	if err != nil || i < 0 || i >= len(list) {
		return nil, false
	}
	return list[i], true
}

// plain is JSON as people read it: a text without its quotes.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil && !bytes.Equal(raw, []byte("null")) {
		return text
	}
	return string(raw)
}

func quote(text string) json.RawMessage {
	raw, err := json.Marshal(text)
	if err != nil { // a string always fits
		return json.RawMessage(`""`)
	}
	return raw
}
