package setup

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/tool"
	"github.com/holdshort/holdshort/tool/command"
	"github.com/holdshort/holdshort/tool/web"
)

func (b *builder) readTools(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(b.Tools)) {
		if err := b.collect(b.readTool(ctx, name)); err != nil {
			return err
		}
	}
	for _, t := range b.options.Tools { // what the configuration did not speak of is there too, for flows and agents of the program
		if _, there := b.tools[t.Name]; !there {
			if err := b.use("tools", t); err != nil {
				return err
			}
		}
	}
	return nil
}

// readTool registers what one entry of tools stands for.
func (b *builder) readTool(ctx context.Context, name string) error {
	path := config.Path("tools", name)
	if b.Incomplete(path) {
		return errSkipped
	}
	list, err := b.newTools(ctx, name, b.Config.Tools[name])
	if err != nil {
		return b.wrong(path, err)
	}
	for _, t := range list {
		if err := b.use(path, t); err != nil {
			return err
		}
	}
	b.served[name] = list
	return nil
}

// newTools makes what one entry of tools stands for: one tool, or those of a server.
func (b *builder) newTools(ctx context.Context, name string, c config.Tool) (list []tool.Tool, err error) {
	switch {
	case c.HTTP != nil:
		list, err = one(b.web(name, c))
	case c.Command != nil:
		list, err = one(b.command(name, c))
	case c.MCP != nil && b.options.Offline:
		err = within("mcp", b.server(name, c).Check())
	case c.MCP != nil:
		list, err = b.mcp(ctx, name, c)
	case c.Builtin:
		list, err = one(b.builtin(name))
	default:
		err = &holdshort.Error{Code: holdshort.Invalid, Message: "this build has no such kind of tool"}
	}
	for i := range list {
		if err == nil {
			list[i], err = declared(list[i], c)
		}
	}
	return list, err
}

func one(t tool.Tool, err error) ([]tool.Tool, error) { return []tool.Tool{t}, err }

func (b *builder) builtin(name string) (tool.Tool, error) {
	i := slices.IndexFunc(b.options.Tools, func(t tool.Tool) bool { return t.Name == name })
	if i < 0 {
		return tool.Tool{}, &holdshort.Error{Code: holdshort.Invalid, Field: "builtin", Message: fmt.Sprintf("this program brings no tool %q", name),
			Hint: "run the program that has it, or describe it with http, command or mcp"}
	}
	return b.options.Tools[i], nil
}

func (b *builder) web(name string, c config.Tool) (tool.Tool, error) {
	h := c.HTTP
	body, err := raw(h.Body)
	if err != nil {
		return tool.Tool{}, &holdshort.Error{Code: holdshort.Invalid, Field: "http.body", Message: "it cannot be written as JSON", Err: err}
	}
	schema, err := schemaOf(c.Schema)
	if err != nil {
		return tool.Tool{}, err
	}
	reconcile, err := reconcileOf(h.Reconcile)
	if err != nil {
		return tool.Tool{}, err
	}
	t, err := web.New(name, web.Config{Outgoing: h.Outgoing, Reconcile: reconcile, Method: h.Method, URL: h.URL, Query: h.Query, Headers: h.Headers, Body: body, Form: h.Form, Response: h.Response, ExternalIDs: h.ExternalIDs,
		IdempotencyHeader: c.IdempotencyHeader, Effect: tool.Effect(c.Effect), Definite: h.Definite, MaxAnswer: int64(h.MaxAnswer), Timeout: time.Duration(c.Timeout), Schema: schema})
	return t, within("http", err)
}

func reconcileOf(c *config.Reconcile) (*web.Reconcile, error) {
	if c == nil {
		return nil, nil
	}
	body, err := raw(c.Body)
	if err != nil {
		return nil, &holdshort.Error{Code: holdshort.Invalid, Field: "http.reconcile.body", Message: "it cannot be written as JSON", Err: err}
	}
	return &web.Reconcile{Method: c.Method, URL: c.URL, Query: c.Query, Headers: c.Headers, Body: body, Part: c.Part, Happened: c.Happened, NotHappened: c.NotHappened,
		Response: c.Response, ExternalIDs: c.ExternalIDs}, nil
}

