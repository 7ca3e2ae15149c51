package repair

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/reply"
)

// Shown is how many allowed values a message lists. A position in the list, "the second one", counts among these.
const Shown = 5

// pick finds the one allowed value that tokens are: as it is written, else the only one that folds to the same.
func (fd *field) pick(tokens []token, text string) (json.RawMessage, Reason) {
	var found []*value
	for i := range fd.allowed {
		v := &fd.allowed[i]
		if v.text == text {
			return v.json, ""
		}
		for run := range v.spellings() {
			if len(run) == len(tokens) && startsWith(tokens, run) || len(run) > 0 && len(tokens) == 1 && tokens[0].quoted && spaces(run) == tokens[0].word {
				found = append(found, v)
				break
			}
		}
	}
	for _, v := range found[min(1, len(found)):] {
		if !bytes.Equal(v.json, found[0].json) {
			return nil, Several
		}
	}
	if len(found) == 0 {
		return nil, NotAllowed
	}
	return found[0].json, ""
}

// read gives the value that a part of a reply is for the field. assigned says that the person put it behind the field's name: only then is any text a value.
func (fd *field) read(p *part, text string, assigned bool, languages []string) (json.RawMessage, Reason) {
	if len(fd.allowed) > 0 {
		raw, why := fd.pick(p.tokens, text)
		switch {
		case why != NotAllowed:
			return raw, why
		case fd.is("boolean"):
			return fd.boolean(text, languages)
		case fd.is("number", "integer") || p.number:
			if n, ok := number(text, false); ok { // 1.0 for 1
				for i := range fd.allowed {
					if string(fd.allowed[i].json) == n {
						return fd.allowed[i].json, ""
					}
				}
			}
		}
		return nil, NotAllowed
	}
	switch {
	case fd.inner || fd.is("object", "array"):
		return nil, NotAllowed
	case fd.is("number", "integer") && !p.tokens[0].quoted:
		if n, ok := number(text, !fd.is("number")); ok {
			return json.RawMessage(n), ""
		}
		if !fd.is("string") {
			return nil, NotAllowed
		}
	case len(fd.types) > 0 && !fd.is("string"):
		return nil, NotAllowed
	}
	if shape, known := shapes[fd.format]; known && !shape.MatchString(text) {
		if assigned || p.tokens[0].quoted {
			return nil, NotAllowed
		}
		return nil, Unclear
	}
	if assigned || p.tokens[0].quoted || fd.shaped(text) {
		raw, err := holdshort.CanonicalValue(text)
		if err != nil || !valid(text) {
			return nil, NotAllowed
		}
		return raw, ""
	}
	return nil, Unclear
}

func valid(text string) bool { return !strings.ContainsRune(text, opaque) && len(text) <= MaxValue }

// boolean reads true and false, and whole words for yes and no.
func (fd *field) boolean(text string, languages []string) (json.RawMessage, Reason) {
	q := reply.Question{Expected: reply.Form, Actions: true, Languages: languages, Fields: []reply.Field{{Name: "\uE000", Type: reply.Boolean, Required: true}}}
	reading := reply.Read(text, &q)
	if reading.Verdict != reply.Filled || len([]rune(strings.TrimSpace(text))) < 2 {
		return nil, NotAllowed
	}
	for i := range fd.allowed {
		if bytes.Equal(fd.allowed[i].json, reading.Values[0].JSON) {
			return fd.allowed[i].json, ""
		}
	}
	return nil, NotAllowed
}

// position gives the value at a place of the list that was shown.
func (fd *field) position(n int) (json.RawMessage, Reason) {
	switch {
	case len(fd.allowed) == 0:
		return nil, Unclear
	case n == -1 && len(fd.allowed) > Shown:
		return nil, Several // the last of those shown, or the last of all
	case n == -1:
		n = len(fd.allowed)
	}
	if n < 1 || n > min(Shown, len(fd.allowed)) {
		return nil, NotAllowed
	}
	return fd.allowed[n-1].json, ""
}

// counted reads a bare number as a position, unless it could be the beginning of a value, or values are numbers anyway.
func (fd *field) counted(text string) (json.RawMessage, Reason) {
	q := reply.Question{Expected: reply.SingleChoice}
	for i := range fd.allowed {
		v := &fd.allowed[i]
		if numeric(v.text) || len(q.Options) == reply.MaxOptions {
			return nil, NotAllowed
		}
		q.Options = append(q.Options, reply.Option{Label: v.text})
	}
	switch reading := reply.Read(strings.TrimPrefix(text, "#"), &q); {
	case reading.Verdict == reply.Selected && reading.Selected.Len() == 1:
		return fd.position(reading.Selected.First() + 1)
	case reading.Reason == reply.Ambiguous || reading.Reason == reply.SeveralForSingle:
		return nil, Several
	}
	return nil, NotAllowed
}

// shapes of texts that nobody writes by accident: they may stand for themselves, without the field's name.
var shapes = map[string]*regexp.Regexp{
	"date":      regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`),
	"time":      regexp.MustCompile(`^\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?$`),
	"date-time": regexp.MustCompile(`^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$`),
	"email":     regexp.MustCompile(`^[^\s@<>(),;:="]+@[^\s@<>(),;:="]+\.[^\s@<>(),;:=".]+$`),
	"uuid":      regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`),
	"ipv4":      regexp.MustCompile(`^\d{1,3}(\.\d{1,3}){3}$`),
	"uri":       regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://[^\s<>"]+$`),
}

func (fd *field) shaped(text string) bool {
	shape, ok := shapes[fd.format]
	return ok && shape.MatchString(text)
}
