package setup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/policy/rulebook"
)

// checkToolNames compares the tools that rules name with those that exist. A name that nothing declares may belong
// to an agent outside, so that
// it is a warning; it is a fault where gate.tools lists the tools of those agents. A configuration without any
// tools is that of a gate.
func (b *builder) checkToolNames(book *rulebook.Book) {
	known := b.knownTools()
	if len(known) == 0 && b.Gate.Tools == nil {
		return
	}
	for _, n := range book.ToolNames() {
		server, _, ofServer := strings.Cut(n.Tool, "/")
		ofServer = ofServer && b.Tools[server].MCP != nil
		if slices.Contains(known, n.Tool) || n.Tool == config.AskUser || b.Gate.Lists(n.Tool) || ofServer &&
			b.options.Offline {
			continue
		}
		hint := "declare it in tools; if agents outside ask about it, list it in gate.tools"
		if near := config.Nearest(n.Tool, known); near != "" {
			hint = fmt.Sprintf("did you mean %q? If agents outside ask about this tool, list it in gate.tools", near)
		}
		fault := b.FaultInText(fmt.Sprintf("policies[%d].when", n.Rule), n.Line, n.Column,
			fmt.Sprintf("no tool is called %q", n.Tool), hint)
		if b.Gate.Tools != nil && !ofServer {
			b.faults = append(b.faults, fault)
		} else {
			b.parts.Warnings = append(b.parts.Warnings, fault)
		}
	}
}

// knownTools returns the names of all tools: those of the configuration and of the program, and agents and flows
// that agents hand work to.
func (b *builder) knownTools() (names []string) {
	for name := range b.tools {
		names = append(names, name)
	}
	for name := range b.Tools {
		names = append(names, name)
	}
	for _, a := range b.Agents {
		_, agents, flows, _ := a.Uses()
		names = slices.Concat(names, agents, flows)
	}
	return names
}

// warnBlocking warns of an agent whose callers wait through pauses although the pauses are durable. An agent that
// only others call has no callers
// who wait.
func (b *builder) warnBlocking(path string, a Agent) {
	for _, other := range b.Agents {
		if _, agents, _, _ := other.Uses(); slices.Contains(agents, a.Name) {
			return
		}
	}
	hint := "name one of stores as session_store"
	if a.SessionStore != "" {
		hint = "write mode: auto"
	}
	if a.Mode != "" {
		path += ".task.hitl.mode"
	}
	b.parts.Warnings = append(b.parts.Warnings, b.Fault(path,
		"callers wait through pauses (mode blocking), which is meant for development, tests and approvals of under a minute", hint))
}

// durableServer reports whether the pauses of this server outlive the process, whatever its agents say.
func (b *builder) durableServer() bool {
	if b.options.Store != nil {
		return b.options.Store.Durable()
	}
	for _, s := range b.Stores {
		return s.Durable()
	}
	return true // the file that serve opens by default
}
