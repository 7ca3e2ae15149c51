package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdshort/holdshort/tool"
	"github.com/holdshort/holdshort/tool/internal/answer"
	"github.com/holdshort/holdshort/tool/internal/fill"
)

// OperationKey is the member of a call's _meta that carries the operation id: the same for every attempt.
const OperationKey = "holdshort/operation_id"

// offered is one tool of the server, as the kernel has it.
type offered struct {
	server *Server
	name   string
	reads  bool
	judged atomic.Pointer[string] // the pin that Changed looked at last: what a call was allowed or asked about for
}

// Tools gives the tools that the server has now. Those whose definition cannot be used are left out, and the log says why.
func (s *Server) Tools(ctx context.Context) ([]tool.Tool, error) {
	if _, err := s.ready(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	var list []definition
	for _, name := range s.order {
		list = append(list, s.known[name])
	}
	s.mu.Unlock()
	var tools []tool.Tool
	for _, d := range list {
		t, err := s.config.declare(d)
		o := &offered{server: s, name: d.name, reads: t.Effect == tool.Read}
		o.judged.Store(&d.pin)
		t.Changed, t.Definition, t.Call = o.changed, o.definition, o.call
		if err == nil {
			_, err = t.Prepare()
		}
		if err != nil {
			s.config.Logger.Warn("a tool of the MCP server is left out", "tool", d.name, "error", err)
			continue
		}
		tools = append(tools, t)
	}
	return tools, nil
}

// changed reports whether the definition is another than the one that was agreed to. It does not ask the server: what is not known for sure
// counts as changed.
func (o *offered) changed() bool {
	s := o.server
	s.mu.Lock()
	d, ok := s.known[o.name]
	stale := s.stale
	s.mu.Unlock()
	o.judged.Store(&d.pin)
	pin := s.config.Pins[o.name]
	return !ok || stale || d.pin == "" || d.pin != pin
}

// definition names what the tool is now, as far as is known.
func (o *offered) definition() string {
	o.server.mu.Lock()
	defer o.server.mu.Unlock()
	return o.server.known[o.name].pin
}

// call calls the tool on the server. A connection that turns out to be dead before the call was written is made again, once.
func (o *offered) call(ctx context.Context, call tool.Call) (tool.Result, error) {
	judged := call.Definition
	if judged == "" {
		judged = *o.judged.Load() // what was looked at last
	}
	for again := true; ; again = false {
		result, l, sent, err := o.attempt(ctx, call, judged)
		if err == nil || l == nil || sent.maybe.Load() || l.process == nil && !errors.Is(err, mcp.ErrConnectionClosed) {
			return result, err
		}
		o.server.drop(l)
		if !again || ctx.Err() != nil {
			return result, err
		}
	}
}

// attempt calls the tool once, if it is still the one that was judged.
func (o *offered) attempt(ctx context.Context, call tool.Call, judged string) (tool.Result, *link, *sent, error) {
	s := o.server
	l, err := s.ready(ctx)
	if err != nil {
		return tool.Result{}, nil, nil, tool.NotSent(fmt.Errorf("reach MCP server %s: %w", s.config.Name, err))
	}
	s.mu.Lock()
	d, ok := s.known[o.name]
	s.mu.Unlock()
	if !ok {
		return tool.Result{}, nil, nil, tool.NotSent(fmt.Errorf("MCP server %s no longer has the tool %s", s.config.Name, o.name))
	}
	if d.pin != judged {
		return tool.Result{}, nil, nil, tool.NotSent(fmt.Errorf("MCP server %s changed the tool %s just now: ask again", s.config.Name, o.name))
	}
	args := call.Args
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	watched, sent := withSent(ctx)
	result, err := within(ctx, l, func() (*mcp.CallToolResult, error) {
		return l.session.CallTool(watched, &mcp.CallToolParams{Name: o.name, Arguments: args, Meta: mcp.Meta{OperationKey: fill.Key(call.OperationID)}})
	})
	if err != nil {
		s.suspect(l)
		if ctx.Err() != nil {
			s.probe(l)
		}
		return tool.Result{}, l, sent, s.config.hide.Error(s.config.failed(err, sent, call.Args))
	}
	s.trust()
	switch {
	case result.NeedsInput():
		err = errors.New("the server asks for more input, which a tool cannot give")
	case result.IsError:
		err = s.config.reported(result, o.reads, call.Args)
	default:
		return tool.Result{Value: answer.Bound(valueOf(result, s.config.MaxAnswer, s.config.hide))}, l, sent, nil
	}
	return tool.Result{}, l, sent, err
}
