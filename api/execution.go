package api

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/engine"
)

// Execution is a run that waits for people, as its session shows it.
type Execution struct {
	Agent            string                `json:"agent,omitempty"`
	Requests         []holdshort.RequestID `json:"request_ids"` // oldest first
	PendingToolCall  *agent.PendingCall    `json:"pending_tool_call"`
	PendingToolCalls []agent.PendingCall   `json:"pending_tool_calls"`
	Since            time.Time             `json:"since"`
	ExpiresAt        time.Time             `json:"expires_at,omitzero"` // of the request that expires first
	State            string                `json:"execution_state"`     // where the whole of it can be read
}

// pendingExecutions are the runs of a session that wait, by their ids: of what the caller may see. It is read from the requests themselves,
// so what is decided, expired or canceled is gone from it by that very transaction.
func (c *call) pendingExecutions(session holdshort.SessionID) (map[holdshort.RunID]*Execution, error) {
	found, err := c.engine.RequestsFor(c.ctx, c.who.Tenant, engine.RequestQuery{Session: session, Status: holdshort.RequestOpen, Limit: mostItems}, c.who.Actor)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found.Items, func(a, b holdshort.Request) int { return cmp.Compare(a.ID, b.ID) }) // in the order of time
	var waiting map[holdshort.RunID]*Execution
	for _, item := range found.Items {
		req := c.request(engine.RequestView{Request: item})
		if req.RunID == "" {
			continue
		}
		x := waiting[req.RunID]
		if x == nil {
			if waiting == nil {
				waiting = map[holdshort.RunID]*Execution{}
			}
			x = &Execution{Requests: []holdshort.RequestID{}, PendingToolCalls: []agent.PendingCall{}, Since: req.CreatedAt, State: "/v1/runs/" + string(req.RunID) + "?view=" + executionView}
			if run, err := c.engine.RunFor(c.ctx, c.who.Tenant, req.RunID, c.who.Actor); err == nil {
				x.Agent = run.Agent
			}
			waiting[req.RunID] = x
		}
		x.add(req)
	}
	return waiting, nil
}

func (x *Execution) add(req Request) {
	x.Requests = append(x.Requests, req.ID)
	if due := req.Due(); !due.IsZero() && (x.ExpiresAt.IsZero() || due.Before(x.ExpiresAt)) {
		x.ExpiresAt = due
	}
	for _, a := range req.Actions {
		if a.NeedsApproval {
			x.PendingToolCalls = append(x.PendingToolCalls, agent.PendingCall{RequestID: req.ID, CallID: a.CallID, Tool: a.Tool, Args: a.Args})
		}
	}
	if len(x.PendingToolCalls) > 0 {
		x.PendingToolCall = &x.PendingToolCalls[0]
	}
}

// executionView of a run is where its agent stands.
const executionView = "execution_state"

// executionState reads where an agent's run stands from its journal, as far as the caller may see that.
func (c *call) executionState(run holdshort.Run) (agent.State, error) {
	journal, err := c.engine.JournalFor(c.ctx, c.who.Tenant, run.ID, c.who.Actor)
	if err != nil {
		return agent.State{}, err
	}
	var open []holdshort.Request
	shown := map[string]json.RawMessage{} // arguments of calls of which something is withheld
	if !run.Status.Ended() {
		found, err := c.engine.RequestsFor(c.ctx, c.who.Tenant, engine.RequestQuery{Run: run.ID, Status: holdshort.RequestOpen, Limit: mostItems}, c.who.Actor)
		if err != nil {
			return agent.State{}, err
		}
		for _, req := range found.Items {
			open = append(open, c.request(engine.RequestView{Request: req}).Request)
			for _, a := range open[len(open)-1].Actions {
				if len(a.Redacted) > 0 {
					shown[a.CallID] = a.Args
				}
			}
		}
	}
	state, ok := agent.StateOf(run, journal, open)
	if !ok {
		return state, bad("view", "this is no run of an agent", "leave view out; GET /v1/runs/{id}/journal shows what any run recorded")
	}
	// Whoever wants to see what is withheld reveals the request, and leaves that in the log.
	first := state.Reasoning.FirstIterationToolCalls
	for i := range first {
		first[i].Args = cover(shown, first[i].ID, first[i].Args)
	}
	for _, m := range slices.Concat(state.CurrentTurn, state.Reasoning.CurrentTurn) {
		for i := range m.Calls {
			m.Calls[i].Args = cover(shown, m.Calls[i].ID, m.Calls[i].Args)
		}
	}
	return state, nil
}

// cover gives the arguments of a call as they may be shown.
func cover(shown map[string]json.RawMessage, id string, args json.RawMessage) json.RawMessage {
	if covered, ok := shown[id]; ok {
		return covered
	}
	return args
}
