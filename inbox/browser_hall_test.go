package inbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
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
	"github.com/holdshort/holdshort/internal/browser"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/replay"
	"github.com/holdshort/holdshort/policy/rulebook"
	"github.com/holdshort/holdshort/store/sqlite"
	"github.com/holdshort/holdshort/tool"
)

// hall is the demo's desk within the test, with more to decide: every kind of request, and a server that can be made to fail.
type hall struct {
	testing.TB
	engine *engine.Engine
	people *identity.Identity
	http   *httptest.Server
	clock  *demo.Clock
	paid   atomic.Int64                                    // transfers
	sent   atomic.Int64                                    // decisions that a browser sent
	drift  atomic.Bool                                     // a flow is no longer what it was
	lose   atomic.Bool                                     // the bank does not answer
	refuse atomic.Pointer[func(*http.Request) (int, bool)] // what the server answers in place of the pages
}

// persons of the hall.
var persons = map[string]holdshort.Actor{
	"ana": demo.Visitor(),
	"ben": demo.Colleague(),
	"eve": {ID: "eve@example.org", Kind: holdshort.Person, Name: "Eve", Roles: []string{policy.Reviewer}, Assurance: holdshort.AssuranceLogin},
}

// hallFlows ask what the demo's own do not.
func (h *hall) hallFlows() []flow.Flow {
	call := func(name, tool string) flow.Flow {
		return flow.New(name, 1, func(c *flow.Context, in json.RawMessage) (json.RawMessage, error) {
			return flow.Call[json.RawMessage](c, name, tool, in)
		})
	}
	return []flow.Flow{call("transfer", "bank.transfer"), call("write", "files.write"), call("erase disk", "disk.erase"),
		flow.New("several", 1, func(c *flow.Context, n int) (string, error) {
			var calls []flow.Request
			for i := range n {
				calls = append(calls, flow.Request{ID: fmt.Sprint("pay", i), Tool: "bank.transfer", Args: json.RawMessage(fmt.Sprintf(`{"to":"supplier %d","amount":%d,"iban":"DE0212030000000020205%d"}`, i+1, 20*(i+1), i))})
			}
			calls = append(calls, flow.Request{ID: "file", Tool: "files.write", Args: json.RawMessage(`{"path":"report.txt","text":"paid"}`)})
			_, err := flow.Calls(c, "all", calls)
			return "done", err
		}),
		flow.New("march", 1, func(c *flow.Context, n int) (string, error) {
			for i := range n {
				if _, err := flow.Step(c, fmt.Sprintf("look at line %d", i+1), func(context.Context) (string, error) { return fmt.Sprint("line ", i+1), nil }); err != nil {
					return "", err
				}
			}
			_, err := flow.Each(c, "each country", []string{"de", "fr", "it"}, func(s string) string { return s }, func(c *flow.Context, s string) (string, error) {
				return flow.Step(c, "count "+s, func(context.Context) (string, error) { return s, nil })
			})
			return "all lines read", err
		}),
		flow.New("broken", 1, func(c *flow.Context, _ string) (string, error) {
			return flow.Step(c, "open the ledger", func(context.Context) (string, error) {
				return "", errors.New("the ledger is locked by another program")
			})
		}),
		flow.New("drifting", 1, func(c *flow.Context, _ string) (string, error) {
			count := flow.Step[int]
			if h.drift.Load() {
				count = flow.Model[int]
			}
			if _, err := count(c, "count the parcels", func(context.Context) (int, error) { return 3, nil }); err != nil {
				return "", err
			}
			return flow.Ask(c, "where to", flow.Question{Text: "Where do the parcels go?", To: holdshort.Audience{Roles: []string{policy.Reviewer}}})
		}),
		flow.New("ask", 1, func(c *flow.Context, in hallQuestion) (json.RawMessage, error) {
			q := flow.Question{Text: in.Text, To: holdshort.Audience{Roles: []string{policy.Reviewer}}, Expires: in.Expires, Priority: in.Priority, Context: map[string]any{"order": "79", "customer": "Cora Lind"}}
			if q.Expires == 0 {
				q.Expires = 72 * time.Hour
			}
			marshal := func(v any, err error) (json.RawMessage, error) {
				if err != nil {
					return nil, err
				}
				return json.Marshal(v)
			}
			one, two, three := holdshort.Option{ID: "a", Label: "Refund all of it"}, holdshort.Option{ID: "b", Label: "Send another"}, holdshort.Option{ID: "c", Label: "A voucher of 20 EUR"}
			switch in.Kind {
			case "one":
				return marshal(flow.Choose(c, "q", q, one, two, three))
			case "many":
				return marshal(flow.ChooseMany(c, "q", q, one, two, three))
			case "form":
				return flow.Form[json.RawMessage](c, "q", q, json.RawMessage(hallForm))
			case "confirm":
				return marshal(flow.Confirm(c, "q", q))
			case "escalate":
				return marshal(flow.Escalate(c, "q", q))
			case "mend":
				q.Context = map[string]any{"tool": "orders.wrap", "field": "paper", "current_value": "gold", "valid_values": []string{"plain", "stars"}, "attempt": 2, "of": 3}
				return marshal(flow.Mend(c, "q", q))
			}
			return marshal(flow.Ask(c, "q", q))
		})}
}

