package api_test

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
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/api"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store/sqlite"
	"github.com/holdshort/holdshort/tool"
)

const (
	tenant   holdshort.TenantID = "default"
	adminKey                    = "an-administrators-key-for-tests"
)

// door is a whole server in one test: store, engine, identity, API, on loopback.
type door struct {
	path    string
	engine  *engine.Engine
	people  *identity.Identity
	server  *api.Server
	http    *httptest.Server
	refunds *atomic.Int64
	keys    map[string]string
	named   sync.Mutex // of keys: tests call at the same time
	stop    func()
}

type refund struct {
	Order  string  `json:"order"`
	Amount float64 `json:"amount"`
}

var refundFlow = flow.New("refund", 1, func(c *flow.Context, in refund) (string, error) {
	return flow.Call[string](c, "refund", "orders.refund", in)
})

var confirmFlow = flow.New("confirm", 1, func(c *flow.Context, question string) (bool, error) {
	a, err := flow.Confirm(c, "sure", flow.Question{Text: question})
	return a, err
})

// newDoor opens a server with people in it: ana reviews, ben asks, eve is nobody, olga operates, and a gate key raises.
func newDoor(t *testing.T) *door { return openDoor(t, filepath.Join(t.TempDir(), "api.db")) }

func openDoor(t *testing.T, path string) *door {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := &door{path: path, refunds: new(atomic.Int64), keys: map[string]string{"admin": adminKey}}
	log := slog.New(slog.DiscardHandler)
	refundTool := tool.Tool{Name: "orders.refund", Effect: tool.Write, Schema: json.RawMessage(`{"type":"object","properties":{"order":{"type":"string"},"amount":{"type":"number"}},"required":["order","amount"],"additionalProperties":false}`),
		Call: func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Value: json.RawMessage(`"re_` + strings.Repeat("1", int(d.refunds.Add(1))) + `"`)}, nil
		}}
	if d.engine, err = engine.New(s, engine.Config{Flows: []flow.Flow{refundFlow, confirmFlow}, Tools: []tool.Tool{refundTool}, Logger: log}); err != nil {
		t.Fatal(err)
	}
	if d.people, err = identity.New(d.engine, identity.Config{AdminKey: adminKey, Logger: log}); err != nil {
		t.Fatal(err)
	}
	if d.server, err = api.New(d.engine, d.people, api.Options{Logger: log, KeepAlive: 50 * time.Millisecond, Rate: -1}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.engine.Run(ctx) }()
	<-d.engine.Ready()
	d.http = httptest.NewServer(d.server)
	d.stop = func() {
		d.server.Close()
		d.http.CloseClientConnections()
		d.http.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		d.stop = func() {}
	}
	t.Cleanup(func() { d.stop() })
	return d
}

// key makes a key for a person, or for a service if there is no person.
func (d *door) key(t *testing.T, tenant holdshort.TenantID, user string, roles, scopes []string) string {
	t.Helper()
	_, secret, err := d.engine.CreateKey(t.Context(), tenant, engine.CreateKeyInput{Name: "test", User: user, Roles: roles, Scopes: scopes, Actor: holdshort.SystemActor("test")})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// as gives the key of somebody whom the tests know.
func (d *door) as(t *testing.T, name string) string {
	t.Helper()
	d.named.Lock()
	defer d.named.Unlock()
	if secret, ok := d.keys[name]; ok {
		return secret
	}
	var secret string
	switch name {
	case "ana":
		secret = d.key(t, tenant, "ana", []string{policy.Reviewer}, nil)
	case "ben", "eve":
		secret = d.key(t, tenant, name, nil, nil)
	case "olga":
		secret = d.key(t, tenant, "olga", []string{policy.Operator}, nil)
	case "gate":
		secret = d.key(t, tenant, "", nil, []string{holdshort.ScopeRaise, holdshort.ScopeClaim})
	case "stranger":
		secret = d.key(t, "elsewhere", "ana", []string{policy.Reviewer, policy.Admin}, nil)
	default:
		t.Fatalf("nobody is called %s", name)
	}
	d.keys[name] = secret
	return secret
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) into(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		t.Fatalf("%s: %v", a.body, err)
	}
}

func (a answer) code(t *testing.T) string {
	t.Helper()
	var p struct {
		Code string `json:"code"`
	}
	a.into(t, &p)
	return p.Code
}

// call makes one call. in: nil, a string as it is, or something that becomes JSON. headers: name, value, …
func (d *door) call(t *testing.T, who, method, path string, in any, headers ...string) answer {
	t.Helper()
	var body io.Reader
	switch in := in.(type) {
	case nil:
	case string:
		body = strings.NewReader(in)
	default:
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		body = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, d.http.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	if who != "" {
		r.Header.Set("Authorization", "Bearer "+d.as(t, who))
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := d.http.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, raw}
}

func (d *door) get(t *testing.T, path string, want int) []byte {
	t.Helper()
	a := d.call(t, "admin", "GET", path, nil)
	if a.status != want {
		t.Fatalf("GET %s: %d %s", path, a.status, a.body)
	}
	return a.body
}

type shownRun struct {
	ID           holdshort.RunID       `json:"id"`
	Status       holdshort.RunStatus   `json:"status"`
	Result       json.RawMessage       `json:"result"`
	OpenRequests []holdshort.RequestID `json:"open_requests"`
}

// asks starts a refund for ben and gives the request that waits.
func (d *door) asks(t *testing.T) (shownRun, holdshort.RequestID) {
	t.Helper()
	a := d.call(t, "ben", "POST", "/v1/runs", map[string]any{"flow": "refund", "input": refund{"77", 120}})
	if a.status != http.StatusCreated {
		t.Fatalf("start: %d %s", a.status, a.body)
	}
	var run shownRun
	a.into(t, &run)
	if len(run.OpenRequests) == 0 {
		d.call(t, "ben", "GET", "/v1/runs/"+string(run.ID)+"?wait=10s", nil).into(t, &run)
	}
	if len(run.OpenRequests) != 1 {
		t.Fatalf("run %+v asks nothing", run)
	}
	return run, run.OpenRequests[0]
}
