package inbox

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store/sqlite"
	"github.com/holdshort/holdshort/tool"
)

const deskTenant holdshort.TenantID = "default"

// deskPeople are those who look: a header says who somebody is, as a cookie would.
var deskPeople = map[string][]string{"ana": {policy.Reviewer}, "ben": {policy.Reviewer}, "fin": {"finance"}, "olga": {policy.Operator}, "aud": {policy.Auditor}, "adm": {policy.Admin}, "eve": nil}

func deskActor(name string) holdshort.Actor {
	return holdshort.Actor{ID: name, Kind: holdshort.Person, Name: strings.ToUpper(name[:1]) + name[1:], Roles: deskPeople[name], Assurance: holdshort.AssuranceLogin}
}

// deskBed is the pages over a whole engine.
type deskBed struct {
	t      *testing.T
	engine *engine.Engine
	http   *httptest.Server
	raiser holdshort.Actor
}

func newDeskBed(t *testing.T) *deskBed {
	t.Helper()
	b := &deskBed{t: t}
	log := slog.New(slog.DiscardHandler)
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "desk.db"), sqlite.Options{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	called := func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Value: json.RawMessage(`"done"`)}, nil
	}
	object := json.RawMessage(`{"type":"object"}`)
	tools := []tool.Tool{{Name: "orders.refund", Effect: tool.Write, Reversible: tool.Yes, Schema: object, Call: called}, {Name: "mail.send", Effect: tool.Write, Reversible: tool.External, Schema: object, Call: called},
		{Name: "disk.erase", Effect: tool.Write, Reversible: tool.Irreversible, Schema: object, Call: called}, {Name: "bank.send", Effect: tool.Write, Reversible: tool.Yes, Schema: object, Call: called}}
	rules := policy.Func(func(_ context.Context, c policy.Call) (policy.Verdict, error) {
		v := policy.Verdict{Decision: policy.Ask, Rule: "a person looks", Audience: holdshort.Audience{Roles: []string{policy.Reviewer}}, ExpiresIn: time.Hour}
		switch {
		case c.Tool == "bank.send":
			v.Redacted = []string{"iban"}
		case strings.Contains(string(c.Args), `"two":true`):
			v.Audience.Quorum = 2
		case strings.Contains(string(c.Args), `"finance":true`):
			v.Audience.Roles = []string{"finance"}
		}
		return v, nil
	})
	if b.engine, err = engine.New(s, engine.Config{Tools: tools, Policy: rules, Logger: log}); err != nil {
		t.Fatal(err)
	}
	people, err := identity.New(b.engine, identity.Config{Logger: log, Hook: func(r *http.Request) (identity.Who, bool, error) {
		name := r.Header.Get("X-Test-Who")
		if c, err := r.Cookie("test_who"); err == nil {
			name = c.Value
		}
		if _, known := deskPeople[name]; !known {
			return identity.Who{}, false, nil
		}
		return identity.Who{Tenant: deskTenant, Actor: deskActor(name), Method: identity.ByLogin, CSRF: true}, true, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	in, err := New(b.engine, people, Options{Logger: log, Rate: -1, Undo: -1})
	if err != nil {
		t.Fatal(err)
	}
	b.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, ok := strings.CutPrefix(r.URL.Path, "/as/"); ok { // a browser comes in
			http.SetCookie(w, &http.Cookie{Name: "test_who", Value: name, Path: "/", HttpOnly: true})
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		in.ServeHTTP(w, r)
	}))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.engine.Run(ctx) }()
	<-b.engine.Ready()
	t.Cleanup(func() {
		in.Close()
		b.http.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	key, _, err := b.engine.CreateKey(t.Context(), deskTenant, engine.CreateKeyInput{Name: "gate", Scopes: []string{holdshort.ScopeRaise, holdshort.ScopeClaim}, Actor: holdshort.SystemActor("test")})
	if err != nil {
		t.Fatal(err)
	}
	b.raiser = key.Actor()
	return b
}

// asks raises a request and gives it as it stands.
func (b *deskBed) asks(in engine.AskInput) holdshort.Request {
	b.t.Helper()
	in.Actor = b.raiser
	if in.Kind == "" {
		in.Kind = holdshort.Approval
	}
	out, err := b.engine.Ask(b.t.Context(), deskTenant, in)
	if err != nil {
		b.t.Fatal(err)
	}
	return out.Request
}

// call raises an approval of one call.
func (b *deskBed) call(tool, args string) holdshort.Request {
	b.t.Helper()
	return b.asks(engine.AskInput{Question: "Run " + tool + " " + args + "?", Actions: []engine.AskAction{{Tool: tool, Args: json.RawMessage(args)}}})
}

func (b *deskBed) decides(who string, req holdshort.Request, verb holdshort.Verb) {
	b.t.Helper()
	if _, err := b.engine.Decide(b.t.Context(), deskTenant, engine.DecideInput{Request: req.ID, Action: verb, Actor: deskActor(who)}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *deskBed) stands(req holdshort.Request) holdshort.Request {
	b.t.Helper()
	now, err := b.engine.RequestByID(b.t.Context(), deskTenant, req.ID)
	if err != nil {
		b.t.Fatal(err)
	}
	return now
}

type shown struct {
	status int
	header http.Header
	text   string
}

// get opens a page as somebody. headers: name, value, …
func (b *deskBed) get(who, path string, headers ...string) shown {
	b.t.Helper()
	return b.do(who, http.MethodGet, path, nil, headers...)
}

// post sends a form, from a page of ours unless a header says otherwise.
func (b *deskBed) post(who, path string, form url.Values, headers ...string) shown {
	b.t.Helper()
	return b.do(who, http.MethodPost, path, form, append([]string{"Sec-Fetch-Site", "same-origin"}, headers...)...)
}

func (b *deskBed) do(who, method, path string, form url.Values, headers ...string) shown {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.http.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if who != "" {
		r.Header.Set("X-Test-Who", who)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := b.http.Client().Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return shown{res.StatusCode, res.Header, string(raw)}
}

// rows are the ids of the rows that a page shows, in order.
func (s shown) rows() (ids []string) {
	for part := range strings.SplitSeq(s.text, `<li class="row`) {
		if _, after, ok := strings.Cut(part, ` id="row-`); ok && strings.HasPrefix(strings.TrimLeft(part, " abcdefghijklmnopqrstuvwxyz"), `" id="row-`) {
			id, _, _ := strings.Cut(after, `"`)
			ids = append(ids, id)
		}
	}
	return ids
}

func (s shown) has(t *testing.T, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(s.text, p) {
			t.Errorf("%q is not in the page (%d):\n%s", p, s.status, s.text)
		}
	}
}

func (s shown) lacks(t *testing.T, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(s.text, p) {
			t.Errorf("%q is in the page (%d)", p, s.status)
		}
	}
}

func idsOf(reqs ...holdshort.Request) string {
	var ids []string
	for _, r := range reqs {
		ids = append(ids, string(r.ID))
	}
	return fmt.Sprint(ids)
}

// urgent raises something critical.
func (b *deskBed) urgent(question string) holdshort.Request {
	b.t.Helper()
	return b.asks(engine.AskInput{Question: question, Priority: holdshort.PriorityCritical, ExpiresIn: time.Hour, Audience: holdshort.Audience{Roles: []string{policy.Reviewer}}})
}
