package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/holdshort/holdshort"
)

// exited carries an exit code out of the parser, which expects its caller to be gone after --help.
type exited int

// run parses args, runs the command and gives the exit code. It never panics.
func run(ctx context.Context, args []string, out *console, commands any) (code int) {
	args = spellings(args)
	out.jsonErrors = slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
	defer func() {
		switch r := recover().(type) {
		case nil:
		case exited:
			code = out.end(nil, int(r))
		default:
			code = out.fail(panicked(r))
		}
	}()
	parser := kong.Must(commands,
		kong.Name("holdshort"),
		kong.Description("A durable human-in-the-loop control plane for AI agents: the pause is a row in a database."),
		kong.Writers(out, out),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Exit(func(code int) { panic(exited(code)) }),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(out),
	)
	parsed, err := parser.Parse(args)
	if broken := out.lost(); err != nil && broken != nil {
		return out.end(broken, exitOK) // --help to somebody who is gone
	}
	if err != nil {
		return out.fail(misread(parser.Model.Node, args, err))
	}
	err = obey(ctx, func() time.Duration { return graceOf(parsed) }, func() error { return parsed.Run() })
	if err != nil && ctx.Err() != nil && !errors.As(err, new(verdict)) {
		err = interrupted // whatever it made of its canceled context
	}
	return out.end(err, exitOK)
}

// graceful is a command that needs longer to stop than those that only look. Grace is called after the interrupt, while
// the command runs: what it says may depend on a file that the command has read.
type graceful interface{ Grace() time.Duration }

func graceOf(parsed *kong.Context) time.Duration {
	if command, ok := parsed.Selected().Target.Addr().Interface().(graceful); ok {
		return command.Grace()
	}
	return time.Second
}

// obey runs a command. After an interrupt it waits for it no longer than grace: a database that does not answer, or a reader who does not
// read, must not keep a person. What was committed stays committed.
func obey(ctx context.Context, grace func() time.Duration, command func() error) error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- panicked(r)
			}
		}()
		done <- command()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(grace()):
		return interrupted
	}
}

// spellings takes the habits of other programs: help COMMAND and --version.
func spellings(args []string) []string {
	switch {
	case len(args) > 0 && args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	case len(args) > 0 && args[0] == "--version":
		return append([]string{"version"}, args[1:]...)
	}
	return args
}

// misread turns the parser's complaint into ours: what is wrong, and what it may have been meant to be.
func misread(root *kong.Node, args []string, err error) error {
	at, path := root, "holdshort"
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		if node := parse.Context.Selected(); node != nil {
			at, path = node, "holdshort "+node.Path()
		}
	}
	usage := &usageError{Message: err.Error(), Hint: fmt.Sprintf("see %s --help", path)}
	if len(args) == 0 {
		usage.Message = "no command"
	}
	if before, nearest, found := strings.Cut(usage.Message, ", did you mean "); found {
		usage.Message, usage.Hint = before, "did you mean "+nearest
	}
	if word, found := strings.CutPrefix(usage.Message, "unexpected argument "); found && len(at.Children) > 0 {
		usage.Message = "unknown command " + word
		for _, leaf := range root.Leaves(true) {
			if leaf.Name == word {
				usage.Hint = fmt.Sprintf("did you mean %q?", leaf.Path())
			}
		}
	}
	return usage
}

func panicked(value any) error {
	return &holdshort.Error{Code: holdshort.Internal, Message: fmt.Sprintf("stopped by a fault of its own: %v", value),
		Hint: "report it with the command and what holdshort version prints"}
}
