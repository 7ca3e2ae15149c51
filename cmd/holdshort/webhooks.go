package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/engine"
)

// fileActor is in whose name the webhooks of the configuration are made and changed.
var fileActor = holdshort.SystemActor("configuration")

// registerWebhooks makes the webhooks of the configuration that are not registered yet, by their address, and brings
// the others into line with it.
func registerWebhooks(ctx context.Context, e *engine.Engine, tenant holdshort.TenantID, wanted []config.Webhook,
	log *slog.Logger) error {
	if len(wanted) == 0 {
		return nil
	}
	registered, err := e.Webhooks(ctx, tenant)
	if err != nil {
		return err
	}
	for _, w := range wanted {
		if err := registerWebhook(ctx, e, tenant, w, registered, log.With("url", w.URL)); err != nil {
			return errors.Join(&holdshort.Error{Code: holdshort.CodeOf(err), Op: "register webhook " + w.URL,
				Message: "it cannot be registered", Hint: holdshort.HintOf(err)}, err)
		}
	}
	return nil
}

func registerWebhook(ctx context.Context, e *engine.Engine, tenant holdshort.TenantID, w config.Webhook,
	registered []holdshort.Webhook, log *slog.Logger) error {
	own, found := webhookOf(registered, w.URL)
	if !found {
		made, err := e.CreateWebhook(ctx, tenant, engine.CreateWebhookInput{URL: w.URL, Events: w.Events,
			Secret: w.Secret, Actor: fileActor})
		if err == nil {
			log.Info("registered a webhook of the configuration", "webhook", made.ID)
		}
		return err
	}
	changed, err := e.UpdateWebhook(ctx, tenant, engine.UpdateWebhookInput{ID: own.ID, Events: w.Events,
		Secret: w.Secret, Actor: fileActor})
	if err != nil {
		return err
	}
	if len(changed) > 0 {
		log.Info("changed a webhook to what the configuration says", "webhook", own.ID, "changed", changed)
	}
	if own.Disabled != "" { // by an operator, or by its receiver: a restart does not know better
		log.Warn("a webhook of the configuration is turned off", "webhook", own.ID, "reason", own.Disabled,
			"hint", "turn it on: POST /v1/webhooks/"+string(own.ID)+"/enable")
	}
	return nil
}

// webhookOf returns the webhook that the configuration means by an address: the one that it made. One that was made
// over the API counts if there is no other, because two would send every event twice.
func webhookOf(registered []holdshort.Webhook, address string) (holdshort.Webhook, bool) {
	ofFile := func(h holdshort.Webhook) bool { return h.URL == address && h.CreatedBy == fileActor.ID }
	ofAnyone := func(h holdshort.Webhook) bool { return h.URL == address }
	for _, fits := range []func(holdshort.Webhook) bool{ofFile, ofAnyone} {
		if i := slices.IndexFunc(registered, fits); i >= 0 {
			return registered[i], true
		}
	}
	return holdshort.Webhook{}, false
}
