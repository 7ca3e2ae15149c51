package setup

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/model"
)

// member makes an agent of the configuration, after those that it hands work to.
func (b *builder) member(name string) (*agent.Agent, error) {
	if made, ok := b.members[name]; ok {
		return made, nil
	}
	path, c := config.Path("agents", name), b.Agents[name]
	if b.tried[name] || b.Incomplete(path) {
		return nil, errSkipped
	}
	b.tried[name] = true // before those that it hands work to: they may come back to it
	out, complete, err := b.agentConfig(path, name, c)
	if err != nil {
		return nil, err
	}
	if !complete {
		return nil, b.rehearse(path, out)
	}
	return b.join(path, Agent{Config: out, SessionStore: c.SessionStore, Mode: c.WrittenMode()})
}

// rehearse makes an agent that cannot be one of the parts, for the faults that are not reported yet.
func (b *builder) rehearse(path string, c agent.Config) error {
	c.Name = "rehearsal" // the name is checked with the file
	if c.Model == nil {
		c.Model = model.Func(func(context.Context, model.Request, func(string)) (model.Response, error) {
			return model.Response{}, errSkipped
		})
	}
	if _, err := agent.New(c); err != nil {
		return b.wrong(path, err)
	}
	return errSkipped
}

// agentConfig returns the configuration of an agent, and whether all that it uses is there. Faults are collected.
func (b *builder) agentConfig(path, name string, c config.Agent) (out agent.Config, complete bool, err error) {
	complete = !b.faulty(path) && b.models[c.Model] != nil
	out = agent.Config{Name: name, Description: c.Description, Model: b.models[c.Model], Instructions: c.Instructions,
		MaxTokens: b.Models[c.Model].MaxTokens, Temperature: b.Models[c.Model].Temperature,
		Limits: agent.Limits{Iterations: c.Limits.Iterations, Calls: c.Limits.Calls, Tokens: int64(c.Limits.Tokens), Cost: int64(math.Ceil(c.Limits.Cost * 1e6)), Window: c.Limits.Window, Result: c.Limits.Result}}
	if r := c.Repair; r != nil {
		out.Repair = agent.Repair{Off: r.Off, Model: b.models[r.Model], Attempts: r.Attempts}
		complete = complete && (r.Model == "" || b.models[r.Model] != nil)
	}
	if t := c.Task; t != nil {
		out.InputTimeout, out.Timeout, out.Concurrency = time.Duration(t.InputTimeout), time.Duration(t.Timeout), t.WorkerPool
	}
	if out.Schema, err = schemaOf(c.Schema); err != nil {
		return out, false, b.wrong(path, err)
	}
	for i, use := range c.Tools {
		at := fmt.Sprintf("%s.tools[%d]", path, i)
		if b.faulty(at) {
			continue
		}
		if err := b.equip(at, use, &out); err != nil {
			if b.collect(err) != nil {
				return out, false, err
			}
			complete = false
		}
	}
	return out, complete, nil
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
