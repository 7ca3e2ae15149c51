package main

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/setup"
	"github.com/holdshort/holdshort/telemetry"
	"github.com/holdshort/holdshort/tool"
)

type toolsCommand struct {
	List toolsListCommand `cmd:"" help:"List the tools of a configuration, and whether those of MCP servers are what somebody agreed to."`
	Pin  toolsPinCommand  `cmd:"" help:"Agree to the definitions that MCP servers have now."`
}

func (toolsCommand) Help() string {
	return `What an MCP server says of its tools is pinned: a tool that nobody agreed to, or that changed since, asks a person at every call. The pins are in holdshort.tools.lock beside the configuration; keep it with it.

Examples:

    holdshort tools list
    holdshort tools pin files`
}

type toolFlags struct {
	Config  string        `placeholder:"FILE" env:"HOLDSHORT_CONFIG" default:"holdshort.yaml" help:"Configuration. Default: holdshort.yaml."`
	Timeout time.Duration `default:"1m" help:"How long the servers may take to answer."`
	jsonFlag
}

// open connects to what the configuration says, and to no model.
func (f toolFlags) open(ctx context.Context, out *console) (config.Config, *setup.Parts, error) {
	read, err := readConfig(out, f.Config)
	if err != nil {
		return read, nil, err
	}
	only := read
	only.Models, only.Agents, only.Policies, only.Tools = nil, nil, nil, maps.Clone(read.Tools)
	maps.DeleteFunc(only.Tools, func(_ string, t config.Tool) bool { return t.Builtin }) // of a program that this is not
	parts, err := setup.Build(ctx, only, setup.Options{Dir: filepath.Dir(f.Config), Logger: telemetry.Logger(out.stderr, level("error"))})
	return read, parts, shownFaults(out, err)
}

// toolLine is a tool as it is listed.
type toolLine struct {
	Name     string      `json:"name"`
	Kind     string      `json:"kind"`
	Effect   tool.Effect `json:"effect"`
	Approval bool        `json:"requires_approval"`
	Pin      setup.State `json:"pin,omitempty"` // of an MCP server's
	Agents   []string    `json:"agents"`        // that may use it
	About    string      `json:"description,omitempty"`
}

type toolsListCommand struct{ toolFlags }

func (toolsListCommand) Help() string {
	return `Connects to the MCP servers of the configuration to see what they have. Exit 0, whatever it finds.

Examples:

    holdshort tools list
    holdshort tools list --config /etc/holdshort/holdshort.yaml --json`
}

func (c *toolsListCommand) Run(ctx context.Context, out *console) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	read, parts, err := c.open(ctx, out)
	if err != nil {
		return err
	}
	defer parts.Close()
	pins, err := parts.Pins(ctx)
	if err != nil {
		return err
	}
	lines := toolLines(read, parts.Tools, pins)
	if c.JSON {
		return out.encode(map[string]any{"items": lines})
	}
	if len(lines) == 0 {
		out.printf("%s has no tools\n", c.Config)
		return nil
	}
	return table(out, []string{"NAME", "KIND", "EFFECT", "PIN", "AGENTS"}, len(lines), func(i int) []string {
		l := lines[i]
		effect := string(l.Effect)
		if l.Approval {
			effect += ", asks"
		}
		return []string{l.Name, l.Kind, effect, string(l.Pin), strings.Join(l.Agents, " ")}
	})
}

func toolLines(read config.Config, tools []tool.Tool, pins []setup.Pin) []toolLine {
	lines := []toolLine{}
	add := func(name string, c config.Tool, effect tool.Effect, guarded bool, about string) {
		l := toolLine{Name: name, Effect: cmp.Or(effect, tool.Write), Approval: guarded, About: about, Agents: []string{}}
		switch {
		case c.HTTP != nil:
			l.Kind = "http"
		case c.Command != nil:
			l.Kind = "command"
		case c.MCP != nil:
			l.Kind = "mcp"
		default:
			l.Kind = "builtin"
		}
		for _, p := range pins {
			if p.Tool == name {
				l.Pin = p.State
			}
		}
		server, _, _ := strings.Cut(name, "/")
		for _, agent := range slices.Sorted(maps.Keys(read.Agents)) {
			if uses := read.Agents[agent].Tools; slices.Contains(uses, name) || slices.Contains(uses, server) {
				l.Agents = append(l.Agents, agent)
			}
		}
		lines = append(lines, l)
	}
	for _, t := range tools {
		server, _, _ := strings.Cut(t.Name, "/")
		c, own := read.Tools[t.Name]
		if !own {
			c = read.Tools[server]
		}
		add(t.Name, c, t.Effect, t.Guarded, t.Description)
	}
	for name, c := range read.Tools {
		if c.Builtin {
			add(name, c, tool.Effect(c.Effect), c.RequiresApproval, c.Description)
		}
	}
	for _, p := range pins {
		if p.State == setup.Gone {
			server, _, _ := strings.Cut(p.Tool, "/")
			add(p.Tool, read.Tools[server], "", false, "")
		}
	}
	slices.SortFunc(lines, func(a, b toolLine) int { return cmp.Compare(a.Name, b.Name) })
	return lines
}