type hallQuestion struct {
	Kind, Text string
	Expires    time.Duration
	Priority   holdshort.Priority
}

const hallForm = `{"type":"object","required":["name","weight"],"additionalProperties":false,"properties":{
	"name":{"type":"string","title":"Full name","minLength":2,"description":"As it stands on the parcel."},"weight":{"type":"number","title":"Weight in kg","exclusiveMinimum":0,"maximum":40},
	"carrier":{"enum":["post","courier"],"title":"Who fetches it"},"gift":{"type":"boolean","title":"A present"},"day":{"type":"string","format":"date","title":"When"},
	"lines":{"type":"array","title":"What is in it","items":{"type":"object","required":["sku"],"properties":{"sku":{"type":"string","title":"Article"},"n":{"type":"integer","title":"How many"}}}}}}`

// hallRules are about the hall's own tools; the demo's stand for the rest.
func hallRules(others policy.Policy) policy.Policy {
	return policy.Func(func(ctx context.Context, call policy.Call) (policy.Verdict, error) {
		v := policy.Verdict{Decision: policy.Ask, Audience: holdshort.Audience{Roles: []string{"finance"}}, ExpiresIn: time.Hour, Version: "v1"}
		var in struct {
			Amount  float64       `json:"amount"`
			Expires time.Duration `json:"expires"`
		}
		switch call.Tool {
		case "bank.transfer":
			if err := json.Unmarshal(call.Args, &in); err != nil {
				return v, err
			}
			v.Rule, v.Editable, v.Redacted, v.Question = "transfers", []string{"amount", "note"}, []string{"iban"}, fmt.Sprintf("Transfer %v EUR?", in.Amount)
			if in.Amount >= 1000 {
				v.Rule, v.Audience.Quorum, v.Priority = "large transfers", 2, holdshort.PriorityHigh
			}
			if in.Amount != 60 { // that one is looked at before it is approved
				v.Blind = v.Redacted
			}
			if in.Amount == 13 {
				v.ExpiresIn = 4 * time.Minute
			}
			return v, nil
		case "files.write":
			v.Rule, v.Audience.Roles, v.Question = "files", []string{policy.Reviewer}, "Write this file?"
			return v, nil
		case "disk.erase":
			v.Rule, v.Priority, v.Question = "what cannot be undone", holdshort.PriorityCritical, "Erase a disk?"
			return v, nil
		}
		return others.Judge(ctx, call)
	})
}

