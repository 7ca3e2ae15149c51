package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/tool"
)

// What a sub-agent asks of people surfaces on the outer run, and its answer is the outer model's result.
func TestSubAgents(t *testing.T) {
	inner := &lines{said: []line{wants(call("i1", "refund", `{"order":"1","amount":5}`)), says("I refunded 5.")}}
	outer := &lines{said: []line{wants(call("o1", "payer", `{"task":"refund order 1"}`), call("o2", "lookup", `{"order":"1"}`)), says("All done.")}}
	pay, read := refund(), lookup()
	payer := build(t, agent.Config{Name: "payer", Description: "Pays.", Model: inner, Tools: []tool.Tool{pay.Tool()}})
	chief := build(t, agent.Config{Name: "chief", Model: outer, Tools: []tool.Tool{read.Tool()}, Delegates: []agent.Delegate{payer.Delegate()}})
	k := holdshorttest.New(t, holdshorttest.Options{Agents: []*agent.Agent{chief}, Policy: editable})
	session := k.Chat("carl", "chief")
	run := k.As("carl").Say(session, "refund it")
	req := k.Request(run)
	if req.RunID != run || req.Actions[0].Tool != "refund" || req.Actions[0].CallID != "i1" || !strings.HasPrefix(req.OriginStepID, "then-1/1/agent:payer/calls-1") {
		t.Fatalf("%+v", req)
	}
	k.Restart()
	k.As("ana", "reviewer").Approve(k.Request(run))
	got := resultOf(t, k, run)
	if got.Text != "All done." || pay.Calls() != 1 || inner.times() != 2 || outer.times() != 2 || got.Usage.Total() != 60 {
		t.Errorf("%+v, %d refunds, asked %d and %d times", got, pay.Calls(), inner.times(), outer.times())
	}
	if texts := toolTexts(outer.last()); texts["o1"] != "I refunded 5." {
		t.Errorf("the outer model was told %q", texts)
	}
	if said := k.Said(); len(said) != 1 || said[0] != "All done." {
		t.Errorf("the user was told %q", said)
	}
	if state, ok := agent.StateOf(k.Run(run), k.Journal(run), nil); !ok || len(state.Reasoning.SubAgents) != 1 {
		t.Errorf("state %+v", state)
	}
}

// A flow as a tool: its arguments may be edited at the gate, and what it fails with is the model's business.
func TestAFlowAsATool(t *testing.T) {
	type in struct {
		Order string `json:"order"`
	}
	slow := flow.New("ship", 1, func(c *flow.Context, in in) (string, error) {
		ok, err := flow.Confirm(c, "sure", flow.Question{Text: "Ship " + in.Order + "?"})
		if err != nil || !ok {
			return "", &holdshort.Error{Code: holdshort.Invalid, Message: "the user does not want it"}
		}
		return "shipped " + in.Order, nil
	})
	d := agent.Delegate{Name: "ship", Description: "Ships.", Schema: orderSchema, Flow: slow}
	for _, yes := range []bool{true, false} {
		m := &lines{said: []line{wants(call("s", "ship", `{"order":"1"}`)), says("ok")}}
		k := holdshorttest.New(t, holdshorttest.Options{Agents: []*agent.Agent{build(t, agent.Config{Model: m, Delegates: []agent.Delegate{d}})}, Policy: editable})
		session := k.Chat("carl", "desk")
		run := k.As("carl").Say(session, "ship 1")
		k.As("ana", "reviewer").Edit(k.Request(run), json.RawMessage(`{"order":"2"}`))
		req := k.Request(run)
		if req.Question != "Ship 2?" {
			t.Fatalf("asks %q", req.Question)
		}
		want := "shipped 2"
		if yes {
			k.As("carl").Approve(req)
		} else {
			k.As("carl").Reject(req, "")
			want = "the user does not want it"
		}
		resultOf(t, k, run)
		contains(t, toolTexts(m.last())["s"], want)
	}
}

// A rejected hand-over runs nothing of the delegate.
func TestARejectedDelegate(t *testing.T) {
	inner := &lines{}
	helper := build(t, agent.Config{Name: "helper", Model: inner}).Delegate()
	helper.Guarded = true
	m := &lines{said: []line{wants(call("h", "helper", `{"task":"x"}`)), says("ok")}}
	k := holdshorttest.New(t, holdshorttest.Options{Agents: []*agent.Agent{build(t, agent.Config{Model: m, Delegates: []agent.Delegate{helper}})}, Policy: editable})
	run := k.Start("agent.desk", "go")
	k.As("ana", "reviewer").Reject(k.Request(run), "no")
	if resultOf(t, k, run); inner.times() != 0 {
		t.Error("it worked all the same")
	}
}

// The model writes the question and nothing else; the user answers in the chat.
func TestAskUser(t *testing.T) {
	m := &lines{said: []line{wants(call("q", agent.AskUser, `{"question":"Which order?"}`), call("r", "refund", `{"order":"9"}`)), says("ok")}}
	pay := refund()
	k := desk(t, m, func(c *agent.Config) { c.AskUser = true }, pay)
	session := k.Chat("carl", "desk")
	run := k.As("carl").Say(session, "refund")
	if got := k.Said(); len(got) != 0 {
		t.Errorf("asked %q before the batch was decided", got)
	}
	k.As("ana", "reviewer").Approve(k.Request(run))
	req := k.Request(run)
	if req.Kind != holdshort.Clarification || req.Question != "Which order?" || req.ExpectedInput != holdshort.FreeText || !req.Audience.Owner || pay.Calls() != 1 {
		t.Fatalf("%+v", req)
	}
	k.Settle()
	k.As("carl").Say(session, "the blue one")
	if got := resultOf(t, k, run); got.Text != "ok" {
		t.Errorf("%+v", got)
	}
	contains(t, toolTexts(m.last())["q"], "The user answered: the blue one")
}
