package torture

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
)

// errand is a request from outside that was approved, claimed, done and reported: everything agrees.
func errand() (*examiner, findings) {
	const args = `{"amount":1,"key":"call1","world":"fine"}`
	req := holdshort.Request{ID: "req_1", Question: "pay?", Fingerprint: "f", Status: holdshort.RequestResolved, Outcome: holdshort.Approved,
		Actions: []holdshort.Action{{CallID: "call_1", Tool: payTool, Args: json.RawMessage(args), NeedsApproval: true}}}
	d := holdshort.Decision{ID: "dec_1", RequestID: "req_1", Action: holdshort.Approve, Message: "token", Actor: reviewer(0), Calls: []holdshort.CallDecision{{CallID: "call_1", Action: holdshort.Approve}}}
	op := holdshort.Operation{ID: "req_1/1", RequestID: "req_1", StepID: "req_1/1", Capability: payTool, Status: holdshort.OperationDone, Attempt: 1}
	report := &Report{}
	l := newLedger(report)
	l.asked["req_1"] = &toldPause{request: req, at: time.Now(), sent: map[string]bool{"token": true}, stands: &holdshort.Decision{Action: holdshort.Approve, Message: "token", Calls: d.Calls}}
	l.gates["req_1"] = &gateCase{token: "claim", outcomes: map[string]holdshort.OperationStatus{op.ID: holdshort.OperationDone}}
	x := &examiner{ledger: l, report: report, known: map[string]bool{}, stored: map[holdshort.RequestID]bool{}, events: map[string]int{}, rows: map[string]int{}, verify: func(holdshort.Decision) error { return nil },
		seen: Seen{Effects: map[string]*Effect{op.ID: {Operation: op.ID, Tool: payTool, Calls: 1, Count: 1, Args: [][]byte{[]byte(args)}}}}}
	return x, findings{requests: map[holdshort.RequestID]holdshort.Request{"req_1": req}, decisions: map[holdshort.RequestID]holdshort.Decision{"req_1": d}, votes: map[holdshort.RequestID][]holdshort.Vote{},
		ops: []holdshort.Operation{op}}
}

// TestExaminerSeesGate breaks what agents outside are promised, and expects it to be said.
func TestExaminerSeesGate(t *testing.T) {
	effect := func(x *examiner) *Effect { return x.seen.Effects["req_1/1"] }
	for _, tt := range []struct {
		name string
		does func(x *examiner, f *findings)
		want Promise
	}{
		{"nothing is wrong", func(*examiner, *findings) {}, ""},
		{"handed out and in no ledger", func(x *examiner, f *findings) { f.ops = nil }, AtMostOnce},
		{"done twice", func(x *examiner, _ *findings) { effect(x).Count = 2 }, AtMostOnce},
		{"another outcome than the one that was reported", func(x *examiner, f *findings) {
			f.ops[0].Status, f.ops[0].Settled = holdshort.OperationUnknown, true
		}, AtMostOnce},
		{"its claimer vanished and nobody was asked", func(x *examiner, f *findings) {
			x.ledger.gates["req_1"].outcomes = nil
			f.ops[0].Status = holdshort.OperationUnknown
		}, Progress},
		{"still under way", func(x *examiner, f *findings) {
			x.ledger.gates["req_1"].outcomes, effect(x).Count = nil, 0
			f.ops[0].Status = holdshort.OperationStarted
		}, Progress},
		{"ran something else", func(x *examiner, _ *findings) { effect(x).Args[0] = []byte(`{"amount":9}`) }, SameCall},
		{"rejected and happened", func(_ *examiner, f *findings) {
			f.decisions["req_1"] = holdshort.Decision{Action: holdshort.Reject, Message: "token", Actor: reviewer(0), Calls: []holdshort.CallDecision{{CallID: "call_1", Action: holdshort.Reject}}}
		}, NeverUnasked},
		{"expired for the one who waited", func(x *examiner, _ *findings) { x.ledger.asked["req_1"].expired = true }, NeverUnasked},
		{"nobody's decision", func(x *examiner, _ *findings) { x.ledger.asked["req_1"].sent = nil }, OnlyEntitled},
		{"approved by a policy that asks", func(x *examiner, f *findings) {
			f.decisions["req_1"] = holdshort.Decision{Action: holdshort.Approve, Actor: holdshort.SystemActor("policy:writes"), Message: "token"}
		}, NeverUnasked},
		{"the request is gone", func(_ *examiner, f *findings) { f.requests = nil }, PauseKept},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, f := errand()
			tt.does(x, &f)
			x.checkGate(f)
			x.checkStrays()
			if tt.want == "" && x.report.Broken() || tt.want != "" && x.report.Violations[tt.want] == 0 {
				t.Errorf("told %v, want %q", x.report.Faults, tt.want)
			}
		})
	}
}
