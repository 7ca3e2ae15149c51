package rulebook

import (
	"errors"
	"fmt"
	"strings"

	"github.com/holdshort/holdshort"
)

// Fault is one thing that is wrong with a rule, and where.
type Fault struct {
	Rule    int    // index
	Name    string // of the rule
	Field   string // when, question, limits[0].max, …
	Line    int    // within the field's text, from 1; 0 for the whole of it
	Column  int    // in characters, from 1
	Message string
	Hint    string
}

func (f Fault) Error() string {
	place := fmt.Sprintf("rule %q: %s", f.Name, f.Field)
	if f.Line > 0 {
		place += fmt.Sprintf(":%d:%d", f.Line, f.Column)
	}
	return place + ": " + f.Message
}

// As makes a fault the one error type that crosses boundaries.
func (f Fault) As(target any) bool {
	e, ok := target.(**holdshort.Error)
	if ok {
		*e = &holdshort.Error{Code: holdshort.Invalid, Op: "compile rule " + f.Name, Field: f.Field, Message: f.Message, Hint: f.Hint}
	}
	return ok
}

// Faults is everything that is wrong, rule by rule.
type Faults []Fault

func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives them one by one.
func (f Faults) Unwrap() []error {
	list := make([]error, len(f))
	for i := range f {
		list[i] = f[i]
	}
	return list
}

// FaultsOf gives the faults in err's chain.
func FaultsOf(err error) Faults {
	faults, _ := errors.AsType[Faults](err)
	return faults
}
