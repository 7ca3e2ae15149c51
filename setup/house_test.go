package setup_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/api"
	"github.com/holdshort/holdshort/client"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/setup"
	"github.com/holdshort/holdshort/store/sqlite"
)

// shop is what the tools of the tests reach: it counts what it was told to do.
type shop struct {
	*httptest.Server
	mu    sync.Mutex
	calls []string
	keys  []string
}

func newShop(t *testing.T) *shop {
	s := &shop{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		s.calls = append(s.calls, r.Method+" "+r.URL.Path+" "+string(body))
		s.keys = append(s.keys, r.Header.Get("Idempotency-Key"))
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		var in struct {
			Order string `json:"order"`
		}
		json.Unmarshal(body, &in) // a look-up has none
		io.WriteString(w, `{"refund":{"id":"re_1","state":"paid back `+in.Order+`"}}`)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *shop) told() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.calls...)
}

// desk is the configuration of a refund desk; SHOP is where it refunds.
const desk = `
stores: {main: {url: sqlite:./holdshort.db}}
models:
  desk:
    provider: script
    rules:
      - when: {user: "refund order (\\S+) for (\\d+) and order (\\S+) for (\\d+)"}
        say: Two refunds, then.
        call: [{tool: orders.refund, args: {order: "$1", amount: $2}}, {tool: orders.refund, args: {order: "$3", amount: $4}}]
      - when: {user: "refund order (\\S+) for (\\d+)"}
        call: [{tool: orders.refund, args: {order: "$1", amount: $2}}]
      - when: {user: "look up order (\\S+)"}
        call: [{tool: orders.lookup, args: {order: "$1"}}]
      - when: {tool: orders.lookup}
        call: [{tool: orders.refund, args: {order: "a1", amount: 1}}]
      - when: {tool: orders.refund, result: "paid back a1"}
        call: [{tool: orders.refund, args: {order: "a2", amount: 2}}]
      - when: {tool: orders.refund, result: "paid back a2"}
        call: [{tool: orders.refund, args: {order: "a3", amount: 3}}]
      - when: {tool: orders.refund, failed: true}
        say: "Not done: {result}"
      - when: {tool: orders.refund}
        say: "Done: {result}"
      - say: "I can look up, refund and cancel orders."
agents:
  refunds:
    model: desk
    description: Pays money back.
    instructions: Be kind.
    session_store: main
    task: {input_timeout: 600, hitl: {mode: MODE}}
    tools: [orders.lookup, orders.refund]
tools:
  orders.lookup: {http: {method: GET, url: "${SHOP}/orders/{order}", response: refund}, effect: read, schema: {type: object, properties: {order: {type: string}}, required: [order]}}
  orders.refund:
    http: {method: POST, url: "${SHOP}/refunds", response: refund.state, external_ids: {refund: refund.id}}
    effect: write
    idempotency_header: Idempotency-Key
    cost_arg: amount
    schema: {type: object, properties: {order: {type: string}, amount: {type: number}}, required: [order, amount], additionalProperties: false}
policies:
  - name: big refunds
    when: tool == "orders.refund" && args.amount > 500
    ask: {roles: [finance], quorum: 2, expires_in: 24h, on_timeout: fail, editable: [amount]}
  - name: refunds
    when: tool == "orders.refund"
    ask: {roles: [reviewer], editable: [amount]}
  - when: effect == "read"
    allow: true
`

// house is a whole server in this process, made from a configuration.
type house struct {
	t      *testing.T
	shop   *shop
	parts  *setup.Parts
	engine *engine.Engine
	http   *httptest.Server
	keys   map[string]string
	log    *journal
	stop   func()
}

const adminKey = "admin-key-of-the-tests-0123456789abcdef"