func newHall(t testing.TB, undo time.Duration) *hall {
	t.Helper()
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	shop, err := demo.OpenShop(dir)
	if err != nil {
		t.Fatal(err)
	}
	desk := &demo.Desk{Shop: shop}
	parts, err := desk.Parts(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	h := &hall{TB: t, clock: &demo.Clock{}}
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, "hall.db"), sqlite.Options{Clock: h.clock.Now, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	transfer := tool.Tool{Name: "bank.transfer", Reversible: tool.External, Timeout: 200 * time.Millisecond, Call: h.transfer,
		Schema: json.RawMessage(`{"type":"object","required":["to","amount"],"additionalProperties":false,"properties":{"to":{"type":"string"},"amount":{"type":"number","minimum":1,"maximum":5000},"iban":{"type":"string"},"note":{"type":"string"}}}`)}
	done := func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Value: json.RawMessage(`"done"`)}, nil
	}
	config := parts.Engine(engine.Config{Flows: append(demo.Flows(), h.hallFlows()...), Clock: h.clock.Now, Drain: time.Second, Logger: log,
		Tools:   []tool.Tool{transfer, {Name: "files.write", Reversible: tool.Yes, Call: done}, {Name: "disk.erase", Reversible: tool.Irreversible, Call: done}},
		Senders: map[string]engine.Sender{engine.WebhookChannel: deafReceiver{}}})
	config.Policy = hallRules(parts.Policy)
	if h.engine, err = engine.New(s, config); err != nil {
		t.Fatal(err)
	}
	if h.people, err = identity.New(h.engine, identity.Config{Tenant: demo.Tenant, Logger: log}); err != nil {
		t.Fatal(err)
	}
	options := inbox.Options{Logger: log, Rate: -1, Undo: undo, Version: "1.2.3", Rules: &replay.Rules{Policy: config.Policy, Book: parts.Book, Places: parts.Places, Tools: config.Tools, Agents: []string{demo.Agent}, Store: s,
		Read: func([]byte) (*rulebook.Book, error) { return parts.Book, nil }}}
	for _, a := range parts.Listed {
		options.Agents = append(options.Agents, inbox.Agent{Name: a.Name, Description: a.Description, Tools: a.Tools, Examples: a.Examples})
	}
	pages, err := inbox.New(h.engine, h.people, options)
	if err != nil {
		t.Fatal(err)
	}
	door, err := api.New(h.engine, h.people, api.Options{Logger: log, Rate: -1, Pages: pages})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.engine.Run(ctx) }()
	<-h.engine.Ready()
	mux := http.NewServeMux()
	mux.Handle("/login", h.people.LoginHandler())
	mux.HandleFunc("/as/{who}", h.comeIn)
	mux.Handle("/", door)
	h.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/decide") {
			h.sent.Add(1)
		}
		if refuse := h.refuse.Load(); refuse != nil {
			if status, ok := (*refuse)(r); ok {
				w.WriteHeader(status)
				return
			}
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		door.Close()
		pages.Close()
		h.http.CloseClientConnections()
		h.http.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := errors.Join(parts.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
	return h
}

func (h *hall) transfer(ctx context.Context, call tool.Call) (tool.Result, error) {
	if h.lose.Load() {
		return tool.Result{}, errors.New("the line went dead")
	}
	n := h.paid.Add(1)
	return tool.Result{Value: json.RawMessage(fmt.Sprintf(`{"receipt":"re_%d","args":%s}`, n, call.Args))}, nil
}

// comeIn logs somebody in without more ado.
func (h *hall) comeIn(w http.ResponseWriter, r *http.Request) {
	token, err := h.engine.CreateLogin(r.Context(), demo.Tenant, holdshort.Login{Kind: holdshort.LoginSession, Actor: persons[r.PathValue("who")]})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: "holdshort", Value: token, Path: "/", HttpOnly: true})
	http.Redirect(w, r, r.URL.Query().Get("next"), http.StatusSeeOther)
}

// failing lets the server answer some calls with an error, until the function it gives is called.
func (h *hall) failing(status int, method, part string) func() {
	refuse := func(r *http.Request) (int, bool) {
		return status, (method == "" || r.Method == method) && strings.Contains(r.URL.Path, part)
	}
	h.refuse.Store(&refuse)
	return func() { h.refuse.Store(nil) }
}

