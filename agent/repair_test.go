package agent_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

var imageSchema = json.RawMessage(`{"type":"object","properties":{"prompt":{"type":"string"},"aspect_ratio":{"type":"string"},"size":{"type":"string"}},"required":["prompt"],"additionalProperties":false}`)

func raws(values ...string) (list []json.RawMessage) {
	for _, v := range values {
		raw, _ := json.Marshal(v)
		list = append(list, raw)
	}
	return list
}

// painter refuses ratios and sizes that it does not know, as a server answers 422.
func painter() *holdshorttest.Counted {
	allowed := map[string][]string{"aspect_ratio": {"1:1", "16:9", "9:16"}, "size": {"small", "large"}}
	return holdshorttest.Counter("paint").Declared(func(t *tool.Tool) { t.Schema = imageSchema }).Doing(func(_ int, call tool.Call) (any, error) {
		var args map[string]string
		if err := json.Unmarshal(call.Args, &args); err != nil {
			return nil, tool.Definite(err)
		}
		for _, field := range []string{"aspect_ratio", "size"} {
			if v, ok := args[field]; ok && !slices.Contains(allowed[field], v) {
				value, _ := json.Marshal(v)
				return nil, &tool.Fault{Class: tool.Validation, Status: 422, Field: field, Value: value, Allowed: raws(allowed[field]...), Message: field + " is not one of " + strings.Join(allowed[field], ", ")}
			}
		}
		return "image of " + args["prompt"] + " " + args["aspect_ratio"] + args["size"], nil
	})
}

// free lets every call run: what is looked at here is the repair.
var free = policy.Func(func(context.Context, policy.Call) (policy.Verdict, error) {
	return policy.Verdict{Decision: policy.Allow, Rule: "free"}, nil
})

func studio(t *testing.T, m model.Model, p policy.Policy, paint *holdshorttest.Counted, r agent.Repair) *holdshorttest.Kit {
	t.Helper()
	a := build(t, agent.Config{Model: m, Tools: []tool.Tool{paint.Tool()}, Repair: r})
	return holdshorttest.New(t, holdshorttest.Options{Agents: []*agent.Agent{a}, Policy: p})
}

// "Create a 1:1 sunset image", and the model sets another ratio: the user's sentence puts it right, the corrected value reaches the call, and
// the run completes as usual.
func TestUseOneToOne(t *testing.T) {
	m := &lines{said: []line{wants(call("p", "paint", `{"prompt":"sunset","aspect_ratio":"match_input_img"}`)), says("Here it is.")}}
	paint := painter()
	k := studio(t, m, free, paint, agent.Repair{})
	session := k.Chat("carl", "desk")
	run := k.As("carl").Say(session, "Create a 1:1 sunset image")
	req := k.Request(run)
	if req.Kind != holdshort.ErrorRecovery || !req.Audience.Owner {
		t.Fatalf("%+v", req)
	}
	contains(t, req.Question, "aspect_ratio", "match_input_img", "1:1", "Create a 1:1 sunset image")
	contains(t, string(req.Context), `"field":"aspect_ratio"`, `"current_value":"match_input_img"`, `"error_type":"validation"`)
	k.Restart()
	if again := k.Request(run); again.ID != req.ID || again.Question != req.Question {
		t.Errorf("the question changed over a restart: %+v", again)
	}
	k.As("carl").Say(session, "Use 1:1 ratio")
	if got := resultOf(t, k, run); got.Text != "Here it is." || m.times() != 2 {
		t.Errorf("%+v, asked %d times", got, m.times())
	}
	if got := argsOf(paint); !slices.Equal(got, []string{`{"aspect_ratio":"match_input_img","prompt":"sunset"}`, `{"aspect_ratio":"1:1","prompt":"sunset"}`}) || len(paint.Operations()) != 2 {
		t.Errorf("called with %q", got)
	}
	contains(t, toolTexts(m.last())["p"], "put right by the user", `"match_input_img" → "1:1"`, "image of sunset 1:1")
	types := map[string]int{}
	for _, msg := range k.Messages(session) {
		types[msg.Type]++
	}
	if types[holdshort.TypeQuestion] != 1 || types[holdshort.TypeReply] != 1 {
		t.Errorf("the history has %v", types)
	}
}

