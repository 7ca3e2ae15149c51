package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/setup"
)

// origin is how much is known of a tool without asking anybody.
type origin string

const (
	declaredTool origin = "declared"
	servedTool   origin = "of a server"  // whose hints are known once it is asked
	ownTool      origin = "of a program" // whose declaration is code
	unknownTool  origin = "unknown"
)

// declare fills in what the configuration says of the call's tool.
func declare(c config.Config, call *policy.Call) origin {
	if t, ok := c.Tools[call.Tool]; ok && t.MCP == nil {
		fillIn(t, call)
		call.Guarded = call.Guarded || t.Command != nil && len(t.Command.Command) == 0 // a shell
		if t.Builtin {
			return ownTool
		}
		return declaredTool
	}
	server, _, isServed := strings.Cut(call.Tool, "/")
	if t, ok := c.Tools[server]; ok && isServed && t.MCP != nil {
		fillIn(t, call)
		call.Hinted, call.Trusted = true, t.Trusted
		return servedTool
	}
	for _, a := range c.Agents {
		tools, agents, flows, _ := a.Uses()
		switch {
		case slices.Contains(agents, call.Tool): // handing work over changes nothing
			call.Known, call.Effect, call.Reversible, call.Idempotent = true, "read", "yes", true
			return declaredTool
		case slices.Contains(flows, call.Tool), slices.Contains(tools, call.Tool):
			call.Known, call.Effect, call.Reversible = true, "write", "yes"
			return ownTool
		}
	}
	return unknownTool
}

func fillIn(t config.Tool, call *policy.Call) {
	call.Known, call.Effect, call.Reversible = true, cmp.Or(t.Effect, "write"), cmp.Or(t.Reversible, "no")
	call.Idempotent, call.Guarded = t.Idempotent, t.RequiresApproval
	if cost := setup.CostOf(t); cost != nil {
		call.Cost = cost(call.Args)
	}
}

// hint takes what a server says of its tool as the kernel does.
func hint(c config.Config, call *policy.Call, readOnly, destructive bool) {
	server, _, _ := strings.Cut(call.Tool, "/")
	call.Hinted, call.Destroys, call.ReadOnly = true, destructive, readOnly && !destructive
	if call.Trusted && call.ReadOnly && c.Tools[server].Effect == "" {
		call.Effect = "read"
	}
}

// calledIn makes a case's call what the kernel would ask the policies about.
func calledIn(c config.Config, in config.CaseCall) (policy.Call, error) {
	args, err := json.Marshal(in.Args)
	if err != nil {
		return policy.Call{}, fmt.Errorf("write args: %w", err)
	}
	if in.Args == nil {
		args = json.RawMessage("{}")
	}
	call := policy.Call{Tenant: holdshort.TenantID(cmp.Or(in.Tenant, "default")), Tool: in.Tool, Args: args, Agent: in.Agent, Flow: in.Flow, User: in.Actor,
		Session: holdshort.SessionID(in.Session), Run: holdshort.RunID(in.Run), Now: time.Now()}
	if in.Now != "" {
		if call.Now, err = time.Parse(time.RFC3339, in.Now); err != nil {
			return call, &holdshort.Error{Code: holdshort.Invalid, Message: fmt.Sprintf("now: %q is no time", in.Now), Hint: "write 2026-01-31T22:00:00Z"}
		}
	}
	if in.Agent != "" && in.Flow == "" {
		call.Flow = agent.FlowName(in.Agent)
	}
	from := unknownTool
	if !in.Outside {
		from = declare(c, &call)
	}
	switch {
	case in.Outside: // as the gate takes what it does not know
		call.Known, call.Effect, call.Reversible = true, "write", "no"
	case from == unknownTool && in.Effect == "":
		return call, &holdshort.Error{Code: holdshort.Invalid, Message: fmt.Sprintf("the configuration declares no tool %q", in.Tool),
			Hint: "declare it, or give the call an effect, or outside: true if it asks over the API"}
	case from == unknownTool:
		call.Known, call.Reversible = true, "no"
	}
	if h := in.Hints; h != nil {
		if h.Trusted != nil {
			call.Trusted = *h.Trusted
		}
		hint(c, &call, h.ReadOnly, h.Destructive)
	}
	call.Effect, call.Reversible, call.Changed = cmp.Or(in.Effect, call.Effect), cmp.Or(in.Reversible, call.Reversible), in.Changed
	if in.Idempotent != nil {
		call.Idempotent = *in.Idempotent
	}
	if in.RequiresApproval != nil {
		call.Guarded = *in.RequiresApproval
	}
	if in.Cost != nil {
		call.Cost = int64(*in.Cost)
	}
	return call, nil
}
