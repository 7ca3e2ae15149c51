package torture

import (
	"github.com/holdshort/holdshort"
)

// Which events tell of a state that a row came to.
var (
	runEvents = map[holdshort.RunStatus][]string{
		holdshort.RunQueued:    {"run.resumed", "run.released", "run.created"},
		holdshort.RunRunning:   {"run.started", "run.resumed", "run.released"},
		holdshort.RunWaiting:   {"run.waiting"},
		holdshort.RunCompleted: {"run.completed"},
		holdshort.RunFailed:    {"run.failed"},
		holdshort.RunCanceled:  {"run.canceled"},
	}
	requestEvents = map[holdshort.RequestStatus][]string{
		holdshort.RequestOpen:     {"hitl.interrupt.paused"},
		holdshort.RequestResolved: {"hitl.request.decided"},
		holdshort.RequestExpired:  {"hitl.request.expired"},
		holdshort.RequestCanceled: {"hitl.request.canceled"},
	}
	operationEvents = map[holdshort.OperationStatus][]string{
		holdshort.OperationStarted: {"operation.started"},
		holdshort.OperationDone:    {"operation.done", "operation.reconciled"},
		holdshort.OperationFailed:  {"operation.failed", "operation.reconciled"},
		holdshort.OperationUnknown: {"operation.unknown", "operation.reconciled"},
	}
)

// audit looks at every transaction that was committed: whatever changed state has its event beside it.
func (w *World) audit() {
	for id, versions := range w.witness.runs() {
		var was holdshort.Run
		for _, v := range versions {
			r := v.row
			switch {
			case was.Status == "" && r.Revision > 0: // it is older than what the witness saw
			case was.Status == "" && !v.in.says(aboutRun(id), "run.created"):
				w.Violate(Audited, "run %s was stored without run.created", id)
			case r.Status != was.Status && !v.in.says(aboutRun(id), runEvents[r.Status]...) && !handedBack(was, r):
				w.Violate(Audited, "run %s went from %q to %q without an event: %s", id, was.Status, r.Status, v.in)
			case r.Held != nil && was.Held == nil && !v.in.says(aboutRun(id), "run.held"):
				w.Violate(Audited, "run %s was held without an event", id)
			case r.Held == nil && was.Held != nil && !r.Status.Ended() && !v.in.says(aboutRun(id), "run.released"):
				w.Violate(Audited, "run %s was released without an event", id)
			}
			was = r
		}
	}
	for id, versions := range w.witness.requests() {
		var was holdshort.RequestStatus
		for _, v := range versions {
			if now := v.row.Status; now != was && (was != "" || v.row.Revision == 0) && !v.in.says(aboutRequest(id), requestEvents[now]...) {
				w.Violate(Audited, "request %s went from %q to %q without an event: %s", id, was, now, v.in)
			}
			was = v.row.Status
		}
	}
	for id, versions := range w.witness.operations() {
		var was holdshort.Operation
		for _, v := range versions {
			if op := v.row; (was.ID != "" || op.Revision == 0) && (op.Status != was.Status || op.Attempt != was.Attempt || op.Settled != was.Settled) && !v.in.says(aboutOperation(id), operationEvents[op.Status]...) {
				w.Violate(Audited, "operation %s went from %q to %q without an event: %s", id, was.Status, op.Status, v.in)
			}
			was = v.row
		}
	}
	for _, t := range w.witness.transactions() {
		for _, d := range t.decisions {
			if !t.says(aboutRequest(d.RequestID), "hitl.request.decided", "hitl.request.canceled") {
				w.Violate(Audited, "decision %s was stored without an event", d.ID)
			}
		}
		for _, v := range t.votes {
			if !t.says(aboutRequest(v.RequestID), "hitl.request.voted") {
				w.Violate(Audited, "vote %s was stored without an event", v.ID)
			}
		}
	}
}

// handedBack: a node that stops gives its run back; the run is the same as before its claim, and the claim that follows has an event.
func handedBack(was, now holdshort.Run) bool {
	return was.Status == holdshort.RunRunning && now.Status == holdshort.RunQueued
}

// String lists the events of a transaction.
func (t *transaction) String() string {
	text := "its events are"
	for _, e := range t.events {
		text += " " + e.Type
	}
	return text
}
