package sqldb

import (
	"encoding/json"

	"github.com/holdshort/holdshort"
)

var insertOperation, updateOperation = puts("operations",
	[]string{"request_id", "status", "attempt", "nonce", "success", "settled", "result_hash", "external_ids", "started_at", "deadline", "closed_at"},
	[]string{"run_id", "step_id", "capability", "args_hash"})

const operationColumns = `id, revision, run_id, request_id, step_id, capability, args_hash, status, attempt, nonce, success, settled, result_hash,
	external_ids, started_at, deadline, closed_at`

var (
	selectOperation  = point(`SELECT ` + operationColumns + ` FROM operations WHERE tenant = ? AND id = ?`)
	selectOperations = point(`SELECT ` + operationColumns + ` FROM operations WHERE tenant = ? AND run_id = ? ORDER BY id`)
)

func (tx *Tx) Operation(id string) (holdshort.Operation, error) {
	return one(tx, selectOperation, "operation", id, scanOperation)
}

func (tx *Tx) Operations(run holdshort.RunID) ([]holdshort.Operation, error) {
	return all(tx, selectOperations, []any{string(tx.tenant), string(run)}, scanOperation)
}

func scanOperation(scan func(...any) error) (o holdshort.Operation, id string, err error) {
	var success, settled, started, deadline, closed int64
	var external string
	err = scan(&id, &o.Revision, &o.RunID, &o.RequestID, &o.StepID, &o.Capability, &o.ArgsHash, &o.Status, &o.Attempt, &o.Nonce, &success, &settled,
		&o.ResultHash, &external, &started, &deadline, &closed)
	if err != nil {
		return o, id, err
	}
	o.ID, o.Success, o.Settled = id, success == 1, settled == 1
	o.StartedAt, o.Deadline, o.ClosedAt = fromMicros(started), fromMicros(deadline), fromMicros(closed)
	if external != "" {
		if err := json.Unmarshal([]byte(external), &o.ExternalIDs); err != nil {
			return o, id, corrupt("operation", id, err)
		}
	}
	return o, id, nil
}

// PutOperation never changes which tool and arguments an operation is of: the update does not name them. A retry follows another approval.
func (tx *Tx) PutOperation(o holdshort.Operation) error {
	if err := tx.required("operation", o.ID, o.StepID, o.Capability, o.ArgsHash, string(o.Status), o.Nonce); err != nil {
		return err
	}
	if err := tx.texts("operation", string(o.RunID), string(o.RequestID), o.ResultHash); err != nil {
		return err
	}
	external := ""
	if len(o.ExternalIDs) > 0 {
		raw, err := json.Marshal(o.ExternalIDs)
		if err != nil {
			return tx.refuse(err)
		}
		external = string(raw)
		if err := tx.texts("operation", external); err != nil {
			return err
		}
	}
	return tx.put("operation", o.ID, o.Revision, insertOperation, updateOperation,
		[]any{string(o.RequestID), string(o.Status), int64(o.Attempt), o.Nonce, flag(o.Success), flag(o.Settled), o.ResultHash, external, micros(o.StartedAt), micros(o.Deadline), micros(o.ClosedAt)},
		[]any{string(o.RunID), o.StepID, o.Capability, o.ArgsHash})
}

var (
	setTimer = inserts("timers", []string{"tenant", "kind", "subject", "key", "due_at"}, "", "",
		" ON CONFLICT (tenant, kind, subject, key) DO UPDATE SET due_at = excluded.due_at")
	dropTimer = deletes("timers", []string{"tenant", "kind", "subject", "key"})
)

func (tx *Tx) SetTimer(t holdshort.Timer) error {
	if err := tx.required("timer", string(t.Kind), t.Subject); err != nil {
		return err
	}
	if err := tx.texts("timer", t.Key); err != nil {
		return err
	}
	return tx.write(Write{Statement: setTimer, Args: []any{string(tx.tenant), string(t.Kind), t.Subject, t.Key, micros(t.DueAt)}, Want: 1})
}

func (tx *Tx) DropTimer(kind holdshort.TimerKind, subject, key string) error {
	if err := tx.texts("timer", string(kind), subject, key); err != nil {
		return err
	}
	return tx.write(Write{Statement: dropTimer, Args: []any{string(tx.tenant), string(kind), subject, key}, Want: Any})
}
