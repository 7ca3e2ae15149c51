package reply

import (
	"bytes"

	"github.com/holdshort/holdshort/reply/internal/lexicon"
)

// phrase is what the words of a whole reply amount to.
type phrase struct {
	meaning lexicon.Meaning // of heads, or nothing
	torn    bool            // a word that only a language hint could settle
}

// heads are the meanings that make an answer by themselves.
const heads = lexicon.Yes | lexicon.YesLetter | lexicon.No | lexicon.Ambiguous | lexicon.Cancel | lexicon.All | lexicon.Both |
	lexicon.AllOccurrences | lexicon.ThisOne

const maxTokens = 10

// readPhrase looks the whole reply up; failing that, it reads it as one listed word with what may stand beside it: polite
// words, the same word again, and after a yes or a no the few phrases that only confirm it.
func readPhrase(hints *lexicon.Hints, words []byte) phrase {
	if len(words) == 0 || len(words) > maxPhrase {
		return phrase{}
	}
	here, anywhere := hints.Meaning(words)
	if here&heads != 0 {
		return phrase{meaning: undenied(hints, words, here&heads)}
	}
	if lexicon.Torn(anywhere) {
		return phrase{torn: true}
	}
	if bytes.IndexByte(words, ' ') < 0 || bytes.Count(words, space) >= maxTokens {
		return phrase{}
	}
	var head lexicon.Meaning
	var headWords []byte
	for rest := words; len(rest) > 0; {
		part, m := longestPart(hints, rest)
		switch {
		case part == nil:
			return phrase{}
		case head == 0 && m&heads != 0:
			head, headWords = m&heads, part
		case head != 0 && bytes.Equal(part, headWords):
		case m&lexicon.Polite != 0 && m&(lexicon.Negation|lexicon.Ambiguous) == 0:
		case head&lexicon.Yes != 0 && m&lexicon.YesMore != 0 && m&lexicon.Negation == 0:
		case head&lexicon.No != 0 && m&lexicon.NoMore != 0:
		default:
			return phrase{}
		}
		rest = bytes.TrimLeft(rest[len(part):], " ")
	}
	return phrase{meaning: undenied(hints, words, head)}
}

// undenied takes back a yes with a word inside that says no in any language in play, whatever the phrase means in its own:
// "o k" is a yes in English, but k is a no in Duala.
func undenied(hints *lexicon.Hints, words []byte, m lexicon.Meaning) lexicon.Meaning {
	if m&(lexicon.Yes|lexicon.YesLetter) == 0 {
		return m
	}
	for rest := words; len(rest) > 0; {
		token, after, _ := bytes.Cut(rest, space)
		rest = after
		if here, _ := hints.Meaning(token); here&(lexicon.No|lexicon.Negation) != 0 {
			return lexicon.Ambiguous
		}
	}
	return m
}

var space = []byte(" ")

// longestPart is the longest run of words at the beginning of rest that the word lists know.
func longestPart(hints *lexicon.Hints, rest []byte) ([]byte, lexicon.Meaning) {
	const known = heads | lexicon.Polite | lexicon.YesMore | lexicon.NoMore
	for end := len(rest); end > 0; end = bytes.LastIndexByte(rest[:end], ' ') {
		if m, _ := hints.Meaning(rest[:end]); m&known != 0 {
			return rest[:end], m
		}
	}
	return nil, 0
}
