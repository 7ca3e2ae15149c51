package engine

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
)

// UpdateWebhookInput is what a webhook should be.
type UpdateWebhookInput struct {
	ID     holdshort.WebhookID
	Events []string // globs over event names; none: all
	Secret string   // whsec_ and base64 of 24 to 64 bytes; default: the one that it has
	Actor  holdshort.Actor
}

// UpdateWebhook brings a webhook into line with the input and returns what it changed: "events", "secret". The secret
// before a new one signs as well for 24 hours. An input that changes nothing writes nothing, so that every node of a
// server can apply the same configuration at its start.
func (e *Engine) UpdateWebhook(ctx context.Context, tenant holdshort.TenantID,
	in UpdateWebhookInput) (changed []string, err error) {
	_, err = e.changeWebhook(ctx, tenant, in.ID, in.Actor, "update", func(c *change, w *holdshort.Webhook) error {
		changed = nil // a transaction may run again
		if err := checkSubscription("update webhook", in.Events, in.Secret); err != nil {
			return err
		}
		if !slices.Equal(w.Events, in.Events) {
			w.Events, w.UpdatedAt = slices.Clone(in.Events), c.now
			changed = append(changed, "events")
		}
		if in.Secret != "" && (len(w.Secrets) == 0 || w.Secrets[0].Secret != in.Secret) {
			*w = w.Rotate(in.Secret, secretOverlap, c.now)
			changed = append(changed, "secret")
		}
		if changed == nil {
			return nil
		}
		if err := c.PutWebhook(*w); err != nil {
			return err
		}
		for _, field := range changed {
			name := map[string]string{"events": "webhook.changed", "secret": "webhook.rotated"}[field]
			if err := c.webhookEvent(name, in.ID, in.Actor.ID, ""); err != nil {
				return err
			}
		}
		return nil
	})
	return changed, err
}

// checkSubscription checks the events that a webhook asks for, and its secret.
func checkSubscription(op string, events []string, secret string) error {
	wrong := func(field, message, hint string) error {
		return &holdshort.Error{Code: holdshort.Invalid, Op: op, Field: field, Message: message, Hint: hint}
	}
	if len(events) > mostGlobs {
		return wrong("events", fmt.Sprintf("more than %d filters", mostGlobs), "use a glob such as hitl.*")
	}
	for _, glob := range events {
		matches := func(name string) bool { return holdshort.MatchEvent(name, []string{glob}) }
		if !isName(glob, 1) || !slices.ContainsFunc(holdshort.EventNames, matches) {
			return wrong("events", fmt.Sprintf("no event is named like %q", clip(glob)),
				"take a name of the catalogue, or a glob such as hitl.request.*")
		}
	}
	if secret == "" {
		return nil
	}
	encoded, hasPrefix := strings.CutPrefix(secret, holdshort.SecretPrefix)
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || !hasPrefix || len(raw) < 24 || len(raw) > 64 {
		return wrong("secret", "a secret is whsec_ and the base64 of 24 to 64 bytes", "leave it out to get one")
	}
	return nil
}
