package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

func (s *Server) messageEndpoints() []endpoint {
	history := stream("GET", "/v1/sessions/{id}/messages", about{tag: "sessions", summary: "What was said: pinned or of the last hour unless window says otherwise, oldest first. Accept: application/x-ndjson streams all of it.", action: policy.View, wait: true}, (*call).history)
	history.out = reflect.TypeFor[Page[holdshort.Message]]()
	return []endpoint{
		route("POST", "/v1/sessions/{id}/messages", about{tag: "sessions", summary: "A message of the user. With wait, when the run that takes it rests; 202 while it is under way. A blocking agent's run is waited for through pauses, a minute if wait is left out.", action: policy.Post, also: []int{202}, once: true, wait: true, errors: []int{409, 413, 422}}, (*call).receive),
		history,
		route("POST", "/v1/sessions/{id}/messages/batch", about{tag: "sessions", summary: "Add messages that were said elsewhere, each once by its id.", action: policy.Post, once: true, errors: []int{409, 413, 422}}, (*call).appendMessages),
		route("POST", "/v1/sessions/{id}/messages/{msg}/pin", about{tag: "sessions", summary: "Keep a message in every window.", action: policy.Pin, errors: []int{409}}, (*call).pin),
		route("POST", "/v1/sessions/{id}/messages/{msg}/unpin", about{tag: "sessions", summary: "Let it go again.", action: policy.Pin, errors: []int{409}}, (*call).unpin),
	}
}

// Incoming is a message of a session's user.
type Incoming struct {
	ID       string           `json:"id,omitempty"` // the same id again is the same message; default: a new one
	Text     string           `json:"text,omitempty"`
	Parts    []holdshort.Part `json:"parts,omitempty"`
	ReplyTo  string           `json:"reply_to,omitempty"` // id of the request or message that it answers
	Metadata json.RawMessage  `json:"metadata,omitempty"`
}

// Taken is what became of a message.
type Taken struct {
	Outcome engine.Routing      `json:"outcome"`
	Message *holdshort.Message  `json:"message"`
	Run     *Run                `json:"run"`
	Request *Request            `json:"request"` // what the run now waits for
	Replies []holdshort.Message `json:"replies"`
	Hitl    *Hitl               `json:"hitl,omitempty"` // the same pause in its flat form
}

func (c *call) receive(in struct {
	ID   holdshort.SessionID `path:"id"`
	Wait time.Duration       `query:"wait"`
	Body Incoming            `body:""`
}) (Taken, error) {
	key, err := c.key()
	if err != nil {
		return Taken{}, err
	}
	keyed := in.Body.ID == "" && key != ""
	if keyed { // a message is processed once by its id: the key becomes one
		in.Body.ID = c.derived(key, 0)
	}
	inbound, err := in.Body.inbound(in.ID)
	if err == nil {
		err = waiting(in.Wait)
	}
	if err != nil {
		return Taken{}, err
	}
	session, err := c.engine.SessionFor(c.ctx, c.who.Tenant, in.ID, c.who.Actor)
	if err != nil {
		return Taken{}, err
	}
	how, err := c.manner(session.Agent, in.Wait)
	if err != nil {
		return Taken{}, err
	}
	if ok, _ := policy.Can(policy.Post, c.who.Actor, policy.Resource{Owner: session.User}); !ok {
		return Taken{}, c.deny(policy.Post)
	}
	inbound.Actor = c.who.Actor
	if !c.who.Allows(policy.Decide) { // no scope gives by a message what it does not give by a decision
		raises := slices.Contains(c.who.Scopes, holdshort.ScopeRaise) || slices.Contains(c.who.Scopes, holdshort.ScopeClaim)
		if inbound.NoDecision = raises || c.who.Actor.Who() != session.User; !inbound.NoDecision {
			inbound.Actor.Roles = nil // it carries the user's own answers, and nothing that a role decides
		}
	}
	got, err := c.engine.Receive(c.ctx, c.who.Tenant, inbound)
	if keyed && holdshort.CodeOf(err) == holdshort.Duplicate {
		err = &holdshort.Error{Code: holdshort.KeyReused, Message: "the idempotency key was used for another call", Hint: "send a new key, or exactly what was sent with this one", Err: err}
	}
	if err != nil {
		return Taken{}, err
	}
	if got.Duplicate {
		c.again(0)
	}
	return c.taken(got, how)
}

