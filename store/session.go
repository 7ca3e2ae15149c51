package store

import (
	"time"

	"github.com/holdshort/holdshort"
)

// SessionReader finds conversations.
type SessionReader interface {
	Session(id holdshort.SessionID) (holdshort.Session, error)
	// SessionAt gives the current session of a channel address.
	SessionAt(channel, address string) (holdshort.Session, error)
	// Sessions lists them, those where something happened last first, to the minute. One where something happens meanwhile moves to the
	// front: whoever is past it does not see it again.
	Sessions(SessionQuery) (Page[holdshort.Session], error)
}

// SessionQuery selects sessions.
type SessionQuery struct {
	Owner  string // the user; in a database of before there may be others' among them: whoever asks looks at each
	Mode   holdshort.SessionMode
	Cursor string
	Limit  int
}

// SessionWriter stores them.
type SessionWriter interface {
	PutSession(holdshort.Session) error
	// EraseSession deletes the session's messages, and the payloads of its runs, journals, requests, decisions, deliveries and inbound
	// rows. Events and ledger stay: they hold no text. It is refused while an operation of the session is started.
	EraseSession(id holdshort.SessionID, actor string) error
}

// MessageQuery selects a session's messages, oldest first: by their time, then by their number.
type MessageQuery struct {
	Session holdshort.SessionID
	Since   time.Time // zero: from the beginning; pinned ones count however old they are
	Pinned  bool      // only those
	Cursor  string
	Limit   int
	Newest  bool // the last Limit instead of the first, still oldest first
}

// MessageReader reads a session's entries.
type MessageReader interface {
	Message(holdshort.MessageID) (holdshort.Message, error)
	Messages(MessageQuery) (Page[holdshort.Message], error)
	// MessageNamed gives the message of a session that has an external id.
	MessageNamed(session holdshort.SessionID, externalID string) (holdshort.Message, error)
}

// MessageWriter stores them. (session, seq) and (session, external id) are unique.
type MessageWriter interface {
	PutMessage(holdshort.Message) error
}
