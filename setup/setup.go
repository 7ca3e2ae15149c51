package setup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/rulebook"
	"github.com/holdshort/holdshort/tool"
	"github.com/holdshort/holdshort/tool/mcp"
)

// LockFile beside a configuration holds the pins of MCP servers' tools: the definitions that somebody agreed to.
const LockFile = "holdshort.tools.lock"

// Options of Build. The zero value builds what the configuration says.
type Options struct {
	// Dir is the folder of the configuration: of the lock file, and that commands run in. Default: the working directory.
	Dir string
	// Lock is the file with the pins. Default: LockFile in Dir.
	Lock string
	// Store is where runs are kept. Default: what the configuration says of its stores.
	Store interface{ Durable() bool }
	// Tools of the program, for tools that are builtin in the configuration.
	Tools []tool.Tool
	// Flows of the program. Agents may call them as flow:NAME, by the delegate's name.
	Flows []agent.Delegate
	// Models stand in for the configuration's by name.
	Models map[string]model.Model
	// Agents of the program, beside those of the configuration.
	Agents []Agent
	// Policy in place of the configuration's.
	Policy policy.Policy
	// Offline connects to nothing: MCP servers count as having no tools. It is for looking at a configuration. Default: they are connected to.
	Offline bool
	// Logger. Default: slog.Default().
	Logger *slog.Logger
}

// Agent is one that a program made. What holds for one of the configuration holds for it.
type Agent struct {
	agent.Config
	// SessionStore names the store that its pauses outlive the process in. Default: none.
	SessionStore string
	// Mode is auto, blocking or async. Default: auto.
	Mode string
}

// Parts are what an engine runs.
type Parts struct {
	Flows  []flow.Flow
	Tools  []tool.Tool
	Policy policy.Policy
	// Rules is how many rules the policy has, and Version names them. Zero of a policy that is not made of rules.
	Rules   int
	Version string
	// Book is the rules, nil of a policy that is not made of them, and Places where each stands: file and line.
	Book   *rulebook.Book
	Places []string
	// Agents gives the flow of each agent, and Modes how callers meet its pauses: blocking or async.
	Agents map[string]string
	Modes  map[string]string
	// Listed are the agents as people see them, by name.
	Listed []Listing

	// Warnings are about what is allowed and probably not meant.
	Warnings config.Faults

	settings config.Config // limits and retention
	closers  []func() error
	servers  map[string]*mcp.Server
	lock     string
}

// Listing is an agent as people see it.
type Listing struct {
	Name        string
	Description string
	Mode        string
	Tools       []string
	Examples    []string
}

// Close ends what the tools hold: programs and connections of MCP servers.
func (p *Parts) Close() error {
	if p == nil {
		return nil
	}
	var errs []error
	for _, c := range slices.Backward(p.closers) {
		errs = append(errs, c())
	}
	p.closers = nil
	return errors.Join(errs...)
}

// Engine gives a configuration of an engine with the parts in it.
func (p *Parts) Engine(c engine.Config) engine.Config {
	c.Flows = append(slices.Clip(c.Flows), p.Flows...)
	c.Tools = append(slices.Clip(c.Tools), p.Tools...)
	c.Policy = p.Policy
	agents := maps.Clone(c.Agents)
	if agents == nil {
		agents = map[string]string{}
	}
	maps.Copy(agents, p.Agents)
	c.Agents = agents
	return p.limited(c)
}

// builder gathers the parts.
type builder struct {
	config.Config
	options Options
	log     *slog.Logger
	parts   *Parts
	pins    map[string]string
	models  map[string]model.Model
	served  map[string][]tool.Tool // what each name among tools stands for
	tools   map[string]tool.Tool   // by their own names
	gates   map[string]bool        // those of them that stand for delegates
	members map[string]*agent.Agent
	tried   map[string]bool          // agents that were made, or could not be
	waits   map[string]time.Duration // how long the approvals of an agent stay open
	faults  config.Faults
}

// Build makes the parts. Faults of the configuration are returned together, as config.Faults; everything that was
// opened is closed again then.
func Build(ctx context.Context, c config.Config, options Options) (parts *Parts, err error) {
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	if options.Dir == "" {
		options.Dir = "."
	}
	if options.Lock == "" {
		options.Lock = filepath.Join(options.Dir, LockFile)
	}
	b := &builder{Config: c, options: options, log: options.Logger, parts: &Parts{Agents: map[string]string{}, Modes: map[string]string{}, servers: map[string]*mcp.Server{}, lock: options.Lock},
		models: map[string]model.Model{}, served: map[string][]tool.Tool{}, tools: map[string]tool.Tool{}, gates: map[string]bool{}, members: map[string]*agent.Agent{}, tried: map[string]bool{}, waits: map[string]time.Duration{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.parts.Close())
			parts = nil
		}
	}()
	b.parts.settings = c
	if err := b.collect(c.Check()); err != nil {
		return nil, err
	}
	b.readPins()
	if len(b.faults) > 0 {
		b.options.Offline = true // it cannot be built: start no programs for it
	}
	for _, step := range []func(context.Context) error{b.readModels, b.readTools, b.readFlows, b.readAgents, b.readPolicy} {
		if err := b.collect(step(ctx)); err != nil {
			return nil, err
		}
	}
	if len(b.faults) > 0 {
		return nil, b.faults.Sorted()
	}
	return b.parts, nil
}

// use registers a tool with the engine, once.
func (b *builder) use(path string, t tool.Tool) error {
	if _, twice := b.tools[t.Name]; twice {
		return config.Faults{b.Fault(path, fmt.Sprintf("there are two tools called %q", t.Name), "give each its own name")}
	}
	if _, err := t.Prepare(); err != nil {
		return b.wrong(path, err)
	}
	b.tools[t.Name] = t
	b.parts.Tools = append(b.parts.Tools, t)
	return nil
}
