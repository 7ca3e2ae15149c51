package engine

import (
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/internal/schema"
)

// raise makes the request of a run's step: persisted first, then asked. A request of that step that is open already stays the only one, and
// must be about the same thing.
func (c *change) raise(run *holdshort.Run, draft holdshort.Request, fresh bool) error {
	if !fresh && run.Open > 0 {
		open, err := c.RequestAt(run.ID, draft.OriginStepID)
		if err == nil {
			c.logRequest("HITL_DUPLICATE_ATTEMPT", open, "origin_step_id", open.OriginStepID)
			return sameActions(open, draft)
		}
		if holdshort.CodeOf(err) != holdshort.NotFound {
			return err
		}
	}
	if run.Open >= c.e.config.Limits.Pauses {
		return &holdshort.Error{Code: holdshort.LimitReached, Op: "ask " + draft.OriginStepID, Message: "the run asks more people at once than a run may", Hint: "ask fewer at a time, or raise the limit"}
	}
	req, err := c.complete(run, draft)
	if err != nil {
		return err
	}
	run.Open++
	return c.open(run, &req)
}

// sameActions holds a run whose code now asks for something else than what a person is looking at.
func sameActions(open, draft holdshort.Request) error {
	same := len(open.Actions) == len(draft.Actions)
	for i := 0; same && i < len(draft.Actions); i++ {
		same = open.Actions[i].Tool == draft.Actions[i].Tool && open.Actions[i].AskedFor() == draft.Actions[i].AskedFor()
	}
	if same {
		return nil
	}
	return otherCalls(draft.OriginStepID)
}

func otherCalls(step string) error {
	return flow.Hold(holdshort.JournalMismatch, &holdshort.Error{Code: holdshort.JournalMismatch, Op: "ask " + step,
		Message: "the flow now asks for other calls than those that wait for a decision", Hint: "give the changed flow a new version, deploy the old one again, then retry the run"})
}

// complete fills in what every request has. Id, question and fingerprint are written once.
func (c *change) complete(run *holdshort.Run, req holdshort.Request) (holdshort.Request, error) {
	req.ID, req.Version, req.Status, req.Salt, req.CreatedAt = holdshort.NewRequestID(c.now), holdshort.RequestVersion, holdshort.RequestOpen, holdshort.NewSalt(), c.now
	if run != nil {
		req.SessionID, req.RunID, req.TraceID, req.FlowVersion = run.SessionID, run.ID, run.TraceID, run.FlowVersion
		if req.Requester.User == "" {
			req.Requester.User = run.User
			req.Requester.StartedBy = run.StartedBy
		}
	}
	if req.Priority == "" {
		req.Priority = holdshort.PriorityNormal
	}
	if len(req.Question) > c.e.config.Limits.Text {
		return req, &holdshort.Error{Code: holdshort.TooLarge, Field: "question", Message: fmt.Sprintf("the question has more than %d bytes", c.e.config.Limits.Text), Hint: "shorten it"}
	}
	if req.ExpectedInput == holdshort.Form {
		if _, err := schema.Compile(req.Schema); err != nil { // no answer could ever fit
			return req, err
		}
	}
	var err error
	req.Fingerprint, err = req.ComputeFingerprint(c.Tenant())
	return req, err
}

// unasked takes from a request what belongs to its own life, so that another can ask the same.
func unasked(r holdshort.Request) holdshort.Request {
	var never time.Time
	r.Revision, r.Outcome, r.Code, r.Assignee, r.Reasks, r.CancelReason = 0, "", "", "", 0, ""
	r.AskedAt, r.QueueUntil, r.ExpiresAt, r.ClosedAt = never, never, never, never
	return r
}

// pausedKinds are further names under which a pause of some kinds is published.
var pausedKinds = map[holdshort.Kind]string{holdshort.Confirmation: "hitl.confirm.requested", holdshort.Escalation: "hitl.escalation.created"}

// pausedEvents adds the events of a new request that waits for a person.
func (c *change) pausedEvents(run *holdshort.Run, req holdshort.Request, actor string) error {
	if err := c.event("hitl.request.created", run, &req, actor, holdshort.Code(req.Reason), nil); err != nil {
		return err
	}
	if err := c.event("hitl.interrupt.paused", run, &req, actor, holdshort.Code(req.Reason), nil); err != nil {
		return err
	}
	if name, ok := pausedKinds[req.Kind]; ok {
		return c.event(name, run, &req, actor, "", nil)
	}
	return nil
}

// open stores a new request, asks it, and leaves its events.
func (c *change) open(run *holdshort.Run, req *holdshort.Request) error {
	if err := c.ask(run, req); err != nil {
		return err
	}
	if err := c.PutRequest(*req); err != nil {
		return err
	}
	stored := *req
	stored.Revision = 1
	c.e.places.put(c.Tenant(), stored, &stored)
	c.ring(requestTopic(req.ID))
	if err := c.pausedEvents(run, *req, "system:worker"); err != nil {
		return err
	}
	created := append([]any{"kind", req.Kind, "reason", req.Reason, "source", req.Source}, returnField(*req)...)
	c.logRequest("HITL_CREATED", *req, created...)
	return nil
}

// due sets the timer of an open request.
func (c *change) due(req holdshort.Request) error {
	at := req.Due()
	if at.IsZero() {
		return nil
	}
	kind := holdshort.TimerExpiry
	if req.AskedAt.IsZero() {
		kind = holdshort.TimerQueue
	}
	return c.alarm(holdshort.Timer{Kind: kind, Subject: string(req.ID), DueAt: at})
}

// undue drops it.
func (c *change) undue(req holdshort.Request) error {
	if req.Due().IsZero() {
		return nil
	}
	kind := holdshort.TimerExpiry
	if req.AskedAt.IsZero() {
		kind = holdshort.TimerQueue
	}
	return c.DropTimer(kind, string(req.ID), "")
}
