package reply

import (
	"bytes"
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

	unfinished bool // it ends in a comma: the rest may be on its way
}

// foldAnswer folds text into room. The words are copies behind the core, so that all can be read.
func foldAnswer(room []byte, text string, hints *lexicon.Hints) answer {
	var a answer
	room = fold.Append(room, text)
	a.unfinished = endsInComma(room)
	whole, quoted := fold.Trim(room)
	core, again := whole, false
	if !bytes.HasPrefix(whole, []byte("!")) { // which negates what follows, be it an emoji
		core, again = fold.Trim(a.takeEmoji(whole, strings.ContainsAny(text, ")）"), hints))
	}
	a.core, a.quoted = core, quoted || again
	a.words, room = wordsBehind(room, core)
	a.full = a.words
	if len(core) < len(whole) {
		a.full, _ = wordsBehind(room, whole)
	}
	return a
}

func endsInComma(folded []byte) bool {
	return bytes.IndexByte(folded[len(bytes.TrimRight(folded, " \n.,!")):], ',') >= 0
}

// wordsBehind turns b into words in the free room behind the text.
func wordsBehind(room, b []byte) (words, rest []byte) {
	n := len(room)
	room = append(room, b...)
	return fold.Words(room[n:]), room
}
