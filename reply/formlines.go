package reply

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// countLines counts the lines that give a field of the form and those that do not. attempt is the name in the first line that
// looks as if it gave a field which the form does not have.
func (f *formReading) countLines(text string) (known, other int, attempt string) {
	for line := range lines(text) {
		name, value, ok := cutLine(line)
		switch {
		case ok && f.field(name) >= 0:
			known++
		default:
			other++
			if ok && looksNamed(name, line, value) {
				return known, other, name
			}
		}
	}
	return known, other, attempt
}

// lines yields the lines that are not blank, whichever of the line ends was typed.
func lines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.FieldsFuncSeq(text, lineEnd) {
			if strings.TrimSpace(line) != "" && !yield(line) {
				return
			}
		}
	}
}

func lineEnd(r rune) bool {
	return '\n' <= r && r <= '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}

// fromLines reads one field on each line.
func (f *formReading) fromLines(text string) Reading {
	for line := range lines(text) {
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

// hidesField reports a second field in the value of the first ("name=Ann, age=5", "name: Ann age: 5"): one field goes on
// each line. In quotes it is text.
func (f *formReading) hidesField(value string) bool {
	if _, quoted := quotedText(value); quoted {
		return false
	}
	for {
		at := strings.IndexAny(value, "=:：＝")
		if at < 0 {
			return false
		}
		if f.endsInName(value[:at]) {
			return true
		}
		_, n := utf8.DecodeRuneInString(value[at:])
		value = value[at+n:]
	}
}

const maxNameWords = 4 // of a field's name that is looked for inside a value

// endsInName reports a field's name at the end of what stands before a sign.
func (f *formReading) endsInName(before string) bool {
	before = strings.TrimSpace(before)
	start := len(before)
	for range maxNameWords {
		start = max(strings.LastIndexFunc(before[:start], betweenWords), 0)
		if f.field(strings.TrimLeftFunc(before[start:], betweenWords)) >= 0 {
			return true
		}
	}
	return false
}

func betweenWords(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune(",;，；،؛、", r)
}

// quotedText is what stands between two straight double quotes around the whole.
func quotedText(s string) (string, bool) {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' && !strings.Contains(s[1:len(s)-1], `"`) {
		return s[1 : len(s)-1], true
	}
	return s, false
}
