package agent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/tool"
)

// A conversation that outgrows the window is summed up once, the summary is kept over restarts, and calls never lose their results.
func TestLongConversationsAreSummedUp(t *testing.T) {
	big := strings.Repeat("word ", 400)
	m := &lines{}
	for i := range 6 {
		m.said = append(m.said, wants(call(fmt.Sprintf("c%d", i), "lookup", `{"order":"1"}`)))
	}
	summaries := 0
	wrapped := model.Func(func(ctx ctxT, req model.Request, say func(string)) (model.Response, error) {
		if strings.HasPrefix(req.System, "Sum up") {
			summaries++
			if len(req.Tools) != 0 {
				t.Error("whoever sums up is offered tools")
			}
			return model.Response{Text: fmt.Sprintf("summary %d", summaries), Stop: model.StopEnd}, nil
		}
		asked := map[string]bool{}
		for _, msg := range req.Messages {
			for _, c := range msg.Calls {
				asked[c.ID] = true
			}
			if msg.Role == model.ToolRole && !asked[msg.CallID] {
				t.Errorf("the result of %s has lost its call", msg.CallID)
			}
		}
		return m.Generate(ctx, req, say)
	})
	m.said = append(m.said, wants(call("pay", "refund", `{"order":"1"}`)), says("done"))
	read := holdshorttest.Counter("lookup").Returning(big).Declared(func(t *tool.Tool) { t.Effect, t.Schema = tool.Read, orderSchema })
	c := agent.Config{Model: wrapped, Limits: agent.Limits{Window: 1500}, Tools: []tool.Tool{read.Tool(), refund().Tool()}}
	k := holdshorttest.New(t, holdshorttest.Options{Agents: []*agent.Agent{build(t, c)}, Policy: editable})
	run := k.Start("agent.desk", "start here")
	before := summaries
	if before == 0 {
		t.Fatal("nothing was summed up")
	}
	k.Restart()
	k.As("ana", "reviewer").Approve(k.Request(run))
	if got := resultOf(t, k, run); got.Text != "done" || summaries > before+1 {
		t.Errorf("%+v, %d summaries, %d before the restart", got, summaries, before)
	}
	if first := m.last().Messages[0]; !strings.HasPrefix(first.Text, "[summary of what came before]\nsummary") {
		t.Errorf("the model's first message is %q", first.Text)
	}
}

// Where a schema says what the answer must be, the model is told what is wrong with it until it fits.
func TestAnswersThatMustFit(t *testing.T) {
	m := &lines{said: []line{says("sure!"), says(`{"total":"many"}`), says(`{"total":3}`)}}
	k := desk(t, m, func(c *agent.Config) {
		c.Schema = json.RawMessage(`{"type":"object","properties":{"total":{"type":"integer"}},"required":["total"]}`)
	})
	if got := resultOf(t, k, k.Start("agent.desk", "count")); string(got.Data) != `{"total":3}` || got.Iterations != 3 {
		t.Errorf("%+v", got)
	}
	contains(t, m.asked[1].Messages[2].Text, "not JSON")
	contains(t, m.asked[2].Messages[4].Text, "does not fit")
}

// A run that takes longer than it may ends when it would go on, by the recorded time.
func TestARunHasItsTime(t *testing.T) {
	m := &lines{said: []line{wants(call("b", "refund", `{"order":"1"}`)), says("too late")}}
	k := desk(t, m, func(c *agent.Config) { c.Timeout = 5 * time.Minute }, refund())
	run := k.Start("agent.desk", "go")
	k.Advance(6 * time.Minute)
	k.As("ana", "reviewer").Approve(k.Request(run))
	if f := k.Failure(run); f.Code != holdshort.TimedOut || m.times() != 1 {
		t.Errorf("%+v, asked %d times", f, m.times())
	}
}

// A run that nobody decides in time fails by default, and says which request it was.
func TestNobodyDecides(t *testing.T) {
	m := &lines{said: []line{wants(call("b", "refund", `{"order":"1"}`))}}
	pay := refund()
	k := desk(t, m, nil, pay)
	run := k.Start("agent.desk", "go")
	k.Advance(time.Hour)
	if f := k.Failure(run); f.Code != holdshort.Expired || pay.Calls() != 0 || m.times() != 1 {
		t.Errorf("%+v, %d calls", f, pay.Calls())
	}
}

// A cut-off answer is asked for again, and nothing of it runs.
func TestAnAnswerThatIsCutOff(t *testing.T) {
	m := &lines{said: []line{func(model.Request) (model.Response, error) { return model.Response{Stop: model.StopLength}, nil }, says("short")}}
	k := desk(t, m, nil)
	if got := resultOf(t, k, k.Start("agent.desk", "go")); got.Text != "short" {
		t.Errorf("%+v", got)
	}
	contains(t, m.last().Messages[1].Text, "cut off")
}

// What a session's history holds of calls names them and what came of them, never their arguments or results.
func TestNotesOfCalls(t *testing.T) {
	m := &lines{said: []line{wants(call("s", "refund", `{"order":"secret-77"}`), call("n", "nothing", `{}`)), says("ok")}}
	k := desk(t, m, nil, refund())
	session := k.Chat("carl", "desk")
	run := k.As("carl").Say(session, "go")
	k.As("ana", "reviewer").Approve(k.Request(run))
	resultOf(t, k, run)
	var notes []string
	for _, msg := range k.Messages(session) {
		if strings.HasPrefix(msg.Type, "tool_") {
			notes = append(notes, string(msg.Role)+" "+string(msg.Parts[0].Data))
			if msg.ModelVisible || msg.RunID != run {
				t.Errorf("%+v", msg)
			}
		}
		for _, p := range msg.Parts {
			if strings.Contains(p.Text+string(p.Data), "secret-77") {
				t.Errorf("arguments stand in the history: %+v", msg)
			}
		}
	}
	want := `assistant [{"call_id":"s","tool":"refund"},{"call_id":"n","tool":"nothing"}] | tool [{"call_id":"s","tool":"refund","outcome":"done"},{"call_id":"n","tool":"nothing","outcome":"invalid"}]`
	if got := strings.Join(notes, " | "); got != want {
		t.Errorf("notes are %s", got)
	}
}
