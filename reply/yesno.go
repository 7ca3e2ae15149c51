package reply

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/holdshort/holdshort/reply/internal/fold"
	"github.com/holdshort/holdshort/reply/internal/lexicon"
)

func readYesNo(text string, q *Question, hints *lexicon.Hints) Reading {
	var room [scratch]byte
	a := foldAnswer(room[:0], text, hints)
	p := readPhrase(hints, a.words)
	v, why := plainVerdict(a, p)
	if len(a.words) > 0 {
		v, why = withNamed(v, why, named(a.words, q), p, a.words, hints)
	}
	switch {
	case v == Yes && a.no || (v == No || v == Cancel) && a.yes:
		return not(Ambiguous)
	case v == Yes && q.Actions && a.quoted:
		return not(QuotedTooWeak)
	case v == Yes && q.Actions && p.meaning&lexicon.Yes == 0 && (p.meaning&lexicon.YesLetter != 0 || oneLetter(a.words)):
		return not(LetterTooWeak)
	case v == None:
		return not(why)
	}
	return Reading{Verdict: v}
}

// plainVerdict reads the words alone, or the emoji where there are no words.
func plainVerdict(a answer, p phrase) (Verdict, Reason) {
	switch {
	case len(a.words) == 0 && a.yes && a.no:
		return None, Ambiguous
	case len(a.words) == 0 && a.yes:
		return Yes, ""
	case len(a.words) == 0 && a.no:
		return No, ""
	case p.torn || p.meaning&lexicon.Ambiguous != 0:
		return None, AmbiguousWord
	case p.meaning&lexicon.Cancel != 0 && !a.quoted:
		return Cancel, ""
	case p.meaning&lexicon.No != 0:
		return No, ""
	case p.meaning&(lexicon.Yes|lexicon.YesLetter) != 0:
		return Yes, ""
	}
	return None, NotYesNo
}

// nameMatch says which of the question's own words a reply is.
type nameMatch struct{ positive, negative, label bool }

// named compares a reply with the keywords and with the labels of the options that stand for yes and no.
func named(words []byte, q *Question) (n nameMatch) {
	for _, word := range q.Positive {
		n.positive = n.positive || sameWords(words, word)
	}
	for _, word := range q.Negative {
		n.negative = n.negative || sameWords(words, word)
	}
	for i := range q.Options {
		o := &q.Options[i]
		if !sameWords(words, o.Label) && !sameWords(words, o.ID) {
			continue
		}
		switch o.ID {
		case "approve", "yes", "confirm":
			n.positive, n.label = true, true
		case "reject", "no", "deny":
			n.negative, n.label = true, true
		}
	}
	return n
}

// withNamed settles what the words say with what the question calls its answers. The question's own words can add a no to
// what the lists know, and a yes only where no language in play doubts it.
func withNamed(v Verdict, why Reason, n nameMatch, p phrase, words []byte, hints *lexicon.Hints) (Verdict, Reason) {
	switch {
	case n.positive && n.negative, n.negative && v == Yes, n.positive && v == No:
		return None, Ambiguous
	case n.negative:
		return No, ""
	case n.positive && n.label && v == Cancel: // "Cancel the order?" with a button Cancel: which one is meant?
		return None, Ambiguous
	case n.positive && v == None && why == NotYesNo:
		if doubtful(hints, words) {
			return None, Ambiguous
		}
		return Yes, ""
	}
	return v, why
}

// doubtful reports words with a negation, a no, a cancel or an ambiguous word among them.
func doubtful(hints *lexicon.Hints, words []byte) bool {
	for rest := words; len(rest) > 0; {
		token, after, _ := bytes.Cut(rest, space)
		rest = after
		here, anywhere := hints.Meaning(token)
		if here&(lexicon.Negation|lexicon.No|lexicon.Cancel|lexicon.Ambiguous) != 0 || lexicon.Torn(anywhere) && here == 0 {
			return true
		}
		if bytes.ContainsAny(token, "?!~\uFFFD") {
			return true
		}
	}
	return false
}

// sameWords compares folded words with a word of the question.
func sameWords(words []byte, s string) bool {
	if len(s) == 0 {
		return false
	}
	var room [scratch]byte
	other, _ := fold.Text(room[:0], s)
	return len(other) > 0 && bytes.Equal(words, other)
}

// oneLetter reports a single letter of a script whose letters are not words.
func oneLetter(words []byte) bool {
	r, n := utf8.DecodeRune(words)
	return n > 0 && n == len(words) && unicode.IsLetter(r) && !unicode.In(r, unicode.Han, unicode.Yi)
}
