// Package lexicon holds the words of the reply reader, each with its meaning in each language, as a generated table.
// It imports the standard library only; the table is written by cldrgen from the files in words/ and cldr/.
package lexicon

// Meaning is a set of things a word or phrase can stand for in one language.
type Meaning uint32

// The meanings, one for each section of the word files. YesLetter is a yes too weak to make something happen: a single
// letter or an abbreviation. Sole marks a word whose script is written by one language only, so that it needs no hint.
const (
	Yes Meaning = 1 << iota
	YesLetter
	No
	Ambiguous
	Cancel
	All
	Both
	And
	Through
	OptionWord
	Polite
	YesMore
	NoMore
	Negation
	AllOccurrences
	ThisOne
	Neutral
	Sole
)

// Sections are the headings a word file may have.
var Sections = map[string]Meaning{
	"yes":             Yes,
	"no":              No,
	"ambiguous":       Ambiguous,
	"cancel":          Cancel,
	"all":             All,
	"both":            Both,
	"and":             And,
	"through":         Through,
	"option":          OptionWord,
	"polite":          Polite,
	"yes more":        YesMore,
	"no more":         NoMore,
	"negation":        Negation,
	"all occurrences": AllOccurrences,
	"this one":        ThisOne,
	"neutral":         Neutral,
}

// Entry is one row of the table: what a folded word means in one language.
type Entry struct {
	Word     string
	Language uint8 // index into Languages
	Meaning  Meaning
}
