package torture

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/model/script"
)

// deskAgent does errands: it looks something up and makes a call with it, then another, and says that it is done.
const deskAgent = "desk"

// agentFlow is its flow.
var agentFlow = agent.FlowName(deskAgent)

// inWords is what the user wants of it, in words.
func inWords(calls []planned) string {
	return fmt.Sprintf("%s %d %s, then %s %d %s", calls[0].Tool, calls[0].Args.Amount, calls[0].Args.World, calls[1].Tool, calls[1].Args.Amount, calls[1].Args.World)
}

// deskRules is the agent's model.
func deskRules() (rules []script.Rule) {
	args := func(key string) map[string]any { return map[string]any{"amount": "$1", "key": key, "world": "$2"} }
	look := script.CallSpec{Tool: lookupTool, Args: map[string]any{"amount": 0, "key": "look", "world": worldFine}}
	for _, name := range []string{payTool, bookTool, shipTool, neverTool} {
		rules = append(rules,
			script.Rule{When: script.When{User: "^" + name + ` (\d+) (\w+), then `}, Call: []script.CallSpec{look, {Tool: name, Args: args("first")}}},
			script.Rule{When: script.When{User: ", then " + name + ` (\d+) (\w+)$`, Tool: lookupTool}, Call: []script.CallSpec{{Tool: name, Args: args("second")}}})
	}
	return append(rules, script.Rule{Say: "done"})
}

// realAgent makes the agent of a worker. The world counts what its model is asked.
func realAgent(w outside, node string) (*agent.Agent, error) {
	says, err := script.New(deskRules())
	if err != nil {
		return nil, err
	}
	counted := model.Func(func(ctx context.Context, req model.Request, say func(string)) (model.Response, error) {
		n := 1
		for _, m := range req.Messages {
			if m.Role == model.Assistant {
				n++
			}
		}
		if at, ok := ctx.Value(onPass{}).(onPass); ok {
			if err := w.mark(ctx, fmt.Sprintf("%s/model-%d", at.run, n), Mark{Token: rand.Text(), Node: node, Began: at.began}); err != nil {
				return model.Response{}, err
			}
		}
		r, err := says.Generate(ctx, req, say)
		for i := range r.Calls { // as those of flows are called
			r.Calls[i].ID = fmt.Sprint("call_", i+1)
		}
		return r, err
	})
	return agent.New(agent.Config{Name: deskAgent, Model: counted, Tools: realTools(w), Repair: agent.Repair{Off: true}})
}

// onPass says which pass over a run it is: of which run, and since when. Models and tools find it in their context.
type onPass struct {
	run   holdshort.RunID
	began time.Time
}

// passes tells models which pass they are asked by.
type passes struct{}

func (passes) Fact(holdshort.Event)     {}
func (passes) Closed(holdshort.Request) {}

func (passes) Slice(ctx context.Context, run holdshort.Run) (context.Context, func(holdshort.Run, error)) {
	return context.WithValue(ctx, onPass{}, onPass{nameOf(run), time.Now()}), func(holdshort.Run, error) {}
}

func (passes) Call(ctx context.Context, _ holdshort.RunID, _, _ string) (context.Context, func(error)) {
	return ctx, func(error) {}
}
