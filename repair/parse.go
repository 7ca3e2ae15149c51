package repair

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// entry is one field and the value that a reply gives it.
type entry struct {
	field    *field // nil: not named
	part     *part
	position int  // in the list of values; byNumber: a number behind a word for option
	assigned bool // the value stands behind the field's name with a sign or a to between
}

const byNumber = -2

// parser reads a reply word by word. Every word must be one that belongs in a correction: what is not known could turn its meaning around.
type parser struct {
	*reader
	entries  []entry
	needsTo  bool // a verb of change waits for its to
	refusing bool // the next value is one that is not wanted
	before   kind // of the part before
	sign     byte // : or = since the name of a field
	strange  []string
	asking   bool   // the last verb asked for something
	wanted   bool   // what is not known stands where a value would
	unnamed  string // a word that looks like a field's name, before a sign
	why      Reason // set for good by what can never be read
	recalled bool
	about    bool // nouns were used
}

// parse reads the whole reply.
func (r *reader) parse() (map[string]json.RawMessage, Reason, string) {
	p := &parser{reader: r}
	first := unknown
	for i := 0; i < len(r.tokens) && p.why == ""; {
		one := r.partAt(i)
		if chunk, ok := p.free(i, &one); ok {
			one = part{tokens: chunk}
			p.give(entry{part: &one, assigned: true})
		} else {
			p.take(&one, i)
		}
		if i == 0 {
			first = one.kind
		}
		i += len(one.tokens)
	}
	if p.why == "" && first != courtesy && r.question() {
		p.why = Unclear
	}
	if p.why == "" && len(p.strange) > 0 {
		return nil, p.stranger(), p.unnamed
	}
	if p.why != "" {
		return nil, p.why, ""
	}
	return p.finish()
}

func (r *reader) question() bool {
	return r.ends == '?' || slices.ContainsFunc(r.tokens, func(k token) bool { return k.glue == '?' })
}

// free reports a text that the person assigned to a field which takes any.
func (p *parser) free(i int, one *part) ([]token, bool) {
	if len(p.entries) == 0 {
		return nil, false
	}
	last := &p.entries[len(p.entries)-1]
	glue := one.glue()
	signed := glue == ':' || glue == '=' || p.sign != 0
	if last.part != nil || last.position != 0 || last.field == nil || len(last.field.allowed) > 0 || last.field.is("number", "integer", "boolean", "object", "array") || last.field.inner {
		return nil, false
	}
	if !signed && p.before != to || !one.tokens[0].quoted && (one.kind == deny || one.kind == to || one.kind != unknown && !signed) {
		return nil, false
	}
	return p.chunkAt(i), true
}

func (p *parser) take(one *part, i int) {
	glue := one.glue()
	if glue == ',' || glue == ':' || glue == '=' || glue == '!' {
		p.needsTo, p.before = false, unknown
	}
	if (glue == ':' || glue == '=') && len(p.entries) > 0 {
		p.sign = glue
	}
	before := p.before
	p.before = one.kind
	switch {
	case one.torn:
		p.why = Unclear
	case one.refused && (p.refusing || p.needsTo || before == of && !one.value), (p.refusing || p.needsTo) && p.hasNow(one):
		p.refusing, p.before = false, unknown
	case p.refusing && one.kind != filler && one.kind != to && !one.own && one.kind != of:
		p.why = Unclear // not wanted, but it is not the value that was refused either
	case one.field != nil && !(one.value && p.waits()):
		if one.value {
			p.why = Unclear
			return
		}
		p.name(one.field, before, i+len(one.tokens))
	case one.value, one.number, one.shaped, one.refused, one.tokens[0].quoted:
		if one.number && (before == option || strings.HasPrefix(one.tokens[0].word, "#")) {
			p.give(entry{part: one, position: byNumber})
			return
		}
		if n := len(p.entries); n > 0 && before == to && p.entries[n-1].field == nil && p.entries[n-1].part.refused { // "40 to 5"
			p.entries = p.entries[:n-1]
		}
		p.give(entry{part: one, assigned: p.sign != 0 || before == to})
	case one.position != 0:
		p.give(entry{part: one, position: one.position})
	case one.kind == deny || one.kind == cancel:
		p.why = Unclear
	case one.kind == either:
		p.why = Unclear
		if p.more(i) {
			p.why = Several
		}
	case one.kind == change:
		p.needsTo = true
	case one.kind == use || one.kind == to || one.kind == courtesy:
		p.needsTo, p.asking = false, true
	case one.kind == from:
		p.refusing = true
	case one.kind == recall:
		p.recalled, p.needsTo, p.asking = true, false, false
	case one.kind == noun:
		p.about = true
	case one.kind == unknown && !one.own:
		p.odd(one, i)
	}
}

// waits reports a field that was named and has no value yet.
func (p *parser) waits() bool {
	return len(p.entries) > 0 && p.entries[len(p.entries)-1].field != nil && p.entries[len(p.entries)-1].part == nil
}

