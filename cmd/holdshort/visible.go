package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// hides reports whether a character cannot be seen, or changes how others are seen: what a person approves must be what it looks like.
func hides(r rune) bool {
	switch {
	case r == ' ':
		return false
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), r == unicode.ReplacementChar:
		return true
	case unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r), unicode.Is(unicode.Zs, r):
		return true
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef: // variation selectors can carry anything
		return true
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0, r == 0x2800: // fillers that draw nothing
		return true
	}
	return !unicode.IsPrint(r)
}

// visible makes a text safe to look at. Line ends stay; the rest that cannot be seen is written out.
func visible(text string) string {
	return seen(text, func(r rune) string {
		if r == '\n' {
			return "\n"
		}
		return fmt.Sprintf("⟨U+%04X⟩", r)
	})
}

// oneLine is visible, on one line.
func oneLine(text string) string { return strings.ReplaceAll(visible(text), "\n", "⏎") }

func seen(text string, write func(rune) string) string {
	if strings.IndexFunc(text, hides) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hides(r) {
			b.WriteString(write(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// visibleJSON is JSON, indented, as lines. What cannot be seen stands as JSON's own escape, so that it is still the same value.
func visibleJSON(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return visible(string(raw))
	}
	return seen(b.String(), func(r rune) string {
		switch {
		case r == '\n':
			return "\n"
		case r > 0xffff:
			hi, lo := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
			return fmt.Sprintf(`\u%04x\u%04x`, hi, lo)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}

// clip keeps a text to so many characters.
func clip(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:max(n-1, 0)]) + "…"
}
