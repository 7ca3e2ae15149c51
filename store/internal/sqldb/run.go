package sqldb

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// runFixed is what never changes: the trace id among it, so a later write cannot.
type runFixed struct {
	Parent      holdshort.RunID `json:"parent,omitempty"`
	Trace       string          `json:"trace"`
	User        string          `json:"user,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"`
	TraceParent string          `json:"trace_parent,omitempty"`
	StartedBy   string          `json:"started_by,omitempty"`
}

type runBody struct {
	Result  json.RawMessage    `json:"result,omitempty"`
	Error   *holdshort.Failure `json:"error,omitempty"`
	Attempt int                `json:"attempt,omitempty"`
	Open    int                `json:"open,omitempty"`
}

var insertRun, updateRun = puts("runs",
	[]string{"status", "held_code", "held_since", "wake", "epoch", "lease_owner", "lease_until", "claims", "updated_at", "ended_at", "recorded", "body"},
	[]string{"session_id", "agent", "flow", "flow_version", "created_at", "fixed"})

const runColumns = `id, revision, status, session_id, agent, flow, flow_version, held_code, held_since, wake, epoch, lease_owner, lease_until, claims,
	created_at, updated_at, ended_at, pruned, recorded, fixed, body`

var (
	selectRun = point(`SELECT ` + runColumns + ` FROM runs WHERE tenant = ? AND id = ?`)
	holdRun   = statement(`UPDATE runs SET held_code = ?, held_since = ?, epoch = epoch + 1, lease_owner = '', lease_until = 0, revision = revision + 1
		WHERE tenant = ? AND id = ? AND ended_at = 0`)
	// A row that is to be claimed and says that it has ended is damaged too: it must not be found again.
	holdClaimed = statement(`UPDATE runs SET held_code = ?, held_since = ?, epoch = epoch + 1, lease_owner = '', lease_until = 0, revision = revision + 1
		WHERE tenant = ? AND id = ?`)
	fenceRun = shares("runs", []string{"tenant", "id", "epoch"})
)

func (tx *Tx) Run(id holdshort.RunID) (holdshort.Run, error) {
	return one(tx, selectRun, "run", string(id), tx.scanRun)
}

func (tx *Tx) scanRun(scan func(...any) error) (run holdshort.Run, id string, err error) {
	var heldCode string
	var heldSince, until, created, updated, ended, pruned int64
	var fixed, body []byte
	err = scan(&id, &run.Revision, &run.Status, &run.SessionID, &run.Agent, &run.Flow, &run.FlowVersion, &heldCode, &heldSince, &run.Wake, &run.Lease.Epoch,
		&run.Lease.Owner, &until, &run.Claims, &created, &updated, &ended, &pruned, &run.Recorded, &fixed, &body)
	if err != nil {
		return run, id, err
	}
	run.ID, run.Pruned = holdshort.RunID(id), pruned > 0
	run.Lease.Until, run.CreatedAt, run.UpdatedAt, run.EndedAt = fromMicros(until), fromMicros(created), fromMicros(updated), fromMicros(ended)
	if heldCode != "" {
		run.Held = &holdshort.Hold{Code: holdshort.Code(heldCode), Since: fromMicros(heldSince)}
	}
	if len(fixed) == 0 && run.Status.Ended() {
		return run, id, nil // erased
	}
	var damage error
	var f runFixed
	if err := tx.decode("run.fixed", id, fixed, &f); err != nil {
		damage = err
	} else {
		run.ParentID, run.TraceID, run.TraceParent, run.StartedBy, run.User, run.Input = f.Parent, f.Trace, f.TraceParent, f.StartedBy, f.User, f.Input
	}
	var b runBody
	if err := tx.decode("run", id, body, &b); err != nil {
		damage = cmp.Or(damage, err)
		run.Open = unknownOpen
	} else {
		run.Result, run.Error, run.Attempt, run.Open = b.Result, b.Error, b.Attempt, b.Open
	}
	if !run.Status.Ended() && (run.Pruned || !run.EndedAt.IsZero()) { // no write makes such a row
		damage = cmp.Or(damage, corrupt("run", id, nil))
	}
	if !slices.Contains(runStatuses, run.Status) {
		damage = cmp.Or(damage, corrupt("run", id, nil))
		run.Status = holdshort.RunWaiting // so that it can be canceled, and nothing else
	}
	if damage != nil && run.Held == nil && !run.Status.Ended() {
		run.Held = &holdshort.Hold{Code: holdshort.Corrupt}
	}
	return run, id, damage
}

