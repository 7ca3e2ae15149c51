package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// Why says in plain words why a run is not moving.
type Why struct {
	Run     holdshort.Run `json:"run"`
	Reasons []Reason      `json:"reasons"` // what matters most comes first; never empty
}

// Reason is one thing that a run waits for.
type Reason struct {
	Code      string              `json:"code"` // ended, held, request, operation, sleep, post, queued or leased
	Text      string              `json:"text"`
	Hint      string              `json:"hint,omitempty"`
	Request   holdshort.RequestID `json:"request_id,omitempty"`
	Operation string              `json:"operation_id,omitempty"`
	Since     time.Time           `json:"since,omitzero"`
	Until     time.Time           `json:"until,omitzero"`
}

// Why tells what a run waits for, over one snapshot. What other nodes have, it does not know: it speaks of this one.
func (e *Engine) Why(ctx context.Context, tenant holdshort.TenantID, id holdshort.RunID) (Why, error) {
	return view(ctx, e, tenant, func(tx store.ReadTx) (w Why, err error) {
		if w.Run, err = readRun(tx, id); err != nil {
			return w, err
		}
		if w.Run.Status.Ended() {
			w.Reasons = []Reason{ended(w.Run)}
			return w, nil
		}
		if w.Run.Held != nil {
			w.Reasons = append(w.Reasons, held(w.Run))
		}
		for _, look := range []func(store.ReadTx, holdshort.Run) ([]Reason, error){e.operationsOf, e.requestsOf, e.alarmsOf} {
			found, err := look(tx, w.Run)
			if err != nil && w.Run.Held == nil { // what cannot be read is why a run is held
				return w, err
			}
			w.Reasons = append(w.Reasons, found...)
		}
		switch w.Run.Status {
		case holdshort.RunRunning:
			w.Reasons = append(w.Reasons, leased(w.Run, tx.Now()))
		case holdshort.RunQueued:
			if w.Run.Held == nil {
				w.Reasons = append(w.Reasons, e.queued(tenant, w.Run))
			}
		}
		if len(w.Reasons) == 0 {
			w.Reasons = []Reason{{Code: "waiting", Text: "it waits, and nothing is recorded that would wake it", Hint: "look at its journal; then cancel it, or post to it", Since: w.Run.UpdatedAt}}
		}
		return w, nil
	})
}

func ended(run holdshort.Run) Reason {
	r := Reason{Code: "ended", Text: "it is " + string(run.Status), Since: run.EndedAt}
	if run.Status != holdshort.RunFailed {
		return r
	}
	r.Hint = "repair the cause, then retry it"
	if run.Error != nil {
		r.Text = fmt.Sprintf("it failed (%s): %s", run.Error.Code, run.Error.Message)
		if run.Error.Step != "" {
			r.Text = fmt.Sprintf("it failed at step %s (%s): %s", run.Error.Step, run.Error.Code, run.Error.Message)
		}
	}
	if run.Pruned {
		r.Hint = "its journal is no longer kept: start a new run"
	}
	return r
}

// heldHints say what a person does about a held run.
var heldHints = map[holdshort.Code]string{
	holdshort.JournalMismatch: "deploy the version again under which it began, then retry it",
	holdshort.ToolUnknown:     "register the tool, then retry it",
	holdshort.FlowUnknown:     "deploy its flow and version, then retry it",
	holdshort.KeyUnknown:      "add the old key to the keyring, then retry it",
	holdshort.MACInvalid:      "nothing ran; look into the database's access log, then cancel it",
	holdshort.ArgsChanged:     "deploy the version again that started the call, then retry it",
	holdshort.DecisionUsed:    "its approval was used already; look into the ledger, then cancel it",
	holdshort.Poisoned:        "it ended its process again and again; look into the logs of the nodes, repair the flow, then retry it",
	holdshort.Stuck:           "its code neither ends nor does anything; repair the flow, then retry it",
	holdshort.Corrupt:         "a row of it cannot be read; restore it from a backup, then retry it",
	holdshort.Misused:         "its flow does what durable code cannot; repair it, then retry it",
}

func held(run holdshort.Run) Reason {
	hint, ok := heldHints[run.Held.Code]
	if !ok {
		hint = "look into the log for the cause, then retry or cancel it"
	}
	return Reason{Code: "held", Text: "it is held: " + string(run.Held.Code), Hint: hint, Since: run.Held.Since}
}

func (e *Engine) operationsOf(tx store.ReadTx, run holdshort.Run) (out []Reason, err error) {
	ops, err := tx.Operations(run.ID)
	for _, op := range ops {
		r := Reason{Code: "operation", Operation: op.ID, Since: op.StartedAt}
		switch {
		case op.Status == holdshort.OperationUnknown && !op.Settled:
			r.Text, r.Hint = "nobody knows what became of its call of "+op.Capability, "answer its reconcile request"
		case op.Status == holdshort.OperationStarted && tx.Now().Before(op.Deadline):
			r.Text, r.Until = "its call of "+op.Capability+" is under way", op.Deadline
		case op.Status == holdshort.OperationStarted:
			r.Text, r.Until = "its call of "+op.Capability+" is past its deadline: it is looked into next", op.Deadline
		default:
			continue
		}
		out = append(out, r)
	}
	return out, err
}

