package api

import (
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// Agent is one of the server's agents as callers see it.
type Agent struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Mode        string   `json:"mode"` // async: calls return at a pause or at the end; blocking: they wait through pauses
	Tools       []string `json:"tools"`
}

// blockingMode is the mode of an agent whose callers wait through pauses.
const blockingMode = "blocking"

func (s *Server) agentEndpoints() []endpoint {
	return []endpoint{
		route("GET", "/v1/agents", about{tag: "agents", summary: "The agents that this server has, and how calls of each meet a pause.", action: policy.View}, (*call).listAgents),
	}
}

func (c *call) listAgents(none) (Page[Agent], error) {
	return page(c.options.Agents, "", func(a Agent) Agent {
		if a.Tools == nil {
			a.Tools = []string{}
		}
		return a
	}), nil
}

// agentOf gives the agent of a run or session: that of the flow, if it is an agent's. Rules judge calls by the agent, so nobody gets another's
// name, or none, by naming the flow.
func (s *Server) agentOf(name, flow string) (string, error) {
	own, ofAgent := strings.CutPrefix(flow, agent.FlowName(""))
	listed := slices.ContainsFunc(s.options.Agents, func(a Agent) bool { return a.Name == name })
	switch {
	case ofAgent && name == "":
		return own, nil
	case ofAgent && name != own, !ofAgent && flow != "" && listed:
		return "", bad("agent", "the flow is not that of this agent", "name the agent or the flow, not both")
	}
	return name, nil
}

// blocks reports whether callers of an agent wait through pauses.
func (s *Server) blocks(name string) bool {
	return name != "" && slices.ContainsFunc(s.options.Agents, func(a Agent) bool { return a.Name == name && a.Mode == blockingMode })
}

// manner is how a call waits for a run: how long, and for what.
type manner struct {
	wait   time.Duration
	enough func(holdshort.Run) bool
}

// manner of a call that may meet a pause of an agent. Only the waiting differs between the modes, never what is answered: async waits as
// long as the caller wants and returns at a pause; blocking waits through pauses, a minute unless the caller says otherwise.
func (c *call) manner(agent string, asked time.Duration) (manner, error) {
	m := manner{wait: asked, enough: engine.Resting}
	if c.blocks(agent) {
		m.enough = settled
		if !c.r.URL.Query().Has("wait") {
			m.wait = longestWait
		}
	}
	if c.prefersAsync() {
		m.wait = 0
	}
	return m, waiting(m.wait)
}

// settled is a run that will not go on by anybody's answer.
func settled(run holdshort.Run) bool { return run.Status.Ended() || run.Held != nil }

// prefersAsync reports whether the caller wants to be answered at once, and says so.
func (c *call) prefersAsync() bool {
	for _, prefer := range c.r.Header.Values("Prefer") {
		for _, p := range strings.Split(prefer, ",") {
			if strings.EqualFold(strings.TrimSpace(p), "respond-async") {
				c.w.Header().Set("Preference-Applied", "respond-async")
				return true
			}
		}
	}
	return false
}
