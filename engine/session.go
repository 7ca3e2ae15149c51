package engine

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// DefaultChannel is that of a session whose user reads its messages without being sent any.
const DefaultChannel = "api"

// OpenSessionInput says whose conversation it is, and where.
type OpenSessionInput struct {
	ID       holdshort.SessionID // default: the current one of the address, else a new one
	User     string
	Channel  string // default: api
	Address  string // where deliveries go; default: nowhere, whoever reads the messages has them
	Language string
	Flow     string // that a message starts when no run takes it; default: none
	Agent    string
	Metadata json.RawMessage
}

// OpenSession makes a session, or gives the one that has the id or the address. One of another user is holdshort.SessionTaken. A new session takes its
// address over from the one that had it; that one ends, its open requests do not.
func (e *Engine) OpenSession(ctx context.Context, tenant holdshort.TenantID, in OpenSessionInput) (s holdshort.Session, err error) {
	if in, err = in.checked(); err != nil {
		return s, err
	}
	if err := e.byAgent("open session", &in.Agent, &in.Flow); err != nil {
		return s, err
	}
	var rows []store.Row
	if in.ID != "" {
		rows = append(rows, store.SessionRow(in.ID))
	}
	err = e.update(ctx, tenant, func(c *change) error {
		s, err = c.openSession(in)
		return err
	}, rows...)
	return s, err
}

func (in OpenSessionInput) checked() (OpenSessionInput, error) {
	bad := func(field, message, hint string) error {
		return &holdshort.Error{Code: holdshort.Invalid, Op: "open session", Field: field, Message: message, Hint: hint}
	}
	if in.Channel == "" {
		in.Channel = DefaultChannel
	}
	if in.ID != "" {
		if _, err := holdshort.ParseSessionID(string(in.ID)); err != nil {
			return in, err
		}
	}
	switch {
	case in.Channel == WebhookChannel:
		return in, bad("channel", "nobody talks over "+WebhookChannel, "name another channel")
	case in.User == "" || len(in.User) > maxName:
		return in, bad("user", "a session belongs to a user", "name whose conversation it is")
	case len(in.Channel) > maxName || len(in.Address) > maxName:
		return in, bad("address", "the channel or the address is too long", "use at most 200 bytes")
	case strings.HasPrefix(in.Address, "ses_"):
		return in, bad("address", "an address cannot look like a session's id", "use the channel's own form")
	case len(in.Metadata) > 0 && !json.Valid(in.Metadata):
		return in, bad("metadata", "it is not JSON", "send a JSON value")
	}
	return in, nil
}

// maxName is how long the id of somebody or something outside may be, in bytes.
const maxName = 200

func (c *change) openSession(in OpenSessionInput) (s holdshort.Session, err error) {
	if in.ID != "" {
		s, err = c.Session(in.ID)
		if err == nil {
			return s, sameUser(s, in.User)
		}
		if holdshort.CodeOf(err) != holdshort.NotFound {
			return s, err
		}
	}
	if in.Address != "" {
		at, err := c.SessionAt(in.Channel, in.Address)
		switch {
		case err == nil && (in.ID == "" || at.User != in.User):
			return at, sameUser(at, in.User)
		case err == nil:
			at.EndedAt, at.UpdatedAt = c.now, c.now
			if err := c.PutSession(at); err != nil {
				return s, err
			}
		case holdshort.CodeOf(err) != holdshort.NotFound:
			return s, err
		}
	}
	s = holdshort.Session{ID: in.ID, User: in.User, Channel: in.Channel, Address: in.Address, Agent: in.Agent, Flow: in.Flow, Language: in.Language, Mode: holdshort.ModeAI,
		Metadata: in.Metadata, CreatedAt: c.now, UpdatedAt: c.now}
	if s.ID == "" {
		s.ID = holdshort.NewSessionID(c.now)
	}
	return s, c.PutSession(s)
}

func sameUser(s holdshort.Session, user string) error {
	if erased(s) {
		return &holdshort.Error{Code: holdshort.Closed, Op: "open session " + string(s.ID), Message: "it was deleted", Hint: "open one under another id"}
	}
	if s.User == user {
		return nil
	}
	return &holdshort.Error{Code: holdshort.SessionTaken, Op: "open session", Field: "id", Message: "the session belongs to another user", Hint: "take another id, or none", Err: holdshort.Duplicate}
}

// SessionByID gives a session as it stands.
func (e *Engine) SessionByID(ctx context.Context, tenant holdshort.TenantID, id holdshort.SessionID) (s holdshort.Session, err error) {
	err = e.store.View(ctx, tenant, func(tx store.ReadTx) error {
		s, err = tx.Session(id)
		return err
	})
	return s, err
}

// MessageQuery selects a session's messages.
type MessageQuery = store.MessageQuery

// Messages lists everything that a session has, oldest first, as it may be shown. What its user may see is a History.
func (e *Engine) Messages(ctx context.Context, tenant holdshort.TenantID, q MessageQuery) (page store.Page[holdshort.Message], err error) {
	err = e.store.View(ctx, tenant, func(tx store.ReadTx) error {
		page, err = tx.Messages(q)
		return err
	})
	for i := range page.Items {
		page.Items[i] = e.shown(ctx, tenant, page.Items[i])
	}
	return page, err
}
