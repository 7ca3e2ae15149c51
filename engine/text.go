package engine

import "strings"

// clip shortens what strangers wrote, for names in messages and events.
func clip(s string) string { return clipTo(s, 80) }

// clipLong shortens what a tool or a flow said.
func clipLong(s string) string { return clipTo(s, 2000) }

// clipTo gives text that every store takes: valid UTF-8 without zero bytes, and cut between letters.
func clipTo(s string, most int) string {
	s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	if len(s) <= most {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	cut := most
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return strings.ToValidUTF8(s[:cut], "\uFFFD") + "…"
}
