package torture

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
)

// afternoon is a run whose one call was approved, edited and done: everything agrees.
func afternoon() (*examiner, findings) {
	const shown, edited = `{"amount":1,"key":"call1","world":"fine"}`, `{"amount":2,"key":"call1","world":"fine"}`
	req := holdshort.Request{ID: "req_1", RunID: "run_1", OriginStepID: "act", Question: "pay?", Fingerprint: "f", Status: holdshort.RequestResolved,
		Actions: []holdshort.Action{{CallID: "call_1", Tool: payTool, Args: json.RawMessage(shown)}}}
	d := holdshort.Decision{ID: "dec_1", RequestID: "req_1", Action: holdshort.Edit, Message: "token", Actor: reviewer(0),
		Calls: []holdshort.CallDecision{{CallID: "call_1", Action: holdshort.Edit, Args: json.RawMessage(edited)}}}
	op := holdshort.Operation{ID: "run_1:run_1/act", RunID: "run_1", RequestID: "req_1", StepID: "run_1/act", Capability: payTool, Status: holdshort.OperationDone, Attempt: 1}
	report := &Report{}
	l := newLedger(report)
	noon := time.Now()
	l.asked["req_1"] = &toldPause{request: req, at: noon, sent: map[string]bool{"token": true}, stands: &d}
	l.messages[messageKey{session: "ses_1", id: "m1"}] = &sentMessage{text: "hello", accepted: true}
	l.messages[messageKey{session: "ses_1", id: "m2"}] = &sentMessage{text: "nobody answered this one"}
	x := &examiner{heard: map[holdshort.SessionID]map[string]int{"ses_1": {"hello": 1}}, ledger: l, report: report, known: map[string]bool{}, stored: map[holdshort.RequestID]bool{}, events: map[string]int{}, rows: map[string]int{},
		verify: func(holdshort.Decision) error { return nil },
		seen: Seen{Said: map[string]map[string]int{"run_1": {"a": 2}}, Effects: map[string]*Effect{op.ID: {Operation: op.ID, Tool: payTool, Calls: 1, Count: 1, Args: [][]byte{[]byte(edited)}}},
			Marks: map[string][]Mark{"run_1/before": {{Token: "a", Began: noon.Add(-time.Second)}}}}}
	return x, findings{started: startedRun{starts: 1, stored: true}, run: holdshort.Run{ID: "run_1", Flow: singleFlow, Status: holdshort.RunCompleted, Result: json.RawMessage(`{}`)},
		requests:  map[holdshort.RequestID]holdshort.Request{"req_1": req},
		decisions: map[holdshort.RequestID]holdshort.Decision{"req_1": d}, votes: map[holdshort.RequestID][]holdshort.Vote{}, ops: []holdshort.Operation{op}}
}

