package command

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort/tool"
	"github.com/holdshort/holdshort/tool/internal/answer"
	"github.com/holdshort/holdshort/tool/internal/fill"
)

// OperationVariable carries the operation id to the program: the same for every attempt.
const OperationVariable = "HOLDSHORT_OPERATION_ID"

// runner runs the program of one tool.
type runner struct {
	config Config
	line   line
	hide   answer.Secrets
}

// New makes a tool of a program. Description, Reversible, Idempotent and Retries are the caller's to set.
func New(name string, c Config) (tool.Tool, error) {
	c = c.withDefaults()
	if err := c.validate(name); err != nil {
		return tool.Tool{}, err
	}
	if c.Shell {
		c.Argv = []string{"/bin/sh", "-c"}
	}
	l, err := c.parse(name)
	if err != nil {
		return tool.Tool{}, err
	}
	r := &runner{config: c, line: l}
	for variable, value := range c.Env {
		r.hide.Add(variable, value)
	}
	for _, variable := range c.Pass {
		r.hide.Add(variable, os.Getenv(variable))
	}
	t := tool.Tool{Name: name, Effect: c.Effect, Timeout: c.Timeout, Schema: c.Schema, Guarded: c.Shell, Call: r.call}
	places := l.stdin.Places()
	for _, it := range l.items {
		places = append(places, it.template.Places()...)
	}
	switch {
	case len(t.Schema) == 0 && c.Shell:
		t.Schema = []byte(`{"type":"object","properties":{"command":{"type":"string","description":"line of the shell"}},"required":["command"],"additionalProperties":false}`)
	case len(t.Schema) == 0:
		t.Schema = fill.SchemaOf(places)
	default:
		if err := fill.CheckSchema(t.Schema, places); err != nil {
			return tool.Tool{}, invalid(name, "schema", err.Error(), "name arguments that the schema has, or add them to it")
		}
	}
	return t, nil
}

// Output is the result of a call.
type Output struct {
	ExitCode int    `json:"exit_code"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr,omitempty"`
	// Truncated says that one of them was longer than is kept; where it was is marked.
	Truncated bool `json:"truncated,omitempty"`
	// StdoutBase64 and StderrBase64 have what is no text.
	StdoutBase64 string `json:"stdout_base64,omitempty"`
	StderrBase64 string `json:"stderr_base64,omitempty"`
}

// arguments fills the command line.
func (r *runner) arguments(v fill.Values) ([]string, error) {
	if r.config.Shell {
		text, _, err := v.Text(fill.Place{Name: "command"})
		if err == nil && strings.ContainsRune(text, 0) {
			err = fill.Wrong(fill.Place{Name: "command"}, nil, "it holds a zero byte")
		}
		return []string{"-c", text}, err
	}
	var argv []string
	for _, it := range r.line.items {
		text, ok, err := it.template.Fill(v, func(p fill.Place, value string) (string, error) {
			switch {
			case strings.ContainsRune(value, 0):
				return "", fill.Wrong(p, nil, "it holds a zero byte")
			case len(value) >= mostArgument:
				return "", fill.Wrong(p, nil, "it is too long for an argument")
			}
			return value, nil
		})
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if places := it.template.Places(); len(places) > 0 && !it.free && strings.HasPrefix(text, "-") {
			return nil, fill.Wrong(places[0], text, "it begins with a hyphen, so the program would take it for an option")
		}
		argv = append(argv, text)
	}
	return argv, nil
}

// environment of the program: nothing that is not listed.
func (r *runner) environment(call tool.Call) []string {
	list := map[string]string{}
	for _, name := range append([]string{"PATH"}, r.config.Pass...) {
		if value, ok := os.LookupEnv(name); ok {
			list[name] = value
		}
	}
	maps.Copy(list, r.config.Env)
	list[OperationVariable] = fill.Key(call.OperationID)
	env := make([]string, 0, len(list))
	for _, name := range slices.Sorted(maps.Keys(list)) {
		env = append(env, name+"="+list[name])
	}
	return env
}

func (r *runner) call(ctx context.Context, call tool.Call) (tool.Result, error) {
	v, err := fill.ValuesOf(call)
	if err != nil {
		return tool.Result{}, err
	}
	argv, err := r.arguments(v)
	if err != nil {
		return tool.Result{}, err
	}
	stdin, _, err := r.line.stdin.Fill(v, nil)
	if err != nil {
		return tool.Result{}, err
	}
	if err := ctx.Err(); err != nil {
		return tool.Result{}, tool.NotSent(err)
	}
	cmd := exec.CommandContext(ctx, r.line.program, argv...)
	cmd.Dir, cmd.Env, cmd.Stdin = r.config.Dir, r.environment(call), strings.NewReader(stdin)
	stdout, stderr := newTape(r.config.MaxOutput), newTape(r.config.MaxOutput)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	all := newGroup(cmd)
	cmd.WaitDelay = 2 * time.Second // for the pipes, if somebody who escaped still holds them
	if err := cmd.Start(); err != nil {
		return tool.Result{}, tool.NotSent(fmt.Errorf("start %s: %w", r.line.program, err))
	}
	return r.outcome(ctx, cmd, all.wait(), stdout, stderr)
}

func (r *runner) outcome(ctx context.Context, cmd *exec.Cmd, err error, stdout, stderr *tape) (tool.Result, error) {
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil && !cmd.ProcessState.Success():
		return tool.Result{}, fmt.Errorf("run %s: %w", r.line.program, context.Cause(ctx))
	case err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay):
		return tool.Result{}, fmt.Errorf("run %s: %w", r.line.program, err)
	}
	code := cmd.ProcessState.ExitCode()
	out := Output{ExitCode: code, Truncated: stdout.cut() || stderr.cut()}
	out.Stdout, out.StdoutBase64 = stdout.text(r.hide)
	out.Stderr, out.StderrBase64 = stderr.text(r.hide)
	if code < 0 {
		return tool.Result{}, fmt.Errorf("run %s: it was killed: %v%s", r.line.program, cmd.ProcessState, said(out))
	}
	if r.config.Effect == tool.Read || slices.Contains(r.config.Success, code) {
		return tool.Result{Value: answer.Bound(answer.Marshal(out))}, nil
	}
	err = fmt.Errorf("run %s: exit code %d%s", r.line.program, code, said(out))
	if slices.Contains(r.config.DefiniteExit, code) {
		return tool.Result{}, tool.Definite(err)
	}
	return tool.Result{}, err
}

// said is the last line of what it wrote, for the text of an error.
func said(out Output) string {
	for _, text := range []string{out.Stderr, out.Stdout} {
		text = strings.TrimSpace(text)
		if i := strings.LastIndexByte(text, '\n'); i >= 0 {
			text = text[i+1:]
		}
		if text != "" {
			if len(text) > 400 {
				text = answer.Text([]byte(text[:400]))
			}
			return ": " + text
		}
	}
	return ""
}

// text of an output; what is no text is also given in base64.
func (t *tape) text(hide answer.Secrets) (text, encoded string) {
	b := hide.Hide(t.bytes())
	if !answer.IsBinary(b) {
		return answer.Text(b), ""
	}
	return fmt.Sprintf("(binary, %d bytes)", t.size), base64.StdEncoding.EncodeToString(b)
}
