package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// HandbackInput gives a session back to the AI.
type HandbackInput struct {
	Session holdshort.SessionID
	Actor   holdshort.Actor
	Message string // to the user; default: none
	Note    string // for the model: what was agreed; default: none
}

// Handback ends a takeover. The model finds a note in the history: who handled the matter, from when to when, and what was agreed. What runs
// asked meanwhile is asked now, and messages that no run had taken before the takeover get one.
func (e *Engine) Handback(ctx context.Context, tenant holdshort.TenantID, in HandbackInput) (s holdshort.Session, err error) {
	op := "hand back " + clip(string(in.Session))
	for field, text := range map[string]string{"message": in.Message, "note": in.Note} {
		if err := checkText(op, field, text, e.config.Limits.Text); err != nil {
			return s, err
		}
	}
	err = e.inSession(ctx, tenant, in.Session, in.Actor, policy.TakeOver, actHandback, func(c *change, t *chat) error {
		was := t.session
		if was.Mode != holdshort.ModeTakeover {
			return &holdshort.Error{Code: holdshort.WrongState, Op: op, Message: "nobody has taken the session over", Hint: "there is nothing to hand back"}
		}
		if err := mayHold(actHandback, in.Actor, was); err != nil {
			return err
		}
		if err := c.handback(t, in); err != nil {
			return err
		}
		s = t.session
		return c.eventOver(s.Channel, "hitl.live_takeover.ended", nil, &holdshort.Request{SessionID: s.ID}, in.Actor.ID, "", map[string]string{"taken_by": clip(was.TakenBy)})
	})
	if err != nil {
		return holdshort.Session{}, err
	}
	return s, nil
}

func (c *change) handback(t *chat, in HandbackInput) error {
	was := t.session
	waiting, err := c.PendingDeliveries(was.ID)
	if err != nil {
		return err
	}
	left, err := c.endedRun(was.ActiveRun)
	if err != nil {
		return err
	}
	next, err := was.Apply(holdshort.Handback, c.now)
	if err != nil {
		return err
	}
	t.session, t.dirty = next, true
	t.freed = t.freed || next.Prompt == "" // what waited for its turn
	t.left = left
	for _, d := range waiting {
		if d.Status != holdshort.DeliveryParked || d.RequestID == "" {
			continue
		}
		d.DueAt = c.now // what was asked before, and kept back
		if err := c.PutDelivery(d); err != nil {
			return err
		}
		c.ring(topicOutbox)
	}
	if strings.TrimSpace(in.Message) != "" {
		t.speak(in.Actor, "", in.Message)
	}
	t.add(holdshort.Message{Role: holdshort.RoleSystem, Type: holdshort.TypeHandback, Author: in.Actor.ID, ModelVisible: true,
		Parts: []holdshort.Part{{Type: "text", Text: handbackNote(was, in, c.now)}}})
	return nil
}

// endedRun gives the run back if it is over.
func (c *change) endedRun(id holdshort.RunID) (holdshort.RunID, error) {
	if id == "" {
		return "", nil
	}
	run, err := readRun(c, id)
	switch {
	case holdshort.CodeOf(err) == holdshort.NotFound, err == nil && !run.Status.Ended():
		return "", nil
	}
	return id, err
}

// handbackNote is what the model reads about what it was not there for.
func handbackNote(was holdshort.Session, in HandbackInput, now time.Time) string {
	text := fmt.Sprintf("%s handled this conversation in person from %s to %s", clip(was.TakenBy), was.TakenAt.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	if in.Actor.ID != was.TakenBy {
		text += "; " + clip(in.Actor.ID) + " handed it back"
	}
	if note := strings.TrimSpace(in.Note); note != "" {
		return text + ". What was agreed: " + note
	}
	return text + ". Nothing was noted about what was agreed: rely on the messages above."
}
