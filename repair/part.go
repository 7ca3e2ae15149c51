package repair

import (
	"slices"
	"strings"
	"unicode"

	"github.com/holdshort/holdshort/reply"
)

// part is one word or phrase of a reply and what it can be. At most one of field, value and number is looked at, in the order that parse says.
type part struct {
	tokens   []token
	kind     kind
	field    *field // it is the name of
	value    bool   // it is a value, or another name of one, of a field in play
	refused  bool   // it is the value that the faulty field has now
	number   bool
	position int  // in the list of values: from 1, -1 the last, 0 none
	torn     bool // it names two fields
	shaped   bool // it has the form that the faulty field asks for
	own      bool // it is a word of the faulty field's own name
}

func (p *part) glue() byte { return p.tokens[0].glue }

// joint is the sign before a token as it is compared: light-blue, light_blue and light blue are one.
func (k token) joint() byte {
	if k.glue == '-' {
		return ' '
	}
	return k.glue
}

// textOf is a part as it was typed.
func (r *reader) textOf(tokens []token) string { return r.text[tokens[0].at:tokens[len(tokens)-1].to] }

// reader reads one reply.
type reader struct {
	*table
	text      string
	languages []string
	tokens    []token
	ends      byte
	inPlay    []*field // the faulty one and those that the reply names
}

func (t *table) reader(text string, languages []string) *reader {
	r := &reader{table: t, text: text, languages: languages}
	r.tokens, r.ends = tokenize(text)
	if t.faulty != nil {
		r.inPlay = append(r.inPlay, t.faulty)
	}
	for i := range r.tokens {
		if fd, _ := r.nameAt(i); fd != nil && fd != t.faulty {
			r.inPlay = append(r.inPlay, fd)
		}
	}
	return r
}

// nameAt is the field whose name begins at token i, and its length. A small word that is also a field's name counts as one only in front of a sign.
func (r *reader) nameAt(i int) (found *field, length int) {
	rest := r.tokens[i:]
	for _, fd := range r.fields {
		for _, name := range fd.names {
			if rest[0].quoted && rest[0].word == strings.Join(name, " ") {
				return fd, 1
			}
			if len(name) > length && named(rest, name) && r.meant(rest, name) {
				found, length = fd, len(name)
			}
		}
	}
	return found, length
}

func named(tokens []token, name []string) bool {
	if len(tokens) < len(name) || tokens[0].quoted {
		return false
	}
	for i, word := range name {
		if tokens[i].word != word || i > 0 && tokens[i].joint() != ' ' {
			return false
		}
	}
	return true
}

func (r *reader) meant(rest []token, name []string) bool {
	k, listed := words[strings.Join(name, " ")]
	if !listed || k == noun {
		return true
	}
	after := byte(0)
	if len(rest) > len(name) {
		after = rest[len(name)].glue
	}
	return after == ':' || after == '='
}

// chunkAt is the typed text at token i up to the next space or comma, and how many tokens that is.
func (r *reader) chunkAt(i int) (tokens []token) {
	if r.tokens[i].quoted {
		return r.tokens[i : i+1]
	}
	n := i + 1
	for n < len(r.tokens) && !r.tokens[n].quoted && !strings.ContainsFunc(r.text[r.tokens[n-1].to:r.tokens[n].at], apart) {
		n++
	}
	return r.tokens[i:n]
}

