package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/holdshort/holdshort"
)

// Session is a conversation as the server shows it.
type Session struct {
	holdshort.Session
	HitlState    string                         `json:"hitl_state,omitempty"`
	OpenRequests []holdshort.RequestID          `json:"open_requests,omitempty"`
	Pending      map[holdshort.RunID]*Execution `json:"pending_executions,omitempty"` // runs that wait, as far as the caller may see them
}

// Execution is a run of a session that waits for people.
type Execution struct {
	Agent            string                `json:"agent,omitempty"`
	Requests         []holdshort.RequestID `json:"request_ids"`
	PendingToolCall  *PendingCall          `json:"pending_tool_call"`
	PendingToolCalls []PendingCall         `json:"pending_tool_calls"`
	Since            time.Time             `json:"since"`
	ExpiresAt        time.Time             `json:"expires_at,omitzero"`
}

// PendingCall is a call that somebody is asked about.
type PendingCall struct {
	RequestID holdshort.RequestID `json:"request_id"`
	CallID    string              `json:"call_id"`
	Tool      string              `json:"tool"`
	Args      json.RawMessage     `json:"args,omitempty"`
}

// OpenSession says whose conversation it is.
type OpenSession struct {
	ID       holdshort.SessionID `json:"id,omitempty"`
	Agent    string              `json:"agent,omitempty"`
	Flow     string              `json:"flow,omitempty"`
	User     string              `json:"user,omitempty"`
	Channel  string              `json:"channel,omitempty"`
	Language string              `json:"language,omitempty"`
	Metadata json.RawMessage     `json:"metadata,omitempty"`
}

// OpenSession makes a session, or gives the one that has the id.
func (c *Client) OpenSession(ctx context.Context, in OpenSession) (out Session, err error) {
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/v1/sessions", body: in}, &out)
	return out, err
}

// Session gives one session.
func (c *Client) Session(ctx context.Context, session holdshort.SessionID) (out Session, err error) {
	_, err = c.do(ctx, call{method: http.MethodGet, path: "/v1/sessions/" + id(session)}, &out)
	return out, err
}

// DeleteSession cancels what a session waits for and erases what was said.
func (c *Client) DeleteSession(ctx context.Context, session holdshort.SessionID) error {
	_, err := c.do(ctx, call{method: http.MethodDelete, path: "/v1/sessions/" + id(session)}, nil)
	return err
}

// Send is a message from a session's user.
type Send struct {
	ID       string           `json:"id,omitempty"` // the same id again is the same message; default: a new one
	Text     string           `json:"text,omitempty"`
	Parts    []holdshort.Part `json:"parts,omitempty"`
	ReplyTo  string           `json:"reply_to,omitempty"`
	Metadata json.RawMessage  `json:"metadata,omitempty"`

	// Wait is how long the answer may take; then what is under way is given. Default: no time.
	Wait time.Duration `json:"-"`
}

// Taken is what became of a message.
type Taken struct {
	Outcome string              `json:"outcome"`
	Message *holdshort.Message  `json:"message"`
	Run     *Run                `json:"run"`
	Request *Request            `json:"request"` // what the run now waits for
	Replies []holdshort.Message `json:"replies"`
}

// Send hands a message in.
func (c *Client) Send(ctx context.Context, session holdshort.SessionID, in Send) (out Taken, err error) {
	if in.ID == "" {
		in.ID = NewKey()
	}
	wait := min(in.Wait, time.Minute)
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/v1/sessions/" + id(session) + "/messages" + query("wait", wait.String()), body: in, wait: wait}, &out) // also 0s: a blocking agent's call would wait
	return out, err
}

// FindMessages selects what was said.
type FindMessages struct {
	Window string // "1h", or "all"; default: pinned, or of the last hour
	Pinned bool
	Limit  int
	Cursor string
}

// Messages lists what was said, oldest first, one page.
func (c *Client) Messages(ctx context.Context, session holdshort.SessionID, f FindMessages) (Page[holdshort.Message], error) {
	pinned := ""
	if f.Pinned {
		pinned = "true"
	}
	var p page[holdshort.Message]
	_, err := c.do(ctx, call{method: http.MethodGet, path: "/v1/sessions/" + id(session) + "/messages" + query("window", f.Window, "pinned", pinned, "limit", number(f.Limit), "cursor", f.Cursor)}, &p)
	return p.out(), err
}

// TakeOver lets the caller speak to the user instead of the AI.
func (c *Client) TakeOver(ctx context.Context, session holdshort.SessionID) (out Session, err error) {
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/v1/sessions/" + id(session) + "/takeover"}, &out)
	return out, err
}

// HandBack lets the AI speak again; note is for the model, message for the user.
func (c *Client) HandBack(ctx context.Context, session holdshort.SessionID, message, note string) (out Session, err error) {
	body := map[string]string{}
	if message != "" {
		body["message"] = message
	}
	if note != "" {
		body["note"] = note
	}
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/v1/sessions/" + id(session) + "/handback", body: body}, &out)
	return out, err
}

// Say speaks to the user as the person who took over.
func (c *Client) Say(ctx context.Context, session holdshort.SessionID, text string) (out holdshort.Message, err error) {
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/v1/sessions/" + id(session) + "/say", body: map[string]string{"text": text}}, &out)
	return out, err
}

// Pin keeps a message in the window, or lets it go.
func (c *Client) Pin(ctx context.Context, session holdshort.SessionID, message holdshort.MessageID, pinned bool) error {
	verb := "/unpin"
	if pinned {
		verb = "/pin"
	}
	_, err := c.do(ctx, call{method: http.MethodPost, path: "/v1/sessions/" + id(session) + "/messages/" + id(message) + verb}, nil)
	return err
}

// Resolution of an escalation, by its own id or by its session's.
type Resolution struct {
	SessionID    holdshort.SessionID `json:"session_id,omitempty"`
	EscalationID holdshort.RequestID `json:"escalation_id,omitempty"`
	Approved     bool                `json:"approved"`
	Message      string              `json:"message,omitempty"`
	ActionData   json.RawMessage     `json:"action_data,omitempty"`
	ResolvedBy   string              `json:"resolved_by,omitempty"`
}

// ResolveEscalation decides an escalation. If a session has several, the Refusal has their ids.
func (c *Client) ResolveEscalation(ctx context.Context, in Resolution) (out Decided, err error) {
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/v1/escalations/resolve", body: in}, &out)
	return out, err
}
