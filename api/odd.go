package api

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// odd reports whether a character can make a text look like another: it cannot be seen, turns what follows around, or is a space that is
// none. Line breaks and tabs are what they are.
func odd(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == ' ':
		return false
	case r < 0x20, r == utf8.RuneError, r >= 0x7f && r < 0xa0:
		return true
	case r < 0xa0:
		return false
	case unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point):
		return true // format, private use, other spaces, line and paragraph separators, letters that have no ink
	case unicode.Is(unicode.Variation_Selector, r):
		return r != 0xfe0f // it makes an emoji of a sign
	}
	return r == 0x2800 || !unicode.IsGraphic(r) // a Braille pattern without dots; what nobody has assigned
}

func hasOdd(text string) bool {
	return !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return odd(r) || r == '\n' || r == '\t' })
}
