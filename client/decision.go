package client

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/holdshort/holdshort"
)

// Choice is what somebody decides.
type Choice struct {
	Action      holdshort.Verb           `json:"action"`
	Message     string                   `json:"message,omitempty"`
	Args        json.RawMessage          `json:"args,omitempty"` // of an edit of the only call
	OptionIDs   []string                 `json:"option_ids,omitempty"`
	Value       json.RawMessage          `json:"value,omitempty"`
	Calls       []holdshort.CallDecision `json:"calls,omitempty"`
	Fingerprint string                   `json:"fingerprint,omitempty"` // of what was looked at: send it

	// Key makes it once. Default: a new one.
	Key string `json:"-"`
}

// Decided is what became of it.
type Decided struct {
	Request Request  `json:"request"`
	Run     *Run     `json:"run,omitempty"`
	Next    *Request `json:"next,omitempty"` // what is asked instead, after an edit that needs more people
}

// Decide decides a request. A Refusal with code closed has the decision that stands.
func (c *Client) Decide(ctx context.Context, req holdshort.RequestID, in Choice) (out Decided, err error) {
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/v1/requests/" + id(req) + "/decision", body: in, key: in.Key}, &out)
	return out, err
}

// Reply answers in natural text.
func (c *Client) Reply(ctx context.Context, req holdshort.RequestID, text string) (out Decided, err error) {
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/v1/requests/" + id(req) + "/reply", body: map[string]string{"text": text}}, &out)
	return out, err
}

// One of many decisions.
type One struct {
	ID holdshort.RequestID `json:"id"`
	Choice
}

// Result of one of many decisions.
type Result struct {
	ID      holdshort.RequestID `json:"id"`
	Status  int                 `json:"status"`
	Request *Request            `json:"request,omitempty"`
	Run     *Run                `json:"run,omitempty"`
	Problem *struct {
		Code   holdshort.Code `json:"code"`
		Detail string         `json:"detail"`
		Hint   string         `json:"hint"`
	} `json:"problem,omitempty"`
}

// DecideMany decides many, each on its own; results stand in the order of the items.
func (c *Client) DecideMany(ctx context.Context, items []One) ([]Result, error) {
	var out struct {
		Items []Result `json:"items"`
	}
	_, err := c.do(ctx, call{method: http.MethodPost, path: "/v1/requests/decisions", body: map[string]any{"items": items}}, &out)
	return out.Items, err
}