// A correction is a new call: where policy asks about calls, a person sees and approves the corrected one.
func TestACorrectionIsApprovedLikeAnyCall(t *testing.T) {
	m := &lines{said: []line{wants(call("p", "paint", `{"prompt":"sunset","aspect_ratio":"wide"}`)), says("ok")}}
	paint := painter()
	k := studio(t, m, editable, paint, agent.Repair{})
	session := k.Chat("carl", "desk")
	run := k.As("carl").Say(session, "a sunset")
	k.As("ana", "reviewer").Approve(k.Request(run))
	k.Advance(15 * time.Second)
	k.As("carl").Say(session, "16:9")
	req := k.Request(run)
	if req.Kind != holdshort.Approval || string(req.Actions[0].Args) != `{"aspect_ratio":"16:9","prompt":"sunset"}` || paint.Calls() != 1 {
		t.Fatalf("%+v, %d calls", req, paint.Calls())
	}
	k.As("ana", "reviewer").Reject(req, "not that")
	if resultOf(t, k, run); paint.Calls() != 1 {
		t.Errorf("%d calls", paint.Calls())
	}
	contains(t, toolTexts(m.last())["p"], "Not run", "not that")
}

// Another field fails next, and "fix it" is read against what was said; after three attempts it is left, and the model is told.
func TestManyTurns(t *testing.T) {
	m := &lines{said: []line{wants(call("p", "paint", `{"prompt":"sunset","aspect_ratio":"wide","size":"huge"}`)), says("ok")}}
	paint := painter()
	k := studio(t, m, free, paint, agent.Repair{})
	session := k.Chat("carl", "desk")
	run := k.As("carl").Say(session, "a large sunset")
	k.As("carl").Say(session, "hm, whatever you think")
	if n := paint.Calls(); n != 1 {
		t.Fatalf("%d calls after an answer that says nothing", n)
	}
	k.Advance(15 * time.Second)
	k.As("carl").Say(session, "aspect_ratio=16:9")
	contains(t, k.Request(run).Question, "size")
	k.Advance(15 * time.Second)
	k.As("carl").Say(session, "fix it")
	if got := argsOf(paint); len(got) != 3 || got[2] != `{"aspect_ratio":"16:9","prompt":"sunset","size":"large"}` {
		t.Errorf("called with %q", got)
	}
	resultOf(t, k, run)
}

func TestThreeAttemptsAndNoMore(t *testing.T) {
	m := &lines{said: []line{wants(call("p", "paint", `{"prompt":"x","size":"a"}`)), says("ok")}}
	stubborn := holdshorttest.Counter("paint").Declared(func(t *tool.Tool) { t.Schema = imageSchema }).Doing(func(n int, call tool.Call) (any, error) {
		return nil, &tool.Fault{Class: tool.Validation, Field: "size", Value: json.RawMessage(`"a"`), Message: "no"}
	})
	k := studio(t, m, free, stubborn, agent.Repair{Attempts: 99})
	session := k.Chat("carl", "desk")
	run := k.As("carl").Say(session, "go")
	for _, size := range []string{"b", "c", "d"} {
		k.As("carl").Say(session, "size="+size)
		k.Advance(15 * time.Second)
	}
	if resultOf(t, k, run); stubborn.Calls() != 4 {
		t.Errorf("%d calls", stubborn.Calls())
	}
	contains(t, toolTexts(m.last())["p"], "It failed, and did nothing", "no")
}

