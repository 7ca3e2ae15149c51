package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// Notice is the body of everything that goes over the channel "webhook".
type Notice struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      any       `json:"data"`
}

// notify puts a notice into the outbox.
func (c *change) notify(key, address string, session holdshort.SessionID, n Notice) (holdshort.Delivery, error) {
	n.Timestamp = n.Timestamp.UTC()
	var body bytes.Buffer
	plain := json.NewEncoder(&body)
	plain.SetEscapeHTML(false) // arguments stay as they were hashed
	if err := plain.Encode(n); err != nil {
		return holdshort.Delivery{}, err
	}
	d := holdshort.Delivery{ID: holdshort.NewDeliveryID(c.now), Key: key, Status: holdshort.DeliveryQueued, Channel: WebhookChannel, Address: address, SessionID: session, Body: bytes.TrimSpace(body.Bytes()),
		DueAt: c.now, CreatedAt: c.now}
	c.ring(topicOutbox)
	return d, c.PutDelivery(d)
}

// deliveryKey begins with the webhook's id, which is how its log is found, and goes on with an event's, which sorts it by time.
func deliveryKey(w holdshort.WebhookID, e holdshort.EventID) string {
	return string(w) + ":" + string(e)
}

// TestWebhook sends a webhook something to try it with.
func (e *Engine) TestWebhook(ctx context.Context, tenant holdshort.TenantID, id holdshort.WebhookID, actor holdshort.Actor) (d holdshort.Delivery, err error) {
	_, err = e.changeWebhook(ctx, tenant, id, actor, "test", func(c *change, w *holdshort.Webhook) error {
		if w.Disabled != "" {
			return &holdshort.Error{Code: holdshort.WrongState, Op: "test webhook " + string(id), Message: "the webhook is off: " + string(w.Disabled), Hint: "turn it on first"}
		}
		fact := holdshort.NewEventID(c.now)
		d, err = c.notify(deliveryKey(id, fact), string(id), "", Notice{Type: "webhook.tested", Timestamp: c.now, Data: map[string]any{"id": fact, "webhook_id": id, "actor": clip(actor.ID)}})
		if err != nil {
			return err
		}
		data, err := json.Marshal(map[string]string{"webhook": string(id), "delivery": string(d.ID)})
		if err != nil {
			return err
		}
		// Of the channel: no webhook is told of what webhooks are sent.
		return c.AddEvent(holdshort.Event{ID: fact, Type: "webhook.tested", Actor: clip(actor.ID), Channel: WebhookChannel, Data: data})
	})
	return d, err
}

// WebhookDeliveriesQuery selects what was sent to a webhook, newest first.
type WebhookDeliveriesQuery struct {
	Webhook holdshort.WebhookID
	Cursor  string
	Limit   int
}

// WebhookDeliveries is a webhook's delivery log: what was sent, how often it was tried, and what came of each attempt.
func (e *Engine) WebhookDeliveries(ctx context.Context, tenant holdshort.TenantID, q WebhookDeliveriesQuery) (page store.Page[holdshort.Delivery], err error) {
	err = e.store.View(ctx, tenant, func(tx store.ReadTx) error {
		if _, err := tx.Webhook(q.Webhook); err != nil {
			return err
		}
		page, err = tx.Deliveries(store.DeliveryQuery{Prefix: string(q.Webhook) + ":", Cursor: q.Cursor, Limit: q.Limit})
		return err
	})
	return page, err
}

// RedeliverWebhook has a delivery of a webhook sent once more, under the same id.
func (e *Engine) RedeliverWebhook(ctx context.Context, tenant holdshort.TenantID, id holdshort.WebhookID, delivery holdshort.DeliveryID, actor holdshort.Actor) (holdshort.Delivery, error) {
	d, err := e.DeliveryByID(ctx, tenant, delivery)
	if err != nil {
		return d, err
	}
	if d.Channel != WebhookChannel || !strings.HasPrefix(d.Key, string(id)+":") {
		return holdshort.Delivery{}, &holdshort.Error{Code: holdshort.NotFound, Op: "load delivery " + clip(string(delivery)), Message: "no such delivery of this webhook", Hint: "take an id of its list"}
	}
	return e.Redeliver(ctx, tenant, delivery, actor)
}

// Target is where a delivery of the channel "webhook" goes, and what signs it.
type Target struct {
	URL     string
	Secrets []string            // all of them sign
	Webhook holdshort.WebhookID // none: a callback
}

// TargetOf finds it, for the channel's sender. NotFound and WrongState are final: there is nowhere to send it.
func (e *Engine) TargetOf(ctx context.Context, tenant holdshort.TenantID, d holdshort.Delivery) (t Target, err error) {
	err = e.store.View(ctx, tenant, func(tx store.ReadTx) error {
		if id, ok := strings.CutPrefix(d.Key, callbackPrefix); ok {
			req, err := tx.Request(holdshort.RequestID(id))
			t = Target{URL: d.Address, Secrets: e.keyring.CallbackSecrets(tenant, req.Requester.RaisedBy)}
			return err
		}
		w, err := tx.Webhook(holdshort.WebhookID(d.Address))
		if err == nil && w.Disabled != "" {
			err = &holdshort.Error{Code: holdshort.WrongState, Op: "send to webhook " + clip(d.Address), Message: "the webhook is off: " + string(w.Disabled), Hint: "turn it on and redeliver"}
		}
		t = Target{URL: w.URL, Secrets: w.Signers(tx.Now()), Webhook: w.ID}
		return err
	})
	return t, err
}

// CallbackSecret is what callbacks of requests that raiser raises are signed with.
func (e *Engine) CallbackSecret(tenant holdshort.TenantID, raiser string) string {
	return e.keyring.CallbackSecrets(tenant, raiser)[0]
}
