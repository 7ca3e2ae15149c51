package setup_test

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/setup"
	"github.com/holdshort/holdshort/tool"
)

// TestMain lets the test's own binary be a server of tools.
func TestMain(m *testing.M) {
	if os.Getenv("SETUP_TEST_FILES") == "" {
		os.Exit(m.Run())
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "files", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "read", Description: "Reads a file.", InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{}, nil
		})
	if s.Run(context.Background(), &mcp.StdioTransport{}) != nil {
		os.Exit(1)
	}
}

// manual is the example of the manual, with the places filled in that it leaves open.
const manual = `
server: {addr: 127.0.0.1:8080, public_url: https://hold.example.org}
stores: {main: {url: sqlite:./holdshort.db}}          # or postgres://…
auth: {oidc: {issuer: "https://login.example.org", client_id: holdshort}, roles: {finance: [ana@example.org]}}
models:
  main: {provider: openai, model: small, base_url: "${MODEL}", api_key: "${OPENAI_API_KEY}"}   # any compatible endpoint
agents:
  refunds:
    model: main
    instructions: Pay back what is due.
    session_store: main            # durable → hitl mode auto = async
    task: {backend: sql, sql: {driver: sqlite}, worker_pool: 4, timeout: 1h, input_timeout: 600, hitl: {mode: auto}}
    tools: [orders.lookup, orders.refund, shell, files]
tools:
  orders.lookup: {http: {method: GET, url: "${SHOP}/orders/{order}"}, effect: read}
  orders.refund: {http: {method: POST, url: "${SHOP}/refunds"}, effect: write, idempotency_header: Idempotency-Key, schema: {type: object, properties: {order: {type: string}, amount: {type: number}}}}
  shell: {command: {}, effect: write}
  files: {mcp: {command: ["${SELF}"], env: {SETUP_TEST_FILES: "1"}}, trusted: false}
policies:
  - name: big refunds
    when: tool == "orders.refund" && args.amount > 500
    ask: {roles: [finance], quorum: 2, expires_in: 24h, on_timeout: fail, editable: [amount]}
  - when: effect == "read"
    allow: true
`

// What the manual shows works as it is written: the model is asked with every tool, and a big refund waits for two of finance for a day.
func TestManual(t *testing.T) {
	var mu sync.Mutex
	var offered []string
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Tools []struct{ Function struct{ Name string } }
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, tool := range in.Tools {
			offered = append(offered, tool.Function.Name)
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"choices":[{"message":{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"`+offered[1]+`","arguments":"{\"order\":\"7\",\"amount\":900}"}}]},"finish_reason":"tool_calls"}]}`)
	}))
	defer model.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("${MODEL}", model.URL, "${SELF}", self, "${OPENAI_API_KEY}", "sk-1").Replace(manual)
	h := newHouse(t, houseOptions{text: text, setup: setup.Options{Dir: t.TempDir()}})
	taken := h.says(h.session("refunds"), "pay back 900 for order 7")
	mu.Lock()
	defer mu.Unlock()
	if len(offered) != 4 || taken.Request == nil {
		t.Fatalf("%q: %+v %+v", offered, taken.Run, taken.Request)
	}
	req := taken.Request
	if req.Rule != "big refunds" || req.Audience.Quorum != 2 || !slices.Equal(req.Audience.Roles, []string{"finance"}) || req.ExpiresAt.Sub(req.CreatedAt).Hours() != 24 || req.OnTimeout != holdshort.TimeoutFail ||
		!slices.Equal(req.Actions[0].Editable, []string{"amount"}) || string(req.Actions[0].Args) != `{"amount":900,"order":"7"}` {
		t.Errorf("%+v", req.Request)
	}
	for name, want := range map[string]tool.Tool{"orders.lookup": {Effect: tool.Read}, "orders.refund": {Effect: tool.Write}, "shell": {Effect: tool.Write, Guarded: true}, "files/read": {Effect: tool.Write}} {
		i := slices.IndexFunc(h.parts.Tools, func(t tool.Tool) bool { return t.Name == name })
		if i < 0 || cmp.Or(h.parts.Tools[i].Effect, tool.Write) != want.Effect || h.parts.Tools[i].Guarded != want.Guarded {
			t.Errorf("%s: %+v", name, h.parts.Tools)
		}
	}
	if h.parts.Modes["refunds"] != config.Async {
		t.Errorf("%v", h.parts.Modes)
	}
}
