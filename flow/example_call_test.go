package flow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

type refundArgs struct {
	Order  string `json:"order"`
	Amount int    `json:"amount"`
}

// bigRefunds asks finance about what is over 50.
var bigRefunds = policy.Func(func(_ context.Context, call policy.Call) (policy.Verdict, error) {
	var args refundArgs
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return policy.Verdict{}, err
	}
	if args.Amount <= 50 {
		return policy.Verdict{Decision: policy.Allow, Rule: "small refunds"}, nil
	}
	return policy.Verdict{Decision: policy.Ask, Rule: "big refunds", Audience: holdshort.Audience{Roles: []string{"finance"}}}, nil
})

// A call goes through the policy, a person's approval where the policy asks for one, and the ledger: it happens once.
func ExampleCall() {
	refunds := flow.New("refund", 1, func(c *flow.Context, in refundArgs) (string, error) {
		id, err := flow.Call[string](c, "pay back", "refund", in)
		if errors.Is(err, holdshort.Denied) {
			return "no refund", nil
		}
		return id, err
	})
	refund := holdshorttest.Counter("refund").Doing(func(n int, call tool.Call) (any, error) { return fmt.Sprint("re_", n), nil })

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refund.Tool()}, Policy: bigRefunds})
	defer k.Close()
	k.WhenAsked(holdshorttest.Match{Question: `"order":"78"`}).By("ana", "finance").After(3 * time.Minute).Approve()
	k.WhenAsked(holdshorttest.Match{Question: `"order":"79"`}).By("ana", "finance").Reject("ask for the parcel first")
	for _, in := range []refundArgs{{"77", 20}, {"78", 120}, {"79", 5000}} {
		fmt.Println(in.Order, holdshorttest.Result[string](k, k.Start("refund", in)))
	}
	fmt.Println(refund.Calls(), "calls")
	// Output:
	// 77 re_1
	// 78 re_2
	// 79 no refund
	// 2 calls
}

// All calls of one model's response are one request: a person decides them together, or one by one.
func ExampleCalls() {
	plan := flow.New("plan", 1, func(c *flow.Context, _ struct{}) ([]string, error) {
		results, err := flow.Calls(c, "batch", []flow.Request{
			{ID: "small", Tool: "refund", Args: refundArgs{"77", 20}},
			{ID: "big", Tool: "refund", Args: refundArgs{"78", 120}},
			{ID: "huge", Tool: "refund", Args: refundArgs{"79", 5000}},
		})
		var lines []string
		for _, r := range results {
			if r.Err != nil {
				lines = append(lines, r.ID+": "+string(holdshort.CodeOf(r.Err)))
				continue
			}
			lines = append(lines, r.ID+": "+string(r.Value))
		}
		return lines, err
	})
	refund := holdshorttest.Counter("refund").Returning("paid")

	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{plan}, Tools: []tool.Tool{refund.Tool()}, Policy: bigRefunds})
	defer k.Close()
	k.WhenAsked(holdshorttest.Match{Tool: "refund"}).By("ana", "finance").Calls(
		holdshort.CallDecision{CallID: "big", Action: holdshort.Approve},
		holdshort.CallDecision{CallID: "huge", Action: holdshort.Reject, Message: "too much"})
	for _, line := range holdshorttest.Result[[]string](k, k.Start("plan", nil)) {
		fmt.Println(line)
	}
	// Output:
	// small: "paid"
	// big: "paid"
	// huge: denied
}
