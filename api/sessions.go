package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

func (s *Server) sessionEndpoints() []endpoint {
	live := []int{409, 413}
	return []endpoint{
		route("POST", "/v1/sessions", about{tag: "sessions", summary: "Open a session, or get the one with that id.", action: policy.Post, status: 201, also: []int{200}, once: true, errors: []int{409, 413, 422}}, (*call).openSession),
		route("GET", "/v1/sessions/{id}", about{tag: "sessions", summary: "One session, with what is open in it.", action: policy.View}, (*call).readSession),
		route("DELETE", "/v1/sessions/{id}", about{tag: "sessions", summary: "Delete a session: what is open is canceled, what was said is erased. 202 while something of it is under way: delete it again then.", action: policy.CancelRun, also: []int{202}, errors: []int{409}}, (*call).deleteSession),
		route("POST", "/v1/sessions/{id}/takeover", about{tag: "sessions", summary: "Answer the user in place of the AI.", action: policy.TakeOver, once: true, errors: live}, (*call).takeOver),
		route("POST", "/v1/sessions/{id}/handback", about{tag: "sessions", summary: "Give the session back to the AI.", action: policy.TakeOver, once: true, errors: live}, (*call).handBack),
		route("POST", "/v1/sessions/{id}/say", about{tag: "sessions", summary: "Speak to the user of a session that was taken over.", action: policy.Say, status: 201, once: true, errors: live}, (*call).say),
	}
}

// NewSession says whose conversation it is, and what answers.
type NewSession struct {
	ID       holdshort.SessionID `json:"id,omitempty"`
	Agent    string              `json:"agent,omitempty"`
	Flow     string              `json:"flow,omitempty"`
	User     string              `json:"user,omitempty"` // default: the caller
	Channel  string              `json:"channel,omitempty"`
	Language string              `json:"language,omitempty"`
	Metadata json.RawMessage     `json:"metadata,omitempty"`
}

func (c *call) openSession(in struct {
	Body NewSession `body:""`
}) (Session, error) {
	b := in.Body
	if b.User == "" {
		b.User = c.who.Actor.Who()
	}
	for field, text := range map[string]string{"user": b.User, "agent": b.Agent, "flow": b.Flow, "channel": b.Channel, "language": b.Language} {
		if err := plainName(field, text); err != nil {
			return Session{}, err
		}
	}
	var err error
	if b.Agent, err = c.agentOf(b.Agent, b.Flow); err != nil {
		return Session{}, err
	}
	if ok, _ := policy.Can(policy.Start, c.who.Actor, policy.Resource{Owner: b.User}); !ok {
		c.engine.Denied(c.ctx, c.who.Tenant, c.who.Actor, string(policy.Start))
		return Session{}, &holdshort.Error{Code: holdshort.Forbidden, Field: "user", Message: "these credentials do not speak for that user", Hint: "leave user out, or use a key with scope act_as_user and the header Holdshort-User"}
	}
	c.status = http.StatusCreated
	if b.ID == "" {
		b.ID = holdshort.NewSessionID(time.Now())
	} else if _, err := c.engine.SessionByID(c.ctx, c.who.Tenant, b.ID); err == nil {
		c.status = http.StatusOK
	}
	ctx, err := c.once(c.status, string(b.ID))
	if err != nil {
		return Session{}, err
	}
	s, err := c.engine.OpenSession(ctx, c.who.Tenant, engine.OpenSessionInput{ID: b.ID, User: b.User, Channel: b.Channel, Language: b.Language, Flow: b.Flow, Agent: b.Agent, Metadata: b.Metadata})
	if before, again := c.replayed(err); again {
		s.ID, err = holdshort.SessionID(before), nil
	}
	if err != nil {
		return Session{}, err
	}
	return c.shownSession(s.ID)
}

// longestName of somebody or something outside.
const longestName = 200

