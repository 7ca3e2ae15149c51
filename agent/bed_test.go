package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

// lines is a model that says its lines in order, and keeps what it was asked.
type lines struct {
	mu    sync.Mutex
	said  []func(model.Request) (model.Response, error)
	asked []model.Request
}

func (l *lines) Generate(ctx context.Context, req model.Request, say func(string)) (model.Response, error) {
	l.mu.Lock()
	n := len(l.asked)
	l.asked = append(l.asked, req)
	l.mu.Unlock()
	if n >= len(l.said) {
		return model.Response{}, &model.Error{Kind: model.Rejected, Message: fmt.Sprintf("asked %d times, has %d lines", n+1, len(l.said))}
	}
	r, err := l.said[n](req)
	if err == nil && say != nil && r.Text != "" {
		say(r.Text)
	}
	return r, err
}

func (l *lines) times() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.asked)
}

func (l *lines) last() model.Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked[len(l.asked)-1]
}

type line = func(model.Request) (model.Response, error)

func says(text string) line {
	return func(model.Request) (model.Response, error) {
		return model.Response{Text: text, Stop: model.StopEnd, Usage: model.Usage{Input: 10, Output: 5, Cost: 3}}, nil
	}
}

func wants(calls ...model.Call) line {
	return func(model.Request) (model.Response, error) {
		return model.Response{Calls: calls, Stop: model.StopCalls, Usage: model.Usage{Input: 10, Output: 5, Cost: 3}}, nil
	}
}

func fails(err error) line {
	return func(model.Request) (model.Response, error) { return model.Response{}, err }
}

func call(id, name, args string) model.Call {
	return model.Call{ID: id, Tool: name, Args: json.RawMessage(args)}
}

var orderSchema = json.RawMessage(`{"type":"object","properties":{"order":{"type":"string"},"amount":{"type":"number"}},"required":["order"],"additionalProperties":false}`)

func lookup() *holdshorttest.Counted {
	return holdshorttest.Counter("lookup").Returning(map[string]any{"order": "77", "total": 320}).Declared(func(t *tool.Tool) { t.Effect, t.Schema = tool.Read, orderSchema })
}

func refund() *holdshorttest.Counted {
	return holdshorttest.Counter("refund").Returning("rc-1").Declared(func(t *tool.Tool) { t.Schema = orderSchema })
}

// editable lets reads run, and asks a reviewer about everything else, who may change what they like.
var editable = policy.Func(func(_ context.Context, c policy.Call) (policy.Verdict, error) {
	if c.Effect == "read" {
		return policy.Verdict{Decision: policy.Allow, Rule: "reads"}, nil
	}
	return policy.Verdict{Decision: policy.Ask, Rule: "writes", Editable: []string{"*"}}, nil
})

func build(t *testing.T, c agent.Config) *agent.Agent {
	t.Helper()
	if c.Name == "" {
		c.Name = "desk"
	}
	a, err := agent.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// desk is an agent with the tools given, on the lines given, in a kit.
func desk(t *testing.T, m model.Model, change func(*agent.Config), tools ...*holdshorttest.Counted) *holdshorttest.Kit {
	t.Helper()
	c := agent.Config{Model: m, Instructions: "You look after orders."}
	for _, counted := range tools {
		c.Tools = append(c.Tools, counted.Tool())
	}
	if change != nil {
		change(&c)
	}
	return holdshorttest.New(t, holdshorttest.Options{Agents: []*agent.Agent{build(t, c)}, Policy: editable})
}

func resultOf(t *testing.T, k *holdshorttest.Kit, run holdshort.RunID) agent.Result {
	t.Helper()
	return holdshorttest.Result[agent.Result](k, run)
}

// toolTexts are the results that the model was given with its last request.
func toolTexts(req model.Request) map[string]string {
	texts := map[string]string{}
	for _, m := range req.Messages {
		if m.Role == model.ToolRole {
			texts[m.CallID] = m.Text
		}
	}
	return texts
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is not in %q", p, text)
		}
	}
}

var errRefused = errors.New("refused")