// TestExaminerSees breaks each promise in what was told, seen or stored, and expects it to be said.
func TestExaminerSees(t *testing.T) {
	effect := func(x *examiner) *Effect { return x.seen.Effects["run_1:run_1/act"] }
	request := func(f *findings, change func(*holdshort.Request)) {
		req := f.requests["req_1"]
		change(&req)
		f.requests["req_1"] = req
	}
	decision := func(f *findings, change func(*holdshort.Decision)) {
		d := f.decisions["req_1"]
		change(&d)
		f.decisions["req_1"] = d
	}
	for _, tt := range []struct {
		name string
		does func(x *examiner, f *findings)
		want Promise
	}{
		{"nothing is wrong", func(*examiner, *findings) {}, ""},
		{"another question", func(_ *examiner, f *findings) { request(f, func(r *holdshort.Request) { r.Question = "pay more?" }) }, PauseKept},
		{"other arguments to approve", func(_ *examiner, f *findings) {
			request(f, func(r *holdshort.Request) {
				r.Actions = []holdshort.Action{{CallID: "call_1", Tool: payTool, Args: json.RawMessage(`{}`)}}
			})
		}, PauseKept},
		{"the pause is gone", func(_ *examiner, f *findings) { f.requests = nil }, PauseKept},
		{"a vote is gone", func(x *examiner, _ *findings) { x.ledger.asked["req_1"].voters = []string{"ana7"} }, PauseKept},
		{"another decision stands", func(_ *examiner, f *findings) { decision(f, func(d *holdshort.Decision) { d.ID = "dec_2" }) }, OneDecision},
		{"resolved by nobody", func(x *examiner, f *findings) { f.decisions = nil; effect(x).Count = 0 }, OneDecision},
		{"ran something else", func(x *examiner, _ *findings) { effect(x).Args[0] = []byte(`{"amount":1}`) }, SameCall},
		{"ran what was shown and not what was decided", func(x *examiner, f *findings) { effect(x).Args[0] = f.requests["req_1"].Actions[0].Args }, SameCall},
		{"ran under another step's approval", func(_ *examiner, f *findings) { f.ops[0].StepID = "run_1/other" }, SameCall},
		{"a signature that does not fit", func(x *examiner, _ *findings) {
			x.verify = func(holdshort.Decision) error { return holdshort.MACInvalid }
		}, SameCall},
		{"done twice", func(x *examiner, _ *findings) { effect(x).Count = 2 }, AtMostOnce},
		{"done and never seen", func(x *examiner, _ *findings) { effect(x).Count = 0 }, AtMostOnce},
		{"unknown and twice", func(x *examiner, f *findings) {
			f.ops[0].Status, f.ops[0].Settled = holdshort.OperationUnknown, true
			effect(x).Count = 2
		}, AtMostOnce},
		{"failed and happened", func(_ *examiner, f *findings) { f.ops[0].Status = holdshort.OperationFailed }, AtMostOnce},
		{"not in the ledger", func(_ *examiner, f *findings) { f.ops = nil }, AtMostOnce},
		{"rejected and happened", func(_ *examiner, f *findings) {
			decision(f, func(d *holdshort.Decision) {
				d.Calls = []holdshort.CallDecision{{CallID: "call_1", Action: holdshort.Reject}}
			})
		}, NeverUnasked},
		{"expired and happened", func(x *examiner, f *findings) {
			f.decisions = nil
			request(f, func(r *holdshort.Request) { r.Status = holdshort.RequestExpired })
		}, NeverUnasked},
		{"expired for one, resolved for another", func(x *examiner, _ *findings) { x.ledger.asked["req_1"].expired = true }, NeverUnasked},
		{"a cancellation that was acknowledged", func(_ *examiner, f *findings) { f.started.canceled = true }, NeverUnasked},
		{"denied and called", func(x *examiner, _ *findings) { effect(x).Tool = neverTool }, NeverUnasked},
		{"a step again after the pause", func(x *examiner, _ *findings) {
			x.seen.Marks["run_1/before"] = append(x.seen.Marks["run_1/before"], Mark{Token: "b", Began: time.Now().Add(time.Second)})
		}, NotRepeated},
		{"a model asked again after the pause", func(x *examiner, f *findings) {
			f.run.Flow, f.run.Result = agentFlow, json.RawMessage(`{"text":"done","iterations":3}`)
			x.ledger.asked["req_1"].request.OriginStepID = "calls-2"
			request(f, func(r *holdshort.Request) { r.OriginStepID = "calls-2" })
			x.seen.Marks["run_1/model-1"] = []Mark{{Token: "c", Began: time.Now().Add(time.Second)}}
		}, NotRepeated},
		{"an agent that did not come to its last line", func(_ *examiner, f *findings) {
			f.run.Flow, f.run.Result = agentFlow, json.RawMessage(`{"text":"done","iterations":2}`)
		}, Progress},
		{"a decision that nobody sent", func(_ *examiner, f *findings) { decision(f, func(d *holdshort.Decision) { d.Message = "forged" }) }, OnlyEntitled},
		{"too few approvals", func(_ *examiner, f *findings) {
			request(f, func(r *holdshort.Request) { r.Audience.Quorum = 2 })
			decision(f, func(d *holdshort.Decision) { d.Action = holdshort.Approve })
		}, OnlyEntitled},
		{"a post that was acknowledged", func(_ *examiner, f *findings) { f.started.post = "news" }, InboundOnce},
		{"a message that was answered is lost", func(x *examiner, _ *findings) { x.heard["ses_1"] = nil }, InboundOnce},
		{"a message twice", func(x *examiner, _ *findings) { x.heard["ses_1"]["hello"] = 2 }, InboundOnce},
		{"a message that nobody sent", func(x *examiner, _ *findings) { x.heard["ses_1"]["bye"] = 1 }, InboundOnce},
		{"a reply composed twice", func(x *examiner, _ *findings) { x.seen.Said["run_1"] = map[string]int{"a": 1, "b": 1} }, NotRepeated},
		{"still waiting", func(_ *examiner, f *findings) { f.run.Status = holdshort.RunWaiting }, Progress},
		{"still open", func(_ *examiner, f *findings) {
			request(f, func(r *holdshort.Request) { r.Status = holdshort.RequestOpen })
		}, Progress},
		{"still started", func(_ *examiner, f *findings) { f.ops[0].Status = holdshort.OperationStarted }, Progress},
		{"held", func(_ *examiner, f *findings) { f.run.Held = &holdshort.Hold{Code: holdshort.MACInvalid} }, Progress},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, f := afternoon()
			tt.does(x, &f)
			x.checkRows(f)
			x.checkStrays()
			x.checkMessages()
			if x.report.Violations[tt.want] == 0 && tt.want != "" || tt.want == "" && x.report.Broken() {
				t.Errorf("want a violation of %q, got %v: %s", tt.want, x.report.Violations, strings.Join(x.report.Faults, "; "))
			}
		})
	}
}

// TestLedgerSees: what two people are told of one request must agree.
func TestLedgerSees(t *testing.T) {
	stands := holdshort.Decision{ID: "dec_1", Message: "a", Action: holdshort.Approve}
	resolved := &holdshort.Request{ID: "req_1", Status: holdshort.RequestResolved}
	for _, tt := range []struct {
		name string
		told []answered
		want bool
	}{
		{"the winner, and one who came too late", []answered{{Decision: &stands}, {Code: holdshort.Closed, Decision: &stands, Request: resolved}}, false},
		{"two winners", []answered{{Decision: &stands}, {Decision: &holdshort.Decision{ID: "dec_2", Message: "a", Action: holdshort.Reject}}}, true},
		{"a conflict that shows another decision", []answered{{Decision: &stands}, {Code: holdshort.Closed, Decision: &holdshort.Decision{ID: "dec_2", Message: "a"}, Request: resolved}}, true},
		{"a conflict that shows nothing", []answered{{Code: holdshort.Closed, Request: resolved}}, true},
		{"an acknowledgment of somebody else's decision", []answered{{Decision: &holdshort.Decision{ID: "dec_2", Message: "b"}}}, true},
		{"canceled with its run", []answered{{Code: holdshort.Closed, Request: &holdshort.Request{ID: "req_1", Status: holdshort.RequestCanceled}}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLedger(&Report{})
			l.told(holdshort.Request{ID: "req_1"}, time.Now())
			l.sends("req_1", "a")
			for _, a := range tt.told {
				l.decided("req_1", "ana0", "a", a)
			}
			if got := l.report.Violations[OneDecision] > 0; got != tt.want {
				t.Errorf("violated: %v, want %v: %v", got, tt.want, l.report.Faults)
			}
		})
	}
}
