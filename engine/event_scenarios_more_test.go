package engine

import (
	"errors"
	"time"

	"github.com/holdshort/holdshort"
)

// storeScenarios are the stories of messages, access, webhooks and the store.
var storeScenarios = map[string]func(n *eventEnv) holdshort.Event{
	"response:prepared": func(n *eventEnv) holdshort.Event {
		return inChat(factAbout(n.tell(n.s, "hi"), "system:worker"))
	},
	"response:sent": func(n *eventEnv) holdshort.Event {
		return inChat(factAbout(n.tell(n.s, "hi"), "system:outbox"))
	},
	"response:failed": func(n *eventEnv) holdshort.Event {
		n.box.set(func(holdshort.Delivery) error { return errors.New("away") })
		return inChat(factAbout(n.tell(n.s, "hi"), "system:outbox"))
	},
	"delivery.parked": func(n *eventEnv) holdshort.Event {
		n.box.set(func(holdshort.Delivery) error { return errors.New("away") })
		run := n.tell(n.s, "hi")
		n.pass(parkAfter + time.Second)
		return inChat(factAbout(run, "system:outbox"))
	},
	"delivery.dead": func(n *eventEnv) holdshort.Event {
		n.box.set(func(holdshort.Delivery) error { return errors.New("away") })
		run := n.tell(n.s, "hi")
		for range giveUpAt + 1 {
			n.pass(2 * time.Hour)
		}
		return inChat(factAbout(run, "system:outbox"))
	},
	"message.received": func(n *eventEnv) holdshort.Event {
		got := n.hear(n.s, "hello")
		return holdshort.Event{Session: n.s.ID, Trace: string(got.ID), Actor: "system:inbound", Channel: "chat"}
	},
	"message.duplicate": func(n *eventEnv) holdshort.Event {
		in := Inbound{ID: "m1", Text: "hello"}
		got := n.hearAs(n.s, in)
		n.hearAs(n.s, in)
		return holdshort.Event{Session: n.s.ID, Trace: string(got.ID), Actor: "system:inbound", Channel: "chat"}
	},
	"message.stale": func(n *eventEnv) holdshort.Event {
		run := n.start("confirm")
		req := n.decide(run, holdshort.Approve, ben)
		n.hearAs(n.s, Inbound{ID: "late", Text: "yes", ReplyTo: string(req.ID)})
		return about(factAbout(run, "ben"), req, "chat")
	},
	"access.denied": func(n *eventEnv) holdshort.Event {
		run := n.pay("refund")
		req := n.open(run)
		_, err := n.Decide(n.Context(), acme, DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ben})
		if holdshort.CodeOf(err) != holdshort.Forbidden {
			n.Fatalf("ben decided: %v", err)
		}
		return about(factAbout(run, "ben"), req, "")
	},
	"key.created": func(n *eventEnv) holdshort.Event { n.key(); return holdshort.Event{Actor: "ada"} },
	"key.revoked": func(n *eventEnv) holdshort.Event {
		_, err := n.RevokeKey(n.Context(), acme, n.key().ID, admin)
		n.must(err)
		return holdshort.Event{Actor: "ada"}
	},
	"policy.loaded": func(n *eventEnv) holdshort.Event {
		n.must(n.PolicyLoaded(n.Context(), acme, "v1", 3))
		return holdshort.Event{Actor: "system:" + n.Node()}
	},
	"audit.sealed": func(n *eventEnv) holdshort.Event {
		n.start("ask")
		return holdshort.Event{Actor: "system:sequencer"}
	},
	"audit.pruned": func(n *eventEnv) holdshort.Event {
		n.start("ask")
		n.clock.move(2 * time.Hour)
		_, err := n.tickRetention(n.Context())
		n.must(err)
		return holdshort.Event{Actor: "system:retention"}
	},
	"login.created":  func(n *eventEnv) holdshort.Event { n.link(); return holdshort.Event{Actor: "olga"} },
	"login.redeemed": func(n *eventEnv) holdshort.Event { n.login(); return holdshort.Event{Actor: "olga"} },
	"login.ended": func(n *eventEnv) holdshort.Event {
		n.must(n.EndLogin(n.Context(), n.login()))
		return holdshort.Event{Actor: "olga"}
	},
	"webhook.created": func(n *eventEnv) holdshort.Event { n.hook(); return holdshort.Event{Actor: "ada"} },
	"webhook.changed": func(n *eventEnv) holdshort.Event {
		_, err := n.UpdateWebhook(n.Context(), acme, UpdateWebhookInput{ID: n.hook().ID, Events: []string{"run.held"}, Actor: admin})
		n.must(err)
		return holdshort.Event{Actor: "ada"}
	},
	"webhook.rotated": func(n *eventEnv) holdshort.Event {
		_, err := n.RotateWebhook(n.Context(), acme, n.hook().ID, admin)
		n.must(err)
		return holdshort.Event{Actor: "ada"}
	},
	"webhook.disabled": func(n *eventEnv) holdshort.Event {
		_, err := n.SetWebhook(n.Context(), acme, n.hook().ID, false, admin)
		n.must(err)
		return holdshort.Event{Actor: "ada"}
	},
	"webhook.enabled": func(n *eventEnv) holdshort.Event {
		id := n.hook().ID
		_, err := n.SetWebhook(n.Context(), acme, id, false, admin)
		n.must(err)
		_, err = n.SetWebhook(n.Context(), acme, id, true, admin)
		n.must(err)
		return holdshort.Event{Actor: "ada"}
	},
	"webhook.deleted": func(n *eventEnv) holdshort.Event {
		n.must(n.DeleteWebhook(n.Context(), acme, n.hook().ID, admin))
		return holdshort.Event{Actor: "ada"}
	},
	"webhook.tested": func(n *eventEnv) holdshort.Event {
		_, err := n.TestWebhook(n.Context(), acme, n.hook().ID, admin)
		n.must(err)
		return holdshort.Event{Actor: "ada", Channel: WebhookChannel}
	},
	"session.erased": func(n *eventEnv) holdshort.Event {
		_, err := n.DeleteSession(n.Context(), acme, n.s.ID, admin)
		n.must(err)
		return holdshort.Event{Session: n.s.ID, Actor: "ada"}
	},
}

