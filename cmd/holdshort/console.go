package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"unicode"
)

// console is where a command prints. It is the writer of stdout and remembers if that could not be written.
type console struct {
	stdout, stderr io.Writer
	colour         bool
	jsonErrors     bool
	mu             sync.Mutex
	broken         error    // the first error of stdout
	secrets        []string // never printed
}

func terminal() *console {
	return &console{stdout: os.Stdout, stderr: os.Stderr, colour: wantsColour(os.Stdout)}
}

// wantsColour: on a terminal, unless somebody does not want it.
func wantsColour(f *os.File) bool {
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	state, err := f.Stat()
	return err == nil && state.Mode()&os.ModeCharDevice != 0
}

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock() // a command that was left behind may still print
	defer c.mu.Unlock()
	if c.broken != nil {
		return 0, c.broken
	}
	n, err := c.stdout.Write(p)
	c.broken = err
	return n, err
}

// lost is why stdout cannot be written, or nil. A write that hangs counts as none: nobody waits for it.
func (c *console) lost() error {
	if !c.mu.TryLock() {
		return nil
	}
	defer c.mu.Unlock()
	return c.broken
}

// printf prints to stdout; end reports if that went wrong. Arguments that are text are made safe.
func (c *console) printf(format string, args ...any) { fmt.Fprintf(c, format, c.safely(args)...) }

// notef prints a line about the work to stderr.
func (c *console) notef(format string, args ...any) {
	fmt.Fprintf(c.stderr, format+"\n", c.safely(args)...)
}

func (c *console) safely(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		out[i] = a
		if text, ok := a.(string); ok {
			out[i] = c.safe(text)
		}
	}
	return out
}

// encode prints one JSON document.
func (c *console) encode(v any) error {
	e := json.NewEncoder(c)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// end turns the outcome of a command into an exit code. A reader that closed the pipe had enough: that is no failure, and nobody is told.
func (c *console) end(err error, code int) int {
	if broken := c.lost(); broken != nil && (err == nil || errors.Is(err, broken)) {
		if closedPipe(broken) {
			return code
		}
		err = fmt.Errorf("write output: %w", broken)
	}
	if v, ok := errors.AsType[verdict](err); ok {
		return int(v)
	}
	if err != nil {
		return c.fail(err)
	}
	return code
}

func closedPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

// safe makes text fit to print: no password, and nothing that moves the cursor of whoever reads it. Names come from a database that somebody
// may have written into.
func (c *console) safe(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control) {
			return '\uFFFD'
		}
		return r
	}, hidePasswords(text, c.secrets))
}

// painted is text that holds our own escape sequences.
type painted string

// status gives the word for a state of things, in colour if there is any.
func (c *console) status(s status) painted {
	word := map[status]string{statusOK: "ok", statusWarn: "warn", statusFail: "FAIL"}[s]
	if !c.colour {
		return painted(fmt.Sprintf("%-4s", word))
	}
	paint := map[status]string{statusOK: "32", statusWarn: "33", statusFail: "1;31"}[s]
	return painted(fmt.Sprintf("\x1b[%sm%-4s\x1b[0m", paint, word))
}

// status is how good or bad something is.
type status string

const (
	statusOK   status = "ok"
	statusWarn status = "warn"
	statusFail status = "fail"
)