// tab opens a page as somebody, and waits until it hears the server.
func (h *hall) tab(who string, look browser.Look, path string) *browser.Tab {
	h.Helper()
	tab := browser.Start(h.TB).Tab(h.TB, look)
	h.in(tab, who, path)
	return tab
}

// in opens a page as somebody in a tab that is there.
func (h *hall) in(tab *browser.Tab, who, path string) {
	h.Helper()
	tab.Open(h.http.URL + "/as/" + who + "?next=" + path)
	tab.Wait(`document.getElementById("state")?.textContent.startsWith("live")`)
}

// shown waits until a request can be decided by keys: what has only just come under the finger is not.
func shown(tab *browser.Tab, id holdshort.RequestID) {
	tab.Helper()
	tab.Wait(fmt.Sprintf(`document.querySelector("#card:not([aria-busy]) article[data-id='%s']")?.dataset.settled`, id))
	browser.Eval[bool](tab, `new Promise(done => setTimeout(() => done(true), 450))`)
}

// show opens the card of a request.
func (h *hall) show(tab *browser.Tab, id holdshort.RequestID) {
	h.Helper()
	tab.Open(h.http.URL + "/requests/" + string(id))
	tab.Wait(`document.getElementById("state")?.textContent.startsWith("live")`)
	shown(tab, id)
}

// start runs a flow for the desk until it rests.
func (h *hall) start(name string, input any) holdshort.Run {
	h.Helper()
	run, err := h.engine.Start(h.Context(), demo.Tenant, engine.StartInput{Flow: name, User: "desk@example.org", Actor: holdshort.SystemActor("demo"), Input: asJSON(input)})
	if err == nil {
		run, err = h.engine.AwaitRun(h.Context(), demo.Tenant, run.ID, engine.Resting)
	}
	if err != nil {
		h.Fatal(err)
	}
	return run
}

// asks starts a flow and gives the request that it waits for.
func (h *hall) asks(name string, input any) holdshort.Request {
	h.Helper()
	return h.asked(h.start(name, input))
}

func (h *hall) asked(run holdshort.Run) holdshort.Request {
	h.Helper()
	ids, err := h.engine.OpenRequests(h.Context(), demo.Tenant, run)
	if err != nil || len(ids) != 1 {
		h.Fatalf("the run waits for %v, %v: %+v", ids, err, run)
	}
	return h.now(ids[0])
}

// now is how a request stands.
func (h *hall) now(id holdshort.RequestID) holdshort.Request {
	h.Helper()
	req, err := h.engine.RequestByID(h.Context(), demo.Tenant, id)
	if err != nil {
		h.Fatal(err)
	}
	return req
}

// said is the decision that stands.
func (h *hall) said(id holdshort.RequestID) holdshort.Decision {
	h.Helper()
	d, err := h.engine.Decision(h.Context(), demo.Tenant, id)
	if err != nil {
		h.Fatal(err)
	}
	return d
}

// decides is somebody elsewhere.
func (h *hall) decides(who string, req holdshort.Request, in engine.DecideInput) {
	h.Helper()
	in.Request, in.Actor, in.Fingerprint = req.ID, persons[who], req.Fingerprint
	if _, err := h.engine.Decide(h.Context(), demo.Tenant, in); err != nil {
		h.Fatal(err)
	}
}

// rests waits until a run does nothing any more.
func (h *hall) rests(id holdshort.RunID, enough func(holdshort.Run) bool) holdshort.Run {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), time.Minute)
	defer cancel()
	run, err := h.engine.AwaitRun(ctx, demo.Tenant, id, enough)
	if err != nil {
		h.Fatalf("%v: %+v", err, run)
	}
	return run
}

func ended(r holdshort.Run) bool { return r.Status.Ended() }

type payment struct {
	To     string  `json:"to"`
	Amount float64 `json:"amount"`
	IBAN   string  `json:"iban,omitempty"`
	Note   string  `json:"note,omitempty"`
}

// pay asks for a transfer.
func (h *hall) pay(amount float64) holdshort.Request {
	h.Helper()
	return h.asks("transfer", payment{"Dana Levi", amount, "DE02120300000000202051", "broken on arrival"})
}
