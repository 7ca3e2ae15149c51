package api

import (
	"net/http"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

func (s *Server) webhookEndpoints() []endpoint {
	about := func(summary string) about {
		return about{tag: "webhooks", summary: summary, action: policy.ManageWebhooks, errors: []int{409, 413, 422}}
	}
	create := about("Have events sent to an address. The secret is in this answer and never again.")
	create.status, create.once = http.StatusCreated, true
	rotate := about("A new secret, in this answer and never again. The old one signs too for 24 hours.")
	rotate.once = true
	test := about("Send something to try it with.")
	test.status = http.StatusAccepted
	redeliver := about("Send a delivery once more, under the same id.")
	redeliver.status = http.StatusAccepted
	return []endpoint{
		route("GET", "/v1/webhooks", about("Where events go, without secrets."), (*call).listWebhooks),
		route("POST", "/v1/webhooks", create, (*call).createWebhook),
		route("GET", "/v1/webhooks/{id}", about("One webhook, without secrets."), (*call).readWebhook),
		route("DELETE", "/v1/webhooks/{id}", about("Send nothing more there."), (*call).deleteWebhook),
		route("POST", "/v1/webhooks/{id}/enable", about("Turn it on again. It gets what happens from now on."), (*call).enableWebhook),
		route("POST", "/v1/webhooks/{id}/disable", about("Turn it off."), (*call).disableWebhook),
		route("POST", "/v1/webhooks/{id}/rotate", rotate, (*call).rotateWebhook),
		route("POST", "/v1/webhooks/{id}/test", test, (*call).testWebhook),
		route("GET", "/v1/webhooks/{id}/deliveries", about("What was sent, how often it was tried, and what came back last; newest first."), (*call).listDeliveries),
		route("POST", "/v1/webhooks/{id}/deliveries/{delivery}/redeliver", redeliver, (*call).redeliver),
	}
}

// NewWebhook says where events go.
type NewWebhook struct {
	URL    string   `json:"url"`
	Events []string `json:"events,omitempty"` // globs over names; none: all
	Secret string   `json:"secret,omitempty"` // whsec_ and base64; default: a new one
}

// Webhook is a webhook as it is shown.
type Webhook struct {
	holdshort.Webhook
	Secret string `json:"secret,omitempty"` // only when it was made or rotated, and not in a replayed answer
}

func shownWebhook(w holdshort.Webhook) Webhook { return Webhook{Webhook: w} }

func withSecret(w holdshort.Webhook) Webhook {
	out := shownWebhook(w)
	if len(w.Secrets) > 0 {
		out.Secret = w.Secrets[0].Secret
	}
	return out
}

type onWebhook struct {
	ID holdshort.WebhookID `path:"id"`
}

func (c *call) listWebhooks(none) (Page[Webhook], error) {
	if err := c.must(policy.ManageWebhooks); err != nil {
		return Page[Webhook]{}, err
	}
	list, err := c.engine.Webhooks(c.ctx, c.who.Tenant)
	return page(list, "", shownWebhook), err
}

func (c *call) webhook(id holdshort.WebhookID) (Webhook, error) {
	if err := c.must(policy.ManageWebhooks); err != nil {
		return Webhook{}, err
	}
	w, err := c.engine.WebhookByID(c.ctx, c.who.Tenant, id)
	return shownWebhook(w), err
}

func (c *call) readWebhook(in onWebhook) (Webhook, error) { return c.webhook(in.ID) }

func (c *call) createWebhook(in struct {
	Body NewWebhook `body:""`
}) (Webhook, error) {
	if err := c.must(policy.ManageWebhooks); err != nil {
		return Webhook{}, err
	}
	events, err := globs(in.Body.Events)
	if err != nil {
		return Webhook{}, err
	}
	id := holdshort.NewWebhookID(time.Now())
	ctx, err := c.once(http.StatusCreated, string(id))
	if err != nil {
		return Webhook{}, err
	}
	w, err := c.engine.CreateWebhook(ctx, c.who.Tenant, engine.CreateWebhookInput{ID: id, URL: in.Body.URL, Events: events, Secret: in.Body.Secret, Actor: c.who.Actor})
	if before, again := c.replayed(err); again {
		return c.webhook(holdshort.WebhookID(before))
	}
	return withSecret(w), err
}

func (c *call) deleteWebhook(in onWebhook) (none, error) {
	if err := c.must(policy.ManageWebhooks); err != nil {
		return none{}, err
	}
	return none{}, c.engine.DeleteWebhook(c.ctx, c.who.Tenant, in.ID, c.who.Actor)
}

func (c *call) enableWebhook(in onWebhook) (Webhook, error)  { return c.setWebhook(in.ID, true) }
func (c *call) disableWebhook(in onWebhook) (Webhook, error) { return c.setWebhook(in.ID, false) }

func (c *call) setWebhook(id holdshort.WebhookID, on bool) (Webhook, error) {
	if err := c.must(policy.ManageWebhooks); err != nil {
		return Webhook{}, err
	}
	w, err := c.engine.SetWebhook(c.ctx, c.who.Tenant, id, on, c.who.Actor)
	return shownWebhook(w), err
}

func (c *call) rotateWebhook(in onWebhook) (Webhook, error) {
	if err := c.must(policy.ManageWebhooks); err != nil {
		return Webhook{}, err
	}
	ctx, err := c.once(http.StatusOK, string(in.ID))
	if err != nil {
		return Webhook{}, err
	}
	w, err := c.engine.RotateWebhook(ctx, c.who.Tenant, in.ID, c.who.Actor)
	if _, again := c.replayed(err); again {
		return c.webhook(in.ID)
	}
	return withSecret(w), err
}

func (c *call) testWebhook(in onWebhook) (holdshort.Delivery, error) {
	if err := c.must(policy.ManageWebhooks); err != nil {
		return holdshort.Delivery{}, err
	}
	return c.engine.TestWebhook(c.ctx, c.who.Tenant, in.ID, c.who.Actor)
}

func (c *call) listDeliveries(in struct {
	ID     holdshort.WebhookID `path:"id"`
	Limit  int                 `query:"limit"`
	Cursor string              `query:"cursor"`
}) (Page[holdshort.Delivery], error) {
	paging, err := c.paging(in.Limit, in.Cursor)
	if err != nil {
		return Page[holdshort.Delivery]{}, err
	}
	if _, err := c.webhook(in.ID); err != nil {
		return Page[holdshort.Delivery]{}, err
	}
	found, err := c.engine.WebhookDeliveries(c.ctx, c.who.Tenant, engine.WebhookDeliveriesQuery{Webhook: in.ID, Cursor: paging.Cursor, Limit: paging.Limit})
	return page(found.Items, found.Next, func(d holdshort.Delivery) holdshort.Delivery { return d }), err
}

func (c *call) redeliver(in struct {
	ID       holdshort.WebhookID  `path:"id"`
	Delivery holdshort.DeliveryID `path:"delivery"`
}) (holdshort.Delivery, error) {
	if err := c.must(policy.ManageWebhooks); err != nil {
		return holdshort.Delivery{}, err
	}
	return c.engine.RedeliverWebhook(c.ctx, c.who.Tenant, in.ID, in.Delivery, c.who.Actor)
}
