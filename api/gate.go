package api

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/internal/status"
	"github.com/holdshort/holdshort/policy"
)

func (s *Server) gateEndpoints() []endpoint {
	return []endpoint{
		route("POST", "/v1/requests/{id}/claim", about{tag: "gate", summary: "Take the approved actions, once. Only the key that raised the request may.", action: policy.Claim, once: true, errors: []int{409, 410, 422}}, (*call).claim),
		route("POST", "/v1/requests/{id}/outcome", about{tag: "gate", summary: "Report what became of a claimed call. The same report again changes nothing.", action: policy.Claim, errors: []int{409, 413, 422}}, (*call).outcome),
		route("POST", "/v1/requests/{id}/extend", about{tag: "gate", summary: "Prolong a claim.", action: policy.Claim, errors: []int{409, 422}}, (*call).extend),
	}
}

func (c *call) claim(in struct {
	ID   holdshort.RequestID `path:"id"`
	Body struct {
		Lease Duration `json:"lease,omitempty"`
	} `body:""`
}) (engine.Claimed, error) {
	key, err := c.key()
	if err != nil {
		return engine.Claimed{}, err
	}
	out, err := c.engine.Claim(c.ctx, c.who.Tenant, engine.ClaimInput{Request: in.ID, Actor: c.who.Actor, Key: key, Lease: time.Duration(in.Body.Lease)})
	if err == nil && out.Replayed {
		c.again(http.StatusOK)
	}
	return out, c.withStanding(in.ID, err)
}

// withStanding adds the request as it stands to a conflict, for those who may see it.
func (c *call) withStanding(id holdshort.RequestID, err error) error {
	if err == nil || status.Of(holdshort.CodeOf(err)) != http.StatusConflict {
		return err
	}
	v, look := c.engine.RequestFor(c.ctx, c.who.Tenant, id, c.who.Actor)
	if look != nil {
		return err
	}
	shown := c.request(v)
	return standing{error: err, request: &shown, decision: shown.Decision}
}

func (c *call) outcome(in struct {
	ID   holdshort.RequestID `path:"id"`
	Body struct {
		Token       string                    `json:"claim_token"`
		CallID      string                    `json:"call_id,omitempty"`
		Status      holdshort.OperationStatus `json:"status"`
		ExternalIDs map[string][]string       `json:"external_ids,omitempty"`
		Result      json.RawMessage           `json:"result,omitempty"`
	} `body:""`
}) (holdshort.Operation, error) {
	b := in.Body
	op, err := c.engine.Outcome(c.ctx, c.who.Tenant, engine.OutcomeInput{Request: in.ID, Token: b.Token, CallID: b.CallID, Status: b.Status, ExternalIDs: b.ExternalIDs, Result: b.Result, Actor: c.who.Actor})
	return op, c.withStanding(in.ID, err)
}

// Extended is how long a claim lasts now.
type Extended struct {
	LeaseUntil time.Time `json:"lease_until"`
}

func (c *call) extend(in struct {
	ID   holdshort.RequestID `path:"id"`
	Body struct {
		Token string   `json:"claim_token"`
		Lease Duration `json:"lease,omitempty"`
	} `body:""`
}) (Extended, error) {
	until, err := c.engine.Extend(c.ctx, c.who.Tenant, engine.ExtendInput{Request: in.ID, Token: in.Body.Token, Lease: time.Duration(in.Body.Lease), Actor: c.who.Actor})
	return Extended{until}, c.withStanding(in.ID, err)
}
