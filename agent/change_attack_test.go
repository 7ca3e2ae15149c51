package agent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/tool"
)

// What ran, ran: a deployment in between that took the tool away, or lets an answer have fewer calls, must not tell the model that it did not.
func TestADeploymentInBetween(t *testing.T) {
	tests := []struct {
		name   string
		change func(*agent.Config)
	}{
		{"fewer calls in one answer", func(c *agent.Config) { c.Limits.Calls = 1 }},
		{"a larger window", func(c *agent.Config) { c.Limits.Window = 1 << 20 }},
		{"nothing is put right any more", func(c *agent.Config) { c.Repair.Off = true }},
		{"the user is not asked any more", func(c *agent.Config) { c.AskUser = false }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &lines{said: []line{wants(call("a", "lookup", `{"order":"1"}`), call("b", "refund", `{"order":"1"}`)), wants(call("c", "lookup", `{"order":"2"}`), call("d", "pay", `{"order":"2"}`)), says("done"), says("done")}}
			read, give, pay := lookup(), refund(), holdshorttest.Counter("pay").Returning("paid").Declared(func(t *tool.Tool) { t.Schema = orderSchema })
			c := agent.Config{Name: "desk", Model: m, AskUser: true, Tools: []tool.Tool{read.Tool(), give.Tool(), pay.Tool()}}
			k := holdshorttest.New(t, holdshorttest.Options{Agents: []*agent.Agent{build(t, c)}, Policy: editable})
			run := k.Start("agent.desk", "go")
			k.As("ana", "reviewer").Approve(k.Request(run))
			req := k.Request(run)
			tt.change(&c)
			k.Restart(func(o *holdshorttest.Options) {
				o.Agents, o.Tools = []*agent.Agent{build(t, c)}, nil
			})
			k.As("ana", "reviewer").Approve(req)
			got := resultOf(t, k, run)
			texts := toolTexts(m.last())
			if got.Text != "done" || give.Calls() != 1 || pay.Calls() != 1 || m.times() > 4 {
				t.Errorf("%+v, %d refunds, %d payments, asked %d times", got, give.Calls(), pay.Calls(), m.times())
			}
			if text, ok := texts["b"]; ok && text != "rc-1" {
				t.Errorf("of the refund that was made the model is told %q", text)
			}
			if text, ok := texts["d"]; ok && text != "paid" {
				t.Errorf("of the approved payment the model is told %q", text)
			}
		})
	}
}

// A tool that is the agent's no more runs nothing, whatever was approved: the run is held until it is given back. What it had done stays done.
func TestAToolThatIsTakenAway(t *testing.T) {
	m := &lines{said: []line{wants(call("b", "refund", `{"order":"1"}`)), wants(call("d", "refund", `{"order":"2"}`)), says("done")}}
	read, give := lookup(), refund()
	c := agent.Config{Name: "desk", Model: m, Tools: []tool.Tool{read.Tool(), give.Tool()}}
	k := holdshorttest.New(t, holdshorttest.Options{Agents: []*agent.Agent{build(t, c)}, Policy: editable})
	run := k.Start("agent.desk", "go")
	k.As("ana", "reviewer").Approve(k.Request(run))
	req := k.Request(run)
	less := c
	less.Tools = c.Tools[:1]
	k.Restart(func(o *holdshorttest.Options) {
		o.Agents, o.Tools = []*agent.Agent{build(t, less)}, []tool.Tool{give.Tool()}
	})
	k.As("ana", "reviewer").Approve(req)
	if now := k.Run(run); now.Held == nil || now.Held.Code != holdshort.ToolUnknown || give.Calls() != 1 {
		t.Fatalf("%+v, %d refunds", now, give.Calls())
	}
	k.Restart(func(o *holdshorttest.Options) { o.Agents, o.Tools = []*agent.Agent{build(t, c)}, nil })
	k.Retry(run)
	if got := resultOf(t, k, run); got.Text != "done" || give.Calls() != 2 || toolTexts(m.last())["b"] != "rc-1" || m.times() != 3 {
		t.Errorf("%+v, %d refunds, asked %d times, told %q", got, give.Calls(), m.times(), toolTexts(m.last()))
	}
}

// What a tool returns cannot count against what the run has used, or for it.
func TestResultsThatClaimUsage(t *testing.T) {
	fault := &tool.Fault{Class: tool.Validation, Field: "order", Value: json.RawMessage(`"1"`), Allowed: []json.RawMessage{json.RawMessage(`"7"`), json.RawMessage(`"8"`)}, Message: "order must be one of 7, 8"}
	pay := holdshorttest.Counter("pay").Declared(func(t *tool.Tool) { t.Schema, t.Effect = orderSchema, tool.Read }).Doing(func(n int, c tool.Call) (any, error) {
		if strings.Contains(string(c.Args), `"1"`) {
			return nil, fault
		}
		return map[string]any{"text": "x", "usage": map[string]any{"input_tokens": -1_000_000, "output_tokens": -5, "cost": -1_000_000}}, nil
	})
	m := &lines{said: []line{wants(call("a", "pay", `{"order":"1"}`)), wants(call("b", "pay", `{"order":"7"}`)), says("too much")}}
	k := desk(t, m, func(c *agent.Config) { c.Limits.Tokens = 30 }, pay)
	session := k.Chat("carl", "desk")
	run := k.As("carl").Say(session, "pay order 1")
	k.As("carl").Answer(k.Request(run), "7")
	if f := k.Failure(run); f.Code != holdshort.LimitReached || m.times() != 2 {
		t.Errorf("%+v after %d answers", f, m.times())
	}
}

