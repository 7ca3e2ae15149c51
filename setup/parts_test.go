package setup_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/client"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/setup"
	"github.com/holdshort/holdshort/tool"
)

const office = `
stores: {main: {url: sqlite:./holdshort.db}}
models:
  front:
    provider: script
    rules:
      - when: {user: "books of (\\S+)"}
        call: [{tool: clerk, args: {task: "close the books of $1"}}]
      - when: {user: "ship (\\S+)"}
        call: [{tool: shipping, args: {order: "$1"}}]
      - when: {user: "which"}
        call: [{tool: ask_user, args: {question: "Which one?"}}]
      - when: {tool: clerk}
        say: "The clerk says: {result}"
      - when: {tool: shipping}
        say: "Shipped: {result}"
      - when: {tool: ask_user}
        say: "You said: {result}"
      - say: Hello.
  back:
    provider: script
    rules:
      - when: {user: "close the books of (\\S+)"}
        call: [{tool: books.close, args: {month: "$1"}}]
      - when: {tool: books.close}
        say: "closed {result}"
agents:
  desk:
    model: front
    session_store: main
    tools: ["agent:clerk", "flow:shipping", ask_user]
  clerk: {model: back, description: Keeps the books., tools: [books.close]}
tools:
  books.close: {builtin: true, requires_approval: true, cost: 7}
policies:
  - when: tool == "books.close"
    allow: true
  - name: handing over
    when: tool == "clerk"
    allow: true
  - name: shipping
    when: tool == "shipping"
    ask: {roles: [reviewer]}
`

// officeOptions are what the program of that configuration brings.
func officeOptions(closed *atomic.Int64) setup.Options {
	ship := flow.New("shipping", 1, func(c *flow.Context, in struct {
		Order string `json:"order"`
	}) (string, error) {
		return flow.Step(c, "label", func(context.Context) (string, error) { return "label for " + in.Order, nil })
	})
	return setup.Options{
		Tools: []tool.Tool{{Name: "books.close", Description: "Closes a month.", Effect: tool.Write, Schema: json.RawMessage(`{"type":"object","properties":{"month":{"type":"string"}},"required":["month"]}`),
			Call: func(_ context.Context, call tool.Call) (tool.Result, error) {
				closed.Add(1)
				return tool.Result{Value: call.Args}, nil
			}}},
		Flows: []agent.Delegate{{Name: "shipping", Description: "Ships an order.", Flow: ship, Schema: json.RawMessage(`{"type":"object","properties":{"order":{"type":"string"}},"required":["order"]}`)}},
	}
}

// An agent hands work to another: what that one must ask surfaces on the outer run, and the call that the tool's owner guards is asked about
// whatever a rule allows.
func TestSubAgent(t *testing.T) {
	var closed atomic.Int64
	h := newHouse(t, houseOptions{text: office, setup: officeOptions(&closed)})
	taken := h.says(h.session("desk"), "close the books of May")
	if taken.Request == nil || taken.Request.RunID != taken.Run.ID || taken.Request.Rule != "requires approval" || taken.Request.Actions[0].Tool != "books.close" || string(taken.Request.Actions[0].Args) != `{"month":"May"}` {
		t.Fatalf("%+v %+v", taken.Run, taken.Request)
	}
	if closed.Load() != 0 {
		t.Fatal("it was called before anybody agreed")
	}
	h.approve(taken.Run.ID)
	run := h.end(taken.Run.ID)
	if run.Status != holdshort.RunCompleted || closed.Load() != 1 || !strings.Contains(string(run.Result), "The clerk says:") || !strings.Contains(string(run.Result), "May") {
		t.Errorf("%s %s %+v, closed %d times", run.Status, run.Result, run.Error, closed.Load())
	}
	agents, err := h.as("ben").Agents(t.Context())
	if err != nil || len(agents) != 2 || strings.Join(agents[1].Tools, " ") != "clerk shipping ask_user" || agents[0].Mode != config.Blocking || agents[1].Mode != config.Async {
		t.Errorf("%+v, %v", agents, err)
	}
}

