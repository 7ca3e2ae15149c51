package inbox

import (
	"context"
	"encoding/json"
	"net/url"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// A request from outside: its card follows it to the claim and to what became of it.
func TestCardOfTheGate(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	key, _, err := b.engine.CreateKey(t.Context(), cardTenant, engine.CreateKeyInput{Name: "builder", Scopes: []string{holdshort.ScopeRaise, holdshort.ScopeClaim}, Actor: holdshort.SystemActor("test")})
	if err != nil {
		t.Fatal(err)
	}
	asked, err := b.engine.Ask(t.Context(), cardTenant, engine.AskInput{Kind: holdshort.Approval, Actor: key.Actor(), Context: json.RawMessage(`{"branch":"<main>"}`), Actions: []engine.AskAction{{Tool: "deploy.run", Args: json.RawMessage(`{"env":"prod"}`)}}})
	if err != nil {
		t.Fatal(err)
	}
	req := asked.Request
	path := "/requests/" + string(req.ID) + "/card"
	b.get("ana", path).has(t, "by builder", "not known whether it can be undone", "What goes with it", "&lt;main&gt;", "Approve deploy.run")
	if got := b.decide("ana", req, "action", "approve"); got.status != 200 {
		t.Fatalf("%d %.400s", got.status, got.body)
	}
	b.get("ana", path).has(t, "waits to be claimed by whoever asked", "data-going")
	claimed, err := b.engine.Claim(t.Context(), cardTenant, engine.ClaimInput{Request: req.ID, Actor: key.Actor()})
	if err != nil {
		t.Fatal(err)
	}
	b.get("ana", path).has(t, "running…", "data-going")
	if _, err := b.engine.Outcome(t.Context(), cardTenant, engine.OutcomeInput{Request: req.ID, Token: claimed.Token, Status: holdshort.OperationDone, Actor: key.Actor()}); err != nil {
		t.Fatal(err)
	}
	done := b.get("ana", path)
	done.has(t, ">done<")
	done.lacks(t, "data-going", "waits to be claimed")
}

// The end of the conversation stands on the card, as text, to those who decide and those who see the session; only the latter can go there.
func TestCardShowsTheConversation(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	session, err := b.engine.OpenSession(t.Context(), cardTenant, engine.OpenSessionInput{User: "cora", Flow: "refund"})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "two", "three", "four", "five", "six", "My account is DE-SECRET-1 <script>x</script>", "last words"} {
		if _, err := b.engine.AppendMessages(t.Context(), cardTenant, engine.AppendInput{Session: session.ID, Actor: holdshort.Actor{ID: "adam", Kind: holdshort.Person, Roles: []string{"admin"}},
			Messages: []engine.NewMessage{{Sender: "user", Parts: []holdshort.Part{{Type: "text", Text: text}}}}}); err != nil {
			t.Fatal(err)
		}
	}
	run, err := b.engine.Start(t.Context(), cardTenant, engine.StartInput{Flow: "refund", User: "cora", Session: session.ID, Actor: holdshort.SystemActor("test"), Input: json.RawMessage(refundArgs)})
	if err != nil {
		t.Fatal(err)
	}
	if run, err = b.engine.AwaitRun(t.Context(), cardTenant, run.ID, engine.Resting); err != nil {
		t.Fatal(err)
	}
	ids, err := b.engine.OpenRequests(t.Context(), cardTenant, run)
	if err != nil || len(ids) != 1 {
		t.Fatalf("%v, %v", ids, err)
	}
	path, link := "/requests/"+string(ids[0])+"/card", `href="/sessions/`+string(session.ID)+`"`
	olga := b.get("olga", path)
	olga.has(t, "last words", link, "all of it")
	olga.lacks(t, "<p dir=\"auto\">one</p>", "<script>x")
	ben := b.get("ben", path)
	ben.has(t, "last words", "The conversation")
	ben.lacks(t, link, "DE-SECRET", "<script>x")
	rea := b.get("rea", path) // a reviewer who is not asked
	rea.lacks(t, "last words", link, "DE-SECRET")
}

// The card is also that of somebody who has nothing but a link to it.
func TestCardByLink(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	req := b.start("mail", `{"to":"a@example.org","body":"x"}`)
	v := &visit{Inbox: b.inbox, ctx: context.Background(), now: req.CreatedAt}
	v.who.Tenant, v.who.Method, v.who.Actor = cardTenant, "link", holdshort.Actor{ID: "ben", Kind: holdshort.Person, Roles: []string{"finance"}, Assurance: holdshort.AssuranceLink}
	card, err := v.card(req.ID, draft{token: "the-token"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := b.inbox.looks.text("card", card)
	if err != nil {
		t.Fatal(err)
	}
	page := cardAnswer{status: 200, body: text}
	page.has(t, `action="/r/`+string(req.ID)+`"`, `name="t" value="the-token"`, `data-word="send"`, `value="fields"`)
	if _, err := v.decideForm(req.ID, url.Values{"action": {"reveal"}}, "the-token"); err != nil {
		t.Errorf("what is open cannot be revealed: %v", err)
	}
	b.decide("ana", req, "action", "reject")
	if _, err := v.decideForm(req.ID, url.Values{"action": {"reveal"}}, "the-token"); holdshort.CodeOf(err) != holdshort.Closed {
		t.Errorf("a link reveals what is closed: %v", err)
	}
	page.lacks(t, `href="/requests/`, `href="/runs/`, `href="/sessions/`, `action="/requests/`, `formaction="/requests/`)
}

// An edit that needs more people is no approval, and the card says so.
func TestCardOfWhatIsAskedAgain(t *testing.T) {
	t.Parallel()
	ana := holdshort.Actor{ID: "ana", Kind: holdshort.Person}
	seen := engine.RequestView{Next: "req_2", Decision: &holdshort.Decision{Action: holdshort.Edit, Actor: ana, Calls: []holdshort.CallDecision{{CallID: "a", Action: holdshort.Edit}}},
		Request: holdshort.Request{ID: "req_1", Status: holdshort.RequestResolved, Outcome: holdshort.Edited, Actions: []holdshort.Action{{CallID: "a", NeedsApproval: true}}}}
	if got := standingOf(seen, ana, time.Now()); got.Text != "You changed this. Others have to approve the changed form." || got.Next != "req_2" {
		t.Errorf("%+v", got)
	}
	if lines := (&visit{}).outcomeOf(sight{RequestView: seen}).Lines; len(lines) != 0 {
		t.Errorf("%+v", lines)
	}
	seen.Next = ""
	if got := standingOf(seen, ana, time.Now()); got.Text != "You changed and approved this." {
		t.Errorf("%+v", got)
	}
}
