package agent_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/model/script"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

// exampleWords is a scripted model: it refunds what it is asked to.
func exampleWords() model.Model {
	m, err := script.New([]script.Rule{
		{When: script.When{User: `refund order (\d+) for (\d+)`}, Call: []script.CallSpec{{Tool: "refund", Args: map[string]any{"order": "$1", "amount": "$2"}}}},
		{When: script.When{Tool: "refund"}, Say: "Told: {result}"},
		{Say: "I refund orders."},
	})
	if err != nil {
		panic(err)
	}
	return m
}

type exampleRefund struct {
	Order  string  `json:"order"`
	Amount float64 `json:"amount"`
}

func examplePay() tool.Tool {
	t, err := tool.Func("refund", "Pays money back.", func(_ context.Context, _ tool.Call, in exampleRefund) (string, error) {
		fmt.Printf("pays %v for order %s\n", in.Amount, in.Order)
		return "receipt 1", nil
	})
	if err != nil {
		panic(err)
	}
	return t
}

func exampleAgent(c agent.Config) *agent.Agent {
	a, err := agent.New(c)
	if err != nil {
		panic(err)
	}
	return a
}

// An agent asks for a call, a person approves it, and the stored call runs.
func Example() {
	desk := exampleAgent(agent.Config{Name: "desk", Model: exampleWords(), Tools: []tool.Tool{examplePay()}})
	k := holdshorttest.Example(holdshorttest.Options{Agents: []*agent.Agent{desk}, Policy: policy.AskAlways})
	defer k.Close()

	session := k.Chat("ben", "desk")
	run := k.As("ben").Say(session, "please refund order 77 for 120")
	req := k.Request(run)
	fmt.Println(req.Actions[0].Tool, string(req.Actions[0].Args))
	k.Restart() // the process ends; the question does not
	k.As("ana", "reviewer").Approve(k.Request(run))
	fmt.Println(holdshorttest.Result[agent.Result](k, run).Text)
	// Output:
	// refund {"amount":120,"order":"77"}
	// pays 120 for order 77
	// Told: receipt 1
}

// A refusal is the call's result: the model is told who refused and why, and that there is nothing to make up.
func Example_reject() {
	desk := exampleAgent(agent.Config{Name: "desk", Model: exampleWords(), Tools: []tool.Tool{examplePay()}})
	k := holdshorttest.Example(holdshorttest.Options{Agents: []*agent.Agent{desk}})
	defer k.Close()

	run := k.As("ben").Start("agent.desk", "refund order 77 for 120")
	k.As("ana", "reviewer").Reject(k.Request(run), "too much")
	fmt.Println(holdshorttest.Result[agent.Result](k, run).Text)
	// Output:
	// Told: Not run: rejected by ana: too much. There is no result: do not make one up and do not ask for the same call again. Tell the user that it was not done, and what else could be.
}

// Work handed to another agent is a part of the same run: what that asks of people surfaces there.
func ExampleAgent_Delegate() {
	payer := exampleAgent(agent.Config{Name: "payer", Description: "Pays customers back.", Model: exampleWords(), Tools: []tool.Tool{examplePay()}})
	boss, err := script.New([]script.Rule{
		{When: script.When{User: "."}, Call: []script.CallSpec{{Tool: "payer", Args: map[string]any{"task": "refund order 77 for 120"}}}},
		{When: script.When{Tool: "payer"}, Say: "My colleague says: {result}"},
		{Say: "?"},
	})
	if err != nil {
		panic(err)
	}
	chief := exampleAgent(agent.Config{Name: "chief", Model: boss, Delegates: []agent.Delegate{payer.Delegate()}})
	k := holdshorttest.Example(holdshorttest.Options{Agents: []*agent.Agent{chief}, Policy: policy.AllowReads})
	defer k.Close()

	run := k.As("ben").Start("agent.chief", "make ben happy")
	req := k.Request(run)
	fmt.Println(req.RunID == run, req.Actions[0].Tool)
	k.As("ana", "reviewer").Approve(req)
	fmt.Println(holdshorttest.Result[agent.Result](k, run).Text)
	// Output:
	// true refund
	// pays 120 for order 77
	// My colleague says: Told: receipt 1
}

// A flow as a tool: the model calls it, its arguments pass the gate, and its steps are durable.
func ExampleDelegate() {
	ship := flow.New("ship", 1, func(c *flow.Context, in struct {
		Order string `json:"order"`
	}) (string, error) {
		return flow.Step(c, "label", func(context.Context) (string, error) { return "label for " + in.Order, nil })
	})
	words, err := script.New([]script.Rule{
		{When: script.When{User: `ship (\d+)`}, Call: []script.CallSpec{{Tool: "ship", Args: map[string]any{"order": "$1"}}}},
		{Say: "Here is the {result}."},
	})
	if err != nil {
		panic(err)
	}
	desk := exampleAgent(agent.Config{Name: "desk", Model: words, Delegates: []agent.Delegate{{Name: "ship", Description: "Ships an order.", Flow: ship,
		Schema: json.RawMessage(`{"type":"object","properties":{"order":{"type":"string"}},"required":["order"]}`)}}})
	k := holdshorttest.Example(holdshorttest.Options{Agents: []*agent.Agent{desk}})
	defer k.Close()

	run := k.As("ben").Start("agent.desk", "ship 77")
	k.As("ana", "reviewer").Approve(k.Request(run))
	fmt.Println(holdshorttest.Result[agent.Result](k, run).Text)
	// Output: Here is the label for 77.
}

// Where a run stands, from its journal.
func ExampleStateOf() {
	desk := exampleAgent(agent.Config{Name: "desk", Model: exampleWords(), Tools: []tool.Tool{examplePay()}})
	k := holdshorttest.Example(holdshorttest.Options{Agents: []*agent.Agent{desk}})
	defer k.Close()

	run := k.As("ben").Start("agent.desk", "refund order 77 for 120")
	state, ok := agent.StateOf(k.Run(run), k.Journal(run), []holdshort.Request{k.Request(run)})
	fmt.Println(ok, state.Query, state.Iteration, state.PendingToolCall.Tool, string(state.PendingToolCall.Args))
	// Output: true refund order 77 for 120 1 refund {"amount":120,"order":"77"}
}