func parse(t *testing.T, text, shop string) config.Config {
	t.Helper()
	c, err := config.Parse("holdshort.yaml", []byte(text), func(name string) (string, bool) { return shop, name == "SHOP" })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type houseOptions struct {
	text  string
	path  string // of the database
	setup setup.Options
	clock func() time.Time
	shop  *shop
}

func newHouse(t *testing.T, o houseOptions) *house {
	t.Helper()
	h := &house{t: t, shop: o.shop, keys: map[string]string{"admin": adminKey}, log: &journal{}}
	if h.shop == nil {
		h.shop = newShop(t)
	}
	if o.path == "" {
		o.path = filepath.Join(t.TempDir(), "holdshort.db")
	}
	log := slog.New(slog.NewTextHandler(h.log, nil))
	s, err := sqlite.Open(t.Context(), o.path, sqlite.Options{Logger: log, Clock: o.clock})
	if err != nil {
		t.Fatal(err)
	}
	o.setup.Store, o.setup.Logger = s, log
	if h.parts, err = setup.Build(t.Context(), parse(t, o.text, h.shop.URL), o.setup); err != nil {
		t.Fatal(err)
	}
	if h.engine, err = engine.New(s, h.parts.Engine(engine.Config{Logger: log, Clock: o.clock})); err != nil {
		t.Fatal(err)
	}
	people, err := identity.New(h.engine, identity.Config{AdminKey: adminKey, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	options := api.Options{Logger: log, Rate: -1, KeepAlive: 50 * time.Millisecond}
	for _, a := range h.parts.Listed {
		options.Agents = append(options.Agents, api.Agent{Name: a.Name, Description: a.Description, Mode: a.Mode, Tools: a.Tools})
	}
	server, err := api.New(h.engine, people, options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.engine.Run(ctx) }()
	<-h.engine.Ready()
	h.http = httptest.NewServer(server)
	h.stop = func() {
		server.Close()
		h.http.CloseClientConnections()
		h.http.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := h.parts.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		h.stop = func() {}
	}
	t.Cleanup(func() { h.stop() })
	return h
}

// journal is a log that a test can wait for.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.more != nil {
		close(j.more)
		j.more = nil
	}
	return j.text.Write(p)
}

// says waits until the log has a text in it.
func (j *journal) says(t *testing.T, want string) {
	t.Helper()
	late := time.After(time.Minute)
	for {
		j.mu.Lock()
		text := j.text.String()
		if j.more == nil {
			j.more = make(chan struct{})
		}
		more := j.more
		j.mu.Unlock()
		if strings.Contains(text, want) {
			return
		}
		select {
		case <-more:
		case <-late:
			t.Fatalf("the log does not say %q:\n%s", want, text)
		}
	}
}

// as is a client of somebody: their id, and their roles after it.
func (h *house) as(who string, roles ...string) *client.Client {
	h.t.Helper()
	key, ok := h.keys[who]
	if !ok {
		var err error
		if _, key, err = h.engine.CreateKey(h.t.Context(), "default", engine.CreateKeyInput{Name: who, User: who, Roles: roles, Actor: holdshort.SystemActor("test")}); err != nil {
			h.t.Fatal(err)
		}
		h.keys[who] = key
	}
	c, err := client.New(h.http.URL, key, client.Options{Retries: -1})
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

// call makes a call of which a test looks at every byte.
func (h *house) call(who, method, path, body string, headers ...string) (int, http.Header, string) {
	h.t.Helper()
	h.as(who)
	r, err := http.NewRequestWithContext(h.t.Context(), method, h.http.URL+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+h.keys[who])
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return answer.StatusCode, answer.Header, string(raw)
}

func into[T any](t *testing.T, body string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return v
}

// says sends a message of ben to the refund desk and gives what became of it.
func (h *house) says(session holdshort.SessionID, text string) client.Taken {
	h.t.Helper()
	taken, err := h.as("ben").Send(h.t.Context(), session, client.Send{Text: text, Wait: 10 * time.Second})
	if err != nil {
		h.t.Fatal(err)
	}
	return taken
}

func (h *house) session(agent string) holdshort.SessionID {
	h.t.Helper()
	s, err := h.as("ben").OpenSession(h.t.Context(), client.OpenSession{Agent: agent})
	if err != nil {
		h.t.Fatal(err)
	}
	return s.ID
}

func (h *house) end(run holdshort.RunID) client.Run {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	out, err := h.as("ben").AwaitEnd(ctx, run)
	if err != nil {
		h.t.Fatalf("%v; the run is %+v", err, out.Run)
	}
	return out
}

func async(text string) string    { return strings.Replace(text, "MODE", "auto", 1) }
func blocking(text string) string { return strings.Replace(text, "MODE", "blocking", 1) }

var reviewer = []string{policy.Reviewer}
