package setup

import (
	"context"
	"strings"
	"time"

	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/tool"
	"github.com/holdshort/holdshort/tool/mcp"
)

// connectTime is how long a server of tools may take to come up.
const connectTime = 30 * time.Second

// mcp connects to a server and gives its tools. A tool whose definition nobody pinned, or that is another now, asks a person at every call.
func (b *builder) mcp(ctx context.Context, name string, c config.Tool) ([]tool.Tool, error) {
	server, err := b.connect(ctx, name, c)
	if err != nil {
		return nil, within("mcp", err)
	}
	b.parts.closers, b.parts.servers[name] = append(b.parts.closers, server.Close), server
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	list, err := server.Tools(ctx)
	if err != nil {
		return nil, within("mcp", err)
	}
	for _, t := range list {
		if t.Changed != nil && t.Changed() {
			b.log.Warn("a tool's definition is not pinned, or another than the pinned one: every call is asked about", "tool", t.Name, "hint", "look at it, then: holdshort tools pin "+name)
		}
	}
	return list, nil
}

func (b *builder) connect(ctx context.Context, name string, c config.Tool) (*mcp.Server, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	return mcp.Connect(ctx, b.server(name, c))
}

// server returns the configuration of an MCP server with the pins of its tools.
func (b *builder) server(name string, c config.Tool) mcp.Config {
	pins := map[string]string{}
	for full, pin := range b.pins {
		if own, ok := strings.CutPrefix(full, name+"/"); ok {
			pins[own] = pin
		}
	}
	dir := c.MCP.Dir // an address has none
	if len(c.MCP.Command) > 0 {
		dir = b.dir(dir)
	}
	return mcp.Config{Name: name, Command: c.MCP.Command, Dir: dir, Env: c.MCP.Env, Pass: c.MCP.Pass,
		URL: c.MCP.URL, Headers: c.MCP.Headers, Trusted: c.Trusted, Pins: pins,
		Definite: c.MCP.Definite, Timeout: time.Duration(c.Timeout), MaxAnswer: c.MCP.MaxAnswer, Logger: b.log}
}
