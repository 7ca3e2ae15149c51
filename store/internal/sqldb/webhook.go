package sqldb

import (
	"context"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

type webhookBody struct {
	URL       string          `json:"url,omitempty"`
	Events    []string        `json:"events,omitempty"`
	Secrets   []webhookSecret `json:"secrets,omitempty"`
	CreatedBy string          `json:"created_by,omitempty"`
}

type webhookSecret struct {
	Secret string `json:"secret"`
	Until  int64  `json:"until,omitempty"`
}

var insertWebhook, updateWebhook = puts("webhooks", []string{"disabled", "read_to", "updated_at", "body"}, []string{"created_at"})

const webhookColumns = `id, revision, disabled, read_to, created_at, updated_at, body`

var (
	selectWebhook  = point(`SELECT ` + webhookColumns + ` FROM webhooks WHERE tenant = ? AND id = ?`)
	selectWebhooks = statement(`SELECT ` + webhookColumns + ` FROM webhooks WHERE tenant = ? ORDER BY id`)
	dropWebhook    = deletes("webhooks", []string{"tenant", "id"})
	laggingHooks   = statement(`SELECT w.tenant, w.id FROM webhooks w WHERE w.disabled = '' AND EXISTS
		(SELECT 1 FROM events e WHERE e.tenant = w.tenant AND e.pos > w.read_to) ORDER BY w.read_to, w.tenant, w.id LIMIT ?`)
)

func (tx *Tx) Webhook(id holdshort.WebhookID) (holdshort.Webhook, error) {
	return one(tx, selectWebhook, "webhook", string(id), tx.scanWebhook)
}

func (tx *Tx) Webhooks() ([]holdshort.Webhook, error) {
	return all(tx, selectWebhooks, []any{string(tx.tenant)}, tx.scanWebhook)
}

func (tx *Tx) scanWebhook(scan func(...any) error) (w holdshort.Webhook, id string, err error) {
	var created, updated int64
	var body []byte
	if err = scan(&id, &w.Revision, &w.Disabled, &w.Cursor, &created, &updated, &body); err != nil {
		return w, id, err
	}
	w.ID, w.CreatedAt, w.UpdatedAt = holdshort.WebhookID(id), fromMicros(created), fromMicros(updated)
	var b webhookBody
	if err := tx.decode("webhook", id, body, &b); err != nil {
		return w, id, err
	}
	w.URL, w.Events, w.CreatedBy = b.URL, b.Events, b.CreatedBy
	for _, s := range b.Secrets {
		w.Secrets = append(w.Secrets, holdshort.WebhookSecret{Secret: s.Secret, Until: fromMicros(s.Until)})
	}
	return w, id, nil
}

func (tx *Tx) PutWebhook(w holdshort.Webhook) error {
	id := string(w.ID)
	if err := tx.required("webhook", id); err != nil {
		return err
	}
	if err := tx.texts("webhook", string(w.Disabled)); err != nil {
		return err
	}
	b := webhookBody{URL: w.URL, Events: w.Events, CreatedBy: w.CreatedBy}
	for _, s := range w.Secrets {
		b.Secrets = append(b.Secrets, webhookSecret{Secret: s.Secret, Until: micros(s.Until)})
	}
	body, err := tx.encode("webhook", id, b)
	if err != nil {
		return err
	}
	return tx.put("webhook", id, w.Revision, insertWebhook, updateWebhook, []any{string(w.Disabled), w.Cursor, micros(w.UpdatedAt), body}, []any{micros(w.CreatedAt)})
}

func (tx *Tx) DropWebhook(id holdshort.WebhookID) error {
	if err := tx.required("webhook", string(id)); err != nil {
		return err
	}
	return tx.write(Write{Statement: dropWebhook, Args: []any{string(tx.tenant), string(id)}, Want: 1, Noun: "webhook", ID: string(id), Miss: notFound("webhook", string(id))})
}

func (db *DB) LaggingWebhooks(ctx context.Context, limit int) ([]store.WebhookRef, error) {
	if err := db.Admit(); err != nil {
		return nil, err
	}
	var out []store.WebhookRef
	err := db.Backend.Snapshot(ctx, func(conn Conn, _ time.Time) error {
		out = nil
		return conn.Query(laggingHooks, []any{int64(limit)}, func(scan func(...any) error) error {
			var ref store.WebhookRef
			err := scan(&ref.Tenant, &ref.ID)
			out = append(out, ref)
			return err
		})
	})
	return out, err
}