func apart(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;،；，、؛|", r) }

// partAt is the longest thing at token i that is known.
func (r *reader) partAt(i int) part {
	rest := r.tokens[i:]
	best := part{tokens: rest[:1]}
	length := 0
	better := func(n int, p part) {
		if n > length {
			length, best = n, p
			best.tokens = rest[:n]
		}
	}
	for _, fd := range r.inPlay {
		if n := fd.longest(rest); n > 0 && r.loose(i, n) {
			better(n, part{value: true})
		}
	}
	if chunk := r.chunkAt(i); r.faulty != nil && r.faulty.shaped(r.textOf(chunk)) {
		return part{tokens: chunk, shaped: true}
	}
	if fd, n := r.nameAt(i); n > 0 && n == length { // a value that is also a field's name
		best.field = fd
	} else {
		better(n, part{field: fd})
	}
	if n := r.refusedAt(rest); n > length || n > 0 && n == length && best.value {
		better(n, part{number: n == 1 && numeric(rest[0].text)})
		best.refused = true
	}
	if rest[0].quoted {
		better(1, part{number: numeric(rest[0].text)})
		return best
	}
	if length > 0 {
		return best
	}
	r.wordAt(i, better)
	switch {
	case r.torn[rest[0].word]:
		best.torn = true
	case length == 0 && r.loose(i, 1):
		digits := strings.TrimPrefix(rest[0].word, "#")
		best.number = numeric(rest[0].text) || digits != rest[0].word && numeric(digits)
		if rest[0].word == "si" && len(rest) > 1 && rest[1].glue == ',' { // yes, not if
			best.kind = filler
		}
	case rest[0].word == "-" && len(rest) > 1 && numeric(rest[1].text): // a bullet, or a minus
		best.kind = unknown
	}
	return best
}

// wordAt finds the longest word or phrase of the lists at token i.
func (r *reader) wordAt(i int, better func(int, part)) {
	rest := r.tokens[i:]
	for n := min(maxPhrase, len(rest)); n > 0; n-- {
		key := phraseOf(rest[:n])
		if key == "" || !r.loose(i, n) {
			continue
		}
		if position, ok := ordinals[key]; ok {
			better(n, part{position: position})
		} else if k := words[key]; k != unknown {
			better(n, part{kind: k})
		}
	}
	if r.faulty != nil && slices.Contains(r.faulty.words, rest[0].word) && r.loose(i, 1) {
		better(1, part{own: true})
	}
}

// loose reports words that nothing is written onto: the A of A-3 is no word, and the 3 no number. Only Hebrew writes small words onto others.
func (r *reader) loose(i, n int) bool {
	before := r.tokens[i].glue != '-' || i > 0 && hebrewPrefix(r.tokens[i-1].word)
	after := i+n >= len(r.tokens) || r.tokens[i+n].glue != '-' || n == 1 && hebrewPrefix(r.tokens[i].word)
	return before && after
}

// phraseOf joins tokens that are one phrase: nothing but spaces between them, no quotes.
func phraseOf(tokens []token) string {
	joined := make([]string, len(tokens))
	for i, k := range tokens {
		if k.quoted || i > 0 && k.joint() != ' ' {
			return ""
		}
		joined[i] = k.word
	}
	return strings.Join(joined, " ")
}

// longest is the length of the longest value, or name of one, at the beginning of tokens.
func (fd *field) longest(tokens []token) int {
	length := 0
	for i := range fd.allowed {
		for run := range fd.allowed[i].spellings() {
			switch {
			case tokens[0].quoted && len(run) > 0 && spaces(run) == tokens[0].word:
				length = max(length, 1)
			case len(run) > length && startsWith(tokens, run):
				length = len(run)
			}
		}
	}
	return length
}

func spaces(run []token) string {
	joined := make([]string, len(run))
	for i := range run {
		joined[i] = run[i].word
	}
	return strings.Join(joined, " ")
}

// refusedAt is the length of the value that the faulty field has now, at the beginning of tokens.
func (r *reader) refusedAt(tokens []token) int {
	if r.faulty == nil {
		return 0
	}
	return r.faulty.nowAt(tokens)
}

func (fd *field) nowAt(tokens []token) int {
	if len(fd.now) == 0 || len(fd.now) > 1<<10 {
		return 0
	}
	now, ok := valueOf(fd.now)
	switch {
	case !ok || len(now.tokens) == 0:
		return 0
	case tokens[0].quoted && spaces(now.tokens) == tokens[0].word:
		return 1
	case startsWith(tokens, now.tokens):
		return len(now.tokens)
	}
	return 0
}

// numeric reports what reads as a number and nothing else.
func numeric(text string) bool {
	_, ok := number(text, false)
	return ok && !strings.HasPrefix(text, "+") // which may ask for that much more
}

// number reads typed digits of any script as package reply does: no units, no commas, nothing that a double cannot hold.
func number(text string, whole bool) (string, bool) {
	kind := reply.Number
	if whole {
		kind = reply.Integer
	}
	q := reply.Question{Expected: reply.Form, Fields: []reply.Field{{Name: "\uE000", Type: kind, Required: true}}}
	reading := reply.Read(text, &q)
	if reading.Verdict != reply.Filled || len(reading.Values) != 1 {
		return "", false
	}
	return string(reading.Values[0].JSON), true
}
