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
	if b.EscalationID == "" && c.r.Header.Get("Idempotency-Key") != "" {
		var err error
		if b.SessionID, b.EscalationID, err = c.lastEscalation(b.SessionID); err != nil {
			return Decided{}, err
		}
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

// lastEscalation names the escalation of a session if there is one only, or else the last that was closed: a repeated call has to find what
// the first one resolved. It leaves it to the kernel to refuse several, and none.
func (c *call) lastEscalation(session holdshort.SessionID) (holdshort.SessionID, holdshort.RequestID, error) {
	newest, err := engine.ParseOrder("newest")
	if err != nil {
		return session, "", err
	}
	found, err := c.engine.RequestsFor(c.ctx, c.who.Tenant, engine.RequestQuery{Session: session, Kind: holdshort.Escalation, Order: newest, Limit: mostItems}, c.who.Actor)
	if err != nil {
		return session, "", err
	}
	var open, closed []holdshort.RequestID
	for _, req := range found.Items {
		if req.Status == holdshort.RequestOpen {
			open = append(open, req.ID)
		} else {
			closed = append(closed, req.ID)
		}
	}
	switch {
	case len(open) == 1:
		return "", open[0], nil
	case len(open) == 0 && len(closed) > 0:
		return "", closed[0], nil
	}
	return session, "", nil
}
