package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/model/script"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/rulebook"
	"github.com/holdshort/holdshort/tool"
)

// Order is what the shop knows of one.
type Order struct {
	ID    string  `json:"id"`
	Item  string  `json:"item"`
	Total float64 `json:"total"`
}

var orders = map[string]Order{
	"77": {"77", "a lamp", 320},
	"78": {"78", "a mug", 12},
}

// shop is the world outside: it pays once for each operation, however often it is asked.
type shop struct {
	mu   sync.Mutex
	done map[string]string
	paid func(order string, amount float64)
}

func (s *shop) pay(operation, order string, amount float64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if receipt, ok := s.done[operation]; ok {
		return receipt
	}
	if s.done == nil {
		s.done = map[string]string{}
	}
	s.paid(order, amount)
	s.done[operation] = fmt.Sprintf("rc-%d", len(s.done)+1)
	return s.done[operation]
}

type lookup struct {
	Order string `json:"order" jsonschema:"number of the order"`
}

type refund struct {
	Order  string  `json:"order" jsonschema:"number of the order"`
	Amount float64 `json:"amount" jsonschema:"in EUR, at most the order's total"`
}

type receipt struct {
	Receipt string `json:"receipt"`
}

// tools are what the agent can do. Their declarations, not the model, say how risky that is.
func tools(s *shop) ([]tool.Tool, error) {
	look, err := tool.Func("orders.lookup", "Looks an order up.", func(_ context.Context, _ tool.Call, in lookup) (Order, error) {
		order, ok := orders[in.Order]
		if !ok {
			return Order{}, fmt.Errorf("there is no order %s", in.Order)
		}
		return order, nil
	})
	if err != nil {
		return nil, err
	}
	look.Effect = tool.Read
	pay, err := tool.Func("orders.refund", "Pays money back.", func(_ context.Context, call tool.Call, in refund) (receipt, error) {
		if order := orders[in.Order]; in.Amount <= 0 || in.Amount > order.Total {
			return receipt{}, tool.Definite(fmt.Errorf("order %s was %v EUR", in.Order, order.Total)) // refused: nothing happened
		}
		return receipt{s.pay(call.OperationID, in.Order, in.Amount)}, nil
	})
	pay.Idempotent = true // the shop goes by the operation id
	return []tool.Tool{look, pay}, err
}

// newDesk makes the agent. The model is a script, so that it needs no key and always says the same; openai.New or anthropic.New in its place change
// nothing else.
func newDesk(s *shop) (*agent.Agent, error) {
	list, err := tools(s)
	if err != nil {
		return nil, err
	}
	failed := true
	words, err := script.New([]script.Rule{
		{When: script.When{User: `refund order (\d+) for (\d+)`}, Call: []script.CallSpec{{Tool: "orders.refund", Args: map[string]any{"order": "$1", "amount": "$2"}}}},
		{When: script.When{User: `order (\d+)`}, Call: []script.CallSpec{{Tool: "orders.lookup", Args: map[string]any{"order": "$1"}}}},
		{When: script.When{Failed: &failed}, Say: "That was not done. {result}"},
		{When: script.When{Tool: "orders.lookup"}, Say: "Order {result.id} is {result.item}, {result.total} EUR."},
		{When: script.When{Tool: "orders.refund"}, Say: "Paid back: {result.receipt}."},
		{Say: "I look orders up and refund them."},
	})
	if err != nil {
		return nil, err
	}
	return agent.New(agent.Config{Name: "desk", Description: "Refunds orders.", Model: words, Instructions: "You refund orders. Look an order up before you speak about it.", Tools: list})
}

// rules say which calls wait for whom. What no rule speaks of asks a reviewer.
func rules() (policy.Policy, error) {
	return rulebook.Compile([]rulebook.Rule{
		{Name: "reading is free", When: `effect == "read"`, Then: policy.Verdict{Decision: policy.Allow}},
		{Name: "small refunds", When: `tool == "orders.refund" && args.amount > 0 && args.amount <= 20`, Then: policy.Verdict{Decision: policy.Allow},
			Limits: []rulebook.Limit{{Scope: policy.PerDay, Max: 5}}},
		{Name: "refunds", When: `tool == "orders.refund"`, Then: policy.Verdict{Audience: holdshort.Audience{Roles: []string{"finance"}}, Editable: []string{"amount"},
			Question: "Refund {args.amount} EUR for order {args.order}?"}},
	}, rulebook.Options{})
}
