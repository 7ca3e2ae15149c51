package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
)

// The exit codes of every command.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitRefused = 3 // not now, not you, or not any more: trying the same again changes nothing
)

// refusals are the codes that end with exitRefused.
var refusals = []holdshort.Code{
	holdshort.Conflict, holdshort.Duplicate, holdshort.Closed, holdshort.Expired, holdshort.Forbidden, holdshort.Unauthenticated, holdshort.Denied, holdshort.KeyReused, holdshort.AlreadyVoted, holdshort.DecisionUsed,
	holdshort.FingerprintMismatch, holdshort.WrongState, holdshort.LeaseLost, holdshort.KeyUnknown, holdshort.MACInvalid, holdshort.Quarantined,
	holdshort.StoreLocked, holdshort.SchemaNewer, holdshort.SchemaOlder, holdshort.SchemaCorrupt,
}

// usageError is a command line that cannot be meant.
type usageError struct{ Message, Hint string }

func (e *usageError) Error() string { return e.Message }

// verdict ends a command that has said everything already, with this exit code.
type verdict int

func (v verdict) Error() string { return fmt.Sprintf("exit %d", int(v)) }

var interrupted = fmt.Errorf("interrupted: %w", context.Canceled)

// failure is an error as people and programs see it.
type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
	exit    int
}

func explain(err error) failure {
	if usage, ok := errors.AsType[*usageError](err); ok {
		return failure{Code: "usage", Message: usage.Message, Hint: usage.Hint, exit: exitUsage}
	}
	if errors.Is(err, context.Canceled) {
		return failure{Code: "interrupted", Message: "interrupted", exit: exitFailed}
	}
	f := failure{Code: string(holdshort.CodeOf(err)), Message: messageOf(err), Hint: holdshort.HintOf(err), exit: exitFailed}
	known, ok := errors.AsType[*holdshort.Error](err)
	switch {
	case !ok:
	case known.Code == holdshort.Invalid && known.Field != "":
		f.exit = exitUsage
	case slices.Contains(refusals, known.Code):
		f.exit = exitRefused
	}
	return f
}

// messageOf gives the text without the hints, which have a line of their own, on one line.
func messageOf(err error) string {
	text := err.Error()
	for cause := err; cause != nil; {
		known, ok := errors.AsType[*holdshort.Error](cause)
		if !ok {
			break
		}
		if known.Hint != "" {
			text = strings.Replace(text, " ("+known.Hint+")", "", 1)
		}
		cause = known.Err
	}
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(lines, line) { // a driver that tried twice says it twice
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

// fail tells people on stderr, or programs when they asked for JSON, and gives the exit code.
func (c *console) fail(err error) int {
	f := explain(err)
	f.Message, f.Hint = c.safe(f.Message), c.safe(f.Hint)
	if c.jsonErrors {
		line, _ := json.Marshal(f) // three strings
		fmt.Fprintf(c.stderr, "%s\n", line)
		return f.exit
	}
	fmt.Fprintf(c.stderr, "holdshort: %s\n", f.Message)
	if f.Hint != "" {
		fmt.Fprintf(c.stderr, "hint: %s\n", f.Hint)
	}
	return f.exit
}
