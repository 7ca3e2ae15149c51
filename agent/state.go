package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/model"
)

// State is where a run of an agent stands, as one document. It is made from the journal whenever somebody asks: there is no second copy that
// could differ from what a resume goes by.
type State struct {
	TaskID            holdshort.RunID     `json:"task_id"`
	ContextID         holdshort.SessionID `json:"context_id"`
	Query             string              `json:"query"`
	Reasoning         Reasoning           `json:"reasoning_state"`
	PendingToolCall   *PendingCall        `json:"pending_tool_call"` // the first of those that wait
	PendingToolCalls  []PendingCall       `json:"pending_tool_calls"`
	History           []model.Message     `json:"history"`
	CurrentTurn       []model.Message     `json:"current_turn"`
	Iteration         int                 `json:"iteration"`
	TotalTokens       int64               `json:"total_tokens"`
	AssistantResponse string              `json:"assistant_response"`
}

// Reasoning is the loop's own part of it.
type Reasoning struct {
	Iteration               int             `json:"iteration"`
	TotalTokens             int64           `json:"total_tokens"`
	History                 []model.Message `json:"history"`
	CurrentTurn             []model.Message `json:"current_turn"`
	AssistantResponse       string          `json:"assistant_response"`
	FirstIterationToolCalls []model.Call    `json:"first_iteration_tool_calls"`
	FinalResponseAdded      bool            `json:"final_response_added"`
	Query                   string          `json:"query"`
	AgentName               string          `json:"agent_name"`
	SubAgents               []string        `json:"sub_agents"`
	ShowThinking            bool            `json:"show_thinking"`
}

// PendingCall is a call that a person is looking at.
type PendingCall struct {
	RequestID holdshort.RequestID `json:"request_id"`
	CallID    string              `json:"call_id"`
	Tool      string              `json:"tool"`
	Args      json.RawMessage     `json:"args,omitempty"`
}

// StateOf gives the state of an agent's run from its journal and the requests that it has open; false if the run is no agent's. What the
// caller may not see must have been taken out of both before.
func StateOf(run holdshort.Run, journal []holdshort.JournalEntry, open []holdshort.Request) (State, bool) {
	if !strings.HasPrefix(run.Flow, FlowName("")) {
		return State{}, false
	}
	var in Input
	if len(run.Input) > 0 {
		_ = json.Unmarshal(run.Input, &in) // what cannot be read has no query
	}
	r := Reasoning{Query: in.said(), AgentName: run.Agent, History: []model.Message{}, CurrentTurn: []model.Message{{Role: model.User, Text: in.said()}},
		FirstIterationToolCalls: []model.Call{}, SubAgents: []string{}, FinalResponseAdded: run.Status == holdshort.RunCompleted}
	if r.AgentName == "" {
		r.AgentName = strings.TrimPrefix(run.Flow, FlowName(""))
	}
	entries := map[string]holdshort.JournalEntry{}
	for _, e := range journal {
		if old, ok := entries[e.Key]; !ok || old.Attempt <= e.Attempt {
			entries[e.Key] = e
		}
		if sub := flow.AgentOf(e.Key); sub != "" && !slices.Contains(r.SubAgents, sub) {
			r.SubAgents = append(r.SubAgents, sub)
		}
	}
	slices.Sort(r.SubAgents)
	if e, ok := entries["history"]; ok {
		var messages []holdshort.Message
		if json.Unmarshal(e.Outcome, &messages) == nil {
			r.History = append(r.History, conversation(messages, in.Message)...)
		}
	}
	r.replay(entries)
	s := State{TaskID: run.ID, ContextID: run.SessionID, Query: r.Query, Reasoning: r, PendingToolCalls: []PendingCall{}, History: r.History, CurrentTurn: r.CurrentTurn,
		Iteration: r.Iteration, TotalTokens: r.TotalTokens, AssistantResponse: r.AssistantResponse}
	for _, req := range open {
		for _, a := range req.Actions {
			if a.NeedsApproval {
				s.PendingToolCalls = append(s.PendingToolCalls, PendingCall{RequestID: req.ID, CallID: a.CallID, Tool: a.Tool, Args: a.Args})
			}
		}
	}
	if len(s.PendingToolCalls) > 0 {
		s.PendingToolCall = &s.PendingToolCalls[0]
	}
	return s, true
}

// replay reads the model's answers and what came of their calls, in order.
func (r *Reasoning) replay(entries map[string]holdshort.JournalEntry) {
	for n := 1; ; n++ {
		e, ok := entries[fmt.Sprintf("model-%d", n)]
		var said answer
		if !ok || e.Error != nil || json.Unmarshal(e.Outcome, &said) != nil {
			return
		}
		r.Iteration = n
		r.TotalTokens += said.Usage.Total()
		if n == 1 {
			r.FirstIterationToolCalls = append(r.FirstIterationToolCalls, said.Calls...)
		}
		if said.Text != "" {
			r.AssistantResponse = said.Text
		}
		r.CurrentTurn = append(r.CurrentTurn, model.Message{Role: model.Assistant, Text: said.Text, Calls: said.Calls})
		next := 1
		for _, call := range said.Calls {
			e, ok := entries[fmt.Sprintf("calls-%d/%d", n, next)]
			if canonical, err := holdshort.Canonical(call.Args); !ok || err != nil || e.Hash != flow.CallHash(call.Tool, canonical) {
				continue // it was not asked about, or has no outcome yet
			}
			next++
			m := model.Message{Role: model.ToolRole, CallID: call.ID, Tool: call.Tool}
			var out flow.CallOutcome
			switch {
			case e.Error != nil:
				m.Failed, m.Text = true, e.Error.Message
			case json.Unmarshal(e.Outcome, &out) == nil:
				m.Text, m.Untrusted = plain(out.Value), out.By == ""
			}
			r.CurrentTurn = append(r.CurrentTurn, m)
		}
	}
}
