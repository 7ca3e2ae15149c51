package reply

import (
	"strings"
	"unicode"
)

// countLines counts the lines that give a field of the form and those that do not. attempt is the name in the first line that
// looks as if it gave a field which the form does not have.
func (f *formReading) countLines(text string) (known, other int, attempt string) {
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, ok := cutLine(line)
		switch {
		case ok && f.field(name) >= 0:
			known++
		default:
			other++
			if attempt == "" && ok && looksNamed(name, line, value) {
				attempt = name
			}
		}
	}
	return known, other, attempt
}

// fromLines reads one field on each line.
func (f *formReading) fromLines(text string) Reading {
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, _ := cutLine(line)
		field := f.field(name)
		if f.hidesField(value) {
			return notField(Ambiguous, f.q.Fields[field].Name)
		}
		if problem := f.set(field, value); problem.Reason != "" {
			return problem
		}
	}
	return Reading{}
}

// cutLine cuts "name = value" or "name: value" at whichever sign comes first. A list's bullet before it is ignored.
func cutLine(line string) (name, value string, ok bool) {
	at := strings.IndexAny(line, "=:")
	wide := strings.IndexAny(line, "：＝")
	if wide >= 0 && (at < 0 || wide < at) {
		return trimName(line[:wide]), strings.TrimSpace(line[wide+len("："):]), true
	}
	if at < 0 {
		return "", "", false
	}
	return trimName(line[:at]), strings.TrimSpace(line[at+1:]), true
}

func trimName(name string) string {
	name = strings.TrimSpace(name)
	for _, bullet := range [...]string{"- ", "* ", "• "} {
		if rest, ok := strings.CutPrefix(name, bullet); ok {
			return strings.TrimSpace(rest)
		}
	}
	return name
}

// looksNamed tells a misspelt field ("amuont = 5") from a value that only contains the sign ("10:30", "https://…").
func looksNamed(name, line, value string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	letters := false
	for _, r := range name {
		letters = letters || unicode.IsLetter(r)
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.M, r) && r != '_' && r != '-' && r != '.' {
			return false
		}
	}
	if !letters {
		return false
	}
	equals := strings.IndexAny(line, "=＝") == strings.IndexAny(line, "=:＝：")
	spaced := value == "" || !strings.Contains(line, ":"+value)
	return equals || spaced
}

// hidesField reports a second field in the value of the first ("name=Ann, age=5"): one field goes on each line.
func (f *formReading) hidesField(value string) bool {
	if _, quoted := quotedText(value); quoted {
		return false
	}
	for i, r := range value {
		if r != ',' && r != ';' {
			continue
		}
		if name, _, ok := cutLine(value[i+1:]); ok && f.field(name) >= 0 {
			return true
		}
	}
	return false
}

// quotedText is what stands between two straight double quotes around the whole.
func quotedText(s string) (string, bool) {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' && !strings.Contains(s[1:len(s)-1], `"`) {
		return s[1 : len(s)-1], true
	}
	return s, false
}