func (e *Engine) requestsOf(tx store.ReadTx, run holdshort.Run) (out []Reason, err error) {
	page, err := tx.Requests(store.RequestQuery{Run: run.ID, Status: holdshort.RequestOpen})
	for _, req := range page.Items {
		r := Reason{Code: "request", Request: req.ID, Since: req.CreatedAt, Until: req.Due()}
		switch {
		case req.StatusAt(tx.Now()) == holdshort.RequestExpired:
			r.Text = fmt.Sprintf("nobody decided %s %s in time: it expires next", req.Kind, req.ID)
		case req.AskedAt.IsZero():
			r.Text, r.Hint = fmt.Sprintf("%s %s waits for its turn in the chat", req.Kind, req.ID), "answer the prompt that is open, or decide it by its id"
		default:
			r.Text, r.Hint = fmt.Sprintf("it waits for %s %s of %s", req.Kind, req.ID, people(req)), "decide it"
		}
		if req.Assignee != "" {
			r.Text += ", assigned to " + req.Assignee
		}
		out = append(out, r)
	}
	return out, err
}

// people names an audience.
func people(req holdshort.Request) string {
	var who []string
	if req.Audience.Owner {
		who = append(who, strings.TrimSpace("the user "+req.Requester.User))
	}
	for _, role := range req.Audience.Roles {
		who = append(who, "role "+role)
	}
	who = append(who, req.Audience.Users...)
	if len(who) == 0 {
		return "nobody"
	}
	text := strings.Join(who, " or ")
	if n := req.Audience.Needed(); n > 1 {
		text = fmt.Sprintf("%d of %s", n, text)
	}
	return text
}

// alarmsOf finds sleeps and waits that were set and have not ended.
func (e *Engine) alarmsOf(tx store.ReadTx, run holdshort.Run) (out []Reason, err error) {
	entries, err := tx.Journal(run.ID)
	if err != nil {
		return nil, err
	}
	j := newJournal(entries)
	for key, entry := range j.entries {
		step, isSet := strings.CutSuffix(key, setKey(""))
		_, over := j.entries[step]
		_, fired := j.entries[firedKey(step)]
		if !isSet || entry.Kind != kindTimer || over || fired {
			continue
		}
		var set struct {
			Until time.Time `json:"until"`
		}
		if err := json.Unmarshal(entry.Outcome, &set); err != nil {
			return nil, &holdshort.Error{Code: holdshort.Corrupt, Op: "read step " + step, Message: "its journal entry cannot be read", Err: err}
		}
		r := Reason{Code: "sleep", Text: "step " + step + " sleeps, or waits for a post", Since: entry.Started, Until: set.Until}
		if set.Until.IsZero() {
			r.Code, r.Text, r.Hint = "post", "step "+step+" waits for a post", "post what it waits for"
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Reason) int { return strings.Compare(a.Text, b.Text) })
	return out, nil
}

func leased(run holdshort.Run, now time.Time) Reason {
	r := Reason{Code: "leased", Text: "node " + run.Lease.Owner + " executes it", Until: run.Lease.Until}
	if !run.Lease.Until.IsZero() && !now.Before(run.Lease.Until) {
		r.Text, r.Hint = "node "+run.Lease.Owner+" had it and no longer speaks", "a node that has "+title(run)+" takes it up"
	}
	return r
}

func title(run holdshort.Run) string { return fmt.Sprintf("%s@%d", run.Flow, run.FlowVersion) }

// queued says why this node does not take a run that could go on.
func (e *Engine) queued(tenant holdshort.TenantID, run holdshort.Run) Reason {
	r := Reason{Code: "queued", Text: "it is queued: a worker takes it next", Since: run.UpdatedAt}
	f, has := e.flows[store.FlowVersion{Flow: run.Flow, Version: run.FlowVersion}]
	missing := slices.DeleteFunc(slices.Clone(f.Tools), func(name string) bool { _, ok := e.tools[name]; return ok })
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case !has:
		r.Text, r.Hint = "it is queued: this node has no "+title(run), "deploy that version, here or on another node"
	case len(missing) > 0:
		r.Text, r.Hint = "it is queued: this node lacks tools of "+title(run)+": "+strings.Join(missing, ", "), "register them, here or on another node"
	case e.draining.Load():
		r.Text, r.Hint = "it is queued: this node stops", "another node takes it, or this one when it is back"
	case run.Claims >= e.config.Limits.Claims:
		r.Text, r.Hint = "it is queued: it was claimed again and again without progress, and is held next", "look into the logs of the nodes"
	case f.Concurrency > 0 && e.busy["flow "+f.Title()] >= f.Concurrency:
		r.Text, r.Hint = fmt.Sprintf("it is queued: %d runs of %s are executed, as many as its flow allows at once", f.Concurrency, title(run)), "wait, or raise the flow's concurrency"
	case e.config.Limits.TenantRuns > 0 && e.busy["tenant "+string(tenant)] >= e.config.Limits.TenantRuns:
		r.Text, r.Hint = fmt.Sprintf("it is queued: %d runs of its tenant are executed, as many as may be at once", e.config.Limits.TenantRuns), "wait, or raise the limit"
	case len(e.slots) >= cap(e.slots):
		r.Text, r.Hint = fmt.Sprintf("it is queued: all %d workers are busy", cap(e.slots)), "wait, add nodes, or raise the number of workers"
	}
	return r
}
