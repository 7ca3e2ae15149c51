package inbox

import (
	"fmt"
	"html/template"
	"strings"
	"unicode"
	"unicode/utf16"
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

// spelled writes what is odd in JSON as its number, which means the same: in a box to type in nothing else makes it visible.
func spelled(text string) string {
	if !strings.ContainsFunc(text, odd) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if !odd(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// alike are the scripts whose letters look like Latin ones.
var alike = []*unicode.RangeTable{unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu}

// visible shows a text as it is: what is odd in it by its number, and letters of another script in a Latin word marked, so that nobody
// approves what only looks like what they mean.
func visible(text string) template.HTML {
	var b strings.Builder
	for len(text) > 0 {
		word, rest := text, ""
		if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }); i == 0 {
			_, size := utf8.DecodeRuneInString(text)
			word, rest = text[:size], text[size:]
		} else if i > 0 {
			word, rest = text[:i], text[i:]
		}
		showWord(&b, word)
		text = rest
	}
	return template.HTML(b.String())
}

func showWord(b *strings.Builder, word string) {
	latin := strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Latin, r) })
	for _, r := range word {
		switch {
		case odd(r):
			fmt.Fprintf(b, `<span class="odd" title="a character that cannot be seen">U+%04X</span>`, r)
		case latin && unicode.In(r, alike...):
			fmt.Fprintf(b, `<span class="odd" title="U+%04X: a letter of another script that looks like a Latin one">%s</span>`, r, template.HTMLEscapeString(string(r)))
		default:
			template.HTMLEscape(b, []byte(string(r)))
		}
	}
}
