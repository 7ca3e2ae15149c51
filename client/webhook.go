package client

import (
	"context"
	"net/http"

	"github.com/holdshort/holdshort"
)

// Webhook is where events go. Its secret is there when it was made or rotated, and never again.
type Webhook struct {
	holdshort.Webhook
	Secret string `json:"secret,omitempty"`
}

// NewWebhook says where events shall go.
type NewWebhook struct {
	URL    string   `json:"url"`
	Events []string `json:"events,omitempty"` // globs over names; none: all
	Secret string   `json:"secret,omitempty"` // whsec_ and base64; default: a new one
}

// CreateWebhook registers an address. It gets what happens from now on.
func (c *Client) CreateWebhook(ctx context.Context, in NewWebhook) (out Webhook, err error) {
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/v1/webhooks", body: in, unsafe: true}, &out)
	return out, err
}

// Webhooks lists them, without secrets.
func (c *Client) Webhooks(ctx context.Context) ([]Webhook, error) {
	var p page[Webhook]
	_, err := c.do(ctx, call{method: http.MethodGet, path: "/v1/webhooks"}, &p)
	return p.Items, err
}

// DeleteWebhook sends nothing more there.
func (c *Client) DeleteWebhook(ctx context.Context, webhook holdshort.WebhookID) error {
	_, err := c.do(ctx, call{method: http.MethodDelete, path: "/v1/webhooks/" + id(webhook)}, nil)
	return err
}

// TestWebhook sends it an event that means nothing.
func (c *Client) TestWebhook(ctx context.Context, webhook holdshort.WebhookID) (out holdshort.Delivery, err error) {
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/v1/webhooks/" + id(webhook) + "/test"}, &out)
	return out, err
}

// WebhookDeliveries lists what was sent, newest first, one page.
func (c *Client) WebhookDeliveries(ctx context.Context, webhook holdshort.WebhookID, cursor string) (Page[holdshort.Delivery], error) {
	var p page[holdshort.Delivery]
	_, err := c.do(ctx, call{method: http.MethodGet, path: "/v1/webhooks/" + id(webhook) + "/deliveries" + query("cursor", cursor)}, &p)
	return p.out(), err
}

// Redeliver sends one of them once more, under the same id.
func (c *Client) Redeliver(ctx context.Context, webhook holdshort.WebhookID, delivery holdshort.DeliveryID) (out holdshort.Delivery, err error) {
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/v1/webhooks/" + id(webhook) + "/deliveries/" + id(delivery) + "/redeliver"}, &out)
	return out, err
}
