package holdshort

import (
	"encoding/json"
	"time"
)

// RunStatus is where a run stands.
type RunStatus string

const (
	RunQueued    RunStatus = "queued"
	RunRunning   RunStatus = "running"
	RunWaiting   RunStatus = "waiting"
	RunCompleted RunStatus = "completed"
	RunFailed    RunStatus = "failed"
	RunCanceled  RunStatus = "canceled"
)

// RunInput is what can happen to a run.
type RunInput string

const (
	RunClaim    RunInput = "claim"    // a node takes it to run it
	RunSuspend  RunInput = "suspend"  // every branch waits
	RunRequeue  RunInput = "requeue"  // it gave up its place: lease lost or handed back, or woken while it suspended
	RunWake     RunInput = "wake"     // a decision, a timer or a post arrived
	RunComplete RunInput = "complete" // its function returned
	RunFail     RunInput = "fail"     // its function failed for good
	RunCancel   RunInput = "cancel"   // a person, a rejection or a deleted session ended it
	RunRetry    RunInput = "retry"    // a person wants the failed step tried again
)

var runMachine = machine[RunStatus, RunInput]{
	noun:   "run",
	states: []RunStatus{RunQueued, RunRunning, RunWaiting, RunCompleted, RunFailed, RunCanceled},
	inputs: []RunInput{RunClaim, RunSuspend, RunRequeue, RunWake, RunComplete, RunFail, RunCancel, RunRetry},
	table: map[RunStatus]map[RunInput]RunStatus{
		RunQueued:  {RunClaim: RunRunning, RunWake: RunQueued, RunCancel: RunCanceled},
		RunRunning: {RunSuspend: RunWaiting, RunRequeue: RunQueued, RunWake: RunRunning, RunComplete: RunCompleted, RunFail: RunFailed, RunCancel: RunCanceled},
		RunWaiting: {RunWake: RunQueued, RunCancel: RunCanceled, RunFail: RunFailed}, // what it waited for expired, and that fails it
		RunFailed:  {RunRetry: RunQueued},
	},
}

// Ended reports whether the run is over. A failed run is over until a person retries it.
func (s RunStatus) Ended() bool {
	return s == RunCompleted || s == RunFailed || s == RunCanceled
}

// Hold says why a run cannot go on for a reason outside its code. Its state stays, its requests stay open, nothing of it runs.
type Hold struct {
	Code  Code      `json:"code"`
	Since time.Time `json:"since"`
}

// Lease is the right of one node to run something until a moment. The epoch grows with every claim: whoever comes back with an old one is
// fenced off.
type Lease struct {
	Owner string    `json:"owner,omitempty"`
	Epoch int64     `json:"epoch"`
	Until time.Time `json:"until,omitzero"`
}

// Failure is how a run ended badly.
type Failure struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Step    string `json:"step,omitempty"`
	Stack   string `json:"stack,omitempty"`
	// Detail is what is known of the fault beyond its text, for whoever puts it right.
	Detail json.RawMessage `json:"detail,omitempty"`
	// Others are further steps that failed beside it, in branches: a retry tries them again too.
	Others []string `json:"others,omitempty"`
}

// FailedSteps names the steps that a retry tries again.
func (f Failure) FailedSteps() []string {
	if f.Step == "" {
		return f.Others
	}
	return append([]string{f.Step}, f.Others...)
}

