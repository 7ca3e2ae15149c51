package agent_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

// A model looks something up, asks for an effect, is paused through a restart, and goes on with what was approved. It is asked once for each
// answer, whatever happens in between.
func TestARunPausesAndGoesOn(t *testing.T) {
	m := &lines{said: []line{wants(call("a", "lookup", `{"order":"77"}`)), wants(call("b", "refund", `{"order":"77","amount":120}`)), says("Refunded.")}}
	read, pay := lookup(), refund()
	k := desk(t, m, nil, read, pay)
	session := k.Chat("carl", "desk")
	run := k.As("carl").Say(session, "refund order 77")
	req := k.Request(run)
	if m.times() != 2 || pay.Calls() != 0 || string(req.Actions[0].Args) != `{"amount":120,"order":"77"}` || req.Actions[0].CallID != "b" {
		t.Fatalf("asked %d times, paid %d, %+v", m.times(), pay.Calls(), req.Actions)
	}
	k.Restart()
	k.Restart()
	if again := k.Request(run); again.ID != req.ID || again.Question != req.Question || again.Fingerprint != req.Fingerprint {
		t.Errorf("the request changed over a restart: %+v", again)
	}
	k.As("ana", "reviewer").Approve(req)
	got := resultOf(t, k, run)
	if got.Text != "Refunded." || got.Iterations != 3 || got.Usage.Total() != 45 || m.times() != 3 || pay.Calls() != 1 || read.Calls() != 1 {
		t.Errorf("gives %+v after %d answers, %d refunds, %d lookups", got, m.times(), pay.Calls(), read.Calls())
	}
	if said := k.Said(); !slices.Equal(said, []string{"Refunded."}) {
		t.Errorf("said %q", said)
	}
	texts := toolTexts(m.last())
	if texts["a"] != `{"order":"77","total":320}` || texts["b"] != "rc-1" {
		t.Errorf("the model was told %q", texts)
	}
	for _, msg := range m.last().Messages {
		if msg.Role == model.ToolRole && !msg.Untrusted {
			t.Errorf("a result is not marked: %+v", msg)
		}
	}
}

// Whoever rejects is heard: the model gets a denial that is stored, and is told not to make a result up.
func TestARejectionIsAResultThatIsKept(t *testing.T) {
	m := &lines{said: []line{wants(call("b", "refund", `{"order":"77","amount":120}`)), says("It was not done.")}}
	pay := refund()
	k := desk(t, m, nil, pay)
	run := k.Start("agent.desk", "refund 77")
	k.As("ana", "reviewer").Reject(k.Request(run), "too much")
	if got := resultOf(t, k, run); got.Text != "It was not done." || pay.Calls() != 0 {
		t.Errorf("%+v, %d refunds", got, pay.Calls())
	}
	contains(t, toolTexts(m.last())["b"], "Not run", "ana", "too much", "do not make one up")
	var kept bool
	for _, e := range k.Journal(run) {
		kept = kept || e.Key == "calls-1/1" && e.Error != nil && e.Error.Code == holdshort.Denied
	}
	if !kept {
		t.Error("the denial is not in the journal")
	}
}

// Of a mixed batch nothing runs before the decision, not even what needs none.
func TestABatchIsGatedAsAWhole(t *testing.T) {
	m := &lines{said: []line{wants(call("r", "lookup", `{"order":"77"}`), call("x", "refund", `{"order":"77","amount":1}`), call("y", "refund", `{"order":"78","amount":2}`), call("z", "refund", `{"order":"79","amount":3}`)), says("ok")}}
	read, pay := lookup(), refund()
	k := desk(t, m, nil, read, pay)
	run := k.Start("agent.desk", "all")
	req := k.Request(run)
	if read.Calls() != 0 || pay.Calls() != 0 || len(req.Actions) != 4 || req.Actions[0].NeedsApproval || !req.Actions[1].NeedsApproval {
		t.Fatalf("before the decision: %d lookups, %d refunds, %+v", read.Calls(), pay.Calls(), req.Actions)
	}
	k.As("ana", "reviewer").Calls(req,
		holdshort.CallDecision{CallID: "x", Action: holdshort.Approve},
		holdshort.CallDecision{CallID: "y", Action: holdshort.Edit, Args: json.RawMessage(`{"order":"78","amount":1.5}`)},
		holdshort.CallDecision{CallID: "z", Action: holdshort.Respond, Message: "I paid that in cash"})
	resultOf(t, k, run)
	texts := toolTexts(m.last())
	if read.Calls() != 1 || pay.Calls() != 2 || texts["x"] != "rc-1" {
		t.Errorf("%d lookups, %d refunds, %q", read.Calls(), pay.Calls(), texts)
	}
	contains(t, texts["y"], "A person changed its arguments", `"amount":1.5`)
	contains(t, texts["z"], "ana answered in the tool's place", "cash")
	if ran := argsOf(pay); !slices.Contains(ran, `{"amount":1.5,"order":"78"}`) || slices.Contains(ran, `{"amount":2,"order":"78"}`) {
		t.Errorf("ran with %q", ran)
	}
}

