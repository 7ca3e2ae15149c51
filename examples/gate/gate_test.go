package gate_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/api"
	"github.com/holdshort/holdshort/client"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/store/sqlite"
)

// examples by language: what runs them, what to install, and how to leave them out.
var examples = []struct{ name, program, install, skip string }{
	{"go", "go", "Go", ""},
	{"python", "python3", "Python 3.8 or later (Debian: apt-get install python3)", "HOLDSHORT_TEST_SKIP_PYTHON"},
	{"javascript", "node", "Node.js 18 or later (Debian: apt-get install nodejs)", "HOLDSHORT_TEST_SKIP_NODE"},
}

func commandOf(t *testing.T, name, program string) []string {
	t.Helper()
	if name != "go" {
		return []string{program, map[string]string{"python": "python/gate.py", "javascript": "javascript/gate.mjs"}[name]}
	}
	binary := filepath.Join(t.TempDir(), "gate")
	build := exec.Command("go", "build", "-trimpath", "-o", binary, "./go")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return []string{binary}
}

// Each example asks, waits, and does what was decided: once if it was approved, not at all if not.
func TestExamples(t *testing.T) {
	url, agent, ana := server(t)
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			if e.skip != "" && os.Getenv(e.skip) == "1" {
				t.Logf("LEFT OUT because %s=1: the example in %s is not proven", e.skip, e.name)
				return
			}
			if _, err := exec.LookPath(e.program); err != nil {
				t.Fatalf("%s is not installed: install %s, or set %s=1 to leave this example out", e.program, e.install, e.skip)
			}
			command := commandOf(t, e.name, e.program)
			for _, tt := range []struct {
				order  string
				choice client.Choice
				said   []string
				status holdshort.OperationStatus
			}{
				{"1", client.Choice{Action: holdshort.Approve}, []string{"refunding", "120", "reported: done"}, holdshort.OperationDone},
				{"2", client.Choice{Action: holdshort.Reject}, []string{"not refunded: resolved rejected"}, ""},
			} {
				order := e.name + "-" + tt.order
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				cmd := exec.CommandContext(ctx, command[0], append(command[1:], order)...)
				cmd.Env = append(os.Environ(), "HOLDSHORT_URL="+url, "HOLDSHORT_TOKEN="+agent)
				var out bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &out
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				id := decide(ctx, t, ana, order, tt.choice)
				if err := cmd.Wait(); err != nil {
					t.Errorf("order %s: %v\n%s", order, err, out.String())
				}
				cancel()
				for _, words := range tt.said {
					if !strings.Contains(out.String(), words) {
						t.Errorf("order %s: %q is not in\n%s", order, words, out.String())
					}
				}
				req, err := ana.Request(t.Context(), id)
				if err != nil || tt.status == "" && len(req.Operations) > 0 || tt.status != "" && (len(req.Operations) != 1 || req.Operations[0].Status != tt.status) {
					t.Errorf("order %s: operations %+v, %v", order, req.Operations, err)
				}
			}
			again := exec.CommandContext(t.Context(), command[0], append(command[1:], e.name+"-1")...)
			again.Env = append(os.Environ(), "HOLDSHORT_URL="+url, "HOLDSHORT_TOKEN="+agent)
			if out, err := again.CombinedOutput(); err == nil || strings.Contains(string(out), "reported") || !strings.Contains(string(out), "409") {
				t.Errorf("the same again: %v\n%s", err, out)
			}
		})
	}
}

// decide waits for the request about an order and decides it.
func decide(ctx context.Context, t *testing.T, ana *client.Client, order string, choice client.Choice) holdshort.RequestID {
	t.Helper()
	for {
		page, err := ana.Requests(ctx, client.Find{Status: holdshort.RequestOpen})
		if err != nil {
			t.Fatal(err)
		}
		for _, req := range page.Items {
			if strings.Contains(req.Question, "order "+order+"?") {
				if _, err := ana.Decide(ctx, req.ID, choice); err != nil {
					t.Fatal(err)
				}
				return req.ID
			}
		}
		select {
		case <-ctx.Done():
			t.Fatalf("nobody asks about order %s", order)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// server is a real one, with an agent's key and a client of ana, who reviews.
func server(t *testing.T) (url, agent string, ana *client.Client) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "gate.db"), sqlite.Options{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(s, engine.Config{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	people, err := identity.New(e, identity.Config{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	door, err := api.New(e, people, api.Options{Logger: log, Rate: -1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	<-e.Ready()
	listener := httptest.NewServer(door)
	t.Cleanup(func() {
		door.Close()
		listener.CloseClientConnections()
		listener.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	key := func(user string, roles, scopes []string) string {
		_, secret, err := e.CreateKey(t.Context(), "default", engine.CreateKeyInput{Name: "example", User: user, Roles: roles, Scopes: scopes, Actor: holdshort.SystemActor("test")})
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	if ana, err = client.New(listener.URL, key("ana", []string{"reviewer"}, nil), client.Options{}); err != nil {
		t.Fatal(err)
	}
	return listener.URL, key("", nil, []string{holdshort.ScopeRaise, holdshort.ScopeClaim, holdshort.ScopeView}), ana
}