// A flow of the program is a tool: policy and people see the call, and its steps are steps of the run.
func TestFlowAsTool(t *testing.T) {
	var closed atomic.Int64
	h := newHouse(t, houseOptions{text: office, setup: officeOptions(&closed)})
	taken := h.says(h.session("desk"), "ship 77")
	if taken.Request == nil || taken.Request.Rule != "shipping" || string(taken.Request.Actions[0].Args) != `{"order":"77"}` {
		t.Fatalf("%+v %+v", taken.Run, taken.Request)
	}
	h.approve(taken.Run.ID)
	if run := h.end(taken.Run.ID); run.Status != holdshort.RunCompleted || !strings.Contains(string(run.Result), "Shipped: label for 77") {
		t.Errorf("%s %s %+v", run.Status, run.Result, run.Error)
	}
	// It can be started by itself too.
	own, err := h.as("admin").Start(t.Context(), client.Start{Flow: "shipping", Input: json.RawMessage(`{"order":"78"}`), Wait: 10 * time.Second})
	if err != nil || own.Status != holdshort.RunCompleted || string(own.Result) != `"label for 78"` {
		t.Errorf("%+v, %v", own.Run, err)
	}
}

func TestAskUser(t *testing.T) {
	var closed atomic.Int64
	h := newHouse(t, houseOptions{text: office, setup: officeOptions(&closed)})
	session := h.session("desk")
	taken := h.says(session, "which")
	if taken.Request == nil || taken.Request.Question != "Which one?" || taken.Request.ExpectedInput != holdshort.FreeText {
		t.Fatalf("%+v %+v", taken.Run, taken.Request)
	}
	if got, err := h.as("ben").Send(t.Context(), session, client.Send{Text: "the blue one", ReplyTo: string(taken.Request.ID), Wait: 10 * time.Second}); err != nil || got.Run == nil {
		t.Fatalf("%+v, %v", got, err)
	}
	if run := h.end(taken.Run.ID); !strings.Contains(string(run.Result), "the blue one") {
		t.Errorf("%s %s %+v", run.Status, run.Result, run.Error)
	}
}

// Without rules every call needs a person, whatever the tool says of itself.
func TestNoPoliciesAsk(t *testing.T) {
	text, _, _ := strings.Cut(async(desk), "policies:")
	h := newHouse(t, houseOptions{text: text})
	taken := h.says(h.session("refunds"), "look up order 9")
	if taken.Request == nil || taken.Request.Actions[0].Tool != "orders.lookup" || !slices.Equal(taken.Request.Audience.Roles, []string{policy.Reviewer}) || taken.Request.ExpiresAt.Sub(taken.Request.CreatedAt) != 10*time.Minute {
		t.Fatalf("%+v", taken.Request)
	}
}

// The worker pool, the timeout and the limits of a configuration are those of the flow and the agent.
func TestLimitsArrive(t *testing.T) {
	text := strings.Replace(async(desk), "task: {input_timeout: 600,", "limits: {iterations: 1}\n    task: {worker_pool: 3, timeout: 1h, input_timeout: never,", 1)
	h := newHouse(t, houseOptions{text: text})
	i := slices.IndexFunc(h.parts.Flows, func(f flow.Flow) bool { return f.Name == "agent.refunds" })
	if i < 0 || h.parts.Flows[i].Concurrency != 3 {
		t.Errorf("%+v", h.parts.Flows)
	}
	taken := h.says(h.session("refunds"), "refund order 1 for 10")
	if taken.Request == nil || !taken.Request.ExpiresAt.IsZero() {
		t.Fatalf("%+v", taken.Request)
	}
	h.approve(taken.Run.ID)
	if run := h.end(taken.Run.ID); run.Status != holdshort.RunFailed || run.Error.Code != holdshort.LimitReached {
		t.Errorf("%s %+v", run.Status, run.Error)
	}
}

