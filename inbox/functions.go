package inbox

import (
	"html/template"
	"strings"
	"time"

	"github.com/holdshort/holdshort/engine"
)

// functions are what templates can do besides showing a field.
func (l *looks) functions() template.FuncMap {
	return template.FuncMap{
		"asset":   l.url,
		"visible": visible, // text with what is odd in it made visible: for everything that people, models and callers wrote
		"when":    when,
		"span":    span,
		"count":   count,
		"tallied": tallied,
		"words":   func(s any) string { return strings.ReplaceAll(toText(s), "_", " ") },
		"add":     func(a, b int) int { return a + b },
		"dict":    dict,
		"list":    func(v ...any) []any { return v },
		"has":     strings.HasPrefix,
	}
}

func toText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case interface{ String() string }:
		return v.String()
	}
	return strings.TrimSpace(strings.Trim(template.JSEscaper(v), `"`))
}

// dict makes a map of names and values, for a part that needs more than one thing.
func dict(pairs ...any) map[string]any {
	out := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		out[toText(pairs[i])] = pairs[i+1]
	}
	return out
}

// count is a number that is exact up to a thousand.
func count(c engine.Count) string {
	if c.More {
		return "1,000+"
	}
	return number(c.N)
}

// when is a moment as people feel it. Scripts keep the words true and say the exact time in the reader's zone; without them it is UTC.
func when(t time.Time) template.HTML {
	if t.IsZero() {
		return ""
	}
	utc := t.UTC()
	return template.HTML(`<time datetime="` + utc.Format(time.RFC3339) + `" title="` + utc.Format("2006-01-02 15:04:05 UTC") + `" data-ago>` + template.HTMLEscapeString(ago(time.Since(t))) + `</time>`)
}