// Run is one execution of an agent or flow.
type Run struct {
	ID          RunID           `json:"id"`
	Revision    int64           `json:"-"` // for compare-and-set; 0 before it is stored
	Status      RunStatus       `json:"status"`
	SessionID   SessionID       `json:"session_id,omitempty"`
	ParentID    RunID           `json:"parent_id,omitempty"`
	TraceID     string          `json:"trace_id"` // set once, never changed
	TraceParent string          `json:"-"`        // W3C trace context of whoever started it: spans of every process hang on it
	Flow        string          `json:"flow"`
	FlowVersion int             `json:"flow_version"`
	Agent       string          `json:"agent,omitempty"`
	User        string          `json:"user,omitempty"`
	StartedBy   string          `json:"started_by,omitempty"` // who started it for the user, if it was somebody else
	Input       json.RawMessage `json:"input,omitempty"`
	Result      json.RawMessage `json:"result,omitempty"`
	Error       *Failure        `json:"error,omitempty"`
	Held        *Hold           `json:"held,omitempty"`
	Wake        int64           `json:"-"` // grows with everything that may let it go on
	Lease       Lease           `json:"-"`
	Claims      int             `json:"-"` // claims since it last made progress; too many and it is held
	Attempt     int             `json:"attempt"`
	Open        int             `json:"-"`                // how many of its requests are open
	Recorded    string          `json:"-"`                // signed digest of its journal; "" before it is stored, and for runs older than digests
	Pruned      bool            `json:"pruned,omitempty"` // its journal is gone: it cannot be retried; set by the store
	CreatedAt   time.Time       `json:"created_at"`
	UpdatedAt   time.Time       `json:"updated_at"`
	EndedAt     time.Time       `json:"ended_at,omitzero"`
}

// Apply gives the run after input. Wake counts for every run that has not ended: no wake-up is lost to a state that does not change.
func (r Run) Apply(input RunInput, now time.Time) (Run, error) {
	if r.Held != nil && (input == RunClaim || input == RunComplete || input == RunSuspend || input == RunFail) {
		return r, &Error{Code: WrongState, Message: "run is held: " + string(r.Held.Code), Hint: "retry or cancel it"}
	}
	if r.Pruned && (input == RunRetry || input == RunClaim) {
		return r, &Error{Code: WrongState, Message: "the run's journal was pruned: a retry would do everything again", Hint: "start a new run"}
	}
	to, err := runMachine.next(r.Status, input)
	if err != nil {
		return r, err
	}
	switch input {
	case RunClaim:
		r.Claims++
		r.Lease.Epoch++
	case RunWake:
		r.Wake++
	case RunCancel:
		r.Wake++
		r.Lease.Epoch++ // whoever runs it is fenced off at once
	case RunRetry:
		r.Attempt++
		r.Error, r.Held, r.EndedAt, r.Claims = nil, nil, time.Time{}, 0
	}
	if to != RunRunning {
		r.Lease.Owner, r.Lease.Until = "", time.Time{}
	}
	if to.Ended() && !r.Status.Ended() {
		r.EndedAt, r.Held = now, nil // what is over waits for nothing
	}
	r.Status, r.UpdatedAt = to, now
	return r, nil
}

// Suspend waits, unless something woke the run since it was claimed: then it is queued again at once. sinceClaim is the value of Wake
// that the claim read.
func (r Run) Suspend(sinceClaim int64, now time.Time) (Run, error) {
	if r.Wake != sinceClaim {
		return r.Apply(RunRequeue, now)
	}
	return r.Apply(RunSuspend, now)
}

// Hold stops the run where it is. Holding a held run keeps the first reason.
func (r Run) Hold(code Code, now time.Time) (Run, error) {
	if r.Status.Ended() {
		return r, &Error{Code: WrongState, Message: "run is " + string(r.Status) + ": nothing to hold"}
	}
	if r.Held == nil {
		r.Held = &Hold{Code: code, Since: now}
		r.UpdatedAt = now
		r.Lease = Lease{Epoch: r.Lease.Epoch + 1} // whoever runs it is fenced off at once
	}
	return r, nil
}

// Release lets a held run go on.
func (r Run) Release(now time.Time) (Run, error) {
	if r.Held == nil || r.Status.Ended() {
		return r, &Error{Code: WrongState, Message: "run is not held"}
	}
	r.Held, r.Claims, r.UpdatedAt = nil, 0, now
	r.Wake++
	r.Status = RunQueued // look again: what it waited for may be there
	return r, nil
}
