package reply

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// fromJSON reads one JSON object and nothing after it. Keys are the fields' names as they are, each at most once.
func (f *formReading) fromJSON(text string) Reading {
	if loneSurrogate(text) || !uniqueKeys(text) {
		return not(NotJSON)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		return not(NotJSON)
	}
	for i := range f.q.Fields {
		to := &f.q.Fields[i]
		raw, ok := object[to.Name]
		if !ok {
			continue
		}
		delete(object, to.Name)
		value, reason := jsonValue(to, raw)
		if reason != "" {
			return notField(reason, to.Name)
		}
		f.values[i].JSON = value
	}
	if len(object) > 0 {
		return notField(UnknownField, firstKey(object))
	}
	return Reading{}
}

// firstKey names the same key on every run.
func firstKey(object map[string]json.RawMessage) string {
	first, any := "", false
	for key := range object {
		if !any || key < first {
			first, any = key, true
		}
	}
	return first
}

// jsonValue checks a JSON value against its field and gives it one spelling.
func jsonValue(to *Field, raw json.RawMessage) (json.RawMessage, Reason) {
	raw = bytes.TrimSpace(raw)
	var s string
	switch to.Type {
	case JSON:
		var out bytes.Buffer
		if json.Compact(&out, raw) != nil {
			return nil, NotJSON
		}
		return out.Bytes(), ""
	case Number, Integer:
		if canonical, ok := canonicalNumber(string(raw), to.Type == Integer); ok {
			return json.RawMessage(canonical), ""
		}
	case Boolean:
		if t := string(raw); t == "true" || t == "false" {
			return raw, ""
		}
	case String, "":
		if raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
			return quoteJSON(s), ""
		}
	case Enum:
		if raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
			for _, value := range to.Enum {
				if value == s {
					return quoteJSON(s), ""
				}
			}
		}
	}
	return nil, WrongType
}

const maxDepth = 64

// uniqueKeys reports JSON in which no object, however deep, has a key twice. Broken JSON is for the parser to refuse.
func uniqueKeys(text string) bool {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if !uniqueValue(dec, 0) {
		return false
	}
	_, err := dec.Token()
	return errors.Is(err, io.EOF)
}

func uniqueValue(dec *json.Decoder, depth int) bool {
	t, err := dec.Token()
	if err != nil || depth > maxDepth {
		return false
	}
	open, isDelim := t.(json.Delim)
	if !isDelim {
		return true
	}
	seen := map[string]bool{}
	for dec.More() {
		if open == '{' {
			key, err := dec.Token()
			name, ok := key.(string)
			if err != nil || !ok || seen[name] {
				return false
			}
			seen[name] = true
		}
		if !uniqueValue(dec, depth+1) {
			return false
		}
	}
	_, err = dec.Token()
	return err == nil
}

// loneSurrogate reports an escaped half of a character, which a decoder would silently replace.
func loneSurrogate(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		unit, ok := escapedUnit(text[i:])
		switch {
		case ok && 0xD800 <= unit && unit < 0xDC00:
			low, ok := escapedUnit(text[i+6:])
			if !ok || low < 0xDC00 || low > 0xDFFF {
				return true
			}
			i += 11
		case ok && 0xDC00 <= unit && unit <= 0xDFFF:
			return true
		default:
			i++
		}
	}
	return false
}

// escapedUnit is the value of \uXXXX at the start of s.
func escapedUnit(s string) (v int, ok bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	for _, c := range []byte(s[2:6]) {
		switch {
		case '0' <= c && c <= '9':
			v = v<<4 | int(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			v = v<<4 | int(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return v, true
}
