package client_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/api"
	"github.com/holdshort/holdshort/client"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/store/sqlite"
	"github.com/holdshort/holdshort/tool"
)

type refund struct {
	Order  string  `json:"order"`
	Amount float64 `json:"amount"`
}

var refundFlow = flow.New("refund", 1, func(c *flow.Context, in refund) (string, error) {
	return flow.Call[string](c, "refund", "orders.refund", in)
})

// door is a real server: store, engine, identity and API on loopback.
type door struct {
	path    string
	address string // kept across restarts
	engine  *engine.Engine
	api     *api.Server
	http    *httptest.Server
	refunds *atomic.Int64
	broken  atomic.Pointer[func(http.ResponseWriter, *http.Request, http.Handler)] // stands before the API
	stop    func()
}

func newDoor(t *testing.T) *door {
	t.Helper()
	d := &door{path: filepath.Join(t.TempDir(), "client.db"), refunds: new(atomic.Int64)}
	d.open(t)
	t.Cleanup(func() { d.stop() })
	return d
}

// open starts the server, at the address that it had before if there was one.
func (d *door) open(t *testing.T) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	s, err := sqlite.Open(context.Background(), d.path, sqlite.Options{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	refundTool := tool.Tool{Name: "orders.refund", Call: func(context.Context, tool.Call) (tool.Result, error) {
		d.refunds.Add(1)
		return tool.Result{Value: json.RawMessage(`"re_1"`)}, nil
	}}
	if d.engine, err = engine.New(s, engine.Config{Flows: []flow.Flow{refundFlow}, Tools: []tool.Tool{refundTool}, Logger: log}); err != nil {
		t.Fatal(err)
	}
	people, err := identity.New(d.engine, identity.Config{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	if d.api, err = api.New(d.engine, people, api.Options{Logger: log, Rate: -1, KeepAlive: 50 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.engine.Run(ctx) }()
	<-d.engine.Ready()
	door := d.api
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if odd := d.broken.Load(); odd != nil {
			(*odd)(w, r, door)
			return
		}
		door.ServeHTTP(w, r)
	}))
	if d.address != "" { // at the address that it had before
		server.Listener.Close()
		if server.Listener, err = net.Listen("tcp", d.address); err != nil {
			t.Fatal(err)
		}
	}
	server.Start()
	d.http, d.address = server, server.Listener.Addr().String()
	d.stop = func() {
		door.Close()
		server.CloseClientConnections()
		server.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		d.stop = func() {}
	}
}

// as makes a client of somebody: a person with roles, or a service with scopes.
func (d *door) as(t *testing.T, user string, roles, scopes []string) *client.Client {
	t.Helper()
	_, secret, err := d.engine.CreateKey(t.Context(), "default", engine.CreateKeyInput{Name: "test", User: user, Roles: roles, Scopes: scopes, Actor: holdshort.SystemActor("test")})
	if err != nil {
		t.Fatal(err)
	}
	return d.with(t, secret)
}

func (d *door) with(t *testing.T, secret string) *client.Client {
	t.Helper()
	c, err := client.New(d.http.URL, secret, client.Options{Wait: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (d *door) ana(t *testing.T) *client.Client { return d.as(t, "ana", []string{"reviewer"}, nil) }

func (d *door) agent(t *testing.T) *client.Client {
	return d.as(t, "", nil, []string{holdshort.ScopeRaise, holdshort.ScopeClaim, holdshort.ScopeView})
}
