package reply

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/holdshort/holdshort/reply/internal/lexicon"
)

// takeEmoji takes emoji with a known meaning, or known to have none, off both ends, and typed smiles off the end.
// round says that the text has a round closing bracket: all kinds are folded to one.
func (a *answer) takeEmoji(b []byte, round bool, hints *lexicon.Hints) []byte {
	for len(b) > 0 {
		end := 0
		for end < len(b) && b[end] != ' ' && b[end] != '\n' {
			end++
		}
		if !a.emoji(b[:end], hints) {
			break
		}
		b = trimSpaces(b[end:])
	}
	for len(b) > 0 {
		if n := smile(b, round); n > 0 {
			b = trimSpaces(b[:len(b)-n])
			continue
		}
		start := len(b)
		for start > 0 && b[start-1] != ' ' && b[start-1] != '\n' {
			start--
		}
		if !a.emoji(b[start:], hints) {
			break
		}
		b = trimSpaces(b[:start])
	}
	return b
}

// emoji reports a token that is an emoji, or a run of their names as some channels write them (:+1:).
func (a *answer) emoji(token []byte, hints *lexicon.Hints) bool {
	if token[0] == ':' {
		return a.codes(token, hints)
	}
	r, n := utf8.DecodeRune(token)
	return n == len(token) && r >= 0x2190 && !unicode.IsLetter(r) && a.sign(token, hints)
}

func (a *answer) codes(token []byte, hints *lexicon.Hints) bool {
	for first := true; len(token) > 0; first = false {
		end := bytes.IndexByte(token[1:], ':') + 2
		if token[0] != ':' || end < len(":x:") {
			return false
		}
		if tone := !first && skinTone(token[:end]); !tone && !a.sign(token[:end], hints) {
			return false
		}
		token = token[end:]
	}
	return true
}

func skinTone(code []byte) bool {
	digit, ok := bytes.CutPrefix(code, []byte(":skin-tone-"))
	return ok && len(digit) == len("2:") && '1' <= digit[0] && digit[0] <= '6'
}

// sign looks an emoji up.
func (a *answer) sign(token []byte, hints *lexicon.Hints) bool {
	m, _ := hints.Meaning(token)
	a.yes = a.yes || m&lexicon.Yes != 0
	a.no = a.no || m&lexicon.No != 0
	return m&(lexicon.Yes|lexicon.No|lexicon.Neutral) != 0
}

// smile is the length of a friendly sign at the end that is typed with the keys: :) and the Korean ^^, the Russian bracket
// that is only a mouth, the tilde that draws out the last sound. A tilde or a bracket with a partner before it is neither,
// and one behind a digit belongs to the number.
func smile(b []byte, round bool) int {
	switch {
	case bytes.HasSuffix(b, []byte(":)")) && round, bytes.HasSuffix(b, []byte("^^")):
		return len(":)")
	case bytes.HasSuffix(b, []byte(":-)")) && round:
		return len(":-)")
	}
	word := bytes.TrimRight(b, "~")
	n, partners := len(b)-len(word), "~"
	if n == 0 && round {
		word = bytes.TrimRight(b, ")")
		n, partners = len(b)-len(word), "()"
	}
	if n == 0 || n > 2 || len(word) == 0 || bytes.ContainsAny(word, partners) {
		return 0
	}
	if c := word[len(word)-1]; c != '!' && c != '.' && c < utf8.RuneSelf && (c < 'a' || c > 'z') {
		return 0
	}
	return n
}

func trimSpaces(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\n') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\n') {
		b = b[:len(b)-1]
	}
	return b
}
