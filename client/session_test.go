package client_test

import (
	"errors"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// A conversation: a message, its history, a person who takes over, speaks and hands back, and the end of it.
func TestSession(t *testing.T) {
	d := newDoor(t)
	ctx := t.Context()
	ben, olga := d.as(t, "ben", nil, nil), d.as(t, "olga", []string{"operator"}, nil)
	s, err := ben.OpenSession(ctx, client.OpenSession{Language: "en"})
	if err != nil || s.User != "ben" {
		t.Fatalf("%+v, %v", s, err)
	}
	taken, err := ben.Send(ctx, s.ID, client.Send{ID: "m-1", Text: "hello", Wait: 100 * time.Millisecond})
	if err != nil || taken.Message == nil {
		t.Fatalf("%+v, %v", taken, err)
	}
	again, err := ben.Send(ctx, s.ID, client.Send{ID: "m-1", Text: "hello"})
	if err != nil || again.Message == nil || again.Message.ID != taken.Message.ID {
		t.Errorf("the same message: %+v, %v", again, err)
	}
	if _, err := ben.Send(ctx, s.ID, client.Send{ID: "m-1", Text: "something else"}); !errors.Is(err, holdshort.Duplicate) {
		t.Errorf("another text under the same id: %v", err)
	}
	if err := ben.Pin(ctx, s.ID, taken.Message.ID, true); err != nil {
		t.Error(err)
	}
	if _, err := olga.TakeOver(ctx, s.ID); err != nil {
		t.Fatal(err)
	}
	if m, err := olga.Say(ctx, s.ID, "a person here"); err != nil || m.ID == "" {
		t.Errorf("%+v, %v", m, err)
	}
	if back, err := olga.HandBack(ctx, s.ID, "bye", "promised a refund"); err != nil || back.TakenBy != "" {
		t.Errorf("%+v, %v", back, err)
	}
	said, err := ben.Messages(ctx, s.ID, client.FindMessages{Window: "all"})
	if err != nil || len(said.Items) < 2 {
		t.Errorf("%+v, %v", said, err)
	}
	if pinned, err := ben.Messages(ctx, s.ID, client.FindMessages{Pinned: true}); err != nil || len(pinned.Items) != 1 {
		t.Errorf("%+v, %v", pinned, err)
	}
	if err := ben.Pin(ctx, s.ID, taken.Message.ID, false); err != nil {
		t.Error(err)
	}
	if now, err := ben.Session(ctx, s.ID); err != nil || now.ID != s.ID {
		t.Errorf("%+v, %v", now, err)
	}
	if _, err := olga.ResolveEscalation(ctx, client.Resolution{SessionID: s.ID, Approved: true}); !errors.Is(err, holdshort.NotFound) {
		t.Errorf("no escalation is open: %v", err)
	}
	if err := olga.DeleteSession(ctx, s.ID); err != nil {
		t.Error(err)
	}
}

func TestStatsAndComments(t *testing.T) {
	d := newDoor(t)
	ctx := t.Context()
	agent, ana := d.agent(t), d.ana(t)
	req, err := agent.Raise(ctx, payBack)
	if err != nil {
		t.Fatal(err)
	}
	if err := ana.Comment(ctx, req.ID, "who asked for this?"); err != nil {
		t.Fatal(err)
	}
	comments, err := ana.Comments(ctx, req.ID)
	if err != nil || len(comments) != 1 || comments[0].Text != "who asked for this?" || comments[0].Actor != "ana" {
		t.Errorf("%+v, %v", comments, err)
	}
	stats, err := ana.Stats(ctx)
	if err != nil || stats.Open.Count != 1 || stats.ByKind[holdshort.Approval].Count != 1 {
		t.Errorf("%+v, %v", stats, err)
	}
	if shown, err := ana.Reveal(ctx, req.ID); err != nil || shown.Salt == "" {
		t.Errorf("%+v, %v", shown, err)
	}
	if decided, err := agent.CancelRequest(ctx, req.ID, "not needed"); err != nil || decided.Request.Status != holdshort.RequestCanceled || decided.Request.CancelReason != "not needed" {
		t.Errorf("%+v, %v", decided.Request, err)
	}
}

func TestWebhooks(t *testing.T) {
	d := newDoor(t)
	ctx := t.Context()
	olga := d.as(t, "olga", []string{"operator"}, nil)
	made, err := olga.CreateWebhook(ctx, client.NewWebhook{URL: "https://hooks.example.org/in", Events: []string{"store.restore_accepted"}})
	if err != nil || made.Secret == "" {
		t.Fatalf("%+v, %v", made, err)
	}
	if list, err := olga.Webhooks(ctx); err != nil || len(list) != 1 || list[0].Secret != "" || list[0].ID != made.ID {
		t.Errorf("%+v, %v", list, err)
	}
	sent, err := olga.TestWebhook(ctx, made.ID) // nobody sends here: it waits in the outbox
	if err != nil || sent.ID == "" {
		t.Fatalf("%+v, %v", sent, err)
	}
	if log, err := olga.WebhookDeliveries(ctx, made.ID, ""); err != nil || len(log.Items) != 1 || log.Items[0].ID != sent.ID {
		t.Errorf("%+v, %v", log, err)
	}
	if _, err := olga.Redeliver(ctx, made.ID, sent.ID); err != nil && !errors.Is(err, holdshort.WrongState) {
		t.Error(err)
	}
	if err := olga.DeleteWebhook(ctx, made.ID); err != nil {
		t.Error(err)
	}
	if list, err := olga.Webhooks(ctx); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}
