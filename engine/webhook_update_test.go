package engine_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// A webhook takes another filter and another secret, each with its event; what is already so writes nothing.
func TestWebhookUpdate(t *testing.T) {
	b, h := newHooks(t)
	w := b.webhook("hitl.*")
	b.settle()
	h.notices(t)
	secret := holdshort.SecretPrefix + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("s", 24)))
	update := func(secret string, events ...string) []string {
		t.Helper()
		changed, err := b.UpdateWebhook(t.Context(), tenant, engine.UpdateWebhookInput{ID: w.ID, Events: events, Secret: secret, Actor: ops})
		if err != nil {
			t.Fatal(err)
		}
		return changed
	}
	for _, step := range []struct {
		secret string
		events []string
		want   []string
	}{
		{"", []string{"hitl.*"}, nil},
		{secret, []string{"hitl.*"}, []string{"secret"}},
		{secret, []string{"key.created"}, []string{"events"}},
		{secret, []string{"key.created"}, nil},
		{"", nil, []string{"events"}},
		{"", []string{"key.created"}, []string{"events"}},
	} {
		if got := update(step.secret, step.events...); !slices.Equal(got, step.want) {
			t.Errorf("%v: changed %v, want %v", step.events, got, step.want)
		}
	}
	if _, _, err := b.CreateKey(t.Context(), tenant, engine.CreateKeyInput{Name: "till", Actor: root}); err != nil {
		t.Fatal(err)
	}
	b.settle()
	if got := types(h.notices(t)); !slices.Equal(got, []string{"key.created"}) {
		t.Errorf("with the new filter it gets %v", got)
	}
	to, err := b.TargetOf(t.Context(), tenant, holdshort.Delivery{Address: string(w.ID)})
	if err != nil || !slices.Equal(to.Secrets, []string{secret, w.Secrets[0].Secret}) {
		t.Errorf("signs with %v, %v", to.Secrets, err)
	}
	b.clock.move(24 * time.Hour)
	if to, err = b.TargetOf(t.Context(), tenant, holdshort.Delivery{Address: string(w.ID)}); err != nil || !slices.Equal(to.Secrets, []string{secret}) {
		t.Errorf("after the overlap it signs with %v, %v", to.Secrets, err)
	}
	want := []string{"webhook.created by ops", "webhook.rotated by ops", "webhook.changed by ops", "webhook.changed by ops", "webhook.changed by ops"}
	if got := b.events("webhook.*"); !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
}

// An input that CreateWebhook would refuse changes nothing.
func TestWebhookUpdateRefusals(t *testing.T) {
	b, _ := newHooks(t)
	w := b.webhook("hitl.*")
	for name, in := range map[string]engine.UpdateWebhookInput{
		"events": {ID: w.ID, Events: []string{"hitl.nothing"}},
		"secret": {ID: w.ID, Secret: "whsec_short"},
	} {
		in.Actor = ops
		if _, err := b.UpdateWebhook(t.Context(), tenant, in); code(err) != holdshort.Invalid || !strings.Contains(err.Error(), "update webhook") {
			t.Errorf("%s: %v", name, err)
		}
	}
	missing := engine.UpdateWebhookInput{ID: holdshort.NewWebhookID(b.clock.now()), Actor: ops}
	if _, err := b.UpdateWebhook(t.Context(), tenant, missing); code(err) != holdshort.NotFound {
		t.Errorf("one that is not there: %v", err)
	}
	if stands, err := b.WebhookByID(t.Context(), tenant, w.ID); err != nil || !slices.Equal(stands.Events, []string{"hitl.*"}) || stands.Revision != w.Revision {
		t.Errorf("%+v, %v", stands, err)
	}
}
