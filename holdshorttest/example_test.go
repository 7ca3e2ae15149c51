package holdshorttest_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/tool"
)

// In a test it is holdshorttest.New(t, …), which needs no Close.
func Example() {
	refund := holdshorttest.Counter("refund").Returning("re_1")
	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refund.Tool()}, Policy: finance})
	defer k.Close()
	k.WhenAsked(holdshorttest.Match{Tool: "refund"}).By("ana", "finance").After(3 * time.Minute).Approve()

	run := k.As("ben").Start("refund", Refund{Order: "77", Amount: 120})
	fmt.Println(k.Now().Format("15:04"), k.Run(run).Status, "-", refund.Calls(), "calls")
	result := holdshorttest.Result[string](k, run)
	fmt.Println(k.Now().Format("15:04"), result, "-", refund.Calls(), "call")
	// Output:
	// 09:00 waiting - 0 calls
	// 09:03 customer of 77 got re_1 - 1 call
}

// Nobody answers, and time passes.
func ExampleKit_Advance() {
	refund := holdshorttest.Counter("refund")
	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refund.Tool()}, Policy: finance})
	defer k.Close()
	run := k.Start("refund", Refund{Order: "77", Amount: 120})
	k.Advance(10 * time.Minute)
	fmt.Println(k.Requests(run)[0].Status, k.Failure(run).Code, refund.Calls())
	// Output: expired expired 0
}

// The process dies right after the money went out, before anybody wrote that down. It is not sent twice: somebody is asked.
func ExampleKit_CrashAfter() {
	refund := holdshorttest.Counter("refund").Returning("re_1")
	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refund.Tool()}, Policy: finance})
	defer k.Close()
	run := k.Start("refund", Refund{Order: "77", Amount: 120})
	k.CrashAfter("refund")
	k.As("ana", "finance").Approve(k.Request(run))
	k.Advance(time.Minute)
	fmt.Println(refund.Calls(), "call,", k.Operations(run)[0].Status, "-", k.Request(run).Kind)
	// Output: 1 call, unknown - reconcile
}

// A decision that must be refused.
func ExampleKit_Decide() {
	refund := holdshorttest.Counter("refund")
	k := holdshorttest.Example(holdshorttest.Options{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refund.Tool()}, Policy: finance})
	defer k.Close()
	run := k.As("ben").Start("refund", Refund{Order: "77", Amount: 120})
	own := holdshorttest.Decision(k.Request(run), "ben")
	own.Action = holdshort.Approve
	_, err := k.Decide(own)
	fmt.Println(errors.Is(err, holdshort.Forbidden), refund.Calls())
	// Output: true 0
}
