package setup

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

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

// member makes an agent of the configuration, after those that it hands work to.
func (b *builder) member(name string) (*agent.Agent, error) {
	if made, ok := b.members[name]; ok {
		return made, nil
	}
	path, c := config.Path("agents", name), b.Agents[name]
	if b.faulty(path) || b.models[c.Model] == nil || c.Repair != nil && c.Repair.Model != "" &&
		b.models[c.Repair.Model] == nil {
		return nil, errSkipped
	}
	out := agent.Config{Name: name, Description: c.Description, Model: b.models[c.Model], Instructions: c.Instructions,
		MaxTokens: b.Models[c.Model].MaxTokens, Temperature: b.Models[c.Model].Temperature,
		Limits: agent.Limits{Iterations: c.Limits.Iterations, Calls: c.Limits.Calls, Tokens: int64(c.Limits.Tokens), Cost: int64(math.Ceil(c.Limits.Cost * 1e6)), Window: c.Limits.Window, Result: c.Limits.Result}}
	if r := c.Repair; r != nil {
		out.Repair = agent.Repair{Off: r.Off, Model: b.models[r.Model], Attempts: r.Attempts}
	}
	if t := c.Task; t != nil {
		out.InputTimeout, out.Timeout, out.Concurrency = time.Duration(t.InputTimeout), time.Duration(t.Timeout), t.WorkerPool
	}
	var err error
	if out.Schema, err = schemaOf(c.Schema); err != nil {
		return nil, b.wrong(path, err)
	}
	complete := true
	for i, use := range c.Tools {
		if err := b.equip(fmt.Sprintf("%s.tools[%d]", path, i), use, &out); err != nil {
			if b.collect(err) != nil {
				return nil, err
			}
			complete = false
		}
	}
	if !complete {
		return nil, errSkipped
	}
	return b.join(path, Agent{Config: out, SessionStore: c.SessionStore, Mode: c.WrittenMode()})
}

// equip gives an agent one of the things that it may use.
func (b *builder) equip(path, use string, out *agent.Config) error {
	if other, ok := strings.CutPrefix(use, config.AgentPrefix); ok {
		made, err := b.member(other)
		if b.collect(err) != nil {
			return err
		}
		if made == nil {
			return errSkipped
		}
		out.Delegates = append(out.Delegates, made.Delegate())
		return nil
	}
	if name, ok := strings.CutPrefix(use, config.FlowPrefix); ok {
		i := slices.IndexFunc(b.options.Flows, func(d agent.Delegate) bool { return d.Name == name })
		if i < 0 {
			return config.Faults{b.Fault(path, fmt.Sprintf("this program brings no flow %q", name), "run the program that has it")}
		}
		out.Delegates = append(out.Delegates, b.options.Flows[i])
		return nil
	}
	if use == config.AskUser {
		out.AskUser = true
		return nil
	}
	if list, ok := b.served[use]; ok {
		out.Tools = append(out.Tools, list...)
		return nil
	}
	server, _, _ := strings.Cut(use, "/")
	if b.faulty(config.Path("tools", use)) || b.faulty(config.Path("tools", server)) {
		return errSkipped
	}
	if b.options.Offline && b.Tools[server].MCP != nil {
		return nil
	}
	for _, t := range b.served[server] {
		if t.Name == use {
			out.Tools = append(out.Tools, t)
			return nil
		}
	}
	return config.Faults{b.Fault(path, fmt.Sprintf("%s has no tool %q", server, use), "holdshort tools list shows what it has")}
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