func (b *builder) command(name string, c config.Tool) (tool.Tool, error) {
	p := c.Command
	schema, err := schemaOf(c.Schema)
	if err != nil {
		return tool.Tool{}, err
	}
	t, err := command.New(name, command.Config{Argv: p.Command, Shell: len(p.Command) == 0, Dir: b.dir(p.Dir), Env: p.Env, Pass: p.Pass, Stdin: p.Stdin, Effect: tool.Effect(c.Effect),
		Success: p.Success, DefiniteExit: p.DefiniteExit, MaxOutput: p.MaxOutput, Timeout: time.Duration(c.Timeout), Schema: schema})
	return t, within("command", err)
}

// dir is the folder that a program runs in: relative to that of the configuration, which is the default.
func (b *builder) dir(written string) string {
	if filepath.IsAbs(written) {
		return written
	}
	return filepath.Join(b.options.Dir, written)
}

// within says in which part of a tool a fault is.
func within(part string, err error) error {
	if known, ok := err.(*holdshort.Error); ok && known.Field != "" && known.Field != "schema" && known.Field != "effect" && known.Field != "timeout" {
		inner := *known
		inner.Field = part + "." + strings.Replace(known.Field, "argv", "command", 1)
		return &inner
	}
	return err
}

// declared puts what the configuration says of a tool over what the tool says of itself.
func declared(t tool.Tool, c config.Tool) (tool.Tool, error) {
	t.Description = cmp.Or(c.Description, t.Description)
	if c.MCP == nil || c.Effect != "" { // of a server's tool its annotations speak, as far as it is trusted
		t.Effect = cmp.Or(tool.Effect(c.Effect), t.Effect)
	}
	t.Reversible = cmp.Or(tool.Reversible(c.Reversible), t.Reversible)
	t.Idempotent = t.Idempotent || c.Idempotent
	t.Guarded = t.Guarded || c.RequiresApproval
	t.Timeout = cmp.Or(time.Duration(c.Timeout), t.Timeout)
	t.Retries = cmp.Or(c.Retries, t.Retries)
	t.Concurrency = cmp.Or(c.Concurrency, t.Concurrency)
	if cost := CostOf(c); cost != nil {
		t.Cost = cost
	}
	if len(c.Schema) > 0 {
		schema, err := schemaOf(c.Schema)
		if err != nil {
			return t, err
		}
		t.Schema = schema
	}
	return t, nil
}

// mostCost stands for a cost that cannot be read: it is over every limit, and sums of it do not turn round.
const mostCost = 1 << 40

// CostOf gives what a call of a configured tool costs: always the same, or what one of its arguments says, rounded up. Nil: nothing.
func CostOf(c config.Tool) func(args json.RawMessage) int64 {
	switch {
	case c.CostArg == "" && c.Cost == 0:
		return nil
	case c.CostArg == "":
		return func(json.RawMessage) int64 { return int64(c.Cost) }
	}
	names := strings.Split(c.CostArg, ".")
	return func(args json.RawMessage) int64 {
		for _, name := range names {
			var object map[string]json.RawMessage
			if json.Unmarshal(args, &object) != nil {
				return mostCost // what cannot be read is never cheap
			}
			args = object[name]
		}
		var n *float64
		if json.Unmarshal(args, &n) != nil || n == nil || *n >= mostCost {
			return mostCost
		}
		return int64(math.Ceil(max(*n, 0)))
	}
}

func schemaOf(s config.Free) (json.RawMessage, error) {
	if len(s) == 0 {
		return nil, nil
	}
	out, err := json.Marshal(s)
	if err != nil {
		return nil, &holdshort.Error{Code: holdshort.Invalid, Field: "schema", Message: "it cannot be written as JSON", Err: err}
	}
	return out, nil
}

func raw(v any) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	return json.Marshal(v)
}
