package client

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/holdshort/holdshort"
)

// Request is a request as the server shows it.
type Request struct {
	holdshort.Request
	Decision   *Decision             `json:"decision,omitempty"`
	Votes      []Decision            `json:"votes,omitempty"`
	Operations []holdshort.Operation `json:"operations,omitempty"`
	Next       holdshort.RequestID   `json:"next,omitempty"` // what is asked in its place
	URLs       URLs                  `json:"urls"`
	Salt       string                `json:"salt,omitempty"`
}

// URLs of a request. None of them decides by being opened.
type URLs struct {
	Page    string `json:"page"`
	Approve string `json:"approve"`
	Reject  string `json:"reject"`
}

// Decision is a decision or a vote.
type Decision struct {
	Action       holdshort.Verb           `json:"action"`
	Actor        holdshort.Actor          `json:"actor"`
	Message      string                   `json:"message,omitempty"`
	Args         json.RawMessage          `json:"args,omitempty"`
	OptionIDs    []string                 `json:"option_ids,omitempty"`
	Value        json.RawMessage          `json:"value,omitempty"`
	Calls        []holdshort.CallDecision `json:"calls,omitempty"`
	Raw          string                   `json:"raw,omitempty"`
	Channel      string                   `json:"channel,omitempty"`
	SelfApproved bool                     `json:"self_approved,omitempty"`
	At           time.Time                `json:"at"`
}

// Find selects requests. The zero value is all that the caller may see.
type Find struct {
	Status   holdshort.RequestStatus
	Kind     holdshort.Kind
	Priority holdshort.Priority
	Session  holdshort.SessionID
	Run      holdshort.RunID
	Assignee string // "me": the caller
	Text     string
	Sort     string
	Limit    int
	Cursor   string
}

// Requests lists requests, one page.
func (c *Client) Requests(ctx context.Context, f Find) (Page[Request], error) {
	var p page[Request]
	_, err := c.do(ctx, call{method: http.MethodGet, path: "/v1/requests" + query("status", string(f.Status), "kind", string(f.Kind), "priority", string(f.Priority),
		"session", string(f.Session), "run", string(f.Run), "assignee", f.Assignee, "q", f.Text, "sort", f.Sort, "limit", number(f.Limit), "cursor", f.Cursor)}, &p)
	return p.out(), err
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// Request gives one request.
func (c *Client) Request(ctx context.Context, req holdshort.RequestID) (out Request, err error) {
	_, err = c.do(ctx, call{method: http.MethodGet, path: "/v1/requests/" + id(req)}, &out)
	return out, err
}

// AwaitRequest gives the request when it is no longer open. When ctx ends first it gives the request as it stood, with ctx's error.
func (c *Client) AwaitRequest(ctx context.Context, req holdshort.RequestID) (out Request, err error) {
	for {
		var now Request
		_, err := c.do(ctx, call{method: http.MethodGet, path: "/v1/requests/" + id(req) + query("wait", c.options.Wait.String()), wait: c.options.Wait}, &now)
		switch {
		case ctx.Err() != nil:
			return out, ctx.Err()
		case err != nil:
			return out, err
		}
		if out = now; out.Status != holdshort.RequestOpen {
			return out, nil
		}
	}
}

// Raise is what an agent outside asks people.
type Raise struct {
	Kind          holdshort.Kind          `json:"kind,omitempty"`
	Question      string                  `json:"question,omitempty"`
	ExpectedInput holdshort.ExpectedInput `json:"expected_input,omitempty"`
	Options       []holdshort.Option      `json:"options,omitempty"`
	Schema        json.RawMessage         `json:"schema,omitempty"`
	Actions       []Action                `json:"actions,omitempty"`
	Audience      *holdshort.Audience     `json:"audience,omitempty"`
	Priority      holdshort.Priority      `json:"priority,omitempty"`
	ExpiresIn     string                  `json:"expires_in,omitempty"` // "10m", or "never"
	OnTimeout     holdshort.OnTimeout     `json:"on_timeout,omitempty"`
	Context       json.RawMessage         `json:"context,omitempty"`
	Language      string                  `json:"language,omitempty"`
	CallbackURL   string                  `json:"callback_url,omitempty"`
	SessionID     holdshort.SessionID     `json:"session_id,omitempty"`

	// Key makes it once: the same key again gives the request that it raised. Default: a new one.
	Key string `json:"-"`
}

// Action is one call that the raiser wants to make once it is approved.
type Action struct {
	CallID string          `json:"call_id,omitempty"`
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args,omitempty"`
}

// Raise asks. A policy may have resolved the request already when it comes back.
func (c *Client) Raise(ctx context.Context, in Raise) (out Request, err error) {
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/v1/requests", body: in, key: in.Key}, &out)
	return out, err
}

// Reveal gives a request with what is redacted for others; that somebody looked is noted.
func (c *Client) Reveal(ctx context.Context, req holdshort.RequestID) (out Request, err error) {
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/v1/requests/" + id(req) + "/reveal"}, &out)
	return out, err
}

// CancelRequest calls a request off.
func (c *Client) CancelRequest(ctx context.Context, req holdshort.RequestID, reason string) (out Decided, err error) {
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/v1/requests/" + id(req) + "/cancel", body: map[string]string{"reason": reason}}, &out)
	return out, err
}

// Assign says who should look at a request first; "" is nobody in particular.
func (c *Client) Assign(ctx context.Context, req holdshort.RequestID, to string) (out Request, err error) {
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/v1/requests/" + id(req) + "/assign", body: map[string]string{"to": to}}, &out)
	return out, err
}

// Comment says something about a request without deciding it.
func (c *Client) Comment(ctx context.Context, req holdshort.RequestID, text string) error {
	_, err := c.do(ctx, call{method: http.MethodPost, path: "/v1/requests/" + id(req) + "/comment", body: map[string]string{"text": text}}, nil)
	return err
}
