// Package holdshorttest runs a whole engine inside a test: a real store, a clock that only the test moves, and people who follow a script.
// It may import the root package, agent, engine, flow and flow/flowcheck, policy, tool, store and store/sqlite; nothing that ships imports it.
//
//	func TestBigRefundsNeedFinance(t *testing.T) {
//		refund := holdshorttest.Counter("refund")
//		k := holdshorttest.New(t, holdshorttest.Options{
//			Flows:  []flow.Flow{refunds},
//			Tools:  []tool.Tool{refund.Tool()},
//			Policy: bigOnesAskFinance,
//		})
//		k.WhenAsked(holdshorttest.Match{Tool: "refund"}).By("ana", "finance").After(3 * time.Minute).Approve()
//
//		run := k.As("ben").Start("refund", Refund{Order: "77", Amount: 120})
//		receipt := holdshorttest.Result[Receipt](k, run)
//		…
//	}
//
// Start runs a flow until it waits or ends. Wait and Result also let the scripted people act, and move the clock as far as those need.
// Advance moves it by so much: whatever falls due on the way happens at its own time and in its order, timers before people. Nothing
// happens by itself, nothing sleeps, and no test of an hour takes longer than one of a second.
//
// What goes wrong fails the test with a text that says what to do next.
package holdshorttest