// unknownOpen stands for the number of open requests of a run whose body cannot be read: canceling it looks for them.
const unknownOpen = 1

var runStatuses = []holdshort.RunStatus{holdshort.RunQueued, holdshort.RunRunning, holdshort.RunWaiting, holdshort.RunCompleted, holdshort.RunFailed,
	holdshort.RunCanceled}

func (tx *Tx) PutRun(run holdshort.Run) error {
	id := string(run.ID)
	if err := tx.required("run", id, string(run.Status), run.Flow); err != nil {
		return err
	}
	if err := tx.texts("run", string(run.SessionID), run.Agent, run.Lease.Owner, run.Recorded); err != nil {
		return err
	}
	body, err := tx.encode("run", id, runBody{Result: run.Result, Error: run.Error, Attempt: run.Attempt, Open: run.Open})
	if err != nil {
		return err
	}
	var once []any
	if run.Revision == 0 {
		fixed, err := tx.encode("run.fixed", id, runFixed{Parent: run.ParentID, Trace: run.TraceID, TraceParent: run.TraceParent, StartedBy: run.StartedBy, User: run.User, Input: run.Input})
		if err != nil {
			return err
		}
		once = []any{string(run.SessionID), run.Agent, run.Flow, int64(run.FlowVersion), micros(run.CreatedAt), fixed}
		tx.newStream(id)
	}
	var hold holdshort.Hold
	if run.Held != nil {
		hold = *run.Held
	}
	return tx.put("run", id, run.Revision, insertRun, updateRun, []any{string(run.Status), string(hold.Code), micros(hold.Since), run.Wake,
		run.Lease.Epoch, run.Lease.Owner, micros(run.Lease.Until), int64(run.Claims), micros(run.UpdatedAt), micros(run.EndedAt), run.Recorded, body}, once)
}

func (tx *Tx) HoldRun(id holdshort.RunID, hold holdshort.Hold) error {
	if err := tx.required("run", string(id), string(hold.Code)); err != nil {
		return err
	}
	return tx.write(Write{Statement: holdRun, Args: []any{string(hold.Code), micros(hold.Since), string(tx.tenant), string(id)}, Want: 1,
		Miss: notFound("run that has not ended", string(id))})
}

func (tx *Tx) FenceRun(id holdshort.RunID, epoch int64) error {
	if err := tx.required("run", string(id)); err != nil {
		return err
	}
	return tx.write(Write{Statement: fenceRun, Args: []any{string(tx.tenant), string(id), epoch}, Want: 1, Selects: true,
		Miss: &holdshort.Error{Code: holdshort.LeaseLost, Op: "fence run " + string(id), Message: "another node has it"}})
}

// Runs lists by the index that fits: session, status, held, else the primary key.
func (tx *Tx) Runs(q store.RunQuery) (store.Page[holdshort.Run], error) {
	l := list("runs", runColumns).where("tenant = ?", string(tx.tenant))
	if q.Session != "" {
		l.only("session_id")
	}
	if q.Status != "" {
		l.where(l.text("status")+" = ?", string(q.Status))
		if q.Status != holdshort.RunWaiting && q.Session == "" {
			l.where("status <> 'waiting'") // so that the planner may take the partial index
		}
	}
	if q.Session != "" {
		l.where("session_id = ?", string(q.Session)).where("session_id <> ''")
	}
	if q.Flow != "" {
		l.where("flow = ?", q.Flow)
	}
	if q.Agent != "" {
		l.where("agent = ?", q.Agent)
	}
	if q.Held {
		l.where(l.text("held_code") + " <> ''")
	}
	l.keyset(q.Cursor, true, "id")
	unreadable := map[holdshort.RunID]bool{}
	scanRun := func(scan func(...any) error) (run holdshort.Run, id string, err error) {
		if run, id, err = tx.scanRun(scan); errors.Is(err, holdshort.Corrupt) {
			unreadable[run.ID], err = true, nil
		}
		return run, id, err
	}
	out, err := page(tx, l, q.Limit, scanRun, func(r holdshort.Run) []any { return []any{string(r.ID)} })
	for _, run := range out.Items {
		if unreadable[run.ID] {
			out.Corrupt = append(out.Corrupt, string(run.ID))
		}
	}
	return out, err
}
