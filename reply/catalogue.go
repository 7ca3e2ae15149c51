package reply

import (
	"strconv"
	"strings"

	"github.com/holdshort/holdshort/reply/internal/lexicon"
)

// Message is a text of the catalogue, in every language that it has.
type Message uint8

// The messages. Those before Stale are prefixes that AskAgainText puts in front of a question.
const (
	SayYesOrNo Message = iota
	SayWholeWord
	SayUnquoted
	SayOneMeaning
	SayOption
	SayOptions
	SayOnlyOne
	SayInRange // {count}
	SayForward
	SayWhichOfMany
	SaySomething
	SayShorter
	SayFields
	SayJSON
	SayKnownField // {field}
	SayFieldOnce  // {field}
	SayFieldValue // {field}
	SayFieldOneOf // {field}, {values}
	SayMissing    // {field}
	SayAgain      // when a reply may have been meant for another question
	Stale         // when nothing is asked
	Expired
	Canceled
	AlreadyClosed
	SeveralOpen // {codes}
	messageCount
)

// CatalogueLanguages are the languages of the catalogue.
func CatalogueLanguages() []string {
	var languages []string
	for i := range catalogue {
		languages = append(languages, catalogue[i].language)
	}
	return languages
}

// Say is a message in the first of the languages that the catalogue has, else in English. pairs are placeholders and their
// values: "{codes}", "K7, K8".
func Say(m Message, languages []string, pairs ...string) string {
	texts := &catalogue[0].texts
search:
	for _, tag := range languages {
		code := lexicon.Primary(tag)
		for i := range catalogue {
			if catalogue[i].language == code {
				texts = &catalogue[i].texts
				break search
			}
		}
	}
	if m >= messageCount {
		return ""
	}
	if len(pairs) == 0 {
		return texts[m]
	}
	return strings.NewReplacer(pairs...).Replace(texts[m])
}

// shownValues is how many of a field's values a message lists.
const shownValues = 5

// AskAgainText is what to send when a reply had no verdict: why, in the person's language, and the question. Pass the
// original question every time, so that prefixes never pile up.
func AskAgainText(r Reading, q *Question, question string) string {
	m := prefix(r, q)
	pairs := []string{"{count}", strconv.Itoa(len(q.Options)), "{field}", r.Field}
	if m == SayFieldValue {
		for i := range q.Fields {
			if q.Fields[i].Name == r.Field && len(q.Fields[i].Enum) > 0 {
				values := q.Fields[i].Enum
				shown := strings.Join(values[:min(len(values), shownValues)], ", ")
				if len(values) > shownValues {
					shown += ", …"
				}
				m, pairs = SayFieldOneOf, append(pairs, "{values}", shown)
			}
		}
	}
	return Say(m, q.Languages, pairs...) + "\n\n" + question
}

// prefix chooses the message for a reason.
func prefix(r Reading, q *Question) Message {
	switch r.Reason {
	case Empty, NotText:
		return SaySomething
	case TooLong:
		return SayShorter
	case AmbiguousWord, LetterTooWeak:
		return SayWholeWord
	case QuotedTooWeak:
		return SayUnquoted
	case OutOfRange:
		return SayInRange
	case BackwardRange:
		return SayForward
	case SeveralForSingle:
		return SayOnlyOne
	case BothNotTwo:
		return SayWhichOfMany
	case NotJSON:
		return SayJSON
	case UnknownField:
		return SayKnownField
	case DuplicateField:
		return SayFieldOnce
	case WrongType:
		return SayFieldValue
	case MissingField:
		return SayMissing
	case Ambiguous:
		return SayOneMeaning
	}
	switch q.Expected {
	case YesNo:
		return SayYesOrNo
	case SingleChoice:
		return SayOption
	case MultiChoice:
		return SayOptions
	case Form:
		return SayFields
	}
	return SaySomething
}
