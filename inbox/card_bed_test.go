package inbox

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/demo"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store/sqlite"
	"github.com/holdshort/holdshort/tool"
)

const cardTenant holdshort.TenantID = "default"

// cardBed is pages over a real engine, with people: ana and ben are of finance, rea reviews, olga operates, adam administers, abe audits, eve
// is nobody, and cora is who everything is done for.
type cardBed struct {
	t      *testing.T
	engine *engine.Engine
	inbox  *Inbox
	clock  *demo.Clock
	paid   atomic.Int64
	sent   atomic.Int64
	mu     sync.Mutex
	keys   map[string]string
}

var cardFlows = []flow.Flow{
	flow.New("refund", 1, func(c *flow.Context, in json.RawMessage) (json.RawMessage, error) {
		return flow.Call[json.RawMessage](c, "refund", "orders.refund", in)
	}),
	flow.New("mail", 1, func(c *flow.Context, in json.RawMessage) (json.RawMessage, error) {
		return flow.Call[json.RawMessage](c, "mail", "mail.send", in)
	}),
	flow.New("lose", 1, func(c *flow.Context, in json.RawMessage) (json.RawMessage, error) {
		return flow.Call[json.RawMessage](c, "lose", "orders.lose", in)
	}),
	flow.New("batch", 1, func(c *flow.Context, in json.RawMessage) (string, error) {
		_, err := flow.Calls(c, "all", []flow.Request{
			{ID: "look", Tool: "orders.look", Args: json.RawMessage(`{"order":"1"}`)},
			{ID: "pay", Tool: "orders.refund", Args: json.RawMessage(`{"order":"1","amount":20,"iban":"DE-SECRET-1"}`)},
			{ID: "tell", Tool: "mail.send", Args: json.RawMessage(`{"to":"cora@example.org","body":"hello"}`)},
			{ID: "tell2", Tool: "mail.send", Args: json.RawMessage(`{"to":"dora@example.org","body":"hello"}`)},
		})
		return "done", err
	}),
	flow.New("hurry", 1, func(c *flow.Context, in json.RawMessage) (string, error) {
		return flow.Ask(c, "q", flow.Question{Text: "Quick?", To: holdshort.Audience{Roles: []string{"finance"}}, Expires: time.Minute})
	}),
	flow.New("ask", 1, func(c *flow.Context, kind string) (json.RawMessage, error) {
		q := flow.Question{Text: "Which of them?", To: holdshort.Audience{Roles: []string{"finance"}}, Expires: time.Hour}
		marshal := func(v any, err error) (json.RawMessage, error) {
			if err != nil {
				return nil, err
			}
			return json.Marshal(v)
		}
		one, two := holdshort.Option{ID: "a", Label: "Apples"}, holdshort.Option{ID: "b", Label: "<b>Pears</b>"}
		switch kind {
		case "single":
			return marshal(flow.Choose(c, "q", q, one, two))
		case "multi":
			return marshal(flow.ChooseMany(c, "q", q, one, two))
		case "form":
			return flow.Form[json.RawMessage](c, "q", q, json.RawMessage(cardSchema))
		case "confirm":
			return marshal(flow.Confirm(c, "q", q))
		case "approve":
			return marshal(flow.Approve(c, "q", q))
		case "escalate":
			return marshal(flow.Escalate(c, "q", q))
		case "mend":
			q.Context = map[string]any{"tool": "orders.wrap", "field": "paper", "current_value": "gold", "valid_values": []string{"plain", "stars"}, "attempt": 1, "of": 3}
			return marshal(flow.Mend(c, "q", q))
		}
		return marshal(flow.Ask(c, "q", q))
	}),
}

const cardSchema = `{"type":"object","required":["name","count"],"additionalProperties":false,"properties":{
	"name":{"type":"string","title":"Full name","minLength":2},"count":{"type":"integer","minimum":1,"maximum":9},"gift":{"type":"boolean"},
	"lines":{"type":"array","items":{"type":"object","required":["sku"],"properties":{"sku":{"type":"string"},"n":{"type":"integer"}}}}}}`

