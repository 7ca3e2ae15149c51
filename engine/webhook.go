package engine

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

// WebhookChannel is the channel of everything that goes to somebody's URL: events to webhooks, and callbacks.
const WebhookChannel = "webhook"

// MaxWebhooks is how many webhooks a tenant may have.
const MaxWebhooks = 100

const (
	mostGlobs     = 100
	mostURL       = 2000
	secretOverlap = 24 * time.Hour
)

// CreateWebhookInput says where events go.
type CreateWebhookInput struct {
	ID     holdshort.WebhookID // default: a new one
	URL    string
	Events []string // globs over event names; none: all
	Secret string   // whsec_ and base64 of 24 to 64 bytes; default: a new one
	Actor  holdshort.Actor
}

// CreateWebhook registers a webhook. It gets what happens from now on. Its secret is shown here, and never again.
func (e *Engine) CreateWebhook(ctx context.Context, tenant holdshort.TenantID, in CreateWebhookInput) (w holdshort.Webhook, err error) {
	if err = mayManage(policy.ManageWebhooks, in.Actor, "create webhook"); err == nil {
		err = e.createWebhook(ctx, tenant, in, &w)
	}
	if err != nil {
		e.deniedFor(ctx, tenant, in.Actor, "hitl.webhook.create", err)
		return holdshort.Webhook{}, err
	}
	w.Revision = 1
	return w, nil
}

func (e *Engine) createWebhook(ctx context.Context, tenant holdshort.TenantID, in CreateWebhookInput, w *holdshort.Webhook) error {
	if err := CheckWebhook(in, e.config.Senders[WebhookChannel]); err != nil {
		return err
	}
	id, secret := in.ID, in.Secret
	if id == "" {
		id = holdshort.NewWebhookID(e.clock.now())
	}
	if secret == "" {
		secret = newWebhookSecret()
	}
	return e.update(ctx, tenant, func(c *change) error {
		others, err := c.Webhooks()
		if err != nil {
			return err
		}
		if len(others) >= MaxWebhooks {
			return &holdshort.Error{Code: holdshort.LimitReached, Op: "create webhook", Message: fmt.Sprintf("there are %d webhooks already", len(others)), Hint: "delete one that is no longer used"}
		}
		last, err := c.Position()
		if err != nil {
			return err
		}
		*w = holdshort.Webhook{ID: id, URL: in.URL, Events: slices.Clone(in.Events), Secrets: []holdshort.WebhookSecret{{Secret: secret}}, Cursor: last,
			CreatedBy: clip(in.Actor.ID), CreatedAt: c.now, UpdatedAt: c.now}
		if err := c.PutWebhook(*w); err != nil {
			return err
		}
		return c.webhookEvent("webhook.created", id, in.Actor.ID, "")
	}, store.WebhookRow(id))
}

func newWebhookSecret() string {
	raw := make([]byte, 32)
	rand.Read(raw) // never fails: the runtime ends the program when the system has no randomness
	return holdshort.SecretPrefix + base64.StdEncoding.EncodeToString(raw)
}

// AddressChecker is a Sender that can tell beforehand where it will not send.
type AddressChecker interface {
	CheckAddress(address string) error
}

// CheckWebhook returns the error that CreateWebhook would refuse its input with. Sender is the one of
// WebhookChannel; nil accepts every address.
func CheckWebhook(in CreateWebhookInput, sender Sender) error {
	if err := checkURL(sender, "url", in.URL); err != nil {
		return err
	}
	if err := checkSubscription("create webhook", in.Events, in.Secret); err != nil {
		return err
	}
	if in.ID != "" {
		if _, err := holdshort.ParseWebhookID(string(in.ID)); err != nil {
			return err
		}
	}
	return nil
}

// checkURL takes what can be sent to at all; the sender says what else it refuses.
func (e *Engine) checkURL(field, address string) error {
	return checkURL(e.config.Senders[WebhookChannel], field, address)
}

func checkURL(sender Sender, field, address string) error {
	u, err := url.Parse(address)
	if err != nil || len(address) > mostURL || !isPrintable(address) || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return &holdshort.Error{Code: holdshort.Invalid, Field: field, Message: "that is no address to send to", Hint: "send an absolute https URL without user, password and fragment"}
	}
	if checker, ok := sender.(AddressChecker); ok {
		if err := checker.CheckAddress(address); err != nil {
			return &holdshort.Error{Code: holdshort.Invalid, Field: field, Message: "nothing is sent to that address", Err: err, Hint: holdshort.HintOf(err)}
		}
	}
	return nil
}

func isPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

func (c *change) webhookEvent(name string, id holdshort.WebhookID, actor string, code holdshort.Code) error {
	return c.event(name, nil, nil, clip(actor), code, map[string]string{"webhook": string(id)})
}

