package api

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

func (s *Server) escalationEndpoints() []endpoint {
	return []endpoint{
		route("POST", "/v1/escalations/resolve", about{tag: "escalations", summary: "Resolve an escalation, by its id or by its session if only one is open there.", action: policy.Decide, once: true, errors: []int{409, 410, 413, 422}}, (*call).resolveEscalation),
	}
}

// Resolution says how an escalation ends.
type Resolution struct {
	SessionID    holdshort.SessionID `json:"session_id,omitempty"`
	EscalationID holdshort.RequestID `json:"escalation_id,omitempty"`
	Approved     *bool               `json:"approved"`
	Message      string              `json:"message,omitempty"`
	ActionData   json.RawMessage     `json:"action_data,omitempty"`
	ResolvedBy   string              `json:"resolved_by,omitempty"` // a label for people; who resolved it is the caller
}

func (c *call) resolveEscalation(in struct {
	Body Resolution `body:""`
}) (Decided, error) {
	b := in.Body
	switch {
	case (b.SessionID == "") == (b.EscalationID == ""):
		return Decided{}, bad("escalation_id", "it is named by its id or by its session", "send one of escalation_id and session_id")
	case b.Approved == nil: // nobody approves by leaving something out
		return Decided{}, bad("approved", "it is missing", "send true or false")
	}
	if err := plainName("resolved_by", b.ResolvedBy); err != nil {
		return Decided{}, err
	}
	ctx, err := c.once(http.StatusOK, string(b.EscalationID))
	if err != nil {
		return Decided{}, err
	}
	out, err := c.engine.ResolveEscalation(ctx, c.who.Tenant, engine.ResolveInput{Session: b.SessionID, Request: b.EscalationID, Approved: *b.Approved, Message: b.Message,
		Data: b.ActionData, ResolvedBy: b.ResolvedBy, Actor: c.who.Actor, Channel: "api"})
	var several *engine.Several
	if errors.As(err, &several) {
		ids := make([]string, len(several.IDs))
		for i, id := range several.IDs {
			ids[i] = string(id)
		}
		return Decided{}, standing{error: err, ids: ids}
	}
	return c.decided(b.EscalationID, out, err)
}
