package mcp

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdshort/holdshort/tool"
)

// shopOverHTTP serves the test's tools; before may answer in its place.
func shopOverHTTP(t *testing.T, dir string, options *mcp.StreamableHTTPOptions, before func(http.ResponseWriter, *http.Request) bool) Config {
	t.Helper()
	s := newServer(dir)
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, options)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before == nil || !before(w, r) {
			inner.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		go server.Close()
	})
	return Config{Name: "far", URL: server.URL, Timeout: 20 * time.Second}
}

// isCall reports whether a request calls a tool, and leaves its body readable.
func isCall(r *http.Request) bool {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	return strings.Contains(string(body), `"tools/call"`)
}

func TestOverHTTP(t *testing.T) {
	for name, options := range map[string]*mcp.StreamableHTTPOptions{"streams": nil, "JSON": {JSONResponse: true}, "stateless": {Stateless: true}} {
		var mu sync.Mutex
		keys := map[string]bool{}
		c := shopOverHTTP(t, t.TempDir(), options, func(_ http.ResponseWriter, r *http.Request) bool {
			mu.Lock()
			keys[r.Header.Get("Authorization")] = true
			mu.Unlock()
			return false
		})
		c.Headers = map[string]string{"Authorization": "Bearer s3cret"}
		s := connect(t, c)
		made := toolsOf(t, s)["refund"]
		for args, want := range map[string]string{`{"text":"x"}`: `"echo: x"`, `{"do":"structured"}`: `{"id":7}`, `{"do":"key"}`: `"tr:run_1/do"`} {
			if got, err := callWith(t, made, args); err != nil || got != want {
				t.Errorf("%s: %s gives %s, %v", name, args, got, err)
			}
		}
		if got, err := callWith(t, made, `{"do":"large"}`); err != nil || !strings.HasPrefix(got, `{"truncated":true,"bytes":1048576,`) || len(got) > 300<<10 {
			t.Errorf("%s: a huge result gives %d bytes, %v", name, len(got), err)
		}
		if _, err := callWith(t, made, `{"do":"refuse"}`); err == nil || !made.IsDefinite(err) {
			t.Errorf("%s: a refusal gives %v", name, err)
		}
		if _, err := callWith(t, made, `{"do":"error"}`); err == nil || made.IsDefinite(err) {
			t.Errorf("%s: an error gives %v", name, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if len(keys) != 1 || !keys["Bearer s3cret"] {
			t.Errorf("%s: the headers are %v", name, keys)
		}
	}
}

// What the other side does with a call, and whether that proves anything.
func TestHTTPFailures(t *testing.T) {
	var mode atomic.Value
	mode.Store("")
	dir := t.TempDir()
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the other server is called") }))
	t.Cleanup(other.Close)
	c := shopOverHTTP(t, dir, &mcp.StreamableHTTPOptions{Stateless: true}, func(w http.ResponseWriter, r *http.Request) bool {
		if !isCall(r) {
			return false
		}
		switch mode.Load() {
		case "reset":
			note(dir, "calls")
			panic(http.ErrAbortHandler)
		case "500":
			w.WriteHeader(500)
		case "redirect":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		case "junk":
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{")
		case "endless":
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":"`)
			for range 20 {
				if _, err := io.WriteString(w, strings.Repeat("a", 100<<10)); err != nil {
					return true
				}
			}
		default:
			return false
		}
		return true
	})
	c.maxMessage = 1 << 20
	made := toolsOf(t, connect(t, c))["refund"]
	for _, how := range []string{"reset", "500", "redirect", "junk", "endless"} {
		mode.Store(how)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, err := made.Call(ctx, tool.Call{Args: json.RawMessage(`{}`)})
		cancel()
		if err == nil || made.IsDefinite(err) {
			t.Errorf("%s: gives %v", how, err)
		}
		mode.Store("")
		if got, err := callWith(t, made, `{"text":"x"}`); err != nil || got != `"echo: x"` {
			t.Errorf("%s: afterwards %s, %v", how, got, err)
		}
	}
	if n := count(t, dir, "calls"); n != 6 {
		t.Errorf("there were %d calls, with one that was reset", n)
	}
}

// The server is away, and comes back at the same address without knowing anybody.
func TestHTTPRestart(t *testing.T) {
	var away atomic.Bool
	var current atomic.Pointer[mcp.StreamableHTTPHandler]
	dir := t.TempDir()
	renew := func() {
		s := newServer(dir)
		current.Store(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	}
	renew()
	c := shopOverHTTP(t, dir, nil, func(w http.ResponseWriter, r *http.Request) bool {
		if away.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return true
		}
		current.Load().ServeHTTP(w, r)
		return true
	})
	made := toolsOf(t, connect(t, c))["refund"]
	away.Store(true)
	if _, err := callWith(t, made, `{}`); err == nil {
		t.Error("it answers")
	}
	away.Store(false)
	renew()
	eventually(t, "it is connected again", func() bool {
		got, err := callWith(t, made, `{"text":"x"}`)
		return err == nil && got == `"echo: x"`
	})
}

// Nobody listens: nothing was sent.
func TestNobodyListens(t *testing.T) {
	s := newServer(t.TempDir())
	server := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true}))
	made := toolsOf(t, connect(t, Config{Name: "far", URL: server.URL, Timeout: 5 * time.Second}))["refund"]
	server.CloseClientConnections()
	server.Close()
	if _, err := callWith(t, made, `{}`); err == nil || !made.IsDefinite(err) {
		t.Errorf("gives %v", err)
	}
}

// A change that a server announces over HTTP is noticed as well.
func TestListChangedOverHTTP(t *testing.T) {
	dir := t.TempDir()
	c := shopOverHTTP(t, dir, nil, nil)
	pins, err := connect(t, c).Pins(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.Pins = pins
	tools := toolsOf(t, connect(t, c))
	if tools["refund"].Changed() {
		t.Fatal("it is changed")
	}
	if _, err := callWith(t, tools["look"], `{"do":"change","text":"other"}`); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the change is noticed", func() bool { return tools["refund"].Changed() })
}
