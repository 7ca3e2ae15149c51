package agent_test

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/model"
)

type ctxT = context.Context

// The state of a paused run has all that people of other systems look for, the same before and after a restart, and survives JSON.
func TestStateOf(t *testing.T) {
	m := &lines{said: []line{wants(call("n", "nothing", `{}`), call("a", "lookup", `{"order":"1"}`)), wants(call("b", "refund", `{"order":"1"}`)), says("ok")}}
	k := desk(t, m, nil, lookup(), refund())
	session := k.Chat("carl", "desk")
	run := k.As("carl").Say(session, "refund 1")
	got, ok := agent.StateOf(k.Run(run), k.Journal(run), k.Requests(run))
	if !ok || got.TaskID != run || got.ContextID != session || got.Query != "refund 1" || got.Iteration != 2 || got.TotalTokens != 30 || got.Reasoning.AgentName != "desk" {
		t.Fatalf("%+v", got)
	}
	if p := got.PendingToolCall; p == nil || p.Tool != "refund" || p.CallID != "b" || string(p.Args) != `{"order":"1"}` {
		t.Errorf("pending %+v", p)
	}
	var turn []string
	for _, msg := range got.CurrentTurn {
		turn = append(turn, string(msg.Role)+":"+msg.Text+msg.CallID)
	}
	if want := []string{"user:refund 1", "assistant:", `tool:{"order":"77","total":320}a`, "assistant:"}; !slices.Equal(turn, want) {
		t.Errorf("turn %q, want %q", turn, want)
	}
	if len(got.Reasoning.FirstIterationToolCalls) != 2 || got.Reasoning.FinalResponseAdded {
		t.Errorf("%+v", got.Reasoning)
	}
	k.Restart()
	if again, _ := agent.StateOf(k.Run(run), k.Journal(run), k.Requests(run)); !reflect.DeepEqual(again, got) {
		t.Errorf("after a restart\n%+v\nbefore\n%+v", again, got)
	}
	raw, err := json.Marshal(got)
	var back agent.State
	if err != nil || json.Unmarshal(raw, &back) != nil || !reflect.DeepEqual(back, got) {
		t.Errorf("%v: comes back as\n%+v", err, back)
	}
	k.As("ana", "reviewer").Approve(k.Request(run))
	resultOf(t, k, run)
	if done, _ := agent.StateOf(k.Run(run), k.Journal(run), nil); !done.Reasoning.FinalResponseAdded || done.AssistantResponse != "ok" || done.PendingToolCall != nil || done.Iteration != 3 {
		t.Errorf("at the end %+v", done)
	}
	if _, ok := agent.StateOf(holdshort.Run{Flow: "refund"}, nil, nil); ok {
		t.Error("a flow is taken for an agent")
	}
}

// Whoever listens hears the text as it is made, and the message that follows has the id of what they heard. While a person has the session
// nobody hears anything.
func TestStreaming(t *testing.T) {
	m := model.Func(func(ctx context.Context, req model.Request, say func(string)) (model.Response, error) {
		say("Good ")
		model.Restart(ctx)
		say("Hel")
		say("lo")
		return model.Response{Text: "Hello", Stop: model.StopEnd}, nil
	})
	k := desk(t, m, nil)
	session := k.Chat("carl", "desk")
	pieces, stop := k.Engine().Listen(k.Tenant(), session, "")
	defer stop()
	run := k.As("carl").Say(session, "hi")
	resultOf(t, k, run)
	var got []engine.Delta
	for range 4 {
		got = append(got, <-pieces)
	}
	last := k.Messages(session)[1]
	for i, want := range []engine.Delta{{Attempt: 1, Seq: 1, Text: "Good "}, {Attempt: 2, Reset: true}, {Attempt: 2, Seq: 1, Text: "Hel"}, {Attempt: 2, Seq: 2, Text: "lo"}} {
		want.Session, want.Run, want.Message = session, run, last.ID
		if got[i] != want {
			t.Errorf("piece %d is %+v, want %+v", i, got[i], want)
		}
	}
	ops := holdshort.Actor{ID: "ops", Kind: holdshort.Person, Roles: []string{"operator", "admin"}, Assurance: holdshort.AssuranceLogin}
	if _, err := k.Engine().Takeover(context.Background(), k.Tenant(), engine.TakeoverInput{Session: session, Actor: ops}); err != nil {
		t.Fatal(err)
	}
	k.As("carl").In(session).Start("agent.desk", "hi again")
	select {
	case d := <-pieces:
		t.Errorf("heard %+v while a person has the session", d)
	default:
	}
}

// A listener that does not keep up loses the rest of a message and never a piece in its middle.
func TestAListenerThatFallsBehind(t *testing.T) {
	m := model.Func(func(ctx context.Context, req model.Request, say func(string)) (model.Response, error) {
		for range 1000 {
			say("x")
		}
		return model.Response{Text: "xx", Stop: model.StopEnd}, nil
	})
	k := desk(t, m, nil)
	session := k.Chat("carl", "desk")
	pieces, stop := k.Engine().Listen(k.Tenant(), session, "")
	run := k.As("carl").Say(session, "hi")
	resultOf(t, k, run)
	stop()
	for seq := 1; len(pieces) > 0; seq++ {
		if d := <-pieces; d.Seq != seq {
			t.Fatalf("piece %d comes as number %d", d.Seq, seq)
		}
	}
}

// Agents are pure code over the journal: two executions of one run at once would still be one. The loop itself holds nothing.
func TestOneAgentManyRuns(t *testing.T) {
	m := model.Func(func(_ context.Context, req model.Request, _ func(string)) (model.Response, error) {
		if last := req.Messages[len(req.Messages)-1]; last.Role == model.User {
			return model.Response{Calls: []model.Call{call("a", "lookup", `{"order":"`+last.Text+`"}`)}, Stop: model.StopCalls}, nil
		}
		return model.Response{Text: req.Messages[0].Text, Stop: model.StopEnd}, nil
	})
	k := desk(t, m, nil, lookup())
	var wg sync.WaitGroup
	for _, text := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
		wg.Go(func() {
			run, err := k.Engine().Start(context.Background(), k.Tenant(), engine.StartInput{Agent: "desk", User: "carl", Input: json.RawMessage(`"` + text + `"`)})
			if err == nil {
				run, err = k.Engine().AwaitRun(context.Background(), k.Tenant(), run.ID, engine.Ended)
			}
			var got agent.Result
			if err != nil || json.Unmarshal(run.Result, &got) != nil || got.Text != text || run.Agent != "desk" || run.Flow != agent.FlowName("desk") {
				t.Errorf("%s: %v %s %+v", text, err, run.Result, run.Error)
			}
		})
	}
	wg.Wait()
	if _, err := k.Engine().Start(context.Background(), k.Tenant(), engine.StartInput{Agent: "nobody", User: "carl"}); holdshort.CodeOf(err) != holdshort.AgentUnknown {
		t.Errorf("an unknown agent: %v", err)
	}
}