// Called off, expired, not repairable, or switched off: the model is told of the failure, and nobody is asked further.
func TestWhatIsNotRepaired(t *testing.T) {
	fault := func(class tool.Class) *holdshorttest.Counted {
		return holdshorttest.Counter("paint").Declared(func(t *tool.Tool) { t.Schema = imageSchema }).Failing(tool.Definite(&tool.Fault{Class: class, Field: "size", Message: "no"}))
	}
	bad := wants(call("p", "paint", `{"prompt":"x","size":"a"}`))
	for _, class := range []tool.Class{tool.Authentication, tool.NotFound, tool.RateLimit, tool.ServerError, tool.OtherFault} {
		m := &lines{said: []line{bad, says("ok")}}
		k := studio(t, m, free, fault(class), agent.Repair{})
		resultOf(t, k, k.Start("agent.desk", "go"))
		contains(t, toolTexts(m.last())["p"], "did nothing")
	}
	m := &lines{said: []line{bad, says("ok")}}
	k := studio(t, m, free, fault(tool.Validation), agent.Repair{Off: true})
	resultOf(t, k, k.Start("agent.desk", "go"))

	m = &lines{said: []line{bad, says("ok")}}
	paint := painter()
	k = studio(t, m, free, paint, agent.Repair{})
	session := k.Chat("carl", "desk")
	run := k.As("carl").Say(session, "go")
	k.As("carl").Say(session, "never mind")
	if resultOf(t, k, run); paint.Calls() != 1 {
		t.Errorf("%d calls after it was called off", paint.Calls())
	}
}

// What a model makes of an answer is a proposal: bounded, checked, shown, and only then tried.
func TestAModelReadsWhatTheReaderCannot(t *testing.T) {
	for _, tt := range []struct {
		proposal string
		confirm  bool
		calls    int
	}{
		{`{"set":{"aspect_ratio":"1:1"}}`, true, 2},
		{`{"set":{"aspect_ratio":"1:1"}}`, false, 1},
		{`{"set":{"aspect_ratio":"7:3"}}`, true, 1},
		{`{"set":{"prompt":"something else"}}`, true, 1},
		{`nonsense`, true, 1},
	} {
		reader := &lines{said: []line{says(tt.proposal), says(`{"unclear":"which?"}`), says(`{"unclear":"which?"}`)}}
		m := &lines{said: []line{wants(call("p", "paint", `{"prompt":"x","aspect_ratio":"square"}`)), says("ok")}}
		paint := painter()
		k := studio(t, m, free, paint, agent.Repair{Model: reader})
		session := k.Chat("carl", "desk")
		run := k.As("carl").Say(session, "paint x")
		k.As("carl").Say(session, "as wide as it is high, please")
		if req := k.Request(run); req.Kind == holdshort.Confirmation {
			contains(t, req.Question, "aspect_ratio", "square", "1:1")
			if paint.Calls() != 1 {
				t.Error("tried before anybody saw it")
			}
			k.Settle()
			if tt.confirm {
				k.As("carl").Approve(req)
			} else {
				k.As("carl").Reject(req, "")
			}
		}
		k.Settle()
		if paint.Calls() == 1 {
			k.As("carl").Cancel(k.Request(run), "enough")
		}
		if resultOf(t, k, run); paint.Calls() != tt.calls {
			t.Errorf("%s, confirmed %v: %d calls", tt.proposal, tt.confirm, paint.Calls())
		}
	}
}

// An approval whose rule names the session's owner is asked in the chat, and a plain yes there gives it.
func TestTheOwnerApprovesInTheChat(t *testing.T) {
	owner := policy.Func(func(context.Context, policy.Call) (policy.Verdict, error) {
		return policy.Verdict{Decision: policy.Ask, Rule: "their own", Audience: holdshort.Audience{Owner: true}, Question: "Refund order 1?"}, nil
	})
	m := &lines{said: []line{wants(call("b", "refund", `{"order":"1"}`)), says("Done.")}}
	pay := refund()
	k := holdshorttest.New(t, holdshorttest.Options{Agents: []*agent.Agent{build(t, agent.Config{Model: m, Tools: []tool.Tool{pay.Tool()}})}, Policy: owner})
	session := k.Chat("carl", "desk")
	run := k.As("carl").Say(session, "refund 1")
	if said := k.Said(); len(said) != 1 || !strings.Contains(said[0], "Refund order 1?") {
		t.Fatalf("asked %q", said)
	}
	k.As("carl").Say(session, "yes")
	if got := resultOf(t, k, run); got.Text != "Done." || pay.Calls() != 1 {
		t.Errorf("%+v, %d refunds", got, pay.Calls())
	}
}
