package sqldb

import (
	"encoding/json"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// requestFixed is what was asked: id, question and fingerprint are byte-equal before and after any restart because no update names them.
type requestFixed struct {
	Version       int                     `json:"v"`
	Code          string                  `json:"code,omitempty"`
	Reason        string                  `json:"reason,omitempty"`
	Source        string                  `json:"source,omitempty"`
	PolicySource  string                  `json:"policy_source,omitempty"`
	PolicyVersion string                  `json:"policy_version,omitempty"`
	Rule          string                  `json:"rule,omitempty"`
	Trace         string                  `json:"trace,omitempty"`
	FlowVersion   int                     `json:"flow_version,omitempty"`
	ReturnTo      holdshort.ReturnTo      `json:"return_to,omitzero"`
	Question      string                  `json:"question"`
	Expected      holdshort.ExpectedInput `json:"expected"`
	Options       []holdshort.Option      `json:"options,omitempty"`
	Schema        json.RawMessage         `json:"schema,omitempty"`
	Actions       []storedAction          `json:"actions,omitempty"`
	Allowed       []holdshort.Verb        `json:"allowed,omitempty"`
	Fingerprint   string                  `json:"fingerprint"`
	Salt          string                  `json:"salt,omitempty"`
	Audience      holdshort.Audience      `json:"audience"`
	Requester     holdshort.Requester     `json:"requester,omitzero"`
	Language      string                  `json:"language,omitempty"`
	Context       json.RawMessage         `json:"context,omitempty"`
	QueueUntil    int64                   `json:"queue_until,omitempty"`
	ExpiresIn     time.Duration           `json:"expires_in,omitempty"`
	Prompt        bool                    `json:"prompt,omitempty"`
	TakeCancel    bool                    `json:"take_cancel,omitempty"`
	ValidFor      time.Duration           `json:"valid_for,omitempty"`
	Undo          time.Duration           `json:"undo,omitempty"`
	OnTimeout     holdshort.OnTimeout     `json:"on_timeout,omitempty"`
	OnReject      holdshort.OnReject      `json:"on_reject,omitempty"`
	Callback      string                  `json:"callback,omitempty"`
}

// storedAction is an action that does not turn missing arguments into null.
type storedAction struct {
	CallID        string          `json:"call_id"`
	Tool          string          `json:"tool"`
	Args          json.RawMessage `json:"args,omitempty"`
	ArgsHash      string          `json:"args_hash,omitempty"`
	AskedHash     string          `json:"asked_hash,omitempty"`
	SchemaHash    string          `json:"schema_hash,omitempty"`
	NeedsApproval bool            `json:"needs_approval,omitempty"`
	Refused       bool            `json:"refused,omitempty"`
	Effect        string          `json:"effect,omitempty"`
	Reversible    string          `json:"reversible,omitempty"`
	Editable      []string        `json:"editable,omitempty"`
	Redacted      []string        `json:"redacted,omitempty"`
	Blind         []string        `json:"blind,omitempty"`
}

type requestBody struct {
	Outcome      holdshort.Outcome `json:"outcome,omitempty"`
	Reasks       int               `json:"reasks,omitempty"`
	AskedAt      int64             `json:"asked_at,omitempty"`
	ExpiresAt    int64             `json:"expires_at,omitempty"`
	CancelReason string            `json:"cancel_reason,omitempty"`
}

var urgencies = []holdshort.Priority{holdshort.PriorityCritical, holdshort.PriorityHigh, holdshort.PriorityNormal, holdshort.PriorityLow}

var requestStatuses = []holdshort.RequestStatus{holdshort.RequestOpen, holdshort.RequestResolved, holdshort.RequestExpired, holdshort.RequestCanceled}

var insertRequest, updateRequest = puts("requests",
	[]string{"status", "urgency", "assignee", "due_at", "closed_at", "body"},
	[]string{"kind", "session_id", "run_id", "step", "created_at", "fixed"})

const requestColumns = `id, revision, status, kind, urgency, session_id, run_id, step, assignee, created_at, due_at, closed_at, fixed, body`

var (
	selectRequest   = point(`SELECT ` + requestColumns + ` FROM requests WHERE tenant = ? AND id = ?`)
	selectRequestAt = point(`SELECT ` + requestColumns + ` FROM requests
		WHERE tenant = ? AND run_id = ? AND step = ? AND status = 'open' AND run_id <> ''`)
)

func (tx *Tx) Request(id holdshort.RequestID) (holdshort.Request, error) {
	r, err := one(tx, selectRequest, "request", string(id), tx.scanRequest)
	if err == nil {
		tx.noteUrgency(string(id), r)
	}
	return r, err
}

func (tx *Tx) RequestAt(run holdshort.RunID, step string) (holdshort.Request, error) {
	return first(tx, selectRequestAt, []any{string(tx.tenant), string(run), step}, "open request at", step, tx.scanRequest)
}

func (tx *Tx) scanRequest(scan func(...any) error) (r holdshort.Request, id string, err error) {
	var urgency, created, due, closed int64
	var fixed, body []byte
	err = scan(&id, &r.Revision, &r.Status, &r.Kind, &urgency, &r.SessionID, &r.RunID, &r.OriginStepID, &r.Assignee, &created, &due, &closed, &fixed, &body)
	if err != nil {
		return r, id, err
	}
	r.ID = holdshort.RequestID(id)
	r.CreatedAt, r.ClosedAt = fromMicros(created), fromMicros(closed)
	if due != math.MaxInt64 {
		r.ExpiresAt = fromMicros(due) // a row whose payload cannot be read still has its place in the list
	}
	r.Priority = holdshort.PriorityLow
	if urgency < 0 || urgency >= int64(len(urgencies)) || !slices.Contains(requestStatuses, r.Status) {
		return r, id, corrupt("request", id, nil)
	}
	r.Priority = urgencies[urgency]
	if len(fixed) == 0 {
		return r, id, nil // erased
	}
	var f requestFixed
	var b requestBody
	if err := tx.decode("request.fixed", id, fixed, &f); err != nil {
		return r, id, err
	}
	if err := tx.decode("request", id, body, &b); err != nil {
		return r, id, err
	}
	r.Version, r.Code, r.Reason, r.Source, r.PolicySource, r.PolicyVersion, r.Rule = f.Version, f.Code, f.Reason, f.Source, f.PolicySource, f.PolicyVersion, f.Rule
	r.TraceID, r.FlowVersion, r.ReturnTo, r.Question, r.ExpectedInput = f.Trace, f.FlowVersion, f.ReturnTo, f.Question, f.Expected
	r.Options, r.Schema, r.Allowed, r.Fingerprint, r.Salt = f.Options, f.Schema, f.Allowed, f.Fingerprint, f.Salt
	for _, a := range f.Actions {
		r.Actions = append(r.Actions, holdshort.Action(a))
	}
	r.Audience, r.Requester, r.Language, r.Context, r.QueueUntil = f.Audience, f.Requester, f.Language, f.Context, fromMicros(f.QueueUntil)
	r.Prompt, r.TakeCancel, r.CallbackURL = f.Prompt, f.TakeCancel, f.Callback
	r.ExpiresIn, r.ValidFor, r.Undo, r.OnTimeout, r.OnReject = f.ExpiresIn, f.ValidFor, f.Undo, f.OnTimeout, f.OnReject
	r.Outcome, r.Reasks, r.AskedAt, r.ExpiresAt, r.CancelReason = b.Outcome, b.Reasks, fromMicros(b.AskedAt), fromMicros(b.ExpiresAt), b.CancelReason
	return r, id, nil
}

func (tx *Tx) PutRequest(r holdshort.Request) error {
	id := string(r.ID)
	if err := tx.required("request", id, string(r.Status), string(r.Kind)); err != nil {
		return err
	}
	if err := tx.texts("request", string(r.SessionID), string(r.RunID), r.OriginStepID, r.Assignee); err != nil {
		return err
	}
	if !utf8.ValidString(r.Question) {
		return tx.refuse(&holdshort.Error{Code: holdshort.Invalid, Op: "store request " + id, Field: "question", Message: "the question is not text", Hint: "send UTF-8"})
	}
	priority := r.Priority
	if priority == "" {
		priority = holdshort.PriorityNormal
	}
	urgency := slices.Index(urgencies, priority)
	if urgency < 0 {
		return tx.refuse(&holdshort.Error{Code: holdshort.Invalid, Op: "store request " + id, Field: "priority", Message: "unknown priority", Hint: "use low, normal, high or critical"})
	}
	body, err := tx.encode("request", id, requestBody{Outcome: r.Outcome, Reasks: r.Reasks, AskedAt: micros(r.AskedAt), ExpiresAt: micros(r.ExpiresAt),
		CancelReason: r.CancelReason})
	if err != nil {
		return err
	}
	var once []any
	if r.Revision == 0 {
		var actions []storedAction
		for _, a := range r.Actions {
			actions = append(actions, storedAction(a))
		}
		fixed, err := tx.encode("request.fixed", id, requestFixed{Version: r.Version, Code: r.Code, Reason: r.Reason, Source: r.Source, PolicySource: r.PolicySource,
			PolicyVersion: r.PolicyVersion, Rule: r.Rule, Trace: r.TraceID, FlowVersion: r.FlowVersion, ReturnTo: r.ReturnTo, Question: r.Question,
			Expected: r.ExpectedInput, Options: r.Options, Schema: r.Schema, Actions: actions, Allowed: r.Allowed, Fingerprint: r.Fingerprint, Salt: r.Salt,
			Audience: r.Audience, Requester: r.Requester, Language: r.Language, Context: r.Context, QueueUntil: micros(r.QueueUntil), ExpiresIn: r.ExpiresIn, Prompt: r.Prompt, TakeCancel: r.TakeCancel,
			ValidFor: r.ValidFor, Undo: r.Undo, OnTimeout: r.OnTimeout, OnReject: r.OnReject, Callback: r.CallbackURL})
		if err != nil {
			return err
		}
		once = []any{string(r.Kind), string(r.SessionID), string(r.RunID), r.OriginStepID, micros(r.CreatedAt), fixed}
	}
	due := int64(math.MaxInt64)
	if at := r.Due(); !at.IsZero() {
		due = micros(at)
	}
	if err := tx.put("request", id, r.Revision, insertRequest, updateRequest,
		[]any{string(r.Status), int64(urgency), r.Assignee, due, micros(r.ClosedAt), body}, once); err != nil {
		return err
	}
	return tx.putSeats(&r, id, int64(urgency))
}

var (
	cancelUnreadable = statement(`UPDATE requests SET status = 'canceled', closed_at = ?, revision = revision + 1 WHERE tenant = ? AND id = ? AND status = 'open'`)
	deleteSeats      = statement(`DELETE FROM seats WHERE tenant = ? AND id = ?`) // which seats it has cannot be read either
)

func (tx *Tx) CancelUnreadable(id holdshort.RequestID) error {
	if err := tx.required("request", string(id)); err != nil {
		return err
	}
	err := tx.write(Write{Statement: cancelUnreadable, Args: []any{micros(tx.now), string(tx.tenant), string(id)}, Want: 1, Miss: notFound("open request", string(id))})
	if err != nil {
		return err
	}
	return tx.write(Write{Statement: deleteSeats, Args: []any{string(tx.tenant), string(id)}, Want: Any})
}

// Requests lists requests by urgency, age or expiry. A query that names a run, a session, an assignee or a rare kind
// reads the rows of that subject and sorts them: the indexes in the order of the list hold every open request of the tenant.
func (tx *Tx) Requests(q store.RequestQuery) (store.Page[holdshort.Request], error) {
	l := list("requests", requestColumns).where("tenant = ?", string(tx.tenant)).only(requestSubject(q))
	switch {
	case q.Status == holdshort.RequestOpen:
		l.where("status = 'open'") // not a parameter: the planner takes a partial index only if it sees the condition
	case q.Status != "":
		l.where(l.text("status") + " = '" + known(requestStatuses, q.Status) + "'")
	}
	if q.Kind != "" {
		l.where(l.text("kind")+" = ?", string(q.Kind))
	}
	if q.Priority != "" {
		l.where(l.number("urgency")+" = ?", int64(slices.Index(urgencies, q.Priority)))
	}
	if q.Session != "" {
		l.where(l.text("session_id")+" = ?", string(q.Session))
	}
	if q.Run != "" {
		l.where("run_id = ?", string(q.Run))
	}
	if q.Assignee != "" {
		l.where(l.text("assignee")+" = ?", q.Assignee)
	}
	switch l.subject { // the condition of its partial index
	case "run_id", "session_id", "assignee":
		l.where(l.subject + " <> ''")
	case "kind":
		l.where("kind <> 'approval'")
	}
	urgency := func(r holdshort.Request) int64 { return int64(slices.Index(urgencies, r.Priority)) }
	switch q.Order {
	case store.ByNewest:
		l.keyset(q.Cursor, true, "id")
		return page(tx, l, q.Limit, tx.scanRequest, func(r holdshort.Request) []any { return []any{string(r.ID)} })
	case store.ByExpiry:
		l.keyset(q.Cursor, false, "due_at", "id")
		return page(tx, l, q.Limit, tx.scanRequest, func(r holdshort.Request) []any { return []any{dueOf(&r), string(r.ID)} })
	case store.ByUrgency:
		l.keyset(q.Cursor, false, "urgency", "id")
		return page(tx, l, q.Limit, tx.scanRequest, func(r holdshort.Request) []any { return []any{urgency(r), string(r.ID)} })
	}
	return store.Page[holdshort.Request]{}, &holdshort.Error{Code: holdshort.Invalid, Field: "sort", Message: "unknown order", Hint: "use urgency, newest or expiry"}
}

// requestSubject returns the column whose index selects the fewest rows, or "" if the index of the order is the best.
func requestSubject(q store.RequestQuery) string {
	open := q.Status == holdshort.RequestOpen
	switch {
	case q.Run != "":
		return "run_id"
	case q.Session != "":
		return "session_id"
	case q.Assignee != "" && open:
		return "assignee"
	case q.Kind != "" && q.Kind != holdshort.Approval && open:
		return "kind"
	}
	return ""
}

// known gives the value if it is one of the enumeration, and something that no row has if not: nothing from outside gets into SQL text.
func known[T ~string](values []T, v T) string {
	if slices.Contains(values, v) {
		return string(v)
	}
	return "unknown"
}