// hasNow reports the value that the field which was just named has now: "change the count from 1 to 2".
func (p *parser) hasNow(one *part) bool {
	return p.waits() && p.entries[len(p.entries)-1].field.nowAt(one.tokens) == len(one.tokens)
}

// name takes the name of a field: of the value before it ("1:1 for the ratio"), or of the one to come ("1:1 with count 3").
func (p *parser) name(fd *field, before kind, next int) {
	p.sign = 0
	if n := len(p.entries); n > 0 {
		last := &p.entries[n-1]
		switch {
		case last.part != nil && last.field == nil && (before == of || before == to && !p.valueAt(next) || fd == p.faulty):
			last.field = fd
			return
		case last.part != nil && last.field == fd:
			return
		case last.part == nil && last.field == fd:
			return
		case last.part == nil:
			p.why = Unclear
			return
		}
	}
	p.entries = append(p.entries, entry{field: fd})
}

// give takes a value, for the field that waits for one, else for whichever is named later, else for the faulty one.
func (p *parser) give(e entry) {
	if p.needsTo {
		p.why = Unclear
		return
	}
	if p.waits() {
		last := &p.entries[len(p.entries)-1]
		last.part, last.position, last.assigned = e.part, e.position, e.assigned
	} else {
		e.assigned = false
		p.entries = append(p.entries, e)
	}
	p.sign, p.before = 0, unknown
}

// odd notes a word that is not known.
func (p *parser) odd(one *part, i int) {
	text := one.tokens[0].text
	if one.glue() != '-' || len(p.strange) == 0 {
		p.strange = append(p.strange, text)
	}
	p.wanted = p.wanted || p.asking || p.sign != 0 || strings.ContainsAny(text, "0123456789")
	if next := i + 1; next < len(p.tokens) && (p.tokens[next].glue == '=' || p.tokens[next].glue == ':') && p.unnamed == "" && strings.ContainsFunc(text, unicode.IsLetter) {
		p.unnamed = shorten(text, shownField)
	}
}

// valueAt reports a value at token i that belongs to what stands before it.
func (p *parser) valueAt(i int) bool {
	if i >= len(p.tokens) || p.tokens[i].glue != ' ' {
		return false
	}
	one := p.partAt(i)
	return one.value || one.number
}

// more reports another value behind token i.
func (p *parser) more(i int) bool {
	for j := i + 1; j < len(p.tokens); j++ {
		if one := p.partAt(j); one.value || one.number || one.shaped || one.position != 0 {
			return len(p.entries) > 0
		}
	}
	return false
}

// stranger chooses the reason for a reply with words that are not known.
func (p *parser) stranger() Reason {
	switch {
	case p.unnamed != "":
		return UnknownField
	case len(p.strange) == 1 && p.wanted && (p.waits() || len(p.entries) == 0 && p.faulty != nil && len(p.faulty.allowed) > 0):
		return NotAllowed
	}
	return Unclear
}

// finish turns the entries into the values to set.
func (p *parser) finish() (map[string]json.RawMessage, Reason, string) {
	if p.refusing || p.needsTo {
		return nil, Unclear, ""
	}
	if len(p.entries) == 0 && p.recalled {
		return nil, NotSaid, ""
	}
	set := map[string]json.RawMessage{}
	var named *field
	for i := range p.entries {
		e := &p.entries[i]
		if e.field == nil && named != nil && named != p.faulty { // "width 5 and 6": the 6 may be anything
			return nil, Unclear, ""
		}
		if named = e.field; e.field == nil {
			e.field = p.faulty
		}
		if e.field == nil || e.part == nil {
			return nil, Unclear, ""
		}
		raw, why := p.value(e)
		if why != "" {
			return nil, why, e.field.path
		}
		if given, twice := set[e.field.path]; twice && string(given) != string(raw) {
			return nil, Several, e.field.path
		}
		set[e.field.path] = raw
	}
	if len(set) == 0 {
		return nil, Unclear, ""
	}
	return set, "", ""
}

func (p *parser) value(e *entry) (json.RawMessage, Reason) {
	fd, text := e.field, p.textOf(e.part.tokens)
	switch {
	case e.position != 0 && len(fd.allowed) > 0 && fd != p.faulty: // no list of its values was shown
		return nil, NotAllowed
	case e.position == byNumber && len(fd.allowed) > 0:
		return fd.counted(text)
	case e.position != 0 && e.position != byNumber:
		return fd.position(e.position)
	case p.about && len(fd.allowed) == 0: // "quality 5" may be about something else
		return nil, Unclear
	}
	raw, why := fd.read(e.part, text, e.assigned, p.languages)
	if e.part.refused && fd == p.faulty && why != "" {
		return nil, Unchanged
	}
	if why == NotAllowed && fd == p.faulty && e.part.number && len(fd.allowed) > 0 && !fd.is("number", "integer") {
		return fd.counted(text)
	}
	return raw, why
}
