package fold

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Trim takes off what may stand around an answer: spaces, stops, commas, trailing exclamation marks, and pairs of
// brackets, emphasis or quotes around the whole. It reports whether quotes were among them.
//
// A leading exclamation mark (which negates), question marks, colons and dashes stay.
func Trim(folded []byte) (core []byte, quoted bool) {
	for {
		for len(folded) > 0 && around(folded[0]) {
			folded = folded[1:]
		}
		for len(folded) > 0 && (around(folded[len(folded)-1]) || folded[len(folded)-1] == '!') {
			folded = folded[:len(folded)-1]
		}
		inner, ok := unwrap(folded)
		if !ok {
			return folded, quoted
		}
		quoted = quoted || folded[0] == '"' || folded[0] == '\''
		folded = inner
	}
}

func around(c byte) bool { return c == ' ' || c == '\n' || c == '.' || c == ',' }

func unwrap(b []byte) ([]byte, bool) {
	if len(b) < 3 {
		return b, false
	}
	var closing byte
	switch b[0] {
	case '"', '\'', '*', '_':
		closing = b[0]
	case '(':
		closing = ')'
	default:
		return b, false
	}
	n := 0
	for n < len(b) && b[n] == b[0] {
		n++
	}
	if len(b) <= 2*n {
		return b, false
	}
	for i := range n {
		if b[len(b)-1-i] != closing {
			return b, false
		}
	}
	inner := b[n : len(b)-n]
	if bytes.IndexByte(inner, b[0]) >= 0 || bytes.IndexByte(inner, closing) >= 0 {
		return b, false
	}
	return inner, true
}

// Words turns folded text into words between single spaces, in place: stops, commas, exclamation marks and dashes between
// words become spaces, spaces around ampersands and apostrophes inside words go. Everything else, digits' own points, commas
// and dashes among it, stays.
func Words(folded []byte) []byte {
	out := folded[:0]
	for i := 0; i < len(folded); i++ {
		c, next := folded[i], byte(' ')
		if i+1 < len(folded) {
			next = folded[i+1]
		}
		last := byte(' ')
		if len(out) > 0 {
			last = out[len(out)-1]
		}
		switch c {
		case '\'':
			if wordByte(last) && wordByte(next) {
				continue
			}
		case '"': // inside a Hebrew word it marks an abbreviation
			if len(out) > 1 && hebrewLead(out[len(out)-2]) && hebrewLead(next) {
				continue
			}
		case '.', ',':
			if !digitByte(last) || !digitByte(next) {
				c = ' '
			}
		case '!': // also apart from the word before it, as the French write it, but not in front of the next
			if last != ' ' || len(out) > 0 && soft(next) {
				c = ' '
			}
		case '-':
			if len(out) > 0 && last == ' ' && soft(next) && i+1 < len(folded) && !between(out, folded[i+1:]) {
				c = ' '
			}
		case '\n':
			c = ' '
		case '&':
			out = bytes.TrimRight(out, " ")
		}
		if c == ' ' && (last == ' ' || last == '&' || len(out) == 0) {
			continue
		}
		out = append(out, c)
	}
	if len(out) > 0 && out[len(out)-1] == ' ' {
		out = out[:len(out)-1]
	}
	return out
}

// soft reports what becomes a space between words.
func soft(c byte) bool { return around(c) || c == '!' }

// between reports a number on both sides, with a space each.
func between(before, after []byte) bool {
	return len(before) > 1 && len(after) > 1 && digitByte(before[len(before)-2]) && digitByte(after[1])
}

func wordByte(c byte) bool   { return 'a' <= c && c <= 'z' || c >= utf8.RuneSelf }
func hebrewLead(c byte) bool { return c == 0xD6 || c == 0xD7 }

func digitByte(c byte) bool { return '0' <= c && c <= '9' }

// Text folds s to words: what two spellings of the same answer have in common.
func Text(dst []byte, s string) (words []byte, quoted bool) {
	core, quoted := Trim(Append(dst, s))
	return Words(core), quoted
}

// Bare takes the diacritics off Latin and Greek letters of folded words, as people type who have no such keys.
func Bare(words string) string {
	out := make([]rune, 0, len(words))
	var base rune
	for _, r := range norm.NFKD.String(words) {
		if !unicode.Is(unicode.M, r) {
			base = r
			if plain, ok := plainLetters[r]; ok {
				r = plain
			}
			out = append(out, r)
			continue
		}
		if !unicode.In(base, unicode.Latin, unicode.Greek) && !(base == 'е' && r == 0x308) {
			out = append(out, r)
		}
	}
	return string(out)
}

var plainLetters = map[rune]rune{'đ': 'd', 'ł': 'l', 'ø': 'o', 'ə': 'e', 'ŋ': 'n', 'ɛ': 'e', 'ɔ': 'o'}
