package webhook_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/channel/webhook"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/holdshorttest"
)

var (
	ops = holdshort.Actor{ID: "ops", Kind: holdshort.Person, Roles: []string{"operator"}}
	ana = holdshort.Actor{ID: "ana", Kind: holdshort.Person, Roles: []string{"reviewer"}}
	bot = holdshort.Actor{ID: "key:1", Kind: holdshort.Service}
)

// far is a receiver that checks what it gets.
type far struct {
	*httptest.Server
	mu     sync.Mutex
	secret string
	answer int
	ids    []string
	types  []string
	faults []error
}

func newFar(t *testing.T, now func() time.Time) *far {
	f := &far{answer: 200}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		f.mu.Lock()
		defer f.mu.Unlock()
		if err := webhook.Verify(f.secret, r.Header, body, now()); err != nil {
			f.faults = append(f.faults, err)
		}
		var n struct{ Type string }
		_ = json.Unmarshal(body, &n)
		f.ids, f.types = append(f.ids, r.Header.Get(webhook.IDHeader)), append(f.types, n.Type)
		w.WriteHeader(f.answer)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *far) set(secret string, answer int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.secret, f.answer = secret, answer
}

// took gives what arrived since the last call.
func (f *far) took(t *testing.T) (ids, types []string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, err := range f.faults {
		t.Errorf("the receiver: %v", err)
	}
	ids, types = f.ids, f.types
	f.ids, f.types, f.faults = nil, nil, nil
	return ids, types
}

// TestThrough goes from a request to a receiver and back: signed, retried, rotated, redelivered, gone.
func TestThrough(t *testing.T) {
	var kit *holdshorttest.Kit
	now := func() time.Time { return kit.Now() }
	kit = holdshorttest.New(t, holdshorttest.Options{Configure: func(c *engine.Config) {
		c.Senders[engine.WebhookChannel] = webhook.New(webhook.Options{AllowHTTP: true, AllowPrivate: true, Now: now})
	}})
	e, ctx, tenant := kit.Engine(), t.Context(), kit.Tenant()
	hook, agent := newFar(t, now), newFar(t, now)
	agent.set(e.CallbackSecret(tenant, bot.ID), 200)
	made, err := e.CreateWebhook(ctx, tenant, engine.CreateWebhookInput{URL: hook.URL + "/in", Events: []string{"hitl.request.decided"}, Actor: ops})
	if err != nil {
		t.Fatal(err)
	}
	hook.set(made.Secrets[0].Secret, 503)
	decide := func() holdshort.RequestID {
		t.Helper()
		out, err := e.Ask(ctx, tenant, engine.AskInput{Kind: holdshort.Approval, Question: "Refund?", Actor: bot, CallbackURL: agent.URL + "/done", Audience: holdshort.Audience{Roles: []string{"reviewer"}},
			Actions: []engine.AskAction{{Tool: "shop.refund", Args: []byte(`{"note":"<&>"}`)}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Decide(ctx, tenant, engine.DecideInput{Request: out.Request.ID, Action: holdshort.Approve, Actor: ana}); err != nil {
			t.Fatal(err)
		}
		kit.Settle()
		return out.Request.ID
	}
	one := func(f *far, what string) string {
		t.Helper()
		ids, types := f.took(t)
		if len(ids) != 1 || types[0] != "hitl.request.decided" {
			t.Fatalf("%s: got %v %v", what, ids, types)
		}
		return ids[0]
	}

	req := decide()
	if id := one(agent, "callback"); id != "callback:"+string(req) {
		t.Errorf("the callback is %s", id)
	}
	first := one(hook, "first attempt")
	hook.set(made.Secrets[0].Secret, 200)
	kit.Advance(6 * time.Second)
	if second := one(hook, "second attempt"); second != first {
		t.Errorf("the second attempt is %s, the first was %s", second, first)
	}
	log, err := e.WebhookDeliveries(ctx, tenant, engine.WebhookDeliveriesQuery{Webhook: made.ID})
	if err != nil || len(log.Items) != 1 || log.Items[0].Status != holdshort.DeliverySent || log.Items[0].Attempt != 2 || len(log.Items[0].Log) != 1 || log.Items[0].Log[0].Status != 503 {
		t.Fatalf("the log is %+v: %v", log, err)
	}

	rotated, err := e.RotateWebhook(ctx, tenant, made.ID, ops)
	if err != nil {
		t.Fatal(err)
	}
	decide()
	one(hook, "signed with the old secret too")
	hook.set(rotated.Secrets[0].Secret, 200)
	if _, err := e.RedeliverWebhook(ctx, tenant, made.ID, log.Items[0].ID, ops); err != nil {
		t.Fatal(err)
	}
	kit.Settle()
	if again := one(hook, "redelivered, signed with the new"); again != first {
		t.Errorf("redelivered as %s", again)
	}

	hook.set(rotated.Secrets[0].Secret, 410)
	decide()
	one(hook, "the last")
	if stands, err := e.WebhookByID(ctx, tenant, made.ID); err != nil || stands.Disabled != holdshort.WebhookGone {
		t.Errorf("after 410: %+v %v", stands, err)
	}
	decide()
	kit.Advance(100 * time.Hour)
	if ids, _ := hook.took(t); len(ids) != 0 {
		t.Errorf("sent to one that is gone: %v", ids)
	}
}

// TestRefusedAddress: what the sender would not send to cannot be registered, nor raised with.
func TestRefusedAddress(t *testing.T) {
	kit := holdshorttest.New(t, holdshorttest.Options{Configure: func(c *engine.Config) { c.Senders[engine.WebhookChannel] = webhook.New(webhook.Options{}) }})
	for _, url := range []string{"http://hooks.example.org", "https://127.0.0.1", "https://[::1]", "https://169.254.169.254/latest", "https://localhost"} {
		_, err := kit.Engine().CreateWebhook(context.Background(), kit.Tenant(), engine.CreateWebhookInput{URL: url, Actor: ops})
		if holdshort.CodeOf(err) != holdshort.Invalid || holdshort.HintOf(err) == "" {
			t.Errorf("%s registered: %v", url, err)
		}
		_, err = kit.Engine().Ask(context.Background(), kit.Tenant(), engine.AskInput{Kind: holdshort.Approval, Question: "?", Actor: bot, CallbackURL: url})
		if holdshort.CodeOf(err) != holdshort.Invalid {
			t.Errorf("%s raised with: %v", url, err)
		}
	}
}
