package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// guest talks to the desk's agent in one conversation.
type guest struct {
	t       *testing.T
	e       *engine.Engine
	session holdshort.SessionID
	said    int
	run     holdshort.RunID
}

func newGuest(t *testing.T, e *engine.Engine, user string) *guest {
	t.Helper()
	s, err := e.OpenSession(t.Context(), Tenant, engine.OpenSessionInput{Agent: Agent, User: user})
	if err != nil {
		t.Fatal(err)
	}
	return &guest{t: t, e: e, session: s.ID}
}

// says writes to the agent and gives what it answered, or the question that it now waits for.
func (g *guest) says(text string) string {
	g.t.Helper()
	return g.writes(engine.Inbound{Text: text})
}

// answers writes to the agent in reply to what it asks.
func (g *guest) answers(text string) string {
	g.t.Helper()
	return g.writes(engine.Inbound{Text: text, ReplyTo: string(g.open().ID)})
}

func (g *guest) writes(in engine.Inbound) string {
	g.t.Helper()
	g.said++
	in.Session, in.ID = g.session, fmt.Sprint(g.said)
	got, err := g.e.Receive(g.t.Context(), Tenant, in)
	if err != nil {
		g.t.Fatal(err)
	}
	if got.Run != "" {
		g.run = got.Run
	}
	return g.rests()
}

func (g *guest) rests() string {
	g.t.Helper()
	run, err := g.e.AwaitRun(g.t.Context(), Tenant, g.run, engine.Resting)
	if err != nil {
		g.t.Fatal(err)
	}
	if run.Status == holdshort.RunWaiting {
		return "? " + g.open().Question
	}
	if run.Status != holdshort.RunCompleted {
		return string(run.Status) + " " + run.Error.Message
	}
	var result struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(run.Result, &result); err != nil {
		g.t.Fatal(err)
	}
	return result.Text
}

func (g *guest) open() holdshort.Request {
	g.t.Helper()
	page, err := g.e.Requests(g.t.Context(), Tenant, engine.RequestQuery{Run: g.run, Status: holdshort.RequestOpen})
	if err != nil || len(page.Items) != 1 {
		g.t.Fatalf("%d open, %v", len(page.Items), err)
	}
	return page.Items[0]
}

// decides answers the open question and gives what comes of it.
func (g *guest) decides(in engine.DecideInput) string {
	g.t.Helper()
	if in.Request = g.open().ID; in.Actor.ID == "" {
		in.Actor = Visitor()
	}
	if _, err := g.e.Decide(g.t.Context(), Tenant, in); err != nil {
		g.t.Fatal(err)
	}
	return g.rests()
}

func has(t *testing.T, got string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(got, p) {
			t.Errorf("%q is not in %q", p, got)
		}
	}
}

// The agent does alone what the rules let it, asks about the rest, and never does what they deny.
func TestAgent(t *testing.T) {
	e, shop, _ := desk(t, t.TempDir())
	g := newGuest(t, e, Visitor().ID)
	has(t, g.says("Hello!"), "Try:", "two of finance")
	has(t, g.says("something else"), "Say help")
	has(t, g.says("Where is order 79?"), "folding bike for Cora Lind, 890 EUR, in transit")
	has(t, g.says("where is order 4711?"), "That was not done: there is no order 4711")
	has(t, g.says("show me all orders"), "82  teapot")
	has(t, g.says("please refund order 78"), "The receipt is rc-78")
	has(t, g.says("erase customer dag@example.org"), "the policy does not allow it (customers are not erased from a chat)")
	if n := len(shop.Effects()); n != 1 {
		t.Errorf("%d effects", n)
	}

	has(t, g.says("refund order 77 for 320"), "? Refund 320 EUR for order 77?")
	has(t, g.decides(engine.DecideInput{Action: holdshort.Reject, Message: "he has it"}), "That was not done", "he has it")
	has(t, g.says("refund 320 for order 77"), "? Refund 320 EUR")
	has(t, g.decides(engine.DecideInput{Action: holdshort.Edit, Args: json.RawMessage(`{"amount":150,"order":"77"}`)}), "The receipt is rc-77")
	has(t, g.says("refund order 81 for 129"), "? Refund 129 EUR")
	has(t, g.decides(engine.DecideInput{Action: holdshort.Respond, Value: json.RawMessage(`"it was paid in cash"`)}), "it was paid in cash")

	has(t, g.says("cancel order 80"), "? Run these 2 calls?", "Cancel order 80?", "Send the letter “Your order 80”?")
	has(t, g.decides(engine.DecideInput{Action: holdshort.Reject, Message: "she changed her mind"}), "The order stands", "she changed her mind")
	has(t, g.says("cancel order 82"), "? Run these 2 calls?")
	calls := g.open().Actions
	has(t, g.decides(engine.DecideInput{Action: holdshort.Approve, Calls: []holdshort.CallDecision{{CallID: calls[0].CallID, Action: holdshort.Approve}, {CallID: calls[1].CallID, Action: holdshort.Reject}}}),
		"Canceled. The letter to the customer was not sent.")
	has(t, g.says("cancel order 80"), "? Run these 2 calls?")
	has(t, g.decides(engine.DecideInput{Action: holdshort.Approve}), "Canceled, and the customer knows.")
	has(t, g.says("write about order 81: it is repaired"), "? Send the letter", "it is repaired")
	has(t, g.decides(engine.DecideInput{Action: holdshort.Approve}), "on its way")
	if n := len(shop.Effects()); n != 6 {
		t.Errorf("%d effects", n)
	}
}

