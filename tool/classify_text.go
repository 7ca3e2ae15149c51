package tool

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// oneOf finds the list in "must be one of: a, b or c".
var oneOf = regexp.MustCompile(`(?i)(?:must be one of|should be one of|should be|must be|is not one of|not one of|one of|allowed(?: values)?(?: are| is)?|permitted(?: values)?(?: are)?|valid (?:values|options|choices)(?: are)?|choose (?:from|between)|expected(?: one of)?|supported(?: values)?(?: are)?|options(?: are)?)\s*:?\s*([\[({]?[^.;\n]*(?:\.\d[^.;\n]*)*)`)

// allowedInText reads the allowed values out of a sentence.
func allowedInText(text string) []json.RawMessage {
	for _, m := range oneOf.FindAllStringSubmatch(text, 8) {
		if values := splitValues(m[1]); len(values) > 1 {
			return values
		}
	}
	return nil
}

var (
	quoted    = regexp.MustCompile(`'([^']{1,100})'|"([^"]{1,100})"|` + "`([^`]{1,100})`" + `|“([^”]{1,100})”`)
	separator = regexp.MustCompile(`(?i)\s*(?:,\s*or\s+|,\s*and\s+|,|\||\s+or\s+|\s+and\s+)\s*`)
)

// splitValues reads "a, b or c", "'a' | 'b'" and "[a, b]".
func splitValues(text string) (values []json.RawMessage) {
	var words []string
	if found := quoted.FindAllStringSubmatch(text, -1); len(found) > 1 {
		for _, m := range found {
			words = append(words, m[1]+m[2]+m[3]+m[4])
		}
	} else {
		for _, word := range separator.Split(strings.Trim(strings.TrimSpace(text), "[](){}"), -1) {
			word = strings.Trim(strings.TrimSpace(word), `'"`+"`"+`“”[](){}`)
			if word == "" {
				continue
			}
			if strings.Count(word, " ") > 2 { // a sentence, not a list
				return nil
			}
			words = append(words, word)
		}
	}
	for _, word := range words {
		raw, err := json.Marshal(word)
		if err != nil {
			return nil
		}
		if !slices.ContainsFunc(values, func(v json.RawMessage) bool { return string(v) == string(raw) }) {
			values = append(values, raw)
		}
	}
	return values
}

// typed makes numbers and booleans of allowed values where the value that was sent is one.
func typed(values []json.RawMessage, sent json.RawMessage) []json.RawMessage {
	if len(sent) == 0 || sent[0] == '"' {
		return values
	}
	out := slices.Clone(values)
	for i, raw := range values {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			continue
		}
		if _, err := strconv.ParseFloat(text, 64); err == nil && json.Valid([]byte(text)) || text == "true" || text == "false" {
			out[i] = json.RawMessage(text)
		}
	}
	return out
}

// fieldInText finds the one argument that a sentence names in quotes, or as "name: …" at its beginning, or as a word with an underscore.
func fieldInText(text string, known []string) string {
	lower := strings.ToLower(text)
	if before, _, ok := strings.Cut(lower, ":"); ok {
		for _, name := range known {
			if before == strings.ToLower(name) {
				return name
			}
		}
	}
	var found []string
	for _, name := range known {
		n := strings.ToLower(name)
		for _, form := range []string{"'" + n + "'", `"` + n + `"`, "`" + n + "`", "field " + n, "parameter " + n, "argument " + n, n + " must", n + " should", n + " is ", "invalid " + n} {
			if i := strings.Index(lower, form); i >= 0 && wordAt(lower, i, len(form)) {
				found = append(found, name)
				break
			}
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// wordAt reports whether nothing of a longer word touches lower[i:i+n].
func wordAt(lower string, i, n int) bool {
	letter := func(j int) bool {
		return j >= 0 && j < len(lower) && (lower[j] == '_' || lower[j] >= 'a' && lower[j] <= 'z' || lower[j] >= '0' && lower[j] <= '9')
	}
	return !(letter(i-1) && letter(i)) && !(letter(i+n) && letter(i+n-1))
}
