package reply

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/holdshort/holdshort/reply/internal/fold"
	"github.com/holdshort/holdshort/reply/internal/lexicon"
)

// readForm reads a JSON object, lines of fields, or the bare value of the only field that is missing.
func readForm(text string, q *Question, hints *lexicon.Hints) Reading {
	text = strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == 0xFEFF })
	f := formReading{q: q, hints: hints, values: make([]Value, len(q.Fields))}
	if strings.HasPrefix(text, "{") {
		return f.finish(f.fromJSON(text))
	}
	missing := f.onlyMissing()
	if f.cancels(text) && !f.isEnumValue(missing, text) {
		return Reading{Verdict: Cancel}
	}
	known, other, attempt := f.countLines(text)
	switch {
	case known > 0 && other == 0:
		return f.finish(f.fromLines(text))
	case attempt != "":
		return notField(UnknownField, attempt)
	case known == 0 && missing >= 0 && f.hidesField(text):
		return notField(Ambiguous, f.q.Fields[missing].Name)
	case known == 0 && missing >= 0:
		return f.finish(f.set(missing, text))
	}
	return not(NotForm)
}

type formReading struct {
	q      *Question
	hints  *lexicon.Hints
	values []Value  // by field; JSON is nil where the reply gave nothing
	names  [][]byte // of the fields, folded once: a reply may have very many lines
}

// finish refuses what lacks a required field, and drops the fields that were not given.
func (f *formReading) finish(problem Reading) Reading {
	if problem.Reason != "" {
		return problem
	}
	given := f.values[:0]
	for i := range f.q.Fields {
		field := &f.q.Fields[i]
		switch v := f.values[i]; {
		case v.JSON != nil:
			given = append(given, Value{Field: i, JSON: v.JSON})
		case field.Required && !field.Known:
			return notField(MissingField, field.Name)
		}
	}
	if len(given) == 0 {
		return not(NotForm)
	}
	return Reading{Verdict: Filled, Values: given}
}

// onlyMissing is the one required field without a value, or -1.
func (f *formReading) onlyMissing() int {
	found := -1
	for i := range f.q.Fields {
		if f.q.Fields[i].Required && !f.q.Fields[i].Known {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

func (f *formReading) cancels(text string) bool {
	if len(text) > maxPhrase {
		return false
	}
	a := foldAnswer(nil, text, f.hints)
	return readPhrase(f.hints, a.words).meaning&lexicon.Cancel != 0 && !a.quoted && !a.yes
}

func (f *formReading) isEnumValue(field int, text string) bool {
	if field < 0 || f.q.Fields[field].Type != Enum {
		return false
	}
	_, ok := enumValue(f.q.Fields[field].Enum, text)
	return ok
}

// field finds a field by its name as it is, else by its folded name if that is one field's only.
func (f *formReading) field(name string) int {
	for i := range f.q.Fields {
		if f.q.Fields[i].Name == name {
			return i
		}
	}
	if f.names == nil {
		f.names = make([][]byte, len(f.q.Fields))
		for i := range f.q.Fields {
			f.names[i], _ = fold.Text(nil, f.q.Fields[i].Name)
		}
	}
	var room [scratch]byte
	words, _ := fold.Text(room[:0], name)
	found := -1
	for i := range f.names {
		if len(words) > 0 && bytes.Equal(words, f.names[i]) {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

// set reads text as the value of a field.
func (f *formReading) set(field int, text string) Reading {
	to := &f.q.Fields[field]
	if f.values[field].JSON != nil {
		return notField(DuplicateField, to.Name)
	}
	raw, reason := f.textValue(to, text)
	if reason != "" {
		return notField(reason, to.Name)
	}
	f.values[field].JSON = raw
	return Reading{}
}
