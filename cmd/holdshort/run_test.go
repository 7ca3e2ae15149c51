package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/holdshort/holdshort"
)

// oddGrammar has a command for each way to end.
type oddGrammar struct {
	Do oddCommand `cmd:""`
}

type oddCommand struct {
	How string `arg:""`
	jsonFlag
}

func (c oddCommand) Run(ctx context.Context, out *console) error {
	switch c.How {
	case "panic":
		panic("at postgres://ana:hunter2@db")
	case "print":
		out.printf("done\n")
		return nil
	case "verdict":
		out.printf("found something\n")
		return verdict(exitFailed)
	case "wait":
		<-ctx.Done()
		return fmt.Errorf("query: the statement was interrupted (9)")
	case "hang":
		select {}
	case "refuse":
		return fmt.Errorf("decide: %w", &holdshort.Error{Code: holdshort.Closed, Op: "decide req_7", Message: "request is closed", Hint: "look at it", Err: errors.New("row\n\tgone")})
	}
	return nil
}

// Grace is long for a command that ends, so that a busy machine cannot cut it short, and short for the one that never ends.
func (c oddCommand) Grace() time.Duration {
	if c.How == "hang" {
		return time.Millisecond
	}
	return time.Hour
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestEndings(t *testing.T) {
	gone, stop := context.WithCancel(context.Background())
	stop()
	full := &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
	closed := &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}
	tests := []struct {
		name, args     string
		ctx            context.Context
		broken         error
		code           int
		stdout, stderr string
	}{
		{"all is well", "do print", nil, nil, exitOK, "done\n", ""},
		{"a verdict has said it all", "do verdict", nil, nil, exitFailed, "found something\n", ""},
		{"a refusal", "do refuse", nil, nil, exitRefused, "", "holdshort: decide: decide req_7: request is closed: row; gone\nhint: look at it\n"},
		{"a refusal for programs", "do refuse --json", nil, nil, exitRefused, "", `{"code":"closed","message":"decide: decide req_7: request is closed: row; gone","hint":"look at it"}` + "\n"},
		{"a panic", "do panic", nil, nil, exitFailed, "", "holdshort: stopped by a fault of its own: at postgres://ana:xxxxx@db\nhint: report it with the command and what holdshort version prints\n"},
		{"a panic for programs", "do panic --json=true", nil, nil, exitFailed, "", `{"code":"internal","message":"stopped by a fault of its own: at postgres://ana:xxxxx@db","hint":"report it with the command and what holdshort version prints"}` + "\n"},
		{"an interrupt", "do wait", gone, nil, exitFailed, "", "holdshort: interrupted\n"},
		{"an interrupt of something that hangs", "do hang", gone, nil, exitFailed, "", "holdshort: interrupted\n"},
		{"an interrupt after the verdict", "do verdict", gone, nil, exitFailed, "found something\n", ""},
		{"a reader who is gone", "do print", nil, closed, exitOK, "", ""},
		{"a reader who is gone before the verdict", "do verdict", nil, closed, exitFailed, "", ""},
		{"a reader of help who is gone", "--help", nil, closed, exitOK, "", ""},
		{"a full disk", "do print", nil, full, exitFailed, "", "holdshort: write output: write /dev/stdout: no space left on device\n"},
		{"a wrong command line", "do", nil, nil, exitUsage, "", "holdshort: expected \"<how>\"\nhint: see holdshort do --help\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			out := &console{stdout: &stdout, stderr: &stderr}
			if tt.broken != nil {
				out.stdout = brokenWriter{tt.broken}
			}
			ctx := tt.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			code := run(ctx, strings.Fields(tt.args), out, &oddGrammar{})
			if code != tt.code || stdout.String() != tt.stdout || stderr.String() != tt.stderr {
				t.Errorf("exit %d\nstdout %q\nstderr %q\nwant exit %d\nstdout %q\nstderr %q", code, stdout.String(), stderr.String(), tt.code, tt.stdout, tt.stderr)
			}
		})
	}
}