func inChat(e holdshort.Event) holdshort.Event {
	e.Channel = "chat"
	return e
}

// claimed has a request of the gate approved and claimed.
func (n *eventEnv) claimed() (holdshort.Request, Claimed) {
	n.Helper()
	req := n.raise()
	_, err := n.Decide(n.Context(), acme, DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: olga, Channel: "api"})
	n.must(err)
	out, err := n.Claim(n.Context(), acme, ClaimInput{Request: req.ID, Actor: gated})
	n.must(err)
	return req, out
}

func (n *eventEnv) key() holdshort.Key {
	n.Helper()
	key, _, err := n.CreateKey(n.Context(), acme, CreateKeyInput{Name: "shop", Actor: admin})
	n.must(err)
	return key
}

func (n *eventEnv) hook() holdshort.Webhook {
	n.Helper()
	w, err := n.CreateWebhook(n.Context(), acme, CreateWebhookInput{URL: "https://hooks.example.org/in", Actor: admin})
	n.must(err)
	return w
}

// link makes a login link for olga.
func (n *eventEnv) link() string {
	n.Helper()
	at := n.clock.now()
	token, err := n.CreateLogin(n.Context(), acme, holdshort.Login{Kind: holdshort.LoginLink, Actor: olga, CreatedAt: at, ExpiresAt: at.Add(time.Hour)})
	n.must(err)
	return token
}

// login redeems the link and returns the token of the login.
func (n *eventEnv) login() string {
	n.Helper()
	_, _, token, err := n.RedeemLogin(n.Context(), n.link())
	n.must(err)
	return token
}
