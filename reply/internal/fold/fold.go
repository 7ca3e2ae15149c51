// Package fold brings what people type to one comparable spelling, and knows what must not be folded away.
// It imports the standard library and golang.org/x/text only, and allocates nothing while the caller's buffer lasts.
package fold

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Opaque stands in the folded text for whatever has a meaning that nobody can be sure of. No word contains it.
const Opaque = utf8.RuneError

// Append folds s onto dst: compatibility decomposition, lower case, ASCII digits, one spelling for each kind of
// punctuation, single spaces, emoji as tokens of their own, invisible characters gone. Line ends stay, for lists.
//
// Diacritics stay too: a reply may leave them out, which the word table allows for, but never have other ones, so that
// a struck-through "y̶e̶s̶" or a word of another tone is not taken for the plain word.
func Append(dst []byte, s string) []byte {
	f := folder{buf: dst[:cap(dst)], start: len(dst), n: len(dst)}
	f.fold(s)
	if !f.full {
		return f.buf[:f.n]
	}
	const growth = 12 // no character folds to more than that many times its size
	grown := make([]byte, len(dst)+growth*len(s)+utf8.UTFMax)
	copy(grown, dst)
	f = folder{buf: grown, start: len(dst), n: len(dst)}
	f.fold(s)
	return f.buf[:f.n]
}

// folder writes into a buffer that it never replaces, so that the caller's may stay on the stack.
type folder struct {
	buf   []byte
	start int
	n     int
	full  bool // the buffer was too small
	zero  rune // the zero of the script of the digit just written, or 0
	marks int  // combining marks since the last letter
	emoji bool // the last rune written was an emoji
}

func (f *folder) fold(s string) {
	for i := 0; i < len(s) && !f.full; {
		if s[i] < utf8.RuneSelf {
			f.ascii(s[i])
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		f.raw(r, s[i:i+n])
		i += n
	}
}

func (f *folder) write(r rune) {
	if f.emoji {
		f.emoji = false
		f.write(' ')
	}
	f.zero, f.marks = 0, 0
	if f.n+utf8.UTFMax > len(f.buf) {
		f.full = true
		return
	}
	f.n += utf8.EncodeRune(f.buf[f.n:], r)
}

func (f *folder) space(c byte) {
	f.zero, f.emoji = 0, false
	last := byte('\n')
	if f.n > f.start {
		last = f.buf[f.n-1]
	}
	switch {
	case last == ' ' && c == '\n':
		f.buf[f.n-1] = c
	case last != ' ' && last != '\n':
		f.write(rune(c))
	}
}

func (f *folder) ascii(c byte) {
	switch {
	case 'a' <= c && c <= 'z':
		f.plain(c)
	case 'A' <= c && c <= 'Z':
		f.plain(c + 'a' - 'A')
	case '0' <= c && c <= '9':
		f.digit(rune(c), '0')
	case c == '\n' || c == '\r':
		f.space('\n')
	case c == ' ' || c == '\t' || c == '\v' || c == '\f':
		f.space(' ')
	case c < ' ' || c == 0x7f:
		f.write(Opaque)
	default:
		f.write(punctuation(rune(c)))
	}
}

// plain writes a letter the short way.
func (f *folder) plain(c byte) {
	if f.emoji || f.n == len(f.buf) {
		f.write(rune(c))
		return
	}
	f.zero, f.marks = 0, 0
	f.buf[f.n] = c
	f.n++
}

// digit writes r as an ASCII digit. Digits of two scripts in one number are nobody's honest number.
func (f *folder) digit(r, zero rune) {
	if f.zero != 0 && f.zero != zero {
		f.write(Opaque)
	}
	f.write('0' + r - zero)
	f.zero = zero
}

// raw takes a rune as it was typed; s is its encoding.
func (f *folder) raw(r rune, s string) {
	if hidden(r) {
		return
	}
	if n := listNumber(r); n > 0 {
		f.space(' ')
		if n >= 10 {
			f.digit('0'+n/10, '0')
		}
		f.digit('0'+n%10, '0')
		f.space(' ')
		return
	}
	if p := punctuation(r); p != r { // before decomposing: ´ would become a space with an accent
		if p != 0 {
			f.write(p)
		}
		return
	}
	if misleading(r) {
		f.write(Opaque)
		return
	}
	if 0xAC00 <= r && r <= 0xD7A3 {
		f.hangul(r - 0xAC00)
		return
	}
	whole := norm.NFKD.PropertiesString(s).Decomposition()
	if whole == nil {
		f.put(r)
		return
	}
	for len(whole) > 0 {
		d, n := utf8.DecodeRune(whole)
		f.put(d)
		whole = whole[n:]
	}
}

// put takes a rune of the decomposition.
func (f *folder) put(r rune) {
	switch {
	case r < utf8.RuneSelf:
		f.ascii(byte(r))
	case r >= 0x300 && unicode.Is(unicode.M, r):
		f.mark(r)
	case unicode.Is(unicode.Nd, r):
		f.digit(r, zeroOf(r))
	case r == 0x2028 || r == 0x2029 || r == 0x85:
		f.space('\n')
	case unicode.IsSpace(r) || r == 0x0F0B:
		f.space(' ')
	case 0x1F3FB <= r && r <= 0x1F3FF:
		if !f.emoji {
			f.write(Opaque)
		}
	case r == 0x2755 || r == 0x2757:
		f.write('!')
	case r >= 0x2190 && unicode.Is(unicode.So, r):
		f.space(' ')
		f.write(r)
		f.emoji = true
	default:
		f.letter(r)
	}
}

func (f *folder) letter(r rune) {
	if p := punctuation(r); p != r {
		if p != 0 {
			f.write(p)
		}
		return
	}
	if l := letter(unicode.ToLower(r)); l != 0 {
		f.write(l)
	}
}
