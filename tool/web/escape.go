package web

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holdshort/holdshort/tool/internal/fill"
)

// fillSegment makes one segment of a path.
func fillSegment(t fill.Template, v fill.Values) (string, error) {
	segment, _, err := t.Fill(v, func(p fill.Place, value string) (string, error) {
		if why := unfit(value); why != "" {
			return "", fill.Wrong(p, value, why)
		}
		return escapeSegment(value), nil
	})
	if err != nil || len(t.Places()) == 0 {
		return segment, err
	}
	plain, err := url.PathUnescape(segment)
	if err != nil || plain == "" || dots(plain) {
		return "", fill.Wrong(t.Places()[0], plain, "it makes no part of a path")
	}
	return segment, nil
}

// unfit says why a value cannot be part of one segment: servers decode once or twice, and split by either slash.
func unfit(value string) string {
	if value == "" {
		return "it is empty, and part of a path"
	}
	plain := value
	for range 5 {
		if !utf8.ValidString(plain) || strings.ContainsFunc(plain, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }) {
			return "it holds characters that are no text"
		}
		if strings.ContainsAny(plain, `/\`) || dots(plain) {
			return "it is part of a path, so it can hold no slash and cannot be . or .."
		}
		next := decode(plain)
		if next == plain {
			return ""
		}
		plain = next
	}
	return "it is encoded again and again"
}

var encoded = regexp.MustCompile("%[0-9A-Fa-f]{2}")

// decode does what a server does that is not strict about percent signs.
func decode(text string) string {
	return encoded.ReplaceAllStringFunc(text, func(s string) string {
		c, _ := strconv.ParseUint(s[1:], 16, 8)
		return string([]byte{byte(c)})
	})
}

// dots reports whether a segment means this folder or the one above, also with parameters behind a semicolon, or with trailing blanks and
// dots that some file systems drop.
func dots(segment string) bool {
	segment, _, _ = strings.Cut(segment, ";")
	segment = strings.TrimSpace(segment)
	return segment != "" && strings.Trim(segment, ". ") == ""
}

// escapeSegment encodes everything but letters, digits and -._~ in ASCII.
func escapeSegment(value string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for _, c := range []byte(value) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}

// encode makes a query, or the body of a form.
func encode(list []parameter, v fill.Values) (string, error) {
	var pairs []string
	for _, p := range list {
		values, err := p.values(v)
		if err != nil {
			return "", err
		}
		for _, value := range values {
			pairs = append(pairs, p.name+"="+value)
		}
	}
	return strings.Join(pairs, "&"), nil
}

// values of a parameter, encoded: none if it is left out, several if it is a list.
func (p parameter) values(v fill.Values) ([]string, error) {
	if place, ok := p.value.Whole(); ok && !place.Fact {
		value, ok, err := v.Value(place)
		if err != nil || !ok {
			return nil, err
		}
		if list, isList := value.([]any); isList {
			all := make([]string, 0, len(list))
			for _, item := range list {
				text, ok := fill.TextOf(item)
				if !ok {
					return nil, fill.Wrong(place, value, "its items must be texts, numbers, true or false")
				}
				all = append(all, url.QueryEscape(text))
			}
			return all, nil
		}
	}
	escape := func(_ fill.Place, value string) (string, error) { return url.QueryEscape(value), nil }
	if !p.encoded {
		escape = nil
	}
	text, ok, err := p.value.Fill(v, escape)
	if err != nil || !ok {
		return nil, err
	}
	if !p.encoded {
		text = url.QueryEscape(text)
	}
	return []string{text}, nil
}

// headerText refuses what would end a header or start another.
func headerText(p fill.Place, value string) (string, error) {
	for _, c := range []byte(value) {
		if c < ' ' && c != '\t' || c >= 0x7f {
			return "", fill.Wrong(p, value, "it goes into a header, which takes plain ASCII text of one line")
		}
	}
	return value, nil
}

// isNull reports whether raw is the JSON value null.
func isNull(raw json.RawMessage) bool { return strings.TrimSpace(string(raw)) == "null" }
