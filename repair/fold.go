package repair

import (
	"strings"
	"unicode"
)

// opaque stands for what could mislead: no word has it, so no word matches.
const opaque = '\uFFFD'

// accents are the letters that people type without their marks, each after its plain letter.
var accents = func() map[rune]string {
	plain := map[rune]string{'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'ı': "i", 'đ': "d", '×': "x", '∶': ":", '−': "-"}
	for base, marked := range map[string]string{
		"a": "áàâãäåāăą", "c": "çćčĉċ", "d": "ď", "e": "éèêëēėęěĕ", "g": "ğĝġģ", "i": "íìîïīįĭĩ", "n": "ñńňņ", "o": "óòôõöōőŏ",
		"r": "řŕ", "s": "śšşșŝ", "t": "ťţț", "u": "úùûüūůűųŭũ", "y": "ýÿŷ", "z": "žźż",
	} {
		for _, r := range marked {
			plain[r] = base
		}
	}
	return plain
}()

// foldWord writes a word as it is compared: lower case, without accents, points, apostrophes and marks of direction, with plain digits.
func foldWord(s string) string {
	var out strings.Builder
	zero := rune(0)
	for _, r := range s {
		if r < 0x80 {
			if r != '\'' {
				out.WriteRune(unicode.ToLower(r))
			}
			if r >= '0' && r <= '9' {
				if zero != 0 && zero != '0' {
					out.WriteRune(opaque)
				}
				zero = '0'
			}
			continue
		}
		switch {
		case unseen(r), r >= 0x0591 && r <= 0x05C7 && unicode.Is(unicode.Mn, r), r >= 0x0300 && r <= 0x0328 && r != 0x0321 && r != 0x0322:
		case strings.ContainsRune("’‘ʼ´׳״", r):
		case strings.ContainsRune("‐‑‒–—־－", r):
			out.WriteByte('-')
		case r >= 0xFF01 && r <= 0xFF5E: // full width
			out.WriteString(foldWord(string(r - 0xFEE0)))
		case unicode.Is(unicode.Nd, r):
			z := zeroOf(r)
			if zero != 0 && zero != z { // digits of two scripts in one number
				out.WriteRune(opaque)
			}
			zero = z
			out.WriteRune('0' + r - z)
		default:
			r = unicode.ToLower(r)
			if plain, ok := accents[r]; ok {
				out.WriteString(plain)
			} else {
				out.WriteRune(r)
			}
		}
	}
	return out.String()
}

// zeroOf is the zero of a digit's script: the blocks of decimal digits are runs of ten.
func zeroOf(r rune) rune {
	for zero := r; zero > r-10; zero-- {
		if !unicode.Is(unicode.Nd, zero-1) {
			return zero
		}
	}
	if r >= 0x1D7CE && r <= 0x1D7FF { // mathematical digits, five alphabets without a gap
		return 0x1D7CE + (r-0x1D7CE)/10*10
	}
	return r - 9
}

// unseen are the characters that only steer how text is drawn. Overrides of the direction are not among them: they show one thing and say another.
func unseen(r rune) bool {
	return r == 0xAD || r >= 0x200B && r <= 0x200F || r >= 0x202A && r <= 0x202C || r >= 0x2060 && r <= 0x2064 || r >= 0x2066 && r <= 0x2069 ||
		r == 0xFEFF || r >= 0xFE00 && r <= 0xFE0F
}

func isEmoji(r rune) bool {
	return r >= 0x2190 && unicode.Is(unicode.So, r) || r >= 0x1F3FB && r <= 0x1F3FF
}

// shorten cuts a text at a number of characters, marks the cut, and takes line ends and what cannot be seen out of it.
func shorten(s string, most int) string {
	var out strings.Builder
	n, space := 0, false
	for _, r := range s {
		if unseen(r) || r >= 0x202D && r <= 0x202E {
			continue
		}
		if unicode.IsSpace(r) || unicode.IsControl(r) || r == opaque {
			space = n > 0
			continue
		}
		if space {
			out.WriteByte(' ')
			n++
			space = false
		}
		if n >= most {
			out.WriteRune('…')
			break
		}
		out.WriteRune(r)
		n++
	}
	return out.String()
}
