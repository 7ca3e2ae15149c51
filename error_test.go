package holdshort

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"testing"
)

func TestErrorText(t *testing.T) {
	for _, test := range []struct {
		err  *Error
		want string
	}{
		{&Error{Code: NotFound}, "not_found"},
		{&Error{Code: NotFound, Op: "decide req_1"}, "decide req_1"},
		{&Error{Code: NotFound, Message: "no such request"}, "no such request"},
		{&Error{Code: NotFound, Op: "decide req_1", Message: "no such request"}, "decide req_1: no such request"},
		{&Error{Code: NotFound, Op: "decide req_1", Message: "no such request", Hint: "check the id"}, "decide req_1: no such request (check the id)"},
		{&Error{Code: Internal, Op: "open store", Err: io.EOF}, "open store: EOF"},
		{&Error{Code: Internal, Err: io.EOF, Hint: "try again"}, "internal: EOF (try again)"},
		{&Error{}, ""},
	} {
		if got := test.err.Error(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
	if got := NotFound.Error(); got != "not_found" {
		t.Errorf("a code reads %q", got)
	}
}

func TestErrorMatchesItsCodeHoweverItIsWrapped(t *testing.T) {
	inner := &Error{Code: KeyUnknown, Hint: "put the key back", Err: io.EOF}
	outer := &Error{Code: Corrupt, Op: "load decision", Err: inner}
	for name, err := range map[string]error{
		"plain":   outer,
		"wrapped": fmt.Errorf("run: %w", outer),
		"joined":  errors.Join(io.ErrClosedPipe, fmt.Errorf("run: %w", outer)),
	} {
		for _, code := range []Code{Corrupt, KeyUnknown} {
			if !errors.Is(err, code) {
				t.Errorf("%s: not %s", name, code)
			}
		}
		if !errors.Is(err, io.EOF) || errors.Is(err, NotFound) || errors.Is(err, Code("")) {
			t.Errorf("%s: matches the wrong things", name)
		}
		var e *Error
		if !errors.As(err, &e) || e != outer {
			t.Errorf("%s: As gives %v", name, e)
		}
		if got := CodeOf(err); got != Corrupt {
			t.Errorf("%s: code %s, want that of the outermost error", name, got)
		}
		if got := HintOf(err); got != "put the key back" {
			t.Errorf("%s: hint %q", name, got)
		}
	}
	if got := HintOf(&Error{Hint: "first", Err: inner}); got != "first" {
		t.Errorf("hint %q, want the outermost", got)
	}
}

func TestCodeOf(t *testing.T) {
	for _, test := range []struct {
		err  error
		want Code
	}{
		{nil, ""},
		{io.EOF, Internal},
		{NotFound, NotFound},
		{fmt.Errorf("load: %w", Expired), Expired},
		{&Error{Message: "somebody forgot the code"}, Internal},
		{&Error{Err: NotFound}, NotFound},
	} {
		if got := CodeOf(test.err); got != test.want {
			t.Errorf("%v: got %q, want %q", test.err, got, test.want)
		}
	}
	for _, err := range []error{nil, io.EOF, NotFound, &Error{Code: NotFound}, &Error{Code: NotFound, Err: io.EOF}} {
		if got := HintOf(err); got != "" {
			t.Errorf("%v: hint %q out of nowhere", err, got)
		}
	}
}

// Programs switch on codes: they are unique, and spelled one way but for the one that was published before.
func TestCodesAreUniqueAndLowerSnake(t *testing.T) {
	codes := constants(t)["Code"]
	if len(codes) < 30 {
		t.Fatalf("found only %d codes", len(codes))
	}
	snake := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	seen := map[string]bool{}
	for _, code := range codes {
		if seen[code] {
			t.Errorf("%s twice", code)
		}
		seen[code] = true
		if !snake.MatchString(code) && code != "IDEMPOTENCY_MISSING_RESULT" {
			t.Errorf("%s is not lower_snake", code)
		}
	}
}

// Words that people and programs send are unique within their kind too.
func TestWordsAreUniqueWithinTheirKind(t *testing.T) {
	snake := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	for kind, words := range constants(t) {
		if kind == "Code" || kind == "TenantID" {
			continue // codes have their own test; a tenant may be named so that nobody can register it
		}
		seen := map[string]bool{}
		for _, word := range words {
			if seen[word] || !snake.MatchString(word) {
				t.Errorf("%s %q stands twice or is not lower_snake", kind, word)
			}
			seen[word] = true
		}
	}
}
