package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/setup"
	"github.com/holdshort/holdshort/tool"
)

type toolsPinCommand struct {
	Names []string `arg:"" optional:"" name:"NAME" help:"Server, or one of its tools such as files/read. Default: all that are not pinned as they are."`
	Check bool     `help:"Change nothing: exit 3 if something is not pinned as it is now."`
	toolFlags
}

func (toolsPinCommand) Help() string {
	return `Shows each definition that is new, changed or gone, and writes the lock file. Look at what changed first: whoever pins a tool says that its description and its arguments are what agents may be told.

Examples:

    holdshort tools pin
    holdshort tools pin files/read
    holdshort tools pin --check`
}

func (c *toolsPinCommand) Run(ctx context.Context, out *console) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	_, parts, err := c.open(ctx, out)
	if err != nil {
		return err
	}
	defer parts.Close()
	pins, err := parts.Pins(ctx)
	if err != nil {
		return err
	}
	chosen, err := c.choose(pins)
	if err != nil {
		return err
	}
	if err := c.show(out, chosen, parts.Tools); err != nil {
		return err
	}
	if len(chosen) == 0 {
		return nil
	}
	if c.Check {
		return verdict(exitRefused)
	}
	file := filepath.Join(filepath.Dir(c.Config), setup.LockFile)
	agreed, err := setup.ReadPins(file)
	if err != nil {
		return err
	}
	for _, p := range chosen {
		if p.State == setup.Gone {
			delete(agreed, p.Tool)
		} else {
			agreed[p.Tool] = p.Now
		}
	}
	if err := setup.WritePins(file, agreed); err != nil {
		return err
	}
	out.notef("wrote %s: restart the server", file)
	return nil
}

// definition is what whoever pins a tool agrees to.
type definition struct {
	setup.Pin
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	ReadOnly    bool            `json:"read_only"` // what the server says of it:
	Destructive bool            `json:"destructive"`
}

// show shows all of the definitions: each part of one goes to models.
func (c *toolsPinCommand) show(out *console, chosen []setup.Pin, tools []tool.Tool) error {
	items := make([]definition, len(chosen))
	for i, p := range chosen {
		items[i].Pin = p
		for _, t := range tools {
			if t.Name == p.Tool {
				items[i].Description, items[i].Schema = t.Description, t.Schema
				if t.Hints != nil {
					items[i].ReadOnly, items[i].Destructive = t.Hints.ReadOnly, t.Hints.Destructive
				}
			}
		}
	}
	if c.JSON {
		return out.encode(map[string]any{"items": items})
	}
	for _, d := range items {
		out.printf("%s is %s\n", d.Tool, string(d.State))
		if d.State == setup.Gone {
			continue
		}
		out.printf("    %s\n", oneLine(d.Description))
		if d.ReadOnly || d.Destructive {
			out.printf("    its server says: %s\n", map[bool]string{true: "destructive", false: "only reads"}[d.Destructive])
		}
		for line := range strings.Lines(visibleJSON(d.Schema)) {
			fmt.Fprintf(out, "    %s\n", strings.TrimRight(line, "\n"))
		}
	}
	if len(items) == 0 {
		out.printf("everything is pinned as it is\n")
	}
	return nil
}

// choose gives those of the names that are not pinned as they are.
func (c *toolsPinCommand) choose(pins []setup.Pin) ([]setup.Pin, error) {
	chosen := []setup.Pin{}
	for _, name := range c.Names {
		if !slices.ContainsFunc(pins, func(p setup.Pin) bool { return ofName(p.Tool, name) }) {
			return nil, &holdshort.Error{Code: holdshort.NotFound, Message: "no MCP server has " + name, Hint: "holdshort tools list shows what there is"}
		}
	}
	for _, p := range pins {
		if p.State != setup.Pinned && (len(c.Names) == 0 || slices.ContainsFunc(c.Names, func(name string) bool { return ofName(p.Tool, name) })) {
			chosen = append(chosen, p)
		}
	}
	return chosen, nil
}

func ofName(tool, name string) bool { return tool == name || strings.HasPrefix(tool, name+"/") }
