package reply

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Verdict is the kind of thing a reply was read as.
type Verdict uint8

// The verdicts. The zero value decides nothing.
const (
	None     Verdict = iota
	Yes              // to a yes_no question
	No               // to a yes_no question
	Selected         // Reading.Selected has the options
	Text             // Reading.Text has it
	Filled           // Reading.Values has the fields
	Cancel           // the question is withdrawn
)

var verdictNames = [...]string{"none", "yes", "no", "selected", "text", "filled", "cancel"}

func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return "invalid"
}

// Reason says why a reply has no verdict.
type Reason string

// The reasons.
const (
	Empty            Reason = "empty"
	TooLong          Reason = "too_long"
	NotText          Reason = "not_text" // not valid UTF-8
	NotYesNo         Reason = "not_yes_no"
	AmbiguousWord    Reason = "ambiguous_word_needs_language"
	Ambiguous        Reason = "ambiguous" // parts of the reply, or a label and a number, disagree
	LetterTooWeak    Reason = "letter_too_weak"
	QuotedTooWeak    Reason = "quoted_too_weak"
	OutOfRange       Reason = "out_of_range"
	BackwardRange    Reason = "backward_range"
	SeveralForSingle Reason = "several_for_single"
	BothNotTwo       Reason = "both_not_two"
	UnknownOption    Reason = "unknown_option"
	TooManyOptions   Reason = "too_many_options"
	NotForm          Reason = "not_form"
	NotJSON          Reason = "not_json"
	UnknownField     Reason = "unknown_field"
	DuplicateField   Reason = "duplicate_field"
	WrongType        Reason = "wrong_type"
	MissingField     Reason = "missing_field"
	UnknownKind      Reason = "unknown_kind" // Question.Expected is none of the kinds
)

// Reading is what a reply was read as.
type Reading struct {
	Verdict  Verdict
	Reason   Reason  // why not, when Verdict is None
	Selected Set     // indexes into Question.Options
	Text     string  // a part of the reply itself, not a copy
	Values   []Value // in the order of Question.Fields
	Field    string  // the field that Reason is about
}

// String is the verdict with the options or the reason: "yes", "selected [0 2]", "none: empty". It never has what the person
// wrote, so it may be logged.
func (r Reading) String() string {
	switch r.Verdict {
	case None:
		return "none: " + string(r.Reason)
	case Selected:
		return fmt.Sprint("selected ", slices.Collect(r.Selected.All()))
	}
	return r.Verdict.String()
}

// Value is what a reply gave for one field.
type Value struct {
	Field int // index into Question.Fields
	JSON  json.RawMessage
}

func not(r Reason) Reading { return Reading{Reason: r} }

func notField(r Reason, field string) Reading { return Reading{Reason: r, Field: field} }
