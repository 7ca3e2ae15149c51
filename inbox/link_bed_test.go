package inbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
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
	"github.com/holdshort/holdshort/api"
	"github.com/holdshort/holdshort/demo"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/inbox"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store/sqlite"
	"github.com/holdshort/holdshort/tool"
)

const bedTenant holdshort.TenantID = "default"

// linkBed is a whole server in one test: store, engine, identity, API and pages, on loopback, with a log that is kept.
type linkBed struct {
	engine  *engine.Engine
	people  *identity.Identity
	http    *httptest.Server
	refunds *atomic.Int64
	log     *lockedBuffer
	clock   *demo.Clock
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

type bedRefund struct {
	Order  string  `json:"order"`
	Amount float64 `json:"amount"`
}

func asJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

var bedFlows = []flow.Flow{
	flow.New("refund", 1, func(c *flow.Context, in bedRefund) (string, error) {
		return flow.Call[string](c, "refund", "orders.refund", in)
	}),
	flow.New("pair", 1, func(c *flow.Context, in bedRefund) ([]string, error) {
		results, err := flow.Calls(c, "both", []flow.Request{{ID: "one", Tool: "orders.refund", Args: asJSON(in)}, {ID: "two", Tool: "orders.refund", Args: asJSON(bedRefund{in.Order + "b", in.Amount})}})
		var out []string
		for _, r := range results {
			out = append(out, string(r.Value))
		}
		return out, err
	}),
	flow.New("bank", 1, func(c *flow.Context, args json.RawMessage) (string, error) {
		return flow.Call[string](c, "send", "bank.send", args)
	}),
	flow.New("wipe", 1, func(c *flow.Context, args json.RawMessage) (string, error) {
		return flow.Call[string](c, "wipe", "disk.wipe", args)
	}),
	flow.New("ask", 1, func(c *flow.Context, kind string) (json.RawMessage, error) {
		q := flow.Question{Text: "Which of them?", To: holdshort.Audience{Roles: []string{policy.Reviewer}}, Expires: time.Hour}
		apples, pears, plums := holdshort.Option{ID: "a", Label: "Apples"}, holdshort.Option{ID: "b", Label: "Pears"}, holdshort.Option{ID: "c", Label: "Plums"}
		switch kind {
		case "one":
			got, err := flow.Choose(c, "q", q, apples, pears)
			return asJSON(got), err
		case "soon":
			q.Expires = time.Minute
		case "many":
			got, err := flow.ChooseMany(c, "q", q, apples, pears, plums)
			return asJSON(got), err
		case "form":
			return flow.Form[json.RawMessage](c, "q", q, json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","title":"Full name"},"count":{"type":"integer"},"size":{"enum":["small","large"]},"gift":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string"}}},"required":["name","count"],"additionalProperties":false}`))
		}
		got, err := flow.Ask(c, "q", q)
		return asJSON(got), err
	}),
}

// bedRules: refunds over 1000 need two, what goes to a bank is withheld.
var bedRules = policy.Func(func(_ context.Context, call policy.Call) (policy.Verdict, error) {
	v := policy.Verdict{Decision: policy.Ask, Rule: "refunds <b>need</b> a person", Audience: holdshort.Audience{Roles: []string{policy.Reviewer}}, ExpiresIn: time.Hour, Editable: []string{"amount"}}
	var in struct {
		Amount float64 `json:"amount"`
	}
	if err := json.Unmarshal(call.Args, &in); err != nil {
		return v, err
	}
	if in.Amount > 1000 {
		v.Audience.Quorum = 2
	}
	if call.Tool == "bank.send" {
		v.Redacted = []string{"iban"}
	}
	return v, nil
})

// deafReceiver takes nothing that it is sent.
type deafReceiver struct{}

func (deafReceiver) Send(context.Context, holdshort.TenantID, holdshort.Delivery) error {
	return engine.Refused(errors.New("the receiver said <b>no</b>"))
}

func newLinkBed(t *testing.T, change ...func(*identity.Config, *inbox.Options)) *linkBed {
	t.Helper()
	clock := &demo.Clock{}
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pages.db"), sqlite.Options{Clock: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	d := &linkBed{refunds: new(atomic.Int64), log: new(lockedBuffer), clock: clock}
	log := slog.New(slog.NewTextHandler(d.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	call := func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Value: json.RawMessage(`"re_` + strings.Repeat("1", int(d.refunds.Add(1))) + `"`)}, nil
	}
	tools := []tool.Tool{
		{Name: "orders.refund", Effect: tool.Write, Schema: json.RawMessage(`{"type":"object","properties":{"order":{"type":"string"},"amount":{"type":"number"}},"required":["order","amount"],"additionalProperties":false}`), Call: call},
		{Name: "bank.send", Effect: tool.Write, Schema: json.RawMessage(`{"type":"object"}`), Call: call},
		{Name: "disk.wipe", Effect: tool.Write, Reversible: tool.Irreversible, Schema: json.RawMessage(`{"type":"object"}`), Call: call},
	}
	if d.engine, err = engine.New(s, engine.Config{Flows: bedFlows, Tools: tools, Policy: bedRules, Clock: clock.Now, Grace: 5 * time.Second, Logger: log, Senders: map[string]engine.Sender{engine.WebhookChannel: deafReceiver{}}}); err != nil {
		t.Fatal(err)
	}
	config, options := identity.Config{AdminKey: "an-administrators-key-for-tests", Logger: log}, inbox.Options{Logger: log, Rate: -1}
	for _, c := range change {
		c(&config, &options)
	}
	if d.people, err = identity.New(d.engine, config); err != nil {
		t.Fatal(err)
	}
	pages, err := inbox.New(d.engine, d.people, options)
	if err != nil {
		t.Fatal(err)
	}
	door, err := api.New(d.engine, d.people, api.Options{Logger: log, Rate: -1, Pages: pages})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.engine.Run(ctx) }()
	<-d.engine.Ready()
	mux := http.NewServeMux()
	mux.Handle("/login", d.people.LoginHandler())
	mux.Handle("/logout", d.people.LogoutHandler())
	mux.Handle("/", door)
	d.http = httptest.NewServer(mux)
	t.Cleanup(func() {
		door.Close()
		pages.Close()
		d.http.CloseClientConnections()
		d.http.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// People whom the tests know.
var (
	ana  = holdshort.Actor{ID: "ana", Kind: holdshort.Person, Roles: []string{policy.Reviewer}}
	ben  = holdshort.Actor{ID: "ben", Kind: holdshort.Person}
	ada  = holdshort.Actor{ID: "ada", Kind: holdshort.Person, Roles: []string{policy.Admin}}
	olga = holdshort.Actor{ID: "olga", Kind: holdshort.Person, Roles: []string{policy.Operator}}
	ida  = holdshort.Actor{ID: "ida", Kind: holdshort.Person, Roles: []string{policy.Auditor}}
	none = holdshort.Actor{}
)

type bedAnswer struct {
	status int
	header http.Header
	body   string
}

// login gives the cookie of somebody who is logged in.
func (d *linkBed) login(t *testing.T, actor holdshort.Actor) string {
	t.Helper()
	token, err := d.engine.CreateLogin(t.Context(), bedTenant, holdshort.Login{Kind: holdshort.LoginSession, Actor: actor})
	if err != nil {
		t.Fatal(err)
	}
	return "holdshort=" + token
}

// page opens a page as a browser would. form nil: it only looks.
func (d *linkBed) page(t *testing.T, who holdshort.Actor, path string, form url.Values, headers ...string) bedAnswer {
	t.Helper()
	method, body := "GET", io.Reader(nil)
	if form != nil {
		method, body = "POST", strings.NewReader(form.Encode())
	}
	if len(headers) > 0 && headers[0] == "HEAD" {
		method, headers = "HEAD", headers[1:]
	}
	r, err := http.NewRequestWithContext(t.Context(), method, d.http.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if who.ID != "" {
		r.Header.Set("Cookie", d.login(t, who))
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return bedAnswer{res.StatusCode, res.Header, string(raw)}
}

// starts begins a flow for ben and gives the one request that it asks.
func (d *linkBed) starts(t *testing.T, name string, input any) (holdshort.RunID, holdshort.RequestID) {
	t.Helper()
	run, err := d.engine.Start(t.Context(), bedTenant, engine.StartInput{Flow: name, User: "ben", Input: asJSON(input)})
	if err != nil {
		t.Fatal(err)
	}
	d.awaits(t, run.ID, func(r holdshort.Run) bool { return r.Status == holdshort.RunWaiting || r.Status.Ended() })
	page, err := d.engine.Requests(t.Context(), bedTenant, engine.RequestQuery{Run: run.ID, Status: holdshort.RequestOpen})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("%s asks %d things: %v", name, len(page.Items), err)
	}
	return run.ID, page.Items[0].ID
}

func (d *linkBed) awaits(t *testing.T, id holdshort.RunID, enough func(holdshort.Run) bool) holdshort.Run {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	run, err := d.engine.AwaitRun(ctx, bedTenant, id, enough)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// ends waits for a run's end.
func (d *linkBed) ends(t *testing.T, id holdshort.RunID) holdshort.Run {
	t.Helper()
	return d.awaits(t, id, func(r holdshort.Run) bool { return r.Status.Ended() })
}

func (d *linkBed) status(t *testing.T, id holdshort.RequestID) holdshort.RequestStatus {
	t.Helper()
	req, err := d.engine.RequestByID(t.Context(), bedTenant, id)
	if err != nil {
		t.Fatal(err)
	}
	return req.Status
}

// events counts what the log has, by name.
func (d *linkBed) events(t *testing.T) map[string]int {
	t.Helper()
	all := map[string]int{}
	for after := int64(0); ; {
		page, err := d.engine.Events(t.Context(), bedTenant, engine.EventQuery{After: after})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Items) == 0 {
			return all
		}
		for _, e := range page.Items {
			if !strings.HasPrefix(e.Type, "login.") { // the test's own
				all[e.Type]++
			}
			after = max(after, e.Position)
		}
	}
}

var onceField = regexp.MustCompile(`name="once" value="([^"]+)"`)

// once is the key of the form on a page.
func (a bedAnswer) once(t *testing.T) string {
	t.Helper()
	found := onceField.FindStringSubmatch(a.body)
	if found == nil {
		t.Fatalf("the page has no form that is done once: %d %s", a.status, a.body)
	}
	return found[1]
}