// What the shop refuses because of an argument is put right in a sentence, and the corrected value reaches the call.
func TestAgentRepairs(t *testing.T) {
	e, shop, _ := desk(t, t.TempDir())
	g := newGuest(t, e, "dag.holm@example.org")
	has(t, g.says("wrap order 82 in gold"), "paper cannot be gold", "plain, stars, stripes", "wrap order 82 in gold")
	if g.open().Kind != holdshort.ErrorRecovery {
		t.Errorf("%+v", g.open())
	}
	has(t, g.answers("the second one"), "Wrapped, in paper with stars")
	effects := shop.Effects()
	if len(effects) != 1 || string(effects[0].Args) != `{"order":"82","paper":"stars"}` {
		t.Errorf("%+v", effects)
	}
	// Three pauses of one run: finance, then the customer, then finance about what the customer said.
	has(t, g.says("refund order 81 for 400"), "? Refund 400 EUR")
	has(t, g.decides(engine.DecideInput{Action: holdshort.Approve}), "order 81 cost 129 EUR")
	has(t, g.answers("129"), "? Refund 129 EUR for order 81?")
	has(t, g.decides(engine.DecideInput{Action: holdshort.Approve}), "The receipt is rc-81")
}

// Small refunds are free until they add up; large ones take two, and whoever asked is none of them.
func TestAgentLimits(t *testing.T) {
	e, shop, _ := desk(t, t.TempDir())
	g := newGuest(t, e, Visitor().ID)
	for range 4 { // 48 EUR each
		has(t, g.says("refund order 78"), "The receipt is rc-78")
	}
	has(t, g.says("refund order 78"), "? ") // 240 EUR would be more than the 200 of a day
	if n := len(shop.Effects()); n != 4 || g.open().Rule != "small refunds" {
		t.Errorf("%d effects, rule %q", n, g.open().Rule)
	}
	own := newGuest(t, e, Visitor().ID)
	has(t, own.says("refund order 79 for 890"), "? Refund 890 EUR")
	_, err := e.Decide(t.Context(), Tenant, engine.DecideInput{Request: own.open().ID, Action: holdshort.Approve, Actor: Visitor()})
	if holdshort.CodeOf(err) != holdshort.Forbidden {
		t.Errorf("whoever asked for it approved it: %v", err)
	}
}

// The rules say of each call what the comments in the file say.
func TestRules(t *testing.T) {
	parts, err := (&Desk{}).Parts(t.Context(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		tool, effect, args string
		want               policy.Decision
		rule               string
		quorum             int
	}{
		{lookUp, "read", `{"order":"77"}`, policy.Allow, "reading is free", 1},
		{refund, "write", `{"order":"77","amount":50}`, policy.Allow, "small refunds", 1},
		{refund, "write", `{"order":"77","amount":50.01}`, policy.Ask, "large refunds", 1},
		{refund, "write", `{"order":"77","amount":500}`, policy.Ask, "large refunds", 1},
		{refund, "write", `{"order":"77","amount":500.01}`, policy.Ask, "very large refunds", 2},
		{refund, "write", `{"order":"77"}`, policy.Ask, "small refunds", 1}, // a rule that cannot be evaluated asks
		{cancel, "write", `{"order":"80"}`, policy.Ask, "cancellations", 1},
		{sendMail, "write", `{"to":"x","subject":"","body":""}`, policy.Ask, "letters to customers", 1},
		{wrap, "write", `{"order":"82","paper":"stars"}`, policy.Allow, "small favours", 1},
		{erase, "write", `{"mail":"x"}`, policy.Deny, "customers are not erased from a chat", 1},
		{"shop.close", "write", `{}`, policy.Ask, "", 1},
	} {
		v := policy.Judge(context.Background(), parts.Policy, policy.Call{Tool: tt.tool, Known: true, Effect: tt.effect, Args: json.RawMessage(tt.args)})
		if v.Decision != tt.want || tt.rule != "" && v.Rule != tt.rule || v.Audience.Quorum != tt.quorum {
			t.Errorf("%s %s: %s by %q, %d", tt.tool, tt.args, v.Decision, v.Rule, v.Audience.Quorum)
		}
	}
}
