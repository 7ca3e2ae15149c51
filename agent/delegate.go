package agent

import (
	"context"
	"encoding/json"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/tool"
)

// Delegate is a flow that a model can call as a tool. It runs as a branch of the same run: what it asks of people surfaces there, and each of
// its own calls goes through policy by itself.
type Delegate struct {
	Name        string
	Description string
	// Schema of the arguments, which are the flow's input.
	Schema json.RawMessage
	Flow   flow.Flow
	// Effect that policy sees of the call itself. Default: Write.
	Effect tool.Effect
	// Guarded has a person asked before the work is handed over. Default: the policy says.
	Guarded bool

	agent *Agent
}

var taskSchema = json.RawMessage(`{"type":"object","properties":{"task":{"type":"string","description":"What is to be done, with everything that has to be known for it."}},"required":["task"],"additionalProperties":false}`)

// Delegate makes the agent one that another can hand work to. Handing over changes nothing: its own calls are judged one by one.
func (a *Agent) Delegate() Delegate {
	f := flow.New(FlowName(a.config.Name), 1, func(c *flow.Context, in Input) (Result, error) {
		r, err := a.run(c, in, true)
		if err != nil {
			err = &spent{err, r.Usage}
		}
		return r, err
	})
	return Delegate{Name: a.config.Name, Description: a.config.Description, Schema: taskSchema, Flow: f, Effect: tool.Read, agent: a}
}

// spent is the error of an agent that worked for another, with what it used until then.
type spent struct {
	error
	usage model.Usage
}

func (s *spent) Unwrap() error { return s.error }

// gate is the delegate as policy, people and the ledger see it: a tool that gives back the arguments with which the work may begin.
func (d Delegate) gate() tool.Tool {
	return tool.Tool{Name: d.Name, Description: d.Description, Schema: d.Schema, Effect: d.Effect, Reversible: tool.Yes, Idempotent: true, Guarded: d.Guarded,
		Call: func(_ context.Context, call tool.Call) (tool.Result, error) {
			return tool.Result{Value: call.Args}, nil
		}}
}

// work runs the delegate's flow on the arguments that passed the gate.
func (d Delegate) work(c *flow.Context, args json.RawMessage) (json.RawMessage, error) {
	if d.agent != nil { // its calls are its own: rules about it hold wherever it works
		return flow.Sub[json.RawMessage](c, flow.ForAgent(d.agent.config.Name), d.Flow, args)
	}
	return flow.Sub[json.RawMessage](c, "work", d.Flow, args)
}

const askUserText = "Ask the user one question, when what they want cannot be known otherwise. Their answer comes back as the result."

var askUserSchema = json.RawMessage(`{"type":"object","properties":{"question":{"type":"string"}},"required":["question"],"additionalProperties":false}`)

// askUser puts a model's question to the user. The model writes the text and nothing else: who may answer, how, and until when is ours.
func (t *turn) askUser(c *flow.Context, args json.RawMessage) (string, error) {
	var in struct {
		Question string `json:"question"`
	}
	if err := json.Unmarshal(args, &in); err != nil || in.Question == "" {
		return "", &holdshort.Error{Code: holdshort.DoesNotFit, Field: "question", Message: "there is no question", Hint: "write one"}
	}
	return flow.Ask(c, "ask", flow.Question{Text: clip(in.Question, 4000), Expires: t.a.config.InputTimeout, TakeCancel: true, Source: "agent", Reason: "missing_fields"})
}