// Webhooks lists a tenant's webhooks, oldest first, without their secrets.
func (e *Engine) Webhooks(ctx context.Context, tenant holdshort.TenantID) (list []holdshort.Webhook, err error) {
	err = e.store.View(ctx, tenant, func(tx store.ReadTx) error {
		list, err = tx.Webhooks()
		return err
	})
	for i := range list {
		list[i].Secrets = nil
	}
	return list, err
}

// WebhookByID gives one, without its secrets.
func (e *Engine) WebhookByID(ctx context.Context, tenant holdshort.TenantID, id holdshort.WebhookID) (w holdshort.Webhook, err error) {
	err = e.store.View(ctx, tenant, func(tx store.ReadTx) error {
		w, err = tx.Webhook(id)
		return err
	})
	w.Secrets = nil
	return w, err
}

// changeWebhook does something to a webhook, in the name of somebody who may.
func (e *Engine) changeWebhook(ctx context.Context, tenant holdshort.TenantID, id holdshort.WebhookID, actor holdshort.Actor, verb string, do func(c *change, w *holdshort.Webhook) error) (w holdshort.Webhook, err error) {
	if err = mayManage(policy.ManageWebhooks, actor, verb+" webhook"); err == nil {
		err = e.update(ctx, tenant, func(c *change) error {
			if w, err = c.Webhook(id); err != nil {
				return err
			}
			return do(c, &w)
		}, store.WebhookRow(id))
	}
	if err != nil {
		e.deniedFor(ctx, tenant, actor, "hitl.webhook."+verb, err)
		return holdshort.Webhook{}, err
	}
	return w, nil
}

// DeleteWebhook removes one. What waits to be sent to it is given up.
func (e *Engine) DeleteWebhook(ctx context.Context, tenant holdshort.TenantID, id holdshort.WebhookID, actor holdshort.Actor) error {
	_, err := e.changeWebhook(ctx, tenant, id, actor, "delete", func(c *change, w *holdshort.Webhook) error {
		if err := c.DropWebhook(id); err != nil {
			return err
		}
		return c.webhookEvent("webhook.deleted", id, actor.ID, "")
	})
	return err
}

// RotateWebhook gives a webhook a new secret, which is shown here and never again. The old one signs as well for 24 hours.
func (e *Engine) RotateWebhook(ctx context.Context, tenant holdshort.TenantID, id holdshort.WebhookID, actor holdshort.Actor) (holdshort.Webhook, error) {
	secret := newWebhookSecret()
	w, err := e.changeWebhook(ctx, tenant, id, actor, "rotate", func(c *change, w *holdshort.Webhook) error {
		*w = w.Rotate(secret, secretOverlap, c.now)
		if err := c.PutWebhook(*w); err != nil {
			return err
		}
		return c.webhookEvent("webhook.rotated", id, actor.ID, "")
	})
	if err == nil {
		w.Revision++
		w.Secrets = w.Secrets[:1]
	}
	return w, err
}

// SetWebhook turns a webhook on or off. One that was off gets what happens from now on.
func (e *Engine) SetWebhook(ctx context.Context, tenant holdshort.TenantID, id holdshort.WebhookID, on bool, actor holdshort.Actor) (holdshort.Webhook, error) {
	w, err := e.changeWebhook(ctx, tenant, id, actor, "set", func(c *change, w *holdshort.Webhook) error {
		if on == (w.Disabled == "") {
			return nil
		}
		name := "webhook.disabled"
		if w.Disabled = holdshort.WebhookOff; on {
			last, err := c.Position()
			if err != nil {
				return err
			}
			name, w.Disabled, w.Cursor = "webhook.enabled", "", last
		}
		w.UpdatedAt = c.now
		if err := c.PutWebhook(*w); err != nil {
			return err
		}
		return c.webhookEvent(name, id, actor.ID, w.Disabled)
	})
	w.Secrets = nil
	return w, err
}

// WebhookGone turns a webhook off whose receiver said that it is not there any more. Somebody has to turn it on again.
func (e *Engine) WebhookGone(ctx context.Context, tenant holdshort.TenantID, id holdshort.WebhookID) error {
	actor := holdshort.SystemActor("outbox")
	_, err := e.changeWebhook(ctx, tenant, id, actor, "set", func(c *change, w *holdshort.Webhook) error {
		if w.Disabled != "" {
			return nil
		}
		w.Disabled, w.UpdatedAt = holdshort.WebhookGone, c.now
		c.logs = append(c.logs, func() { c.e.log.Warn("a webhook's receiver is gone; it is turned off", "webhook_id", id) })
		if err := c.PutWebhook(*w); err != nil {
			return err
		}
		return c.webhookEvent("webhook.disabled", id, actor.ID, holdshort.WebhookGone)
	})
	return err
}