// plainName refuses names that people could not tell apart: with control characters, or too long.
func plainName(field, text string) error {
	if len(text) > longestName {
		return bad(field, "it is over 200 bytes", "shorten it")
	}
	if hasOdd(text) {
		return bad(field, "it has characters that cannot be seen", "leave them out")
	}
	return nil
}

func (c *call) session(id holdshort.SessionID) (engine.SessionView, error) {
	v, err := c.engine.SessionFor(c.ctx, c.who.Tenant, id, c.who.Actor)
	if v.Open == nil {
		v.Open = []holdshort.RequestID{}
	}
	return v, err
}

// Session is a session as it is shown: with what waits in it.
type Session struct {
	engine.SessionView
	Pending map[holdshort.RunID]*Execution `json:"pending_executions,omitempty"` // by run: what the caller may see of them
}

func (c *call) shownSession(id holdshort.SessionID) (Session, error) {
	v, err := c.session(id)
	if err != nil {
		return Session{}, err
	}
	if len(v.Open) == 0 {
		return Session{SessionView: v}, nil
	}
	waiting, err := c.pendingExecutions(id)
	return Session{v, waiting}, err
}

type onSession struct {
	ID holdshort.SessionID `path:"id"`
}

func (c *call) readSession(in onSession) (Session, error) { return c.shownSession(in.ID) }

func (c *call) deleteSession(in onSession) (engine.Deletion, error) {
	if _, err := c.session(in.ID); err != nil {
		return engine.Deletion{}, err
	}
	done, err := c.engine.DeleteSession(c.ctx, c.who.Tenant, in.ID, c.who.Actor)
	if err == nil && !done.Erased {
		c.status = http.StatusAccepted
	}
	return done, err
}

// inSession does something with a session that the caller may see, once, and shows it as it is then.
func (c *call) inSession(id holdshort.SessionID, do func(context.Context) error) (Session, error) {
	if _, err := c.session(id); err != nil {
		return Session{}, err
	}
	ctx, err := c.once(http.StatusOK, string(id))
	if err != nil {
		return Session{}, err
	}
	err = do(ctx)
	if _, again := c.replayed(err); err != nil && !again {
		return Session{}, err
	}
	return c.shownSession(id)
}

func (c *call) takeOver(in onSession) (Session, error) {
	return c.inSession(in.ID, func(ctx context.Context) error {
		_, err := c.engine.Takeover(ctx, c.who.Tenant, engine.TakeoverInput{Session: in.ID, Actor: c.who.Actor})
		return err
	})
}

func (c *call) handBack(in struct {
	ID   holdshort.SessionID `path:"id"`
	Body struct {
		Message string `json:"message,omitempty"`
		Note    string `json:"note,omitempty"`
	} `body:""`
}) (Session, error) {
	return c.inSession(in.ID, func(ctx context.Context) error {
		_, err := c.engine.Handback(ctx, c.who.Tenant, engine.HandbackInput{Session: in.ID, Actor: c.who.Actor, Message: in.Body.Message, Note: in.Body.Note})
		return err
	})
}

func (c *call) say(in struct {
	ID   holdshort.SessionID `path:"id"`
	Body struct {
		Text string `json:"text"`
	} `body:""`
}) (holdshort.Message, error) {
	if in.Body.Text == "" {
		return holdshort.Message{}, bad("text", "it is empty", "say something")
	}
	if _, err := c.session(in.ID); err != nil {
		return holdshort.Message{}, err
	}
	id := holdshort.NewMessageID(time.Now())
	ctx, err := c.once(http.StatusCreated, string(id))
	if err != nil {
		return holdshort.Message{}, err
	}
	m, err := c.engine.SayAs(ctx, c.who.Tenant, engine.SayInput{ID: id, Session: in.ID, Actor: c.who.Actor, Text: in.Body.Text})
	if before, again := c.replayed(err); again {
		return c.engine.MessageByID(c.ctx, c.who.Tenant, holdshort.MessageID(before))
	}
	return m, err
}
