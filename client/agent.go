package client

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/holdshort/holdshort"
)

// Agent is one of the server's agents.
type Agent struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Mode        string   `json:"mode"` // async: calls return at a pause or at the end; blocking: they wait through pauses
	Tools       []string `json:"tools"`
}

// Agents lists the agents that the server has, by name.
func (c *Client) Agents(ctx context.Context) ([]Agent, error) {
	var p page[Agent]
	_, err := c.do(ctx, call{method: http.MethodGet, path: "/v1/agents"}, &p)
	return p.Items, err
}

// ExecutionState gives where an agent's run stands, as JSON: what was said, what it did, what waits.
func (c *Client) ExecutionState(ctx context.Context, run holdshort.RunID) (state json.RawMessage, err error) {
	_, err = c.do(ctx, call{method: http.MethodGet, path: "/v1/runs/" + id(run) + "?view=execution_state"}, &state)
	return state, err
}

// Delta is a piece of a text that a run is making. Whoever did not listen then does not get it: the whole text comes as a message.
type Delta struct {
	Session holdshort.SessionID `json:"session_id,omitempty"`
	Run     holdshort.RunID     `json:"run_id"`
	Message holdshort.MessageID `json:"message_id"`
	Attempt int                 `json:"attempt"` // of the text; a new one begins it again
	Seq     int                 `json:"seq"`     // from 1 in each attempt
	Text    string              `json:"text,omitempty"`
	Reset   bool                `json:"-"` // what came of the message so far counts for nothing
}
