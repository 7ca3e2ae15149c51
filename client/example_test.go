package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// An agent asks before it pays money back, and pays once.
func ExampleClient_Gate() {
	c, err := client.New(os.Getenv("HOLDSHORT_URL"), os.Getenv("HOLDSHORT_TOKEN"), client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	passed, err := c.Gate(context.Background(), client.Raise{
		Key:      "refund-of-order-77", // the same question if this program is started again
		Kind:     holdshort.Approval,
		Question: "Refund 120 EUR for order 77?",
		Actions:  []client.Action{{Tool: "payments.refund", Args: json.RawMessage(`{"order":"77","amount":120}`)}},
	}, func(ctx context.Context, call client.ClaimedAction) (client.Done, error) {
		// Pay back what call.Args says: a person may have edited it. call.OperationID is the provider's idempotency key.
		return client.Done{ExternalIDs: map[string][]string{"refund": {"re_1"}}}, nil
	})
	if err != nil {
		log.Fatal(err) // denied, expired, canceled, or something went wrong
	}
	fmt.Println(passed.Operations[0].Status)
}
