package rulebook

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/holdshort/holdshort"
)

// template is a question with places for what the call says.
type template []piece

type piece struct {
	text  string // as it stands
	field string // tool, agent, actor, args.…
}

// parseTemplate reads {tool}, {agent}, {actor}, {effect}, {cost} and {args.NAME}; {{ and }} are braces.
func parseTemplate(text string) (template, error) {
	var t template
	var plain strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case (c == '{' || c == '}') && i+1 < len(text) && text[i+1] == c:
			plain.WriteByte(c)
			i++
		case c == '}':
			return nil, errors.New("a } without its {")
		case c == '{':
			end := strings.IndexByte(text[i:], '}')
			if end < 0 {
				return nil, errors.New("a { without its }")
			}
			field := strings.TrimSpace(text[i+1 : i+end])
			if !placeable(field) {
				return nil, fmt.Errorf("{%s} is not known", field)
			}
			t = append(t, piece{text: plain.String()}, piece{field: field})
			plain.Reset()
			i += end
		default:
			plain.WriteByte(c)
		}
	}
	return append(t, piece{text: plain.String()}), nil
}

func placeable(field string) bool {
	switch field {
	case "tool", "agent", "actor", "effect", "cost":
		return true
	}
	name, isArg := strings.CutPrefix(field, "args.")
	return isArg && name != "" && !strings.HasPrefix(name, ".") && !strings.HasSuffix(name, ".") && !strings.Contains(name, "..")
}

// maxShown of a value: a question is read by a person.
const maxShown = 200

// fill writes the question for a call. What is redacted stays so; what a model wrote cannot start a new line.
func (t template) fill(f *facts, redacted []string) string {
	if len(t) == 1 {
		return t[0].text
	}
	var b strings.Builder
	var args any
	read := false
	for _, p := range t {
		b.WriteString(p.text)
		switch {
		case p.field == "":
		case strings.HasPrefix(p.field, "args."):
			if !read {
				args, read = f.shown(redacted), true
			}
			b.WriteString(shown(valueAt(args, strings.TrimPrefix(p.field, "args."))))
		default:
			b.WriteString(shown(f.named(p.field)))
		}
	}
	return b.String()
}

func (f *facts) named(field string) any {
	switch field {
	case "tool":
		return f.call.Tool
	case "agent":
		return f.call.Agent
	case "actor":
		return f.call.User
	case "effect":
		return f.call.Effect
	}
	return f.call.Cost
}

// shown are the arguments as anybody may see them.
func (f *facts) shown(redacted []string) any {
	var value any
	d := json.NewDecoder(strings.NewReader(string(holdshort.Redact(f.call.Args, redacted))))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return nil
	}
	return value
}

// valueAt finds a.b in value: a field of that name, or b within a.
func valueAt(value any, path string) any {
	object, ok := value.(map[string]any)
	if !ok {
		if text, withheld := value.(string); withheld && text == "[redacted]" {
			return text
		}
		return nil
	}
	if v, ok := object[path]; ok {
		return v
	}
	for i := range path {
		if path[i] == '.' {
			if inner, ok := object[path[:i]]; ok {
				return valueAt(inner, path[i+1:])
			}
		}
	}
	return nil
}

func shown(value any) string {
	var text string
	switch v := value.(type) {
	case nil:
		return "—"
	case string:
		text = v
	case json.Number:
		text = v.String()
	case int64, bool:
		text = fmt.Sprint(v)
	default:
		raw, err := json.Marshal(v)
		if err != nil {
			return "—"
		}
		text = string(raw)
	}
	if text == "" {
		return "—"
	}
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n++; n > maxShown {
			b.WriteString("…")
			break
		}
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}
