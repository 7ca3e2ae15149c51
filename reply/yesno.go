package reply

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/holdshort/holdshort/reply/internal/lexicon"
)

func readYesNo(text string, q *Question, hints *lexicon.Hints) Reading {
	var room [scratch]byte
	a := foldAnswer(room[:0], text, hints)
	p := readPhrase(hints, a.words)
	v, why := plainVerdict(a, p)
	if len(a.full) > 0 {
		v, why = withNamed(v, why, named(&a, q), a.words, hints)
	}
	switch {
	case v == Cancel && cancelApproves(a.words, q, hints): // "Cancel the order?" with a button "Cancel order"
		return not(Ambiguous)
	case v == Yes && a.unfinished:
		return not(NotYesNo)
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
type nameMatch struct{ positive, negative bool }

// named compares a reply with the keywords and with the labels of the options that stand for yes and no.
func named(a *answer, q *Question) (n nameMatch) {
	is := func(name string) bool { return sameWords(a.words, name) || sameWords(a.full, name) }
	for _, word := range q.Positive {
		n.positive = n.positive || is(word)
	}
	for _, word := range q.Negative {
		n.negative = n.negative || is(word)
	}
	for i := range q.Options {
		o := &q.Options[i]
		if !is(o.Label) && !is(o.ID) {
			continue
		}
		n.positive = n.positive || o.approves()
		n.negative = n.negative || o.rejects()
	}
	return n
}

func (o *Option) approves() bool { return o.ID == "approve" || o.ID == "yes" || o.ID == "confirm" }
func (o *Option) rejects() bool  { return o.ID == "reject" || o.ID == "no" || o.ID == "deny" }

// cancelApproves reports a cancel that could be meant as the label of the option that stands for yes.
func cancelApproves(words []byte, q *Question, hints *lexicon.Hints) bool {
	for i := range q.Options {
		if o := &q.Options[i]; o.approves() && namesCancel(words, o.Label, hints) {
			return true
		}
	}
	return false
}

// withNamed settles what the words say with what the question calls its answers. The question's own words can add a no to
// what the lists know, and a yes only where no language in play doubts it.
func withNamed(v Verdict, why Reason, n nameMatch, words []byte, hints *lexicon.Hints) (Verdict, Reason) {
	switch {
	case n.positive && n.negative, n.negative && v == Yes, n.positive && v == No:
		return None, Ambiguous
	case n.negative:
		return No, ""
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

// oneLetter reports a single letter of a script whose letters are not words.
func oneLetter(words []byte) bool {
	r, n := utf8.DecodeRune(words)
	return n > 0 && n == len(words) && unicode.IsLetter(r) && !unicode.In(r, unicode.Han, unicode.Yi)
}
