package inbox

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// Whatever somebody calls a thing, it is text on every page that shows it: no tag, no attribute and no address is made of it.
func TestAttackMarkup(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	const evil = `"'><script>alert(1)</script><img src=x onerror=alert(2)><a href="javascript:alert(3)" hx-get="/evil">x</a>` + "`{{.}}"
	long := func(text string) string { return strings.ReplaceAll(text, " ", "") }
	key, _, err := b.engine.CreateKey(t.Context(), cardTenant, engine.CreateKeyInput{Name: evil, Scopes: []string{holdshort.ScopeRaise, holdshort.ScopeClaim}, Actor: holdshort.SystemActor("test")})
	if err != nil {
		t.Fatal(err)
	}
	args, err := json.Marshal(map[string]any{evil: evil, "amount": 3, "list": []any{evil, map[string]any{evil: "\u202e" + evil}}, "long": strings.Repeat(evil+"\n", 60)})
	if err != nil {
		t.Fatal(err)
	}
	raiser := key.Actor()
	raiser.Name = evil
	var ids []holdshort.RequestID
	for _, in := range []engine.AskInput{
		{Kind: holdshort.Approval, Question: evil + "\n" + evil, Actions: []engine.AskAction{{Tool: long(evil)[:60], Args: args}}, Context: args},
		{Kind: holdshort.Clarification, Question: evil, ExpectedInput: holdshort.Form, Schema: json.RawMessage(`{"type":"object","properties":{"javascript:alert(1)":{"type":"string","title":` + quoted(evil) + `,"description":` + quoted(evil) + `,"default":` + quoted(evil) + `},"pick":{"enum":[` + quoted(evil) + `]}}}`)},
		{Kind: holdshort.Disambiguation, Question: evil, ExpectedInput: holdshort.SingleChoice, Options: []holdshort.Option{{ID: long(evil)[:40], Label: evil}, {ID: "b", Label: "b"}}},
	} {
		in.Actor, in.Audience = raiser, holdshort.Audience{Roles: []string{"finance"}}
		asked, err := b.engine.Ask(t.Context(), cardTenant, in)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, asked.Request.ID)
		if _, err := b.engine.Comment(t.Context(), cardTenant, engine.CommentInput{Request: asked.Request.ID, Text: evil, Actor: holdshort.Actor{ID: "adam", Name: evil, Kind: holdshort.Person, Roles: []string{"admin"}}}); err != nil {
			t.Fatal(err)
		}
	}
	session, err := b.engine.OpenSession(t.Context(), cardTenant, engine.OpenSessionInput{User: evil, Flow: "refund", Channel: evil, Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.engine.AppendMessages(t.Context(), cardTenant, engine.AppendInput{Session: session.ID, Actor: holdshort.Actor{ID: "adam", Kind: holdshort.Person, Roles: []string{"admin"}},
		Messages: []engine.NewMessage{{Sender: "user", Parts: []holdshort.Part{{Type: "text", Text: evil}, {Type: "file", Name: evil, URL: "javascript:alert(1)"}}}}}); err != nil {
		t.Fatal(err)
	}
	run, err := b.engine.Start(t.Context(), cardTenant, engine.StartInput{Flow: "refund", User: evil, Session: session.ID, Actor: holdshort.SystemActor("test"), Input: args})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.engine.AwaitRun(t.Context(), cardTenant, run.ID, engine.Resting); err != nil {
		t.Fatal(err)
	}
	q := url.QueryEscape(evil)
	paths := []string{"/", "/?q=" + q, "/?kind=" + q, "/?view=decided&outcome=" + q, "/runs?name=" + q, "/runs/" + string(run.ID), "/sessions?user=" + q, "/sessions", "/sessions/" + string(session.ID), "/playground/" + string(session.ID), "/audit", "/audit?actor=" + q, "/audit?type=" + q,
		"/policy?rule=" + q, "/settings/keys", "/settings/people", "/settings?said=" + q, "/overview?period=" + q, "/requests/" + url.PathEscape(evil), "/r/" + url.PathEscape(evil), "/" + url.PathEscape(evil)}
	for _, id := range ids {
		paths = append(paths, "/requests/"+string(id), "/requests/"+string(id)+"/card?edit", "/r/"+string(id))
	}
	bad := []string{`<script>alert`, `<img src=x`, `href="javascript:`, `src="javascript:`, `action="javascript:`, `"'>`, `hx-get="/evil`} // escaped text has no bare quotes
	look := func(who, path string) {
		t.Helper()
		got := b.call(who, "GET", path, nil, "HX-Request", "", "Accept", "text/html")
		lower := strings.ToLower(got.body)
		for _, markup := range bad {
			if at := strings.Index(lower, markup); at >= 0 {
				t.Errorf("%s %s: …%s", who, path, lower[max(0, at-100):min(len(lower), at+100)])
			}
		}
		if policy := got.header.Get("Content-Security-Policy"); got.status != http.StatusSeeOther && (policy == "" || strings.Contains(policy, "unsafe")) {
			t.Errorf("%s %s: %d with the policy %q", who, path, got.status, policy)
		}
	}
	for _, who := range []string{"ana", "adam"} {
		for _, path := range paths {
			look(who, path)
		}
	}
}

func quoted(text string) string {
	raw, _ := json.Marshal(text) // a text is always JSON
	return string(raw)
}