// cardRules: refunds ask one of finance, from 1000 on two, over 5000 nobody can; accounts are withheld.
var cardRules = policy.Func(func(_ context.Context, call policy.Call) (policy.Verdict, error) {
	v := policy.Verdict{Decision: policy.Ask, Rule: "money", Version: "v1", Audience: holdshort.Audience{Roles: []string{"finance"}}, ExpiresIn: time.Hour, Editable: []string{"amount", "note"}, Redacted: []string{"iban", "deep.secret"}}
	var in struct {
		Amount float64 `json:"amount"`
	}
	if err := json.Unmarshal(call.Args, &in); err != nil {
		return v, err
	}
	switch {
	case call.Effect == "read":
		return policy.Verdict{Decision: policy.Allow, Rule: "reads"}, nil
	case call.Tool == "mail.send":
		v.Rule, v.Editable, v.Redacted = "letters", []string{"*"}, nil
	case in.Amount > 5000:
		return policy.Verdict{Decision: policy.Deny, Rule: "too much"}, nil
	case in.Amount >= 1000:
		v.Rule, v.Audience.Quorum = "much money", 2
	}
	return v, nil
})

func newCardBed(t *testing.T) *cardBed {
	t.Helper()
	clock := &demo.Clock{}
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "card.db"), sqlite.Options{Clock: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	b := &cardBed{t: t, clock: clock, keys: map[string]string{}}
	log := slog.New(slog.DiscardHandler)
	tools := []tool.Tool{
		{Name: "orders.look", Effect: tool.Read, Call: func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Value: json.RawMessage(`"seen"`)}, nil
		}},
		{Name: "orders.refund", Reversible: tool.External, Schema: json.RawMessage(`{"type":"object","required":["order","amount"],"properties":{"order":{"type":"string"},"amount":{"type":"number","minimum":1},"iban":{"type":"string"},"note":{"type":"string"},"deep":{"type":"object"},"currency":{"type":"string"}}}`),
			Call: func(_ context.Context, c tool.Call) (tool.Result, error) {
				b.paid.Add(1)
				return tool.Result{Value: json.RawMessage(`{"receipt":"re_77","args":` + string(c.Args) + `}`)}, nil
			}},
		{Name: "mail.send", Reversible: tool.Irreversible, Call: func(context.Context, tool.Call) (tool.Result, error) {
			b.sent.Add(1)
			return tool.Result{Value: json.RawMessage(`"sent"`)}, nil
		}},
		{Name: "orders.lose", Reversible: tool.Yes, Timeout: 50 * time.Millisecond, Call: func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{}, errors.New("the line went dead")
		}},
	}
	if b.engine, err = engine.New(s, engine.Config{Flows: cardFlows, Tools: tools, Policy: cardRules, Clock: clock.Now, Logger: log}); err != nil {
		t.Fatal(err)
	}
	people, err := identity.New(b.engine, identity.Config{AdminKey: "an-administrators-key-for-tests", Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	if b.inbox, err = New(b.engine, people, Options{Rate: -1, Logger: log}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.engine.Run(ctx) }()
	<-b.engine.Ready()
	t.Cleanup(func() {
		b.inbox.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *cardBed) key(who string) string {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if secret, ok := b.keys[who]; ok {
		return secret
	}
	roles := map[string][]string{"ana": {"finance", policy.Operator}, "ben": {"finance"}, "rea": {policy.Reviewer}, "olga": {policy.Operator}, "adam": {policy.Admin}, "abe": {policy.Auditor}}[who]
	_, secret, err := b.engine.CreateKey(context.Background(), cardTenant, engine.CreateKeyInput{Name: who, User: who, Roles: roles, Actor: holdshort.SystemActor("test")})
	if err != nil {
		b.t.Fatal(err)
	}
	b.keys[who] = secret
	return secret
}

// start runs a flow until it rests, and gives the request that it waits for.
func (b *cardBed) start(name, input string) holdshort.Request {
	b.t.Helper()
	run, err := b.engine.Start(b.t.Context(), cardTenant, engine.StartInput{Flow: name, User: "cora", Actor: holdshort.SystemActor("test"), Input: json.RawMessage(input)})
	if err != nil {
		b.t.Fatal(err)
	}
	if run, err = b.engine.AwaitRun(b.t.Context(), cardTenant, run.ID, engine.Resting); err != nil {
		b.t.Fatal(err)
	}
	ids, err := b.engine.OpenRequests(b.t.Context(), cardTenant, run)
	if err != nil || len(ids) != 1 {
		b.t.Fatalf("the run waits for %v, %v: %+v", ids, err, run.Error)
	}
	req, err := b.engine.RequestByID(b.t.Context(), cardTenant, ids[0])
	if err != nil {
		b.t.Fatal(err)
	}
	return req
}

// indexed waits until a search for a word finds a request. The engine's own loop indexes it: Tick would race with that loop.
func (b *cardBed) indexed(req holdshort.Request, word string) {
	b.t.Helper()
	eventually(b.t, "a search for "+word+" does not find "+string(req.ID), func() bool {
		return strings.Contains(b.get("ana", "/?q="+word).body, "row-"+string(req.ID))
	})
}

// rest waits until the run of a request has come to rest.
func (b *cardBed) rest(req holdshort.Request) holdshort.Run {
	b.t.Helper()
	run, err := b.engine.AwaitRun(b.t.Context(), cardTenant, req.RunID, engine.Resting)
	if err != nil {
		b.t.Fatal(err)
	}
	return run
}

type cardAnswer struct {
	status int
	header http.Header
	body   string
}

// get and post are what somebody's script does on the pages.
func (b *cardBed) get(who, path string) cardAnswer { return b.call(who, "GET", path, nil) }

func (b *cardBed) post(who, path string, form url.Values, headers ...string) cardAnswer {
	return b.call(who, "POST", path, form, headers...)
}

func (b *cardBed) call(who, method, path string, form url.Values, headers ...string) cardAnswer {
	b.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	if method == "POST" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.Header.Set("HX-Request", "true")
	if who != "" {
		r.Header.Set("Authorization", "Bearer "+b.key(who))
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if r.Header.Del(headers[i]); headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	b.inbox.ServeHTTP(w, r)
	return cardAnswer{w.Code, w.Header(), w.Body.String()}
}

// form is what the card of a request sends, with these fields besides.
func (b *cardBed) form(who string, req holdshort.Request, pairs ...string) url.Values {
	b.t.Helper()
	page := b.get(who, "/requests/"+string(req.ID)+"/card")
	if page.status != http.StatusOK {
		b.t.Fatalf("%s gets %d: %s", who, page.status, page.body)
	}
	key := regexp.MustCompile(`name="key" value="(\w+)"`).FindStringSubmatch(page.body)
	if key == nil {
		b.t.Fatalf("no key in %s", page.body)
	}
	form := url.Values{"fingerprint": {req.Fingerprint}, "key": {key[1]}}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return form
}

// decide sends the card's form, after a look at what is withheld.
func (b *cardBed) decide(who string, req holdshort.Request, pairs ...string) cardAnswer {
	b.t.Helper()
	return b.post(who, "/requests/"+string(req.ID)+"/decide", b.seen(who, req, pairs...))
}

// seen is the form of somebody who has looked at what is withheld, if they may.
func (b *cardBed) seen(who string, req holdshort.Request, pairs ...string) url.Values {
	b.t.Helper()
	form := b.form(who, req, pairs...)
	page := b.post(who, "/requests/"+string(req.ID)+"/reveal", url.Values{})
	if proof := regexp.MustCompile(`data-proof="([^"]+)"`).FindStringSubmatch(page.body); proof != nil {
		form.Set("proof", proof[1])
	}
	return form
}

// unseen sends it without that look.
func (b *cardBed) unseen(who string, req holdshort.Request, pairs ...string) cardAnswer {
	b.t.Helper()
	return b.post(who, "/requests/"+string(req.ID)+"/decide", b.form(who, req, pairs...))
}

func (b *cardBed) standing(req holdshort.Request) holdshort.Request {
	b.t.Helper()
	now, err := b.engine.RequestByID(context.Background(), cardTenant, req.ID)
	if err != nil {
		b.t.Fatal(err)
	}
	return now
}

// has and lacks compare a page with what it must and must not say.
func (a cardAnswer) has(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			t.Errorf("%d, it does not say %q: %.300s", a.status, text, a.body)
		}
	}
}

func (a cardAnswer) lacks(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if i := strings.Index(a.body, text); i >= 0 {
			t.Errorf("%d, it says %q: …%s", a.status, text, a.body[max(0, i-150):min(len(a.body), i+150)])
		}
	}
}