func TestExitCodes(t *testing.T) {
	tests := []struct {
		err  error
		code string
		exit int
	}{
		{&usageError{Message: "x"}, "usage", exitUsage},
		{&holdshort.Error{Code: holdshort.Invalid, Field: "store"}, "invalid", exitUsage},
		{&holdshort.Error{Code: holdshort.Invalid}, "invalid", exitFailed},
		{&holdshort.Error{Code: holdshort.NotFound}, "not_found", exitFailed},
		{&holdshort.Error{Code: holdshort.StoreUnavailable}, "store_unavailable", exitFailed},
		{&holdshort.Error{Code: holdshort.StoreFull}, "store_full", exitFailed},
		{&holdshort.Error{Code: holdshort.StoreLocked}, "store_locked", exitRefused},
		{&holdshort.Error{Code: holdshort.Quarantined}, "quarantined", exitRefused},
		{&holdshort.Error{Code: holdshort.Conflict}, "conflict", exitRefused},
		{&holdshort.Error{Code: holdshort.Expired}, "expired", exitRefused},
		{&holdshort.Error{Code: holdshort.Forbidden}, "forbidden", exitRefused},
		{&holdshort.Error{Code: holdshort.SchemaNewer}, "schema_newer", exitRefused},
		{&holdshort.Error{Code: holdshort.SchemaCorrupt}, "schema_corrupt", exitRefused},
		{errors.New("x"), "internal", exitFailed},
		{fmt.Errorf("read: %w", context.Canceled), "interrupted", exitFailed},
	}
	for _, tt := range tests {
		for _, err := range []error{tt.err, fmt.Errorf("wrapped: %w", tt.err)} {
			if f := explain(err); f.Code != tt.code || f.exit != tt.exit {
				t.Errorf("%v: %s, exit %d; want %s, exit %d", err, f.Code, f.exit, tt.code, tt.exit)
			}
		}
	}
}

// Text from a database that somebody wrote into reaches the terminal as text.
func TestNothingMovesTheCursor(t *testing.T) {
	var stdout, stderr bytes.Buffer
	out := &console{stdout: &stdout, stderr: &stderr, colour: true}
	evil := "\x1b[2J\x07\r\u202e\u0085x"
	out.printf("%s %s\n", out.status(statusFail), evil)
	out.notef("%s", evil)
	out.fail(errors.New(evil))
	const harmless = "\uFFFD[2J\uFFFD"
	if want := "\x1b[1;31mFAIL\x1b[0m " + harmless; !strings.HasPrefix(stdout.String(), want) {
		t.Errorf("stdout %q, want it to begin %q", stdout.String(), want)
	}
	for _, text := range []string{strings.TrimPrefix(stdout.String(), "\x1b[1;31mFAIL\x1b[0m"), stderr.String()} {
		if strings.ContainsAny(text, "\x1b\x07\r\u202e\u0085") {
			t.Errorf("%q was let through", text)
		}
	}
}

// Every command that people can type explains itself by example.
func TestEveryCommandShowsAnExample(t *testing.T) {
	var everyCommand []string
	var walk func(*kong.Node)
	walk = func(node *kong.Node) {
		for _, child := range node.Children {
			if !child.Hidden && child.Name != "bench" && child.Name != "torture" { // these two have a layout of their own
				everyCommand = append(everyCommand, child.Path())
				walk(child)
			}
		}
	}
	walk(kong.Must(&grammar{}).Model.Node)
	if len(everyCommand) < 25 {
		t.Fatalf("only %v", everyCommand)
	}
	for _, path := range everyCommand {
		var stdout bytes.Buffer
		out := &console{stdout: &stdout, stderr: io.Discard}
		code := run(t.Context(), append(strings.Fields(path), "--help"), out, &grammar{})
		if code != exitOK || !strings.Contains(stdout.String(), "\n    holdshort "+path) && !strings.Contains(stdout.String(), " holdshort "+path+" ") {
			t.Errorf("%s --help: exit %d and no example in\n%s", path, code, stdout.String())
		}
	}
}

func TestJSONIsNotEscapedForBrowsers(t *testing.T) {
	var stdout bytes.Buffer
	out := &console{stdout: &stdout}
	if err := out.encode(map[string]string{"found": "a < b & c"}); err != nil || !strings.Contains(stdout.String(), "a < b & c") || !json.Valid(stdout.Bytes()) {
		t.Errorf("%v, %s", err, stdout.String())
	}
}