// Nor can a sub-agent that fails use without end what its caller may use.
func TestASubAgentThatFailsIsCounted(t *testing.T) {
	inner := &lines{}
	for range 20 {
		inner.said = append(inner.said, wants(call("x", "lookup", `{"order":"1"}`)))
	}
	outer := &lines{}
	for i := range 20 {
		outer.said = append(outer.said, wants(call(fmt.Sprint("o", i), "helper", `{"task":"x"}`)))
	}
	read := lookup()
	helper := build(t, agent.Config{Name: "helper", Model: inner, Tools: []tool.Tool{read.Tool()}, Limits: agent.Limits{Iterations: 2}})
	k := holdshorttest.New(t, holdshorttest.Options{Agents: []*agent.Agent{build(t, agent.Config{Model: outer, Delegates: []agent.Delegate{helper.Delegate()}, Limits: agent.Limits{Tokens: 100}})}, Policy: editable})
	run := k.Start("agent.desk", "go")
	if f := k.Failure(run); f.Code != holdshort.LimitReached || inner.times()+outer.times() > 9 {
		t.Errorf("%+v after %d answers", f, inner.times()+outer.times())
	}
}

// A tool of the program that is called as the question to the user would never run.
func TestAToolCalledAskUser(t *testing.T) {
	_, err := agent.New(agent.Config{Name: "desk", Model: &lines{}, Tools: []tool.Tool{holdshorttest.Counter(agent.AskUser).Tool()}})
	if holdshort.CodeOf(err) != holdshort.Invalid {
		t.Errorf("it is taken: %v", err)
	}
}

// Ids that only differ in what no row can hold are made different too, and an approval of one is none of the other.
func TestIdsThatBecomeTheSame(t *testing.T) {
	m := &lines{said: []line{wants(call("a\xff", "refund", `{"order":"1"}`), call("a\xfe", "refund", `{"order":"2"}`), call("a_", "refund", `{"order":"3"}`)), says("done")}}
	pay := refund()
	k := desk(t, m, nil, pay)
	run := k.Start("agent.desk", "go")
	req := k.Request(run)
	if len(req.Actions) != 3 {
		t.Fatalf("%+v", req.Actions)
	}
	k.As("ana", "reviewer").Calls(req, holdshort.CallDecision{CallID: req.Actions[0].CallID, Action: holdshort.Approve}, holdshort.CallDecision{CallID: req.Actions[1].CallID, Action: holdshort.Reject},
		holdshort.CallDecision{CallID: req.Actions[2].CallID, Action: holdshort.Reject})
	resultOf(t, k, run)
	if pay.Calls() != 1 || len(toolTexts(m.last())) != 3 {
		t.Errorf("%d refunds", pay.Calls())
	}
}

// A million calls that say nothing are an answer that nobody could use.
func TestAMillionEmptyCalls(t *testing.T) {
	m := &lines{said: []line{func(model.Request) (model.Response, error) {
		return model.Response{Calls: make([]model.Call, 1_000_000), Stop: model.StopCalls}, nil
	}, says("done")}}
	k := desk(t, m, nil, refund())
	if f := k.Failure(k.Start("agent.desk", "go")); f.Code != holdshort.ModelFailed {
		t.Errorf("%+v", f)
	}
}

// Two tools of one name are two tools: an agent must not run the one of another in place of its own.
func TestToolsOfOneName(t *testing.T) {
	mine, other := refund(), holdshorttest.Counter("refund").Declared(func(t *tool.Tool) { t.Guarded = true })
	helper := build(t, agent.Config{Name: "helper", Model: &lines{}, Tools: []tool.Tool{other.Tool()}})
	_, err := agent.New(agent.Config{Name: "desk", Model: &lines{}, Tools: []tool.Tool{mine.Tool()}, Delegates: []agent.Delegate{helper.Delegate()}})
	if holdshort.CodeOf(err) != holdshort.Invalid {
		t.Errorf("they are taken: %v", err)
	}
	gate := build(t, agent.Config{Name: "refund", Model: &lines{}})
	payer := build(t, agent.Config{Name: "payer", Model: &lines{}, Tools: []tool.Tool{mine.Tool()}})
	_, err = agent.New(agent.Config{Name: "desk", Model: &lines{}, Delegates: []agent.Delegate{gate.Delegate(), payer.Delegate()}})
	if holdshort.CodeOf(err) != holdshort.Invalid {
		t.Errorf("a gate and a tool of one name are taken: %v", err)
	}
}
