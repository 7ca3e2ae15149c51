package config

import (
	"fmt"
	"strings"

	"github.com/holdshort/holdshort"
)

// Agent is a model with instructions and tools.
type Agent struct {
	Model        string      `yaml:"model" need:"yes" doc:"One of models."`
	Description  string      `yaml:"description" doc:"What it is for: shown to people, and to agents that hand it work."`
	Examples     []string    `yaml:"examples" doc:"What somebody could say to it first: shown in the playground."`
	Instructions string      `yaml:"instructions" doc:"What it is told first."`
	SessionStore string      `yaml:"session_store" doc:"One of stores: its pauses then outlive the process. Default: none."`
	Task         *Task       `yaml:"task" doc:"How its runs wait."`
	Tools        []string    `yaml:"tools" doc:"What it may use: a tool, a server's tools (files) or one of them (files/read), another agent (agent:NAME), a flow of the program (flow:NAME), ask_user."`
	Schema       Free        `yaml:"schema" doc:"JSON Schema of its final answer. Default: any text."`
	Limits       AgentLimits `yaml:"limits" doc:"Of one run."`
	Repair       *Repair     `yaml:"repair" doc:"How a call is put right that was refused because of its arguments. Default: the user is asked."`
}

// AgentLimits of one run. Zero fields have the defaults.
type AgentLimits struct {
	Iterations int     `yaml:"iterations" min:"0" doc:"How often the model is asked. Default: 50."`
	Calls      int     `yaml:"calls" min:"0" doc:"Calls in one answer of the model. Default: 20."`
	Tokens     int     `yaml:"tokens" min:"0" doc:"Of all answers, read and written. Default: no limit."`
	Cost       float64 `yaml:"cost" min:"0" doc:"Of all answers, in the currency of the model's prices. Default: no limit."`
	Window     int     `yaml:"window" min:"0" doc:"Tokens of conversation that the model gets; what came earlier is summed up. Default: 60000."`
	Result     int     `yaml:"result" min:"0" doc:"Bytes of a tool's result that the model gets. Default: 32768."`
}

// Repair says how calls are put right.
type Repair struct {
	Off      bool   `yaml:"off" doc:"The model gets every error, and nobody is asked."`
	Model    string `yaml:"model" doc:"One of models: reads answers that the plain reader cannot; what it proposes is shown first. Default: the question is asked again."`
	Attempts int    `yaml:"attempts" min:"1" max:"3" doc:"How often one call is put right. Default: 3; off: true for never."`
}

// WrittenMode is what the agent wrote as its mode, "" if nothing.
func (a Agent) WrittenMode() string {
	if a.Task == nil || a.Task.HITL == nil {
		return ""
	}
	return a.Task.HITL.Mode
}

// What an agent's tools may be besides tools.
const (
	AskUser     = "ask_user" // it may put questions to the user
	AgentPrefix = "agent:"   // another agent
	FlowPrefix  = "flow:"    // a flow of the program
)

// Uses says what an agent's tools name: the agents and flows among them, whether it may ask, and the tools themselves.
func (a Agent) Uses() (tools, agents, flows []string, askUser bool) {
	for _, name := range a.Tools {
		if agent, ok := strings.CutPrefix(name, AgentPrefix); ok {
			agents = append(agents, agent)
		} else if flow, ok := strings.CutPrefix(name, FlowPrefix); ok {
			flows = append(flows, flow)
		} else if name == AskUser {
			askUser = true
		} else {
			tools = append(tools, name)
		}
	}
	return tools, agents, flows, askUser
}

func (c *checker) agent(path, name string, a Agent) {
	if len(name) > 100 || strings.ContainsAny(name, "/#!\x00") || name == "" {
		c.wrong(path, "use 1 to 100 bytes without / # and !", "%q is no name of an agent", name)
	}
	c.known(path+".model", a.Model, "models", sorted(c.Models))
	c.known(path+".session_store", a.SessionStore, "stores", sorted(c.Stores))
	if a.Repair != nil {
		c.known(path+".repair.model", a.Repair.Model, "models", sorted(c.Models))
	}
	c.task(path+".task", a)
	for i, t := range a.Tools {
		c.use(fmt.Sprintf("%s.tools[%d]", path, i), name, t, a.Tools[:i])
	}
	if _, err := Mode(a.SessionStore, c.Stores[a.SessionStore].Durable(), a.WrittenMode()); err != nil && (a.SessionStore == "" || c.Stores[a.SessionStore].URL != "") {
		hint := "write auto, blocking or async"
		if a.WrittenMode() == Async {
			hint = "name one of stores as session_store, or write mode: auto"
		}
		message := err.Error()
		if known, ok := err.(*holdshort.Error); ok {
			message = known.Message
		}
		c.wrong(path+".task.hitl.mode", hint, "%s", message)
	}
}

// use checks one of an agent's tools beside those that are named before it.
func (c *checker) use(path, agent, name string, before []string) {
	if indexOf(before, name) >= 0 {
		c.wrong(path, "name it once", "%q is there twice", name)
		return
	}
	if one, server, twice := c.servedTwice(name, before); twice {
		c.wrong(path, "keep "+server+", or name only the tools that the agent may use",
			"%q is there twice: %s names every tool of that server", one, server)
		return
	}
	if other, ok := strings.CutPrefix(name, AgentPrefix); ok {
		c.known(path, other, "agents", sorted(c.Agents))
		if way := c.back(agent, other, nil); way != nil {
			c.wrong(path, "take one of them away", "agents cannot hand work round in a circle: %s", strings.Join(append([]string{agent}, way...), " → "))
		}
		return
	}
	if name == AskUser || strings.HasPrefix(name, FlowPrefix) {
		return
	}
	tools := sorted(c.Tools)
	if indexOf(tools, name) >= 0 {
		return
	}
	if server, _, ofServer := strings.Cut(name, "/"); ofServer && indexOf(tools, server) >= 0 {
		if c.Tools[server].MCP == nil {
			c.wrong(path, "write "+server, "%q is no MCP server: it has no tools of its own", server)
		}
		return
	}
	c.known(path, name, "tools", append(tools, AskUser))
}

// servedTwice reports whether name and one of the tools before it are an MCP server and a tool of that server. The
// server is not asked: if it has no such tool, the name is a fault as well.
func (c *checker) servedTwice(name string, before []string) (one, server string, twice bool) {
	for _, other := range before {
		for _, pair := range [][2]string{{name, other}, {other, name}} {
			if c.Tools[pair[1]].MCP != nil && strings.HasPrefix(pair[0], pair[1]+"/") {
				return pair[0], pair[1], true
			}
		}
	}
	return "", "", false
}

// back gives the way on which work that agent hands to other comes back to it, nil if it does not.
func (c *checker) back(agent, other string, seen []string) []string {
	if other == agent {
		return []string{other}
	}
	if indexOf(seen, other) >= 0 {
		return nil
	}
	_, agents, _, _ := c.Agents[other].Uses()
	for _, next := range agents {
		if way := c.back(agent, next, append(seen, other)); way != nil {
			return append([]string{other}, way...)
		}
	}
	return nil
}
