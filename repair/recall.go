package repair

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Limits of what is looked at of a conversation.
const (
	MaxLines = 10  // the last ones
	MaxLine  = 200 // characters of each that a model gets to see
	longLine = 2 << 10
)

func recent(history []Line) []Line { return history[max(0, len(history)-MaxLines):] }

func fromUser(l Line) bool { return strings.EqualFold(strings.TrimSpace(l.Role), "user") }

// recallValue finds what the person had asked for: the value of the faulty field in the newest of their lines that has one. It must be the only one there, and
// nothing in the line may deny or question it.
func (t *table) recallValue(history []Line) (json.RawMessage, Reason) {
	if t.faulty == nil || len(t.faulty.allowed) == 0 {
		return nil, NotSaid
	}
	lines := recent(history)
	for i := len(lines) - 1; i >= 0; i-- {
		if !fromUser(lines[i]) || len(lines[i].Text) > longLine || !utf8.ValidString(lines[i].Text) {
			continue
		}
		raw, found, why := t.lineValue(lines[i].Text)
		if why != "" || found {
			return raw, why
		}
	}
	return nil, NotSaid
}

// lineValue looks for the faulty field's values in one line of free text.
func (t *table) lineValue(text string) (raw json.RawMessage, found bool, why Reason) {
	r := t.reader(text, nil)
	r.inPlay = []*field{t.faulty}
	denied, polite, about := false, false, false
	var parts []part
	for i := 0; i < len(r.tokens); {
		p := r.partAt(i)
		denied = denied || p.kind == deny || p.kind == cancel || p.kind == from
		polite = polite || p.kind == courtesy
		about = about || p.own || p.field == t.faulty
		if p.value {
			parts = append(parts, p)
		}
		i += len(p.tokens)
	}
	for i := range parts {
		p := &parts[i]
		if !about && weak(p.tokens) {
			continue
		}
		one, reason := t.faulty.pick(p.tokens, r.textOf(p.tokens))
		if reason != "" || raw != nil && string(one) != string(raw) {
			return nil, true, Several
		}
		raw = one
	}
	switch {
	case raw == nil:
		return nil, false, ""
	case denied, r.question() && !polite, len(r.tokens) > maxTokens:
		return nil, true, NotSaid
	case string(raw) == string(t.faulty.now): // which was refused
		return nil, true, NotSaid
	}
	return raw, true, ""
}

// weak reports a value that a line may well have for another reason: a bare number, a letter, a small word.
func weak(tokens []token) bool {
	for _, k := range tokens {
		if kind := words[k.word]; (kind == unknown || kind == noun) && !numeric(k.text) && utf8.RuneCountInString(k.word) > 1 {
			return false
		}
	}
	return true
}
