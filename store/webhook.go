package store

import "github.com/holdshort/holdshort"

// WebhookReader reads where events go.
type WebhookReader interface {
	Webhook(holdshort.WebhookID) (holdshort.Webhook, error)
	// Webhooks gives all of the tenant's, oldest first.
	Webhooks() ([]holdshort.Webhook, error)
}

// WebhookWriter stores it.
type WebhookWriter interface {
	PutWebhook(holdshort.Webhook) error
	// DropWebhook removes one: NotFound if it is not there.
	DropWebhook(holdshort.WebhookID) error
}

// WebhookRef names a webhook.
type WebhookRef struct {
	Tenant holdshort.TenantID
	ID     holdshort.WebhookID
}
