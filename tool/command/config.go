// Package command makes tools of programs on this machine: an argument of a call is one argument of the program, never a piece of shell.
// It may import the root package, tool and what tools share.
package command

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/tool"
	"github.com/holdshort/holdshort/tool/internal/fill"
)

// Config describes a tool that runs a program. Argv is needed, or Shell.
//
// The items of Argv and Stdin are templates: "{path}" is an argument of the call, "{file.name}" one within another. "{path?}" may be missing:
// the item that it is in is then left out. "{@operation_id}", "{@run_id}", "{@tenant}" and "{@args}" (all arguments, as JSON) are facts of the
// call. "{{" and "}}" are plain braces. A value is one argument of the program or part of one, whatever it holds. One that begins with a hyphen is
// refused, unless a literal "--" comes before it or literal text is in front of it ("--name={name}"): it would be an option.
type Config struct {
	// Argv is the program, written out, and its arguments. It is looked up in PATH.
	Argv []string
	// Shell runs the argument "command" of the call as a line of /bin/sh instead. Every call is then asked about, unless the caller sets
	// Guarded to false. Default: false.
	Shell bool
	// Dir that it runs in. Default: that of this process.
	Dir string
	// Env is added to its environment, as written. Default: none.
	Env map[string]string
	// Pass names the variables of this process that it gets besides PATH. Default: none.
	Pass []string
	// Stdin is what it reads. Default: nothing.
	Stdin string
	// Effect: tool.Read makes every exit a result. Default: tool.Write.
	Effect tool.Effect
	// Success are the exit codes with which it did what it should. Default: 0.
	Success []int
	// DefiniteExit are the exit codes that prove that nothing was done. Any other leaves the outcome of a writing call unknown. Default: none.
	DefiniteExit []int
	// MaxOutput is how many bytes of each of its two outputs are kept: the beginning and the end of what is longer. Default: 64 KiB, at most 128 KiB.
	MaxOutput int
	// Timeout: it is killed then, with everything that it started. Default: 30 seconds.
	Timeout time.Duration
	// Schema of the arguments. Default: one made of the places in the templates.
	Schema json.RawMessage
}

const (
	defaultMaxOutput = 64 << 10
	mostMaxOutput    = 128 << 10
	mostArgument     = 128 << 10 // what Linux takes
)

func (c Config) withDefaults() Config {
	if c.Effect == "" {
		c.Effect = tool.Write
	}
	if c.Success == nil {
		c.Success = []int{0}
	}
	if c.MaxOutput == 0 {
		c.MaxOutput = defaultMaxOutput
	}
	if c.Timeout == 0 {
		c.Timeout = tool.DefaultTimeout
	}
	return c
}

func (c Config) validate(name string) error {
	switch {
	case c.Shell && len(c.Argv) > 0:
		return invalid(name, "argv", "a shell's line comes with the call", "leave out either argv or shell")
	case !c.Shell && (len(c.Argv) == 0 || c.Argv[0] == ""):
		return invalid(name, "argv", "a tool needs a program", "name the program and its arguments")
	case c.Effect != tool.Read && c.Effect != tool.Write:
		return invalid(name, "effect", "unknown effect "+string(c.Effect), "use read or write")
	case c.MaxOutput < 0 || c.MaxOutput > mostMaxOutput:
		return invalid(name, "max_output", "an output of that size cannot be kept", "use 1 byte to 128 KiB")
	case c.Timeout < 0:
		return invalid(name, "timeout", "a timeout cannot be negative", "leave it out for the default")
	case slices.ContainsFunc(c.Success, func(code int) bool { return slices.Contains(c.DefiniteExit, code) }):
		return invalid(name, "definite_exit", "an exit code cannot be both success and proof that nothing was done", "leave one out")
	}
	for variable, value := range c.Env {
		if !variableName(variable) || strings.ContainsRune(value, 0) {
			return invalid(name, "env", fmt.Sprintf("%q cannot be a variable", variable), "use letters, digits and underscores")
		}
	}
	for _, variable := range c.Pass {
		if !variableName(variable) {
			return invalid(name, "pass", fmt.Sprintf("%q cannot be a variable", variable), "name variables, without their values")
		}
	}
	return nil
}

func variableName(s string) bool {
	return s != "" && !strings.ContainsAny(s, "=\x00\n")
}

func invalid(name, field, message, hint string) error {
	return &holdshort.Error{Code: holdshort.Invalid, Op: "make tool " + name, Field: field, Message: message, Hint: hint}
}

// line is a command line of templates.
type line struct {
	program string
	items   []item
	stdin   fill.Template
}

type item struct {
	template fill.Template
	free     bool // a value may begin with a hyphen
}

func (c Config) parse(name string) (line, error) {
	var l line
	for i, text := range c.Argv {
		t, err := fill.Parse(text)
		if err != nil {
			return l, wrong(name, "argv", err)
		}
		literal, isLiteral := t.Literal()
		if strings.ContainsRune(text, 0) {
			return l, invalid(name, "argv", "an argument cannot hold a zero byte", "leave it out")
		}
		if i == 0 {
			if !isLiteral {
				return l, invalid(name, "argv", "the program must be written out", "name it; arguments of a call come after it")
			}
			l.program = literal
			continue
		}
		after := slices.ContainsFunc(l.items, func(before item) bool { text, ok := before.template.Literal(); return ok && text == "--" })
		l.items = append(l.items, item{template: t, free: after || t.Prefix() != ""})
	}
	if at := l.code(); at >= 0 {
		return l, invalid(name, "argv", fmt.Sprintf("%q would be run as code with values of the call in it", l.items[at].template.Text()),
			`write the code out and hand values over behind it: ["sh", "-c", "echo \"$1\"", "--", "{text}"]`)
	}
	t, err := fill.Parse(c.Stdin)
	if err != nil {
		return l, wrong(name, "stdin", err)
	}
	if l.stdin = t; len(t.Places()) > 0 && l.readsCode() {
		return l, invalid(name, "stdin", "it would be run as code with values of the call in it", "write the code out as an argument")
	}
	return l, nil
}

func wrong(name, field string, err error) error {
	return &holdshort.Error{Code: holdshort.Invalid, Op: "make tool " + name, Field: field, Message: "the template cannot be used", Err: err,
		Hint: "{name} is an argument, {{ a brace"}
}
