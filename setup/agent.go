package setup

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/tool"
)

func (b *builder) readFlows(context.Context) error {
	for _, d := range b.options.Flows {
		if err := d.Flow.Check(); err != nil {
			return err
		}
		b.parts.Flows = append(b.parts.Flows, d.Flow)
	}
	return nil
}

func (b *builder) readAgents(context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(b.Agents)) {
		if _, err := b.member(name); b.collect(err) != nil {
			return err
		}
	}
	for _, a := range b.options.Agents {
		if err := b.own(a); err != nil {
			return err
		}
	}
	return nil
}

// own takes an agent that the program made.
func (b *builder) own(a Agent) error {
	if _, twice := b.members[a.Name]; twice {
		return &holdshort.Error{Code: holdshort.Invalid, Op: "make agent " + a.Name, Field: "name", Message: "there are two agents of this name", Hint: "give each its own name"}
	}
	if a.SessionStore != "" && b.options.Store == nil {
		if _, known := b.Stores[a.SessionStore]; !known {
			return &holdshort.Error{Code: holdshort.Invalid, Op: "make agent " + a.Name, Field: "session_store", Message: fmt.Sprintf("%q is not one of stores", a.SessionStore), Hint: "hand Build the store, or add it to stores"}
		}
	}
	_, err := b.join("", a)
	return err
}

// join makes an agent one of the parts: the one way for those of the configuration and those of the program.
func (b *builder) join(path string, a Agent) (*agent.Agent, error) {
	mode, err := config.Mode(a.SessionStore, b.durable(a.SessionStore), a.Mode)
	if err != nil {
		if path != "" {
			return nil, b.wrong(path+".task.hitl.mode", err)
		}
		return nil, err
	}
	made, err := agent.New(a.Config)
	if err != nil {
		if path != "" {
			return nil, b.wrong(path, err)
		}
		return nil, err
	}
	if path != "" && mode == config.Blocking && b.durableServer() {
		b.warnBlocking(path, a)
	}
	listed := Listing{Name: a.Name, Description: a.Description, Mode: mode, Tools: []string{}, Examples: b.Agents[a.Name].Examples}
	for _, t := range a.Tools {
		listed.Tools = append(listed.Tools, t.Name)
	}
	for _, d := range a.Delegates {
		listed.Tools = append(listed.Tools, d.Name)
	}
	for _, t := range made.Tools() {
		if err := b.register(path, t, slices.Contains(listed.Tools[len(a.Tools):], t.Name)); err != nil {
			return nil, err
		}
	}
	if a.AskUser {
		listed.Tools = append(listed.Tools, config.AskUser)
	}
	b.members[a.Name] = made
	b.waits[a.Name] = a.InputTimeout
	f := made.Flow()
	b.parts.Flows = append(b.parts.Flows, f)
	b.parts.Agents[a.Name], b.parts.Modes[a.Name] = f.Name, mode
	b.parts.Listed = append(b.parts.Listed, listed)
	slices.SortFunc(b.parts.Listed, func(x, y Listing) int { return cmp.Compare(x.Name, y.Name) })
	return made, nil
}

// durable reports whether what is committed to an agent's store outlives the process: of the store itself, where it is known.
func (b *builder) durable(sessionStore string) bool {
	if b.options.Store != nil {
		return b.options.Store.Durable()
	}
	return b.Stores[sessionStore].Durable()
}

// register takes a tool of an agent's runs, once. One that stands for a delegate before policy and people has a name of its own.
func (b *builder) register(path string, t tool.Tool, gate bool) error {
	if was, there := b.tools[t.Name]; there && (!gate || b.gates[t.Name]) {
		if t.Guarded && !was.Guarded || string(t.Schema) != string(was.Schema) { // the one would run in the other's place
			return config.Faults{b.Fault(cmp.Or(path, "agents"), fmt.Sprintf("there are two tools called %q, and they differ", t.Name), "give each its own name")}
		}
		return nil
	}
	b.gates[t.Name] = gate
	return b.use(cmp.Or(path, "agents"), t)
}
