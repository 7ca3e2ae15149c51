package reply

import (
	"unicode"
	"unicode/utf8"

	"github.com/holdshort/holdshort/reply/internal/lexicon"
)

// numbers is what a reply amounts to as a list of option numbers.
type numbers struct {
	ok       bool // it is such a list; the next two say what keeps it from being usable
	outside  bool // a number is not an option's
	backward bool // a range ends before it begins
	set      Set
	count    int // items, where a range counts as several
}

func (n *numbers) usable() bool { return n.ok && !n.outside && !n.backward }

// numberScan reads "1", "1 2", "1, 3", "2-4", "1 to 3", "1 and 3", "#2", "option 2", "2番": numbers and nothing else.
type numberScan struct {
	b     []byte
	at    int
	limit int // the number of options
	hints *lexicon.Hints
	out   *numbers // apart from the text, so that keeping one does not keep the other
}

func readNumbers(b []byte, limit int, hints *lexicon.Hints) numbers {
	var out numbers
	s := numberScan{b: b, limit: limit, hints: hints, out: &out}
	if _, m := s.word(); m&lexicon.OptionWord != 0 {
		if c := s.peek(); c == '.' || c == ':' { // "Nr. 2"
			s.at++
		}
		s.spaces()
	} else {
		s.at = 0
	}
	for {
		if !s.item() {
			return numbers{}
		}
		if s.at == len(s.b) {
			out.ok = true
			return out
		}
		if !s.separator() {
			return numbers{}
		}
	}
}

func (s *numberScan) peek() byte {
	if s.at < len(s.b) {
		return s.b[s.at]
	}
	return 0
}

func (s *numberScan) peekDigit() bool { c := s.peek(); return '0' <= c && c <= '9' }

func (s *numberScan) spaces() int {
	n := 0
	for s.peek() == ' ' {
		s.at++
		n++
	}
	return n
}

// number reads digits. What is too big for an option is only known to be that.
func (s *numberScan) number() (int, bool) {
	if s.peek() == '#' {
		s.at++
		s.spaces()
	}
	start, v := s.at, 0
	for s.peekDigit() {
		v = min(v*10+int(s.b[s.at]-'0'), 1<<20)
		s.at++
	}
	if s.at == start {
		return 0, false
	}
	switch c := s.peek(); {
	case c == '.' || c == ')': // "1." and "2)"; what follows must be apart from it, so "1.5" is no list
		s.at++
	case c >= utf8.RuneSelf: // 2番, 2번
		end := s.at
		if word, m := s.word(); m&lexicon.OptionWord == 0 || !s.apart(word, false) {
			s.at = end
		}
	}
	return v, true
}

// item reads a number or a range.
func (s *numberScan) item() bool {
	from, ok := s.number()
	if !ok {
		return false
	}
	to, ranged := from, false
	mark := s.at
	if before := s.spaces(); s.dash(before > 0) {
		after := s.spaces()
		if to, ok = s.number(); !ok || (before > 0) != (after > 0) {
			return false
		}
		ranged = true
	} else {
		s.at = mark
	}
	s.out.count++
	switch {
	case from < 1 || from > s.limit || to < 1 || to > s.limit:
		s.out.outside = true
	case to < from:
		s.out.backward = true
	default:
		for i := from; i <= to; i++ {
			s.out.set.add(i - 1)
		}
	}
	if ranged {
		s.out.count++
	}
	return true
}

// dash takes a range's dash, or the word for it.
func (s *numberScan) dash(spaced bool) bool {
	if c := s.peek(); c == '-' || c == '~' {
		s.at++
		return true
	}
	start := s.at
	word, m := s.word()
	if m&lexicon.Through != 0 && s.apart(word, spaced) {
		return true
	}
	s.at = start
	return false
}

// separator takes what stands between two items: at least a space, a comma or a word for and. It must be followed by one.
func (s *numberScan) separator() bool {
	start := s.at
	for c := s.peek(); c == ' ' || c == ',' || c == ';' || c == '\n'; c = s.peek() {
		s.at++
	}
	spaced := s.at > start
	if s.peek() == '&' {
		s.at++
		s.spaces()
		return true
	}
	if s.peekDigit() || s.peek() == '#' {
		return spaced
	}
	word, m := s.word()
	if m&lexicon.And == 0 || !s.apart(word, spaced) {
		return false
	}
	if r, _ := utf8.DecodeRune(word); s.peek() == '-' && unicode.Is(unicode.Hebrew, r) {
		s.at++ // the Hebrew and is written onto its number: ו-3
	}
	s.spaces()
	return true
}

// apart reports whether a word is written so that it cannot be part of a number: letters that are written together with
// digits elsewhere (1e3, 3pm) need spaces around them; 1と3 and 1 ו3 do not.
func (s *numberScan) apart(word []byte, spacedBefore bool) bool {
	if r, _ := utf8.DecodeRune(word); !unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek) {
		return true
	}
	return spacedBefore && s.peek() == ' '
}

// word takes a run of letters.
func (s *numberScan) word() ([]byte, lexicon.Meaning) {
	start := s.at
	for s.at < len(s.b) {
		r, n := utf8.DecodeRune(s.b[s.at:])
		if !unicode.IsLetter(r) && !unicode.Is(unicode.M, r) {
			break
		}
		s.at += n
	}
	if s.at == start {
		return nil, 0
	}
	here, _ := s.hints.Meaning(s.b[start:s.at])
	return s.b[start:s.at], here
}