// What a configuration says of a model arrives at its endpoint: address, key, name, sampling; prices are counted, and a 429 is tried again.
func TestModelsReachTheirEndpoints(t *testing.T) {
	for provider, answer := range map[string]string{
		"openai":    `{"model":"small","choices":[{"message":{"role":"assistant","content":"Good day."},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":500,"total_tokens":1500}}`,
		"anthropic": `{"type":"message","role":"assistant","model":"small","content":[{"type":"text","text":"Good day."}],"stop_reason":"end_turn","usage":{"input_tokens":1000,"output_tokens":500}}`,
	} {
		t.Run(provider, func(t *testing.T) {
			var asked atomic.Int64
			var got atomic.Value
			end := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				got.Store(r.Header.Get("Authorization") + r.Header.Get("X-Api-Key") + string(body))
				if asked.Add(1) == 1 {
					w.Header().Set("Retry-After", "0")
					w.WriteHeader(http.StatusTooManyRequests)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, answer)
			}))
			defer end.Close()
			text := "models:\n  m: {provider: " + provider + ", model: small, base_url: \"" + end.URL + "\", api_key: \"${SHOP}\", retries: 2, max_tokens: 77, temperature: 0.5, prices: {input: 3, output: 6}}\n" +
				"agents:\n  a: {model: m, instructions: Be kind.}\n"
			parts, err := setup.Build(t.Context(), parse(t, text, "sk-key"), setup.Options{Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			h := newHouse(t, houseOptions{text: strings.ReplaceAll(text, "${SHOP}", "sk-key")})
			run, err := h.as("ben").Start(t.Context(), client.Start{Agent: "a", Input: json.RawMessage(`"hello"`), Wait: 30 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			var result agent.Result
			if err := json.Unmarshal(run.Result, &result); err != nil || result.Text != "Good day." || result.Usage.Cost != 6000 || asked.Load() != 2 {
				t.Errorf("%s %s %+v, %v, asked %d times", run.Status, run.Result, run.Error, err, asked.Load())
			}
			sent, _ := got.Load().(string)
			for _, want := range []string{"sk-key", `"small"`, "77", "0.5", "Be kind.", "hello"} {
				if !strings.Contains(sent, want) {
					t.Errorf("there is no %s in %s", want, sent)
				}
			}
			if err := parts.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A model of the program stands in for a configured one.
func TestModelOfTheProgram(t *testing.T) {
	own := model.Func(func(context.Context, model.Request, func(string)) (model.Response, error) {
		return model.Response{Text: "mine"}, nil
	})
	h := newHouse(t, houseOptions{text: async(desk), setup: setup.Options{Models: map[string]model.Model{"desk": own}}})
	if taken := h.says(h.session("refunds"), "anything"); len(taken.Replies) != 1 || taken.Replies[0].Parts[0].Text != "mine" {
		t.Errorf("%+v", taken)
	}
}

// A tool that an agent of the program brings never stands silently behind another of its name.
func TestToolsOfOneName(t *testing.T) {
	call := func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, nil }
	own := model.Func(func(context.Context, model.Request, func(string)) (model.Response, error) {
		return model.Response{Text: "x"}, nil
	})
	build := func(yaml, brought tool.Tool) error {
		options := setup.Options{Dir: t.TempDir(), Tools: []tool.Tool{yaml}, Agents: []setup.Agent{{Config: agent.Config{Name: "a", Model: own, Tools: []tool.Tool{brought}}}}}
		parts, err := setup.Build(t.Context(), config.Config{Tools: map[string]config.Tool{"pay": {Builtin: true, RequiresApproval: yaml.Guarded}}}, options)
		if err == nil && len(parts.Tools) != 1 {
			t.Errorf("%+v", parts.Tools)
		}
		return err
	}
	plain, guarded := tool.Tool{Name: "pay", Call: call}, tool.Tool{Name: "pay", Call: call, Guarded: true}
	other := tool.Tool{Name: "pay", Call: call, Schema: json.RawMessage(`{"type":"object"}`)}
	for name, tt := range map[string]struct {
		yaml, brought tool.Tool
		refused       bool
	}{"the same": {plain, plain, false}, "stricter in the file": {guarded, plain, false}, "laxer in the file": {plain, guarded, true}, "other arguments": {plain, other, true}} {
		if err := build(tt.yaml, tt.brought); (err != nil) != tt.refused || err != nil && !strings.Contains(err.Error(), `two tools called "pay"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
