package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/holdshort/holdshort"
)

// Claimed is what a claimer gets, once.
type Claimed struct {
	Actions      []ClaimedAction `json:"actions"`
	Fingerprint  string          `json:"fingerprint"`
	OperationIDs []string        `json:"operation_ids"`
	Token        string          `json:"claim_token"`
	LeaseUntil   time.Time       `json:"lease_until"`
}

// ClaimedAction is one call to make now, with exactly these arguments.
type ClaimedAction struct {
	CallID      string          `json:"call_id"`
	Tool        string          `json:"tool"`
	Args        json.RawMessage `json:"args"`
	ArgsHash    string          `json:"args_hash"`
	OperationID string          `json:"operation_id"` // hand it to the other side as its idempotency key
}

// Claim takes the approved actions of a request, once. Under the same key it can be repeated until the lease ends; "" makes a new key.
func (c *Client) Claim(ctx context.Context, req holdshort.RequestID, lease time.Duration, key string) (out Claimed, err error) {
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/v1/requests/" + id(req) + "/claim", body: leased{Lease: length(lease)}, key: key}, &out)
	return out, err
}

type leased struct {
	Token string `json:"claim_token,omitempty"`
	Lease string `json:"lease,omitempty"`
}

func length(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// Outcome is what became of a claimed call.
type Outcome struct {
	Token       string                    `json:"claim_token"`
	CallID      string                    `json:"call_id,omitempty"`
	Status      holdshort.OperationStatus `json:"status"` // done, or failed: proof that nothing happened
	ExternalIDs map[string][]string       `json:"external_ids,omitempty"`
	Result      json.RawMessage           `json:"result,omitempty"`
}

// Outcome reports what became of a claimed call. The same report again changes nothing.
func (c *Client) Outcome(ctx context.Context, req holdshort.RequestID, in Outcome) (out holdshort.Operation, err error) {
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/v1/requests/" + id(req) + "/outcome", body: in}, &out)
	return out, err
}

// Extend prolongs a claim and says until when.
func (c *Client) Extend(ctx context.Context, req holdshort.RequestID, token string, lease time.Duration) (time.Time, error) {
	var out struct {
		LeaseUntil time.Time `json:"lease_until"`
	}
	_, err := c.do(ctx, call{method: http.MethodPost, path: "/v1/requests/" + id(req) + "/extend", body: leased{Token: token, Lease: length(lease)}}, &out)
	return out.LeaseUntil, err
}
