package reply

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holdshort/holdshort/reply/internal/fold"
	"github.com/holdshort/holdshort/reply/internal/lexicon"
)

// scratch is the room for folded text on the stack. Longer replies are read too, at the price of an allocation.
const scratch = 1 << 10

// Read reads text as the answer to q. It needs no memory beyond the result for every kind but form, as long as the reply and
// each label fit scratch when folded.
func Read(text string, q *Question) Reading {
	limit := MaxReply
	if q.Expected == FreeText || q.Expected == Form {
		limit = MaxText
	}
	switch {
	case len(text) > limit:
		return not(TooLong)
	case !utf8.ValidString(text):
		return not(NotText)
	case blank(text):
		return not(Empty)
	}
	hints := lexicon.For(q.Languages)
	switch q.Expected {
	case YesNo:
		return readYesNo(text, q, &hints)
	case SingleChoice, MultiChoice:
		return readChoice(text, q, &hints)
	case FreeText:
		return readFreeText(text, &hints)
	case Form:
		kept := hints // the form's reading may keep it; the others leave theirs on the stack
		return readForm(text, q, &kept)
	}
	return not(UnknownKind)
}

// blank reports text in which there is nothing to see.
func blank(text string) bool {
	for _, r := range text {
		if !unicode.IsSpace(r) && !unicode.In(r, unicode.Cf, unicode.Cc, unicode.Variation_Selector) {
			return false
		}
	}
	return true
}

// maxPhrase is longer than any phrase of the word lists with its polite words.
const maxPhrase = 256

func readFreeText(text string, hints *lexicon.Hints) Reading {
	text = strings.TrimSpace(text)
	if len(text) > maxPhrase {
		return Reading{Verdict: Text, Text: text}
	}
	var room [scratch]byte
	a := foldAnswer(room[:0], text, hints)
	if readPhrase(hints, a.words).meaning&lexicon.Cancel == 0 || a.yes {
		return Reading{Verdict: Text, Text: text}
	}
	if a.quoted {
		return Reading{Verdict: Text, Text: unquote(text)}
	}
	return Reading{Verdict: Cancel}
}

// unquote is the phrase between the quotes, as it was typed: the caller knows that it begins and ends with a letter.
func unquote(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) })
}

// answer is a folded reply without what may stand around it.
type answer struct {
	full    []byte // the words with their emoji
	core    []byte // without, but with its separators, for lists
	words   []byte // of the core
	quoted  bool
	yes, no bool // an emoji beside it says so
}

// foldAnswer folds text into room. The words are copies behind the core, so that all can be read.
func foldAnswer(room []byte, text string, hints *lexicon.Hints) answer {
	var a answer
	room = fold.Append(room, text)
	whole, quoted := fold.Trim(room)
	core := a.takeEmoji(whole, hints)
	core, again := fold.Trim(core)
	a.core, a.quoted = core, quoted || again
	a.words, room = wordsBehind(room, core)
	a.full = a.words
	if len(core) < len(whole) {
		a.full, _ = wordsBehind(room, whole)
	}
	return a
}

// wordsBehind turns b into words in the free room behind the text.
func wordsBehind(room, b []byte) (words, rest []byte) {
	n := len(room)
	room = append(room, b...)
	return fold.Words(room[n:]), room
}

// takeEmoji takes emoji with a known meaning, or known to have none, off both ends.
func (a *answer) takeEmoji(b []byte, hints *lexicon.Hints) []byte {
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

func (a *answer) emoji(token []byte, hints *lexicon.Hints) bool {
	r, n := utf8.DecodeRune(token)
	if n != len(token) || r < 0x2190 || unicode.IsLetter(r) {
		return false
	}
	m, _ := hints.Meaning(token)
	a.yes = a.yes || m&lexicon.Yes != 0
	a.no = a.no || m&lexicon.No != 0
	return m&(lexicon.Yes|lexicon.No|lexicon.Neutral) != 0
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
