package engine

import (
	"context"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// Pin keeps a message in every window of its session however old it is, or lets it go.
func (e *Engine) Pin(ctx context.Context, tenant holdshort.TenantID, session holdshort.SessionID, id holdshort.MessageID, pinned bool, actor holdshort.Actor) (m holdshort.Message, err error) {
	err = e.inSession(ctx, tenant, session, actor, policy.Pin, actPin, func(c *change, t *chat) error {
		if m, err = c.Message(id); err != nil {
			return err
		}
		if m.SessionID != session || m.Type == holdshort.TypeSuppressed {
			return &holdshort.Error{Code: holdshort.NotFound, Op: "load message " + clip(string(id)), Message: "no such message in this session", Hint: "check the ids"}
		}
		if m.Pinned == pinned {
			return nil
		}
		m.Pinned = pinned
		if err := c.PutMessage(m); err != nil {
			return err
		}
		m.Revision++
		return nil
	})
	if err != nil {
		return holdshort.Message{}, err
	}
	return e.shown(ctx, tenant, m), nil
}
