package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
)

// parse reads an answer: an object with success and messages, or a bare array of them.
func parse(raw []byte) ([]holdshort.Message, error) {
	var items []map[string]json.RawMessage
	if trimmed := bytes.TrimSpace(raw); bytes.HasPrefix(trimmed, []byte("[")) {
		if err := json.Unmarshal(trimmed, &items); err != nil {
			return nil, fmt.Errorf("read messages: %w", err)
		}
	} else {
		var answer struct {
			Success  *bool                        `json:"success"`
			Error    json.RawMessage              `json:"error"`
			Messages []map[string]json.RawMessage `json:"messages"`
		}
		if err := json.Unmarshal(trimmed, &answer); err != nil {
			return nil, fmt.Errorf("read messages: %w", err)
		}
		if answer.Success != nil && !*answer.Success {
			return nil, fmt.Errorf("the other system says that it failed")
		}
		items = answer.Messages
	}
	list := make([]holdshort.Message, 0, len(items))
	for _, item := range items {
		if m, ok := message(item); ok {
			list = append(list, m)
		}
	}
	return list, nil
}

// message reads one entry, whichever way its fields are spelled. One without any text is none.
func message(item map[string]json.RawMessage) (holdshort.Message, bool) {
	fields := make(map[string]json.RawMessage, len(item))
	for name, value := range item {
		fields[flat(name)] = value
	}
	text := first(fields, "content", "message", "text")
	if text == "" {
		return holdshort.Message{}, false
	}
	m := holdshort.Message{ExternalID: first(fields, "id", "messageid", "externalid"), Role: holdshort.RoleOf(first(fields, "role", "sender", "sendertype")),
		Type: first(fields, "messagetype", "type"), Parts: []holdshort.Part{{Type: "text", Text: text}}, ModelVisible: true, CreatedAt: moment(fields)}
	if m.Type == "" {
		m.Type = holdshort.TypeText
	}
	m.Pinned = first(fields, "pinned", "ispinned") == "true"
	return m, true
}

// flat makes createdAt, created_at and _id the same words as createdat and id.
func flat(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// first gives the first of the fields that has something, as text. Of an object, its role, type or name.
func first(fields map[string]json.RawMessage, names ...string) string {
	for _, name := range names {
		raw, ok := fields[name]
		if !ok || string(raw) == "null" {
			continue
		}
		var text string
		if json.Unmarshal(raw, &text) == nil {
			if text != "" {
				return text
			}
			continue
		}
		var inner map[string]json.RawMessage
		if json.Unmarshal(raw, &inner) == nil {
			if text := first(inner, "role", "type", "name"); text != "" {
				return text
			}
			continue
		}
		return strings.TrimSpace(string(raw)) // a number or a truth
	}
	return ""
}

var layouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999Z0700", "2006-01-02 15:04:05.999999999"}

func moment(fields map[string]json.RawMessage) time.Time {
	text := first(fields, "createdat", "timestamp", "time", "date")
	if at, err := ParseTime(text); err == nil {
		return at
	}
	return time.Time{}
}

// ParseTime reads the ways in which systems write a moment: RFC 3339, the same without a zone (that is UTC) or with a space, and seconds or
// milliseconds since 1970. It gives UTC.
func ParseTime(text string) (time.Time, error) {
	text = strings.TrimSpace(text)
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), nil
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || n < 0 || n > 1e14 {
		return time.Time{}, fmt.Errorf("%q is not a time", text)
	}
	if n > 1e11 { // in seconds that would be in the year 5138
		n /= 1000
	}
	seconds, fraction := math.Modf(n)
	return time.Unix(int64(seconds), int64(math.Round(fraction*1e6))*1000).UTC(), nil
}