// Several pauses in one run, each with a request of its own.
func TestManyPauses(t *testing.T) {
	m := &lines{said: []line{wants(call("b", "refund", `{"order":"1"}`)), wants(call("b", "refund", `{"order":"1"}`)), wants(call("b", "refund", `{"order":"1"}`)), says("done")}}
	pay := refund()
	k := desk(t, m, nil, pay)
	run := k.Start("agent.desk", "pay")
	seen := map[holdshort.RequestID]bool{}
	for i := range 3 {
		req := k.Request(run)
		if seen[req.ID] || pay.Calls() != i {
			t.Fatalf("pause %d: request %s, %d refunds", i, req.ID, pay.Calls())
		}
		seen[req.ID] = true
		k.As("ana", "reviewer").Approve(req)
		k.Restart()
	}
	if resultOf(t, k, run); pay.Calls() != 3 || len(pay.Operations()) != 3 {
		t.Errorf("%d refunds in %d operations", pay.Calls(), len(pay.Operations()))
	}
}

// What the user says while the run waits is heard when it goes on, once, and nothing that they say is lost.
func TestWordsWhileItWaits(t *testing.T) {
	m := &lines{said: []line{wants(call("b", "refund", `{"order":"1"}`)), says("Done, and noted."), says("You are welcome.")}}
	k := desk(t, m, nil, refund())
	session := k.Chat("carl", "desk")
	run := k.As("carl").Say(session, "refund 1")
	if other := k.As("carl").Say(session, "and please hurry"); other != run {
		t.Errorf("went to %s instead of %s", other, run)
	}
	k.As("ana", "reviewer").Approve(k.Request(run))
	resultOf(t, k, run)
	asked := m.last()
	if last := asked.Messages[len(asked.Messages)-1]; last.Role != model.User || last.Text != "and please hurry" {
		t.Errorf("the model was last told %+v", last)
	}
	next := k.As("carl").Say(session, "thanks")
	resultOf(t, k, next)
	var heard []string
	for _, msg := range m.last().Messages {
		heard = append(heard, string(msg.Role)+": "+msg.Text)
	}
	want := []string{"user: refund 1", "user: and please hurry", `user: {"action":"approve","request_id":"` + string(k.Requests(run)[0].ID) + `"}`, "assistant: Done, and noted.", "user: thanks"}
	if !slices.Equal(heard, want) {
		t.Errorf("the next run's model heard\n%s\nwant\n%s", strings.Join(heard, "\n"), strings.Join(want, "\n"))
	}
}

func argsOf(c *holdshorttest.Counted) (list []string) {
	for _, x := range c.All() {
		list = append(list, string(x.Args))
	}
	return list
}

// Whoever decides on a batch sees which of its calls do not run, whatever they say.
func TestWhatDoesNotRunIsSaid(t *testing.T) {
	rules := policy.Func(func(_ context.Context, c policy.Call) (policy.Verdict, error) {
		if c.Tool == "lookup" {
			return policy.Verdict{Decision: policy.Deny, Rule: "never"}, nil
		}
		return policy.Verdict{Decision: policy.Ask, Rule: "writes"}, nil
	})
	m := &lines{said: []line{wants(call("d", "lookup", `{"order":"1"}`), call("m", "refund", `{"order":1}`), call("r", "refund", `{"order":"1"}`)), says("ok")}}
	read, pay := lookup(), refund()
	a := build(t, agent.Config{Model: m, Tools: []tool.Tool{read.Tool(), pay.Tool()}})
	k := holdshorttest.New(t, holdshorttest.Options{Agents: []*agent.Agent{a}, Policy: rules})
	run := k.Start("agent.desk", "go")
	req := k.Request(run)
	if got := req.Actions; !got[0].Refused || !got[1].Refused || got[2].Refused || !got[2].NeedsApproval || got[0].NeedsApproval {
		t.Errorf("%+v", got)
	}
	k.As("ana", "reviewer").Approve(req)
	if resultOf(t, k, run); read.Calls() != 0 || pay.Calls() != 1 {
		t.Errorf("%d lookups, %d refunds", read.Calls(), pay.Calls())
	}
}
