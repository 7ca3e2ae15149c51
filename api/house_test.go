package api_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/api"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/model/script"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store/sqlite"
	"github.com/holdshort/holdshort/tool"
)

// said is what a flow gets of a session's message.
type said struct {
	Text string `json:"text"`
}

// chatFlow talks: it greets, asks, and says what it heard.
var chatFlow = flow.New("chat", 1, func(c *flow.Context, in said) (string, error) {
	flow.Say(c, "greet", "You wrote: "+in.Text)
	yes, err := flow.Confirm(c, "sure", flow.Question{Text: "Shall I go on?"})
	if err != nil {
		return "", err
	}
	if !yes {
		flow.Say(c, "stop", "As you like.")
		return "stopped", nil
	}
	flow.Say(c, "go", "Done.")
	return "done", nil
})

// askFlow asks the reviewers something of each shape.
var askFlow = flow.New("ask", 1, func(c *flow.Context, kind string) (json.RawMessage, error) {
	q := flow.Question{Text: "Which of them?", To: holdshort.Audience{Roles: []string{policy.Reviewer}}, Expires: time.Hour}
	switch kind {
	case "one":
		got, err := flow.Choose(c, "q", q, holdshort.Option{ID: "a", Label: "Apples"}, holdshort.Option{ID: "b", Label: "Pears"})
		return marshal(got), err
	case "many":
		got, err := flow.ChooseMany(c, "q", q, holdshort.Option{ID: "a", Label: "Apples"}, holdshort.Option{ID: "b", Label: "Pears"}, holdshort.Option{ID: "c", Label: "Plums"})
		return marshal(got), err
	case "form":
		return flow.Form[json.RawMessage](c, "q", q, json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","title":"Full name"},"count":{"type":"integer"},"size":{"enum":["small","large"]},"gift":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string"}}},"required":["name","count"],"additionalProperties":false}`))
	case "escalate":
		got, err := flow.Escalate(c, "q", flow.Question{Text: "Somebody has to look at this."})
		return marshal(got.Outcome), err
	}
	got, err := flow.Ask(c, "q", q)
	return marshal(got), err
})

func marshal(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// pairFlow asks for two calls at once.
var pairFlow = flow.New("pair", 1, func(c *flow.Context, in refund) ([]string, error) {
	results, err := flow.Calls(c, "both", []flow.Request{{ID: "one", Tool: "orders.refund", Args: marshal(in)}, {ID: "two", Tool: "orders.refund", Args: marshal(refund{in.Order + "b", in.Amount})}})
	var out []string
	for _, r := range results {
		out = append(out, string(r.Value))
	}
	return out, err
})

// houseRules: refunds over 1000 need two, what goes to a bank is withheld.
var houseRules = policy.Func(func(_ context.Context, call policy.Call) (policy.Verdict, error) {
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

var bankFlow = flow.New("bank", 1, func(c *flow.Context, args json.RawMessage) (string, error) {
	return flow.Call[string](c, "send", "bank.send", args)
})

type houseOptions struct {
	api    api.Options
	people identity.Config
}

// newHouse is a door behind which more happens: chats, questions, batches, rules.
func newHouse(t *testing.T, change ...func(*houseOptions)) *door {
	t.Helper()
	return openHouse(t, filepath.Join(t.TempDir(), "house.db"), change...)
}

func openHouse(t *testing.T, path string, change ...func(*houseOptions)) *door {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := &door{path: path, refunds: new(atomic.Int64), keys: map[string]string{"admin": adminKey}}
	log := slog.New(slog.DiscardHandler)
	o := houseOptions{api.Options{Logger: log, KeepAlive: 50 * time.Millisecond, Rate: -1}, identity.Config{AdminKey: adminKey, Logger: log}}
	for _, c := range change {
		c(&o)
	}
	call := func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Value: json.RawMessage(`"re_` + strings.Repeat("1", int(d.refunds.Add(1))) + `"`)}, nil
	}
	tools := []tool.Tool{
		{Name: "orders.refund", Effect: tool.Write, Schema: json.RawMessage(`{"type":"object","properties":{"order":{"type":"string"},"amount":{"type":"number"}},"required":["order","amount"],"additionalProperties":false}`), Call: call},
		{Name: "bank.send", Effect: tool.Write, Schema: json.RawMessage(`{"type":"object"}`), Call: call},
	}
	flows := []flow.Flow{refundFlow, confirmFlow, chatFlow, askFlow, pairFlow, bankFlow}
	agents := map[string]string{}
	for name, mode := range map[string]string{"refunds": "async", "patient": "blocking"} {
		a := houseAgent(t, name, tools[0])
		flows, agents[name] = append(flows, a.Flow()), a.Flow().Name
		o.api.Agents = append(o.api.Agents, api.Agent{Name: name, Description: a.Description(), Mode: mode, Tools: []string{tools[0].Name}})
	}
	slices.SortFunc(o.api.Agents, func(a, b api.Agent) int { return strings.Compare(a.Name, b.Name) })
	if d.engine, err = engine.New(s, engine.Config{Flows: flows, Tools: tools, Agents: agents, Policy: houseRules, Grace: 5 * time.Second, Logger: log}); err != nil {
		t.Fatal(err)
	}
	if d.people, err = identity.New(d.engine, o.people); err != nil {
		t.Fatal(err)
	}
	if d.server, err = api.New(d.engine, d.people, o.api); err != nil {
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

// houseAgent is a refund desk on a script.
func houseAgent(t *testing.T, name string, refunds tool.Tool) *agent.Agent {
	t.Helper()
	m, err := script.New([]script.Rule{
		{When: script.When{User: `refund order (\S+) for (\d+) twice`}, Call: []script.CallSpec{{Tool: refunds.Name, Args: map[string]any{"order": "$1", "amount": "$2"}}, {Tool: refunds.Name, Args: map[string]any{"order": "$1b", "amount": "$2"}}}},
		{When: script.When{User: `refund order (\S+) for (\d+)`}, Say: "I ask somebody.", Call: []script.CallSpec{{Tool: refunds.Name, Args: map[string]any{"order": "$1", "amount": "$2"}}}},
		{When: script.When{Tool: refunds.Name}, Say: "Done: {result}"},
		{Say: "I refund orders."},
	})
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.New(agent.Config{Name: name, Description: "Pays money back.", Model: m, Tools: []tool.Tool{refunds}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// starts begins a flow for ben and gives the one request that it asks.
func (d *door) starts(t *testing.T, flow string, input any) (shownRun, holdshort.RequestID) {
	t.Helper()
	a := d.call(t, "ben", "POST", "/v1/runs", map[string]any{"flow": flow, "input": input})
	if a.status != 201 {
		t.Fatalf("start %s: %d %s", flow, a.status, a.body)
	}
	var run shownRun
	a.into(t, &run)
	d.call(t, "ben", "GET", "/v1/runs/"+string(run.ID)+"?wait=10s", nil).into(t, &run)
	if len(run.OpenRequests) != 1 {
		t.Fatalf("%s asks nothing: %+v", flow, run)
	}
	return run, run.OpenRequests[0]
}
