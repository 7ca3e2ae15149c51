package script_test

import (
	"context"
	"fmt"

	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/model/script"
)

func ExampleNew() {
	m, err := script.New([]script.Rule{
		{When: script.When{User: `refund order (\S+)`}, Call: []script.CallSpec{{Tool: "orders.refund", Args: map[string]any{"order": "$1"}}}},
		{When: script.When{Tool: "orders.refund"}, Say: "Done: {result}"},
		{Say: "I can refund orders."},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	conversation := []model.Message{{Role: model.User, Text: "refund order A-7"}}
	answer, err := m.Generate(context.Background(), model.Request{Messages: conversation}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s %s\n", answer.Calls[0].Tool, answer.Calls[0].Args)

	conversation = append(conversation,
		model.Message{Role: model.Assistant, Calls: answer.Calls},
		model.Message{Role: model.ToolRole, CallID: answer.Calls[0].ID, Tool: "orders.refund", Text: "refunded"})
	answer, err = m.Generate(context.Background(), model.Request{Messages: conversation}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Text)
	// Output:
	// orders.refund {"order":"A-7"}
	// Done: refunded
}
