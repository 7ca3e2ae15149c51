package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/tool"
)

// callFlow is the life of a run in which a person approves one call of a tool: what an agent's run is without the agent.
var callFlow = flow.New("call", 1, func(c *flow.Context, in order) (string, error) {
	if _, err := flow.Step(c, "look up order", func(context.Context) (int, error) { return 340, nil }); err != nil {
		return "", err
	}
	if _, err := flow.Call[string](c, "refund", refundTool.Name, in); err != nil {
		return "", err
	}
	return flow.Step(c, "note", func(context.Context) (string, error) { return "refunded", nil })
})

// talkFlow is the same in a session: a message starts it, and it answers there.
var talkFlow = flow.New("talk", 1, func(c *flow.Context, _ json.RawMessage) (string, error) {
	if _, err := flow.Step(c, "look up order", func(context.Context) (int, error) { return 340, nil }); err != nil {
		return "", err
	}
	if _, err := flow.Call[string](c, "refund", refundTool.Name, input); err != nil {
		return "", err
	}
	text, err := flow.Step(c, "note", func(context.Context) (string, error) { return "refunded", nil })
	if err == nil {
		flow.Say(c, "answer", text)
	}
	return text, err
})

// asked is what the user says to the agent of the bench.
const asked = "refund 120 of order 77, it arrived broken"

// free is a model that costs nothing: it wants the refund, and is content with what came of it.
var free = model.Func(func(_ context.Context, req model.Request, _ func(string)) (model.Response, error) {
	if last := req.Messages[len(req.Messages)-1]; last.Role == model.ToolRole {
		return model.Response{Text: "refunded", Stop: model.StopEnd, Usage: model.Usage{Input: 120, Output: 8}}, nil
	}
	return model.Response{Calls: []model.Call{{ID: "call_1", Tool: refundTool.Name, Args: input}}, Stop: model.StopCalls, Usage: model.Usage{Input: 80, Output: 30}}, nil
})

// newDesk makes the agent of the bench.
func newDesk(m model.Model, limits agent.Limits) (*agent.Agent, error) {
	return agent.New(agent.Config{Name: "clerk", Model: m, Instructions: "You refund orders.", Tools: []tool.Tool{refundTool}, Limits: limits})
}

// life plays one run from start to its end: start gives the run, decide what it asks.
func (k *kernel) life(ctx context.Context, start func(context.Context) (holdshort.RunID, error)) (lap, error) {
	begin := time.Now()
	id, err := start(ctx)
	if err != nil {
		return lap{}, err
	}
	run, err := k.AwaitRun(ctx, tenant, id, engine.Resting)
	if err != nil {
		return lap{}, err
	}
	request, ok := k.store.request(id)
	if !ok {
		return lap{}, fmt.Errorf("run %s is %s and asks nothing: %+v", id, run.Status, run.Error)
	}
	decided := time.Now()
	if _, err := k.Decide(ctx, tenant, engine.DecideInput{Request: request, Action: holdshort.Approve, Actor: reviewer}); err != nil {
		return lap{}, err
	}
	run, err = k.AwaitRun(ctx, tenant, id, engine.Ended)
	if err == nil && run.Status != holdshort.RunCompleted {
		err = fmt.Errorf("run %s is %s: %+v", id, run.Status, run.Error)
	}
	return lap{time.Since(begin), time.Since(decided)}, err
}

// starting starts runs of a flow, or of an agent.
func (k *kernel) starting(in engine.StartInput) func(context.Context) (holdshort.RunID, error) {
	return func(ctx context.Context) (holdshort.RunID, error) {
		run, err := k.Start(ctx, tenant, in)
		return run.ID, err
	}
}

// writing writes into sessions whose agent or flow answers.
func (k *kernel) writing(in engine.OpenSessionInput) func(context.Context) (holdshort.RunID, error) {
	return func(ctx context.Context) (holdshort.RunID, error) { return k.write(ctx, in, asked) }
}

// write opens a session and writes into it. Each run has one of its own: those of one would follow one another.
func (k *kernel) write(ctx context.Context, in engine.OpenSessionInput, text string) (holdshort.RunID, error) {
	n := said.Add(1)
	in.User = fmt.Sprintf("user-%d", n)
	s, err := k.OpenSession(ctx, tenant, in)
	if err != nil {
		return "", err
	}
	got, err := k.Receive(ctx, tenant, engine.Inbound{Session: s.ID, ID: fmt.Sprintf("said-%d", n), Text: text, Actor: holdshort.Actor{ID: in.User, Kind: holdshort.Person}})
	if err == nil && got.Run == "" {
		err = fmt.Errorf("a message into session %s was %s", s.ID, got.Outcome)
	}
	return got.Run, err
}

var said atomic.Int64

// The four ways in which a person lets one call of a tool be made: a flow and an agent, started and written to.
func (k *kernel) callCycle(ctx context.Context) (lap, error) {
	return k.life(ctx, k.starting(engine.StartInput{Flow: callFlow.Name, Input: input, User: "ben"}))
}

func (k *kernel) agentCycle(ctx context.Context) (lap, error) {
	return k.life(ctx, k.starting(engine.StartInput{Agent: "clerk", Input: json.RawMessage(`"` + asked + `"`), User: "ben"}))
}

func (k *kernel) talkCycle(ctx context.Context) (lap, error) {
	return k.life(ctx, k.writing(engine.OpenSessionInput{Flow: talkFlow.Name}))
}

func (k *kernel) chatCycle(ctx context.Context) (lap, error) {
	return k.life(ctx, k.writing(engine.OpenSessionInput{Agent: "clerk"}))
}
