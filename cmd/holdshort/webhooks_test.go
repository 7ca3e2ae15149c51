package main

import (
	"bytes"
	"encoding/base64"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/store/sqlite"
)

func webhookSecret(letter string) string {
	return holdshort.SecretPrefix + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(letter, 24)))
}

// webhookEnv is an engine that a server registers webhooks with at each of its starts.
type webhookEnv struct {
	*testing.T
	*engine.Engine
}

func newWebhookEnv(t *testing.T) *webhookEnv {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"), sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	e, err := engine.New(s, engine.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return &webhookEnv{t, e}
}

// start registers the webhooks of a file and returns the log.
func (v *webhookEnv) start(list ...config.Webhook) string {
	v.Helper()
	var log bytes.Buffer
	if err := registerWebhooks(v.Context(), v.Engine, "default", list, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
		v.Fatal(err)
	}
	return log.String()
}

func (v *webhookEnv) only() holdshort.Webhook {
	v.Helper()
	list, err := v.Webhooks(v.Context(), "default")
	if err != nil || len(list) != 1 {
		v.Fatalf("%+v, %v", list, err)
	}
	return list[0]
}

// signers are the secrets that deliveries to the only webhook are signed with.
func (v *webhookEnv) signers() []string {
	v.Helper()
	to, err := v.TargetOf(v.Context(), "default", holdshort.Delivery{Address: string(v.only().ID)})
	if err != nil {
		v.Fatal(err)
	}
	return to.Secrets
}

// A registered webhook follows the file at the next start. Its old secret signs as well for a while, as after a
// rotation over the API.
func TestWebhooksFollowTheFile(t *testing.T) {
	v := newWebhookEnv(t)
	const address = "https://hooks.example.org/in"
	old, fresh := webhookSecret("a"), webhookSecret("b")
	v.start(config.Webhook{URL: address, Secret: old, Events: []string{"hitl.*"}})
	made := v.only()

	log := v.start(config.Webhook{URL: address, Secret: fresh, Events: []string{"hitl.*"}})
	if got := v.signers(); !slices.Equal(got, []string{fresh, old}) {
		t.Errorf("a new secret in the file: deliveries are signed with %v", got)
	}
	if !strings.Contains(log, "changed=[secret]") || strings.Contains(log, "whsec_") {
		t.Errorf("the log says %s", log)
	}
	log = v.start(config.Webhook{URL: address, Secret: fresh, Events: []string{"run.failed", "run.held"}})
	if got := v.only(); !slices.Equal(got.Events, []string{"run.failed", "run.held"}) || got.ID != made.ID {
		t.Errorf("new events in the file: %+v", got)
	}
	if !strings.Contains(log, "changed=[events]") {
		t.Errorf("the log says %s", log)
	}

	before := v.only()
	if log := v.start(config.Webhook{URL: address, Secret: fresh, Events: before.Events}); log != "" {
		t.Errorf("an unchanged file logs %s", log)
	}
	if log := v.start(config.Webhook{URL: address, Events: before.Events}); log != "" || v.signers()[0] != fresh {
		t.Errorf("without a secret in the file: %v, %s", v.signers(), log)
	}
	if after := v.only(); after.Revision != before.Revision {
		t.Errorf("a start without changes wrote %+v over %+v", after, before)
	}
	if v.start(config.Webhook{URL: address}); len(v.only().Events) != 0 {
		t.Errorf("without events in the file it gets all: %+v", v.only())
	}
}

// An operator who turned a webhook off is not overruled by a restart, and the log tells.
func TestWebhooksThatAreOffStayOff(t *testing.T) {
	v := newWebhookEnv(t)
	hook := config.Webhook{URL: "https://hooks.example.org/in"}
	v.start(hook)
	if _, err := v.SetWebhook(t.Context(), "default", v.only().ID, false, holdshort.SystemActor("test")); err != nil {
		t.Fatal(err)
	}
	log := v.start(hook)
	if v.only().Disabled != holdshort.WebhookOff || !strings.Contains(log, "level=WARN") || !strings.Contains(log, "reason=off") {
		t.Errorf("%+v, the log says %s", v.only(), log)
	}
}

// Somebody may have registered the address over the API as well: the file speaks of the one that it made.
func TestWebhooksOfTheFileAreItsOwn(t *testing.T) {
	v := newWebhookEnv(t)
	const address = "https://hooks.example.org/in"
	v.start(config.Webhook{URL: address})
	own := v.only()
	other, err := v.CreateWebhook(t.Context(), "default", engine.CreateWebhookInput{URL: address, Events: []string{"run.*"},
		Actor: holdshort.SystemActor("test")})
	if err != nil {
		t.Fatal(err)
	}
	v.start(config.Webhook{URL: address, Events: []string{"hitl.*"}})
	for id, want := range map[holdshort.WebhookID]string{own.ID: "hitl.*", other.ID: "run.*"} {
		if w, err := v.WebhookByID(t.Context(), "default", id); err != nil || !slices.Equal(w.Events, []string{want}) {
			t.Errorf("%+v, want %s, %v", w, want, err)
		}
	}
}