func (in Incoming) inbound(session holdshort.SessionID) (engine.Inbound, error) {
	out := engine.Inbound{Session: session, ID: in.ID, Text: in.Text, Parts: in.Parts, ReplyTo: in.ReplyTo}
	if err := plainName("id", in.ID); err != nil {
		return out, err
	}
	if out.ID == "" {
		out.ID = string(holdshort.NewMessageID(time.Now()))
	}
	if err := checkParts(in.Parts); err != nil {
		return out, err
	}
	if len(in.Metadata) > 0 && string(in.Metadata) != "null" {
		out.Parts = append(slices.Clip(out.Parts), holdshort.Part{Type: "data", Name: "metadata", Data: in.Metadata})
		if in.Text == "" && len(in.Parts) == 0 {
			return out, bad("text", "the message is empty", "send a text or parts")
		}
	}
	return out, nil
}

const mostParts = 100

func checkParts(parts []holdshort.Part) error {
	if len(parts) > mostParts {
		return bad("parts", "more than 100", "send several messages")
	}
	for _, p := range parts {
		if p.Type != "text" && p.Type != "data" && p.Type != "file" {
			return bad("parts.type", "it is none of text, data and file", "say what the part is")
		}
	}
	return nil
}

// taken waits as long as the caller wants to, and says where things stand.
func (c *call) taken(got engine.Received, how manner) (Taken, error) {
	out := Taken{Outcome: got.Outcome, Replies: []holdshort.Message{}}
	under := got.Outcome == engine.RoutedPending
	var run holdshort.Run
	if got.Run != "" {
		var err error
		if run, err = c.engine.RunByID(c.ctx, c.who.Tenant, got.Run); err != nil {
			return out, err
		}
		if run, err = c.await(run, how); err != nil {
			return out, err
		}
		under = !how.enough(run)
		if c.engine.Visible(c.who.Actor, nil, &run) {
			out.Run = c.run(run)
		}
	}
	if under {
		c.status = http.StatusAccepted
	}
	if got.Message != "" {
		m, err := c.engine.MessageByID(c.ctx, c.who.Tenant, got.Message)
		if err != nil && holdshort.CodeOf(err) != holdshort.NotFound { // erased with its session meanwhile
			return out, err
		}
		if err == nil {
			out.Message = &m
			if out.Replies, err = c.replies(got, m); err != nil {
				return out, err
			}
		}
	}
	req, err := c.awaited(got, run)
	if req != nil {
		out.Request, out.Hitl = req, c.hitl(*req)
	}
	return out, err
}

// awaited is the request that the session now waits for: its prompt, else the oldest that the run has open.
func (c *call) awaited(got engine.Received, run holdshort.Run) (*Request, error) {
	var ids []holdshort.RequestID
	if run.ID != "" && !run.Status.Ended() {
		open, err := c.engine.OpenRequests(c.ctx, c.who.Tenant, run)
		if err != nil {
			return nil, err
		}
		slices.Sort(open) // their ids are in the order of time
		ids = open
	}
	if got.Request != "" && !slices.Contains(ids, got.Request) {
		ids = append(ids, got.Request)
	}
	for _, id := range ids {
		v, err := c.engine.RequestFor(c.ctx, c.who.Tenant, id, c.who.Actor)
		switch {
		case holdshort.CodeOf(err) == holdshort.NotFound:
		case err != nil:
			return nil, err
		case v.Request.Status == holdshort.RequestOpen:
			shown := c.request(v)
			return &shown, nil
		}
	}
	return nil, nil
}

// toUsers are the types of messages that a run sends.
var toUsers = []string{holdshort.TypeText, holdshort.TypeQuestion, holdshort.TypeNotice}

// replies are what was sent back to a message: by the kernel itself, and by the run that took it.
func (c *call) replies(got engine.Received, to holdshort.Message) ([]holdshort.Message, error) {
	list := []holdshort.Message{}
	page, err := c.engine.History(c.ctx, c.who.Tenant, engine.HistoryQuery{Session: got.Session, Window: max(time.Since(to.CreatedAt), 0) + time.Minute, Limit: mostItems})
	for _, m := range page.Items {
		ofRun := m.Role == holdshort.RoleAssistant && got.Run != "" && m.RunID == got.Run && slices.Contains(toUsers, m.Type) // what it notes for itself is no reply
		if m.Seq > to.Seq && (slices.Contains(got.Replies, m.ID) || ofRun) {
			list = append(list, m)
		}
	}
	return list, err
}

