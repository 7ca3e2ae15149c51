package repair

import (
	"errors"
	"strings"

	"github.com/holdshort/holdshort"
)

// Reason says why a reply gave no patch. It is the cause of the *holdshort.Error that Read and FromModel return: errors.Is finds it.
type Reason string

// The reasons.
const (
	Empty        Reason = "empty"
	TooLong      Reason = "too_long"
	NotText      Reason = "not_text"        // not valid UTF-8
	Canceled     Reason = "canceled"        // the person called it off: the error's code is Canceled, all others have InvalidReply
	Unclear      Reason = "unclear"         // not a correction that can be read without guessing
	Several      Reason = "several_values"  // more than one value, or one that could be two
	NotAllowed   Reason = "not_allowed"     // a value that the field does not take
	UnknownField Reason = "unknown_field"   // no such field
	TooMany      Reason = "too_many_fields" // over MaxFields
	Unchanged    Reason = "unchanged"       // the value that was refused already
	NotSaid      Reason = "not_said"        // "fix it", and what was said before does not say how
)

// Reasons are all of them.
func Reasons() []Reason {
	return []Reason{Empty, TooLong, NotText, Canceled, Unclear, Several, NotAllowed, UnknownField, TooMany, Unchanged, NotSaid}
}

func (r Reason) Error() string { return string(r) }

// ReasonOf gives the reason of an error of this package, "" for any other.
func ReasonOf(err error) Reason {
	var r Reason
	if errors.As(err, &r) {
		return r
	}
	return ""
}

// refuse names the field and never what the person wrote: that does not belong in logs.
func refuse(r Reason, field string) error {
	code, hint := holdshort.InvalidReply, "give one value, or write field: value"
	switch r {
	case Canceled:
		code, hint = holdshort.Canceled, ""
	case NotAllowed, Unchanged:
		hint = "give one of the values that it can be"
	case UnknownField:
		hint = "use the name of a field in the question"
	}
	message := strings.ReplaceAll(in("en").again[r], "{field}", shorten(field, shownField))
	return &holdshort.Error{Code: code, Op: "read correction", Field: shorten(field, shownField), Message: message, Hint: hint, Err: r}
}
