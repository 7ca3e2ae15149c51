package engine

import (
	"context"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// SayInput is what the person who has a session says to its user.
type SayInput struct {
	Session holdshort.SessionID
	ID      holdshort.MessageID // default: a new one; one that is taken is a Duplicate
	Actor   holdshort.Actor
	Text    string
}

// SayAs sends what a person says to the user of a session that they took over; an operator may speak there too, and where a bridge is up.
func (e *Engine) SayAs(ctx context.Context, tenant holdshort.TenantID, in SayInput) (m holdshort.Message, err error) {
	op := "say in " + clip(string(in.Session))
	if err := checkText(op, "text", in.Text, e.config.Limits.Text); err != nil {
		return m, err
	}
	if in.ID != "" {
		if _, err := holdshort.ParseMessageID(string(in.ID)); err != nil {
			return m, err
		}
	}
	if strings.TrimSpace(in.Text) == "" {
		return m, &holdshort.Error{Code: holdshort.Invalid, Op: op, Field: "text", Message: "the message is empty", Hint: "write something"}
	}
	err = e.inSession(ctx, tenant, in.Session, in.Actor, policy.Say, actSay, func(c *change, t *chat) error {
		if t.session.Mode == holdshort.ModeAI {
			return &holdshort.Error{Code: holdshort.WrongState, Op: op, Message: "the AI has the session", Hint: "take it over first"}
		}
		if err := mayHold(actSay, in.Actor, t.session); err != nil {
			return err
		}
		m = t.speak(in.Actor, in.ID, in.Text)
		return c.eventOver(t.session.Channel, "response:prepared", nil, &holdshort.Request{SessionID: in.Session}, in.Actor.ID, "takeover", map[string]string{"message": string(m.ID)})
	})
	if err != nil {
		return holdshort.Message{}, err
	}
	return e.shown(ctx, tenant, m), nil
}

// speak is what a person says to the user. It is of no run, so nothing keeps it back.
func (t *chat) speak(actor holdshort.Actor, id holdshort.MessageID, text string) holdshort.Message {
	if id == "" {
		id = holdshort.NewMessageID(t.c.now)
	}
	return t.tell(utterance{id: id, kind: holdshort.TypeText, shape: "message", text: text, visible: true, author: actor.ID, key: "person/" + string(id)})
}
