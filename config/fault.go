package config

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
)

// Fault is one thing that is wrong, and where.
type Fault struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"` // from 1; 0 where the configuration was made in code
	Column  int    `json:"column,omitempty"`
	Path    string `json:"path,omitempty"` // agents.refunds.task.hitl.mode
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Excerpt string `json:"excerpt,omitempty"` // the line, and a mark below the column
}

// Place is file:line:column, as far as it is known.
func (f Fault) Place() string {
	if f.Line == 0 {
		return f.File
	}
	return fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
}

func (f Fault) Error() string {
	parts := []string{f.Place(), f.Path, f.Message}
	kept := parts[:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, ": ")
}

// As makes a fault the one error type that crosses boundaries.
func (f Fault) As(target any) bool {
	e, ok := target.(**holdshort.Error)
	if ok {
		*e = &holdshort.Error{Code: holdshort.Invalid, Op: f.Place(), Message: f.Message, Hint: f.Hint}
	}
	return ok
}

// Faults is everything that is wrong, in the file's order.
type Faults []Fault

func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.Error()
	}
	return strings.Join(lines, "\n")
}

// Sorted returns the faults in the order of the file.
func (f Faults) Sorted() Faults {
	out := slices.Clone(f)
	slices.SortStableFunc(out, func(a, b Fault) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	return out
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

// secretLine finds values that nobody wants in a log.
var (
	secretLine = regexp.MustCompile(`(?i)((?:secret|api_key|key|token|password|authorization)["']?\s*:\s*)(?:"[^"$]+"|'[^'$]+'|[^\s$,}"'][^,}]*)`)
	secretMap  = regexp.MustCompile(`(?i)(\b(?:headers|env)["']?\s*:\s*)\{[^\n]*\}`)
	mapOfThem  = regexp.MustCompile(`(?i)^\s*(?:-\s+)?["']?(?:headers|env)["']?\s*:\s*$`)
	anyValue   = regexp.MustCompile(`^(\s*(?:"[^"]*"|'[^']*'|[^:]*)\s*:\s*)[^\s$].*$`)
	secretURL  = regexp.MustCompile(`(://[^/\s:@]*:)[^/\s@]+@`)
)

// inSecretMap reports whether a line is in a map whose values are all taken for secrets, however its keys are called.
func inSecretMap(lines []string, line int) bool {
	indent := func(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }
	at := indent(lines[line-1])
	for i := line - 2; i >= 0 && at > 0; i-- {
		if strings.TrimSpace(lines[i]) == "" || indent(lines[i]) >= at {
			continue
		}
		return mapOfThem.MatchString(lines[i])
	}
	return false
}

// excerpt is one line of the source with a mark below the column, or a fault must do without it.
func excerpt(lines []string, line, column int) string {
	if line < 1 || line > len(lines) {
		return ""
	}
	text := strings.TrimRight(lines[line-1], "\r\n")
	column = max(column, 1)
	covered := secretURL.ReplaceAllString(secretLine.ReplaceAllString(secretMap.ReplaceAllString(text, "${1}{…}"), "${1}…"), "${1}…@")
	if inSecretMap(lines, line) {
		covered = anyValue.ReplaceAllString(covered, "${1}…")
	}
	if covered != text {
		column = min(column, len([]rune(covered)))
		text = covered
	}
	number := fmt.Sprintf("%4d | ", line)
	var mark strings.Builder
	for i, r := range []rune(text) {
		if i >= column-1 {
			break
		}
		if r == '\t' {
			mark.WriteRune('\t')
		} else {
			mark.WriteByte(' ')
		}
	}
	return number + text + "\n" + strings.Repeat(" ", len(number)-2) + "| " + mark.String() + "^"
}
