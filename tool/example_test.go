package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/holdshort/holdshort/tool"
)

// A Go function becomes a tool. Its declaration says what it risks; here the other side promises that one key takes effect once.
func ExampleFunc() {
	type Refund struct {
		Order  string `json:"order" jsonschema:"number of the order"`
		Amount int    `json:"amount" jsonschema:"cents"`
	}
	refund, err := tool.Func("orders.refund", "pays money back", func(_ context.Context, call tool.Call, in Refund) (string, error) {
		if in.Amount > 10_000 {
			return "", tool.Definite(errors.New("the bank takes at most 100.00")) // proof that nothing happened
		}
		return fmt.Sprintf("paid %d for %s under the key %s", in.Amount, in.Order, call.OperationID), nil
	})
	if err != nil {
		panic(err)
	}
	refund.Idempotent = true

	result, err := refund.Call(context.Background(), tool.Call{OperationID: "op_1", Args: json.RawMessage(`{"order":"77","amount":1200}`)})
	fmt.Println(string(result.Value), err)
	// Output: "paid 1200 for 77 under the key op_1" <nil>
}

// What a server finds wrong with the arguments, in one of the shapes that are usual: enough to ask a person for another value.
func ExampleClassify() {
	body := []byte(`{"detail":[{"loc":["body","aspect_ratio"],"msg":"must be one of: 1:1, 16:9"}]}`)
	f := tool.Classify(422, body, json.RawMessage(`{"aspect_ratio":"2:1"}`))
	fmt.Println(f.Class, f.Field, string(f.Value))
	for _, v := range f.Allowed {
		fmt.Println(string(v))
	}
	// Output:
	// validation aspect_ratio "2:1"
	// "1:1"
	// "16:9"
}
