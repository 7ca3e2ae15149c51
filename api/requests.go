package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/internal/apart"
	"github.com/holdshort/holdshort/policy"
)

func (s *Server) requestEndpoints() []endpoint {
	return []endpoint{
		route("GET", "/v1/requests", about{tag: "requests", summary: "The inbox: requests that the caller may see.", action: policy.View}, (*call).listRequests),
		route("GET", "/v1/requests/{id}", about{tag: "requests", summary: "One request. With wait, when it is no longer open; 202 while it still is.", action: policy.View, also: []int{202}, wait: true}, (*call).readRequest),
		route("POST", "/v1/requests", about{tag: "gate", summary: "Raise a request from outside.", action: policy.Raise, status: 201, also: []int{200}, once: true, errors: []int{409, 413, 422}}, (*call).raiseRequest),
		route("POST", "/v1/requests/{id}/reveal", about{tag: "requests", summary: "One request with what is redacted; that somebody looked is noted.", action: policy.Decide}, (*call).revealRequest),
		route("POST", "/v1/requests/{id}/cancel", about{tag: "requests", summary: "Call a request off.", action: policy.CancelRequest, once: true, errors: []int{409, 410, 422}}, (*call).cancelRequest),
		route("POST", "/v1/requests/{id}/assign", about{tag: "requests", summary: "Say who should look at it. That restricts nobody.", action: policy.Assign, once: true, errors: []int{409, 410, 422}}, (*call).assignRequest),
		route("POST", "/v1/requests/{id}/comment", about{tag: "requests", summary: "Say something about it without deciding it.", action: policy.Comment, status: 201, once: true, errors: []int{422}}, (*call).commentRequest),
		route("GET", "/v1/requests/{id}/comments", about{tag: "requests", summary: "What was said about it, oldest first.", action: policy.View}, (*call).listComments),
	}
}

type requestQuery struct {
	Status   holdshort.RequestStatus `query:"status"`
	Kind     holdshort.Kind          `query:"kind"`
	Priority holdshort.Priority      `query:"priority"`
	Session  holdshort.SessionID     `query:"session"`
	Run      holdshort.RunID         `query:"run"`
	Assignee string                  `query:"assignee"` // "me": the caller
	Q        string                  `query:"q"`
	Sort     string                  `query:"sort"` // urgency (default), newest, due
	Limit    int                     `query:"limit"`
	Cursor   string                  `query:"cursor"`
}

func (c *call) listRequests(in requestQuery) (Page[Request], error) {
	paging, err := c.paging(in.Limit, in.Cursor)
	if err != nil {
		return Page[Request]{}, err
	}
	q := engine.RequestQuery{Status: in.Status, Kind: in.Kind, Priority: in.Priority, Session: in.Session, Run: in.Run, Assignee: in.Assignee, Limit: paging.Limit, Cursor: paging.Cursor}
	if in.Assignee == "me" {
		q.Assignee = c.who.Actor.Who()
	}
	if q.Order, err = engine.ParseOrder(in.Sort); err != nil {
		return Page[Request]{}, err
	}
	found, err := c.engine.SearchRequests(c.ctx, c.who.Tenant, q, in.Q, c.who.Actor)
	if err != nil {
		return Page[Request]{}, err
	}
	return page(found.Items, found.Next, func(r holdshort.Request) Request { return c.request(engine.RequestView{Request: r}) }), nil
}

type readQuery struct {
	ID   holdshort.RequestID `path:"id"`
	Wait time.Duration       `query:"wait"`
}

func (c *call) readRequest(in readQuery) (*Request, error) {
	if err := waiting(in.Wait); err != nil {
		return nil, err
	}
	out, err := reading(in.Wait > 0, func() (*Request, error) { return c.requestFor(in.ID) })
	if err != nil || in.Wait == 0 || out.Status != holdshort.RequestOpen {
		return out, err
	}
	out = nil
	if err := c.holdRequest(in); err != nil {
		return nil, err
	}
	// Read again with the caller's rights of now: they may have been taken away meanwhile.
	if out, err = c.requestFor(in.ID); err == nil && out.Status == holdshort.RequestOpen {
		c.status = http.StatusAccepted
	}
	return out, err
}

func (c *call) holdRequest(in readQuery) error {
	return c.hold(in.Wait, func(ctx context.Context) error {
		_, err := c.engine.AwaitRequest(ctx, c.who.Tenant, in.ID)
		return err
	})
}

// requestFor is out of line: what it needs on the stack must not be there while somebody waits.
//
//go:noinline
func (c *call) requestFor(id holdshort.RequestID) (*Request, error) {
	v, err := c.engine.RequestFor(c.ctx, c.who.Tenant, id, c.who.Actor)
	if err != nil {
		return nil, err
	}
	out := c.request(v)
	return &out, nil
}

// reading reads what somebody may wait for: on a stack of its own, if they do.
func reading[T any](waits bool, read func() (T, error)) (T, error) {
	if waits {
		return apart.Do(read)
	}
	return read()
}

// hold waits for something, as long as the caller wants to and the server is up. That it did not happen in time is no error.
func (c *call) hold(d time.Duration, until func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(c.ctx, d)
	defer cancel()
	stop := context.AfterFunc(c.ending, cancel)
	defer stop()
	if err := until(ctx); err != nil && (ctx.Err() == nil || c.ctx.Err() != nil) {
		return err
	}
	// Keys are revoked and roles are taken away while somebody waits: what they are told is for who they are now.
	who, err := reading(true, func() (identity.Who, error) { return c.people.ResolveActor(c.r) })
	if err == nil && (who.Tenant != c.who.Tenant || who.Actor.ID != c.who.Actor.ID || !who.Allows(c.about.action)) {
		err = c.deny(c.about.action)
	}
	if err == nil {
		c.who = who
	}
	return err
}

