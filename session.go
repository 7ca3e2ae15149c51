package holdshort

import (
	"encoding/json"
	"strings"
	"time"
)

// SessionMode says who answers the user.
type SessionMode string

const (
	ModeAI       SessionMode = "ai"
	ModeTakeover SessionMode = "takeover" // a person answers, the AI is silent
	ModeProxy    SessionMode = "proxy"    // a bridge carries messages to and from an admin
)

// SessionInput changes who answers.
type SessionInput string

const (
	TakeoverStart SessionInput = "takeover_start"
	Handback      SessionInput = "handback"
	ProxyStart    SessionInput = "proxy_start"
	ProxyReplace  SessionInput = "proxy_replace"
	ProxyStop     SessionInput = "proxy_stop"
)

var sessionMachine = machine[SessionMode, SessionInput]{
	noun:   "session",
	states: []SessionMode{ModeAI, ModeTakeover, ModeProxy},
	inputs: []SessionInput{TakeoverStart, Handback, ProxyStart, ProxyReplace, ProxyStop},
	table: map[SessionMode]map[SessionInput]SessionMode{
		ModeAI:       {TakeoverStart: ModeTakeover, ProxyStart: ModeProxy, ProxyReplace: ModeProxy, ProxyStop: ModeAI},
		ModeTakeover: {Handback: ModeAI, ProxyStop: ModeTakeover},
		ModeProxy:    {TakeoverStart: ModeTakeover, ProxyReplace: ModeProxy, ProxyStop: ModeAI},
	},
}

// Session is a conversation with one user on one channel. An idle one may end; its open requests do not.
type Session struct {
	ID        SessionID       `json:"id"`
	Revision  int64           `json:"-"`
	User      string          `json:"user"`
	Channel   string          `json:"channel,omitempty"`
	Address   string          `json:"address,omitempty"` // maps to its current session
	Agent     string          `json:"agent,omitempty"`
	Flow      string          `json:"flow,omitempty"`
	Language  string          `json:"language,omitempty"`
	Mode      SessionMode     `json:"mode"`
	TakenBy   string          `json:"taken_by,omitempty"` // the person who answers while it is taken over
	TakenAt   time.Time       `json:"taken_at,omitzero"`
	ActiveRun RunID           `json:"active_run,omitempty"`
	Prompt    RequestID       `json:"prompt,omitempty"` // the one open prompt
	Seq       int64           `json:"-"`                // last number given to a message or delivery
	Data      json.RawMessage `json:"data,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at"`
	EndedAt   time.Time       `json:"ended_at,omitzero"`
}

// Apply gives the session after input. Stopping a bridge that is not there is success: it is idempotent.
func (s Session) Apply(input SessionInput, now time.Time) (Session, error) {
	to, err := sessionMachine.next(s.Mode, input)
	if err != nil {
		return s, err
	}
	if to != ModeTakeover {
		s.TakenBy, s.TakenAt = "", time.Time{}
	}
	s.Mode, s.UpdatedAt = to, now
	return s, nil
}

// Role is who speaks in a message.
type Role string

const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system"
	RoleTool      Role = "tool"
)

// RoleOf reads who speaks from what other systems call it: whatever names a user is one, an assistant or agent is the assistant, anything
// else is the system. A message without a sender is the user's.
func RoleOf(sender string) Role {
	sender = strings.ToLower(strings.TrimSpace(sender))
	switch {
	case sender == "" || strings.Contains(sender, "user"):
		return RoleUser
	case strings.Contains(sender, "assistant") || strings.Contains(sender, "agent"):
		return RoleAssistant
	}
	return RoleSystem
}

// Types of messages. Those of a pause are linked to its run and request, and each is stored once.
const (
	TypeText       = "text"
	TypeNotice     = "notice"        // of the kernel itself
	TypeQuestion   = "hitl_question" // what a session's user was asked
	TypeReply      = "hitl_reply"    // what they answered
	TypeFeedback   = "hitl_feedback" // what somebody said with a decision
	TypeDecision   = "hitl_decision" // what was decided, in plain words
	TypeHandback   = "hitl_handback" // what a person who had taken over tells the model
	TypeSuppressed = "suppressed"    // what a run said while a person had the session: the user never saw it
)

// Part is one piece of a message.
type Part struct {
	Type string          `json:"type"` // text, data or file
	Text string          `json:"text,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
	Name string          `json:"name,omitempty"`
	URL  string          `json:"url,omitempty"`
}

// Message is one entry of a session.
type Message struct {
	ID           MessageID `json:"id"`
	Revision     int64     `json:"-"`
	SessionID    SessionID `json:"session_id"`
	Seq          int64     `json:"seq"`
	Role         Role      `json:"role"`
	Type         string    `json:"type"` // one of the Type constants
	Parts        []Part    `json:"parts"`
	Author       string    `json:"author,omitempty"` // the actor who wrote it, where that is not the session's user or a run
	RunID        RunID     `json:"run_id,omitempty"`
	RequestID    RequestID `json:"request_id,omitempty"`
	ExternalID   string    `json:"external_id,omitempty"`
	Pinned       bool      `json:"pinned"`
	ModelVisible bool      `json:"model_visible"`
	CreatedAt    time.Time `json:"created_at"`
}

// Inbound is a message that was accepted from outside, by its own id: the row that makes it processed once and never lost.
type Inbound struct {
	ID        InboundID       `json:"id"`
	Revision  int64           `json:"-"`
	Channel   string          `json:"channel"`
	Address   string          `json:"address"`     // or the session, when the channel has no addresses
	Key       string          `json:"external_id"` // the sender's id of the message
	BodyHash  string          `json:"body_hash"`
	SessionID SessionID       `json:"session_id,omitempty"`
	MessageID MessageID       `json:"message_id,omitempty"`
	RunID     RunID           `json:"run_id,omitempty"`
	Routed    bool            `json:"routed"`
	Result    json.RawMessage `json:"result,omitempty"`
	Body      json.RawMessage `json:"body"`
	At        time.Time       `json:"at"`
}