type historyQuery struct {
	ID            holdshort.SessionID `path:"id"`
	Window        string              `query:"window"`         // a duration back from now, or all
	Pinned        bool                `query:"pinned"`         // only what is pinned
	IncludeSystem *bool               `query:"include_system"` // default: true
	Limit         int                 `query:"limit"`
	Cursor        string              `query:"cursor"`
}

func (c *call) history(in historyQuery) error {
	q := engine.HistoryQuery{Session: in.ID, Pinned: in.Pinned, WithoutSystem: in.IncludeSystem != nil && !*in.IncludeSystem}
	switch in.Window {
	case "":
	case "all":
		q.Window = engine.Whole
	default:
		d, err := time.ParseDuration(in.Window)
		if err != nil || d <= 0 {
			return bad("window", "it is not a duration", "write it like 24h, or all")
		}
		q.Window = d
	}
	paging, err := c.paging(in.Limit, in.Cursor)
	if err != nil {
		return err
	}
	if _, err := c.session(in.ID); err != nil {
		return err
	}
	if strings.Contains(c.r.Header.Get("Accept"), ndjson) {
		if in.Cursor != "" || in.Limit != 0 {
			return bad("cursor", "a stream has no pages", "leave limit and cursor out")
		}
		return c.streamHistory(q)
	}
	q.Limit, q.Cursor = paging.Limit, paging.Cursor
	found, err := c.engine.History(c.ctx, c.who.Tenant, q)
	if err != nil {
		return err
	}
	return c.answer(page(found.Items, found.Next, func(m holdshort.Message) holdshort.Message { return m }))
}

// Said is a message that was said elsewhere.
type Said struct {
	ID      string           `json:"id,omitempty"`
	Role    string           `json:"role,omitempty"` // or whatever the other system calls the sender
	Type    string           `json:"type,omitempty"`
	Text    string           `json:"text,omitempty"`
	Content string           `json:"content,omitempty"` // the same as text
	Parts   []holdshort.Part `json:"parts,omitempty"`
	Pinned  bool             `json:"pinned,omitempty"`
	At      time.Time        `json:"at,omitzero"`
}

func (c *call) appendMessages(in struct {
	ID   holdshort.SessionID `path:"id"`
	Body struct {
		Messages []Said `json:"messages"`
	} `body:""`
}) (Page[holdshort.Message], error) {
	none := Page[holdshort.Message]{}
	if n := len(in.Body.Messages); n == 0 || n > mostItems {
		return none, bad("messages", "1 to 200 messages go into one call", "")
	}
	key, err := c.key()
	if err != nil {
		return none, err
	}
	batch := make([]engine.NewMessage, len(in.Body.Messages))
	for i, m := range in.Body.Messages {
		if m.Text != "" && m.Content != "" {
			return none, bad("messages.content", "text and content are the same thing", "send one of them")
		}
		if err := checkParts(m.Parts); err != nil {
			return none, err
		}
		batch[i] = engine.NewMessage{ExternalID: m.ID, Sender: m.Role, Type: m.Type, Text: m.Text + m.Content, Parts: m.Parts, Pinned: m.Pinned, At: m.At}
		if m.ID == "" && key != "" { // so that the same call again finds what it added
			batch[i].ExternalID = c.derived(key, i)
		}
	}
	if _, err := c.session(in.ID); err != nil {
		return none, err
	}
	ctx, err := c.once(http.StatusOK, string(in.ID))
	if err != nil {
		return none, err
	}
	input := engine.AppendInput{Session: in.ID, Actor: c.who.Actor, Messages: batch}
	list, err := c.engine.AppendMessages(ctx, c.who.Tenant, input)
	if _, again := c.replayed(err); again {
		list, err = c.engine.AppendMessages(c.ctx, c.who.Tenant, input)
	}
	return page(list, "", func(m holdshort.Message) holdshort.Message { return m }), err
}

type onMessage struct {
	ID      holdshort.SessionID `path:"id"`
	Message holdshort.MessageID `path:"msg"`
}

func (c *call) pin(in onMessage) (holdshort.Message, error)   { return c.pinned(in, true) }
func (c *call) unpin(in onMessage) (holdshort.Message, error) { return c.pinned(in, false) }

func (c *call) pinned(in onMessage, pinned bool) (holdshort.Message, error) {
	if _, err := c.session(in.ID); err != nil {
		return holdshort.Message{}, err
	}
	return c.engine.Pin(c.ctx, c.who.Tenant, in.ID, in.Message, pinned, c.who.Actor)
}
