package holdshort

import "time"

// OperationStatus is what is known of one side effect.
type OperationStatus string

const (
	OperationStarted OperationStatus = "started"
	OperationDone    OperationStatus = "done"
	OperationFailed  OperationStatus = "failed"
	OperationUnknown OperationStatus = "unknown"
)

// OperationInput is what can be learned of it.
type OperationInput string

const (
	OperationFinish      OperationInput = "finish"       // the tool answered: it happened
	OperationProveFailed OperationInput = "prove_failed" // proof that nothing happened
	OperationLose        OperationInput = "lose"         // the deadline passed and nobody knows
	OperationRerun       OperationInput = "rerun"        // an idempotent tool is called again under the same id
	OperationSettleDone  OperationInput = "settle_done"  // reconcile, a person or a late answer: it happened
	OperationSettleNot   OperationInput = "settle_not"   // reconcile, a person or a late answer: it did not
	OperationGiveUp      OperationInput = "give_up"      // a person stops asking; it stays unknown for ever
	OperationRetry       OperationInput = "retry"        // proven not to have happened, and approved again
)

var operationMachine = machine[OperationStatus, OperationInput]{
	noun:   "operation",
	states: []OperationStatus{OperationStarted, OperationDone, OperationFailed, OperationUnknown},
	inputs: []OperationInput{OperationFinish, OperationProveFailed, OperationLose, OperationRerun, OperationSettleDone, OperationSettleNot,
		OperationGiveUp, OperationRetry},
	table: map[OperationStatus]map[OperationInput]OperationStatus{
		OperationStarted: {OperationFinish: OperationDone, OperationProveFailed: OperationFailed, OperationLose: OperationUnknown, OperationRerun: OperationStarted},
		OperationUnknown: {OperationSettleDone: OperationDone, OperationSettleNot: OperationFailed, OperationGiveUp: OperationUnknown},
		OperationFailed:  {OperationRetry: OperationStarted},
	},
}

// Operation is one side effect by its id: a row of the ledger. It holds no arguments, no results and nothing personal; its hashes are keyed
// per tenant.
type Operation struct {
	ID          string              `json:"id"` // trace_id:step_id, never chosen by a model or a caller
	Revision    int64               `json:"-"`
	RunID       RunID               `json:"run_id,omitempty"`
	RequestID   RequestID           `json:"request_id,omitempty"` // the approval it follows
	StepID      string              `json:"step_id"`
	Capability  string              `json:"capability"` // the tool
	ArgsHash    string              `json:"args_hash"`
	Status      OperationStatus     `json:"status"`
	Attempt     int                 `json:"attempt"`
	Nonce       string              `json:"-"` // of this attempt: closing names it
	Success     bool                `json:"success"`
	Settled     bool                `json:"settled,omitempty"` // a person gave up on an unknown one
	ResultHash  string              `json:"result_hash,omitempty"`
	ExternalIDs map[string][]string `json:"external_ids,omitempty"`
	StartedAt   time.Time           `json:"started_at"`
	Deadline    time.Time           `json:"deadline"` // nobody reruns, reconciles or asks earlier
	ClosedAt    time.Time           `json:"closed_at,omitzero"`
}

// Apply gives the operation after input. nonce is that of the attempt the caller speaks of: another attempt's answer changes nothing.
func (o Operation) Apply(input OperationInput, nonce string, now time.Time) (Operation, error) {
	if nonce == "" || nonce != o.Nonce {
		return o, &Error{Code: Conflict, Op: "close operation " + o.ID, Message: "the answer is of another attempt"}
	}
	if (input == OperationLose || input == OperationRerun) && now.Before(o.Deadline) {
		return o, &Error{Code: WrongState, Op: string(input) + " operation " + o.ID, Message: "its deadline has not passed: it may still be under way"}
	}
	to, err := operationMachine.next(o.Status, input)
	if err != nil {
		return o, err
	}
	o.Status, o.Settled = to, input == OperationGiveUp
	switch to {
	case OperationStarted:
		o.Attempt++
		o.Nonce, o.Deadline = "", time.Time{} // the caller gives the new attempt its own: the old one's answer must not close it
		o.ClosedAt = time.Time{}
	case OperationDone:
		o.Success, o.ClosedAt = true, now
	case OperationFailed:
		o.Success, o.ClosedAt = false, now
	case OperationUnknown:
		o.ClosedAt = now
	}
	return o, nil
}
