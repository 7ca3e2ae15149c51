package schema

import (
	"regexp"
	"strings"
)

// plain turns the library's "validating root: validating /properties/lines/items: type: …" into the field, lines[], and what is wrong there.
func plain(text string) (field, wrong string) {
	base, definition := "", ""
	for {
		rest, ok := strings.CutPrefix(text, "validating ")
		if !ok {
			break
		}
		place, after, ok := strings.Cut(rest, ": ")
		if !ok {
			break
		}
		text = after
		parts := strings.Split(place, "/")
		if len(parts) > 2 && (parts[1] == "$defs" || parts[1] == "definitions") { // entered by reference: its fields are within the field so far
			if definition != parts[2] {
				base, definition = field, parts[2]
			}
			field = fieldOf(base, parts[3:])
			continue
		}
		if base, definition = "", ""; len(parts) > 1 {
			field = fieldOf("", parts[1:])
		}
	}
	return field, reword(text)
}

func fieldOf(field string, parts []string) string {
	for i := 0; i < len(parts); i++ {
		switch parts[i] {
		case "properties", "patternProperties":
			if i++; i < len(parts) {
				if field != "" {
					field += "."
				}
				field += unescape.Replace(parts[i])
			}
		case "items", "prefixItems", "contains":
			field += "[]"
		}
	}
	return field
}

var (
	places = regexp.MustCompile(`\n\s*validating [^\s:]+: `)
	ratio  = regexp.MustCompile(`^((?:minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf): -?\d+)/1 `)
	zeros  = regexp.MustCompile(`\.?0+$`)
)

// reword takes what only the library's authors can read out of its texts.
func reword(text string) string {
	text = strings.ReplaceAll(text, "<invalid reflect.Value>", "null")
	if head, alternatives, ok := strings.Cut(text, ":\n"); ok && strings.HasPrefix(head, "anyOf: ") {
		text = "fits none of the alternatives: " + strings.TrimPrefix(places.ReplaceAllString("\n"+alternatives, "; "), "; ")
	}
	if strings.Contains(text, "<anonymous schema>") {
		keyword, _, _ := strings.Cut(text, ":")
		text = map[string]string{"oneOf": "fits more than one of the alternatives", "not": "is what it must not be"}[keyword]
		if text == "" {
			text = "does not fit " + keyword
		}
	}
	if ratio.MatchString(text) {
		text = ratio.ReplaceAllString(text, "$1 ")
		if i := strings.LastIndexByte(text, ' '); strings.Contains(text[i:], ".") {
			text = text[:i] + zeros.ReplaceAllString(text[i:], "")
		}
	}
	return text
}