// Raise is what an agent outside asks people.
type Raise struct {
	Kind          holdshort.Kind          `json:"kind,omitempty"`
	Question      string                  `json:"question,omitempty"`
	ExpectedInput holdshort.ExpectedInput `json:"expected_input,omitempty"`
	Options       []holdshort.Option      `json:"options,omitempty"`
	Schema        json.RawMessage         `json:"schema,omitempty"`
	Actions       []engine.AskAction      `json:"actions,omitempty"`
	Audience      *holdshort.Audience     `json:"audience,omitempty"`
	Priority      holdshort.Priority      `json:"priority,omitempty"`
	ExpiresIn     Duration                `json:"expires_in,omitempty"`
	OnTimeout     holdshort.OnTimeout     `json:"on_timeout,omitempty"`
	Context       json.RawMessage         `json:"context,omitempty"`
	Language      string                  `json:"language,omitempty"`
	CallbackURL   string                  `json:"callback_url,omitempty"`
	SessionID     holdshort.SessionID     `json:"session_id,omitempty"`
}

func (c *call) raiseRequest(in struct {
	Body Raise `body:""`
}) (Request, error) {
	key, err := c.key()
	if err != nil {
		return Request{}, err
	}
	b := in.Body
	if b.SessionID != "" { // a question in a chat speaks to its user: that is for those who may post there
		session, err := c.session(b.SessionID)
		if err != nil {
			return Request{}, err
		}
		if ok, _ := policy.Can(policy.Post, c.who.Actor, policy.Resource{Owner: session.User}); !ok {
			return Request{}, c.deny(policy.Post)
		}
	}
	ask := engine.AskInput{ID: key, Kind: b.Kind, Question: b.Question, ExpectedInput: b.ExpectedInput, Options: b.Options, Schema: b.Schema, Actions: b.Actions,
		Priority: b.Priority, ExpiresIn: time.Duration(b.ExpiresIn), OnTimeout: b.OnTimeout, Context: b.Context, Language: b.Language, CallbackURL: b.CallbackURL,
		Session: b.SessionID, Actor: c.who.Actor}
	if b.Audience != nil {
		ask.Audience = *b.Audience
	}
	asked, err := c.engine.Ask(c.ctx, c.who.Tenant, ask)
	if key != "" && holdshort.CodeOf(err) == holdshort.Duplicate { // the key is the id of what was raised
		err = &holdshort.Error{Code: holdshort.KeyReused, Message: "the idempotency key was used for another request", Hint: "send a new key, or exactly what was sent with this one", Err: err}
	}
	if err != nil {
		return Request{}, err
	}
	if asked.Replayed {
		c.again(http.StatusOK)
	}
	return c.request(engine.RequestView{Request: asked.Request, Decision: asked.Decision}), nil
}

type onRequest struct {
	ID holdshort.RequestID `path:"id"`
}

func (c *call) revealRequest(in onRequest) (Request, error) {
	req, err := c.engine.Reveal(c.ctx, c.who.Tenant, in.ID, c.who.Actor)
	if err != nil {
		return Request{}, err
	}
	v, err := c.engine.RequestFor(c.ctx, c.who.Tenant, in.ID, c.who.Actor)
	v.Request = req
	return c.revealed(v), err
}

func (c *call) cancelRequest(in struct {
	ID   holdshort.RequestID `path:"id"`
	Body struct {
		Reason string `json:"reason,omitempty"`
	} `body:""`
}) (Decided, error) {
	ctx, err := c.once(http.StatusOK, string(in.ID))
	if err != nil {
		return Decided{}, err
	}
	out, err := c.engine.CancelRequest(ctx, c.who.Tenant, engine.CancelRequestInput{Request: in.ID, Actor: c.who.Actor, Reason: in.Body.Reason})
	return c.decided(in.ID, out, err)
}

func (c *call) assignRequest(in struct {
	ID   holdshort.RequestID `path:"id"`
	Body struct {
		To string `json:"to"`
	} `body:""`
}) (Request, error) {
	ctx, err := c.once(http.StatusOK, string(in.ID))
	if err != nil {
		return Request{}, err
	}
	_, err = c.engine.Assign(ctx, c.who.Tenant, engine.AssignInput{Request: in.ID, Actor: c.who.Actor, To: in.Body.To})
	if _, again := c.replayed(err); err != nil && !again {
		return Request{}, err
	}
	v, err := c.engine.RequestFor(c.ctx, c.who.Tenant, in.ID, c.who.Actor)
	return c.request(v), err
}

// Commented is the answer to a comment.
type Commented struct {
	RequestID holdshort.RequestID `json:"request_id"`
	Digest    string              `json:"digest"`
}

func (c *call) commentRequest(in struct {
	ID   holdshort.RequestID `path:"id"`
	Body struct {
		Text string `json:"text"`
	} `body:""`
}) (Commented, error) {
	ctx, err := c.once(http.StatusCreated, string(in.ID))
	if err != nil {
		return Commented{}, err
	}
	digest, err := c.engine.Comment(ctx, c.who.Tenant, engine.CommentInput{Request: in.ID, Actor: c.who.Actor, Text: in.Body.Text})
	if _, again := c.replayed(err); again {
		err = nil
	}
	return Commented{in.ID, digest}, err
}

func (c *call) listComments(in onRequest) (Page[engine.Comment], error) {
	if _, err := c.engine.RequestFor(c.ctx, c.who.Tenant, in.ID, c.who.Actor); err != nil {
		return Page[engine.Comment]{}, err
	}
	list, err := c.engine.Comments(c.ctx, c.who.Tenant, in.ID)
	return page(list, "", func(c engine.Comment) engine.Comment { return c }), err
}
