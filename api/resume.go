package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

func (s *Server) resumeEndpoints() []endpoint {
	a := about{tag: "resume", summary: "Approve or reject everything that a request asks for, and wait for what the run comes to. Prefer: respond-async answers at once.", action: policy.Decide, also: []int{202}, once: true, wait: true, errors: []int{409, 410, 422}}
	return []endpoint{
		route("POST", "/v1/resume/{request_id}", a, (*call).resume),
		route("POST", "/tealagents/v1alpha1/resume/{request_id}", a, (*call).resume),
	}
}

// Resumed is what a run came to after it was resumed, or where it is when the wait ended first.
type Resumed struct {
	TaskID    holdshort.RunID     `json:"task_id,omitempty"`
	SessionID holdshort.SessionID `json:"session_id,omitempty"`
	RequestID holdshort.RequestID `json:"request_id"`
	Status    string              `json:"status"` // Running, Paused, Completed, Failed or Canceled
	Message   string              `json:"message"`
	Request   Request             `json:"request"`
	Run       *Run                `json:"run"`
	Hitl      *Hitl               `json:"hitl,omitempty"` // the next pause, if there is one
}

// tealStates are the words that callers of this endpoint know.
var tealStates = map[holdshort.RunStatus]string{holdshort.RunQueued: "Running", holdshort.RunRunning: "Running", holdshort.RunWaiting: "Paused",
	holdshort.RunCompleted: "Completed", holdshort.RunFailed: "Failed", holdshort.RunCanceled: "Canceled"}

const resumeWait = time.Minute

func (c *call) resume(in struct {
	ID     holdshort.RequestID `path:"request_id"`
	Action string              `query:"action"`
	Wait   time.Duration       `query:"wait"`
	Body   struct {
		Action string `json:"action,omitempty"`
	} `body:""`
}) (Resumed, error) {
	if in.Action != "" && in.Body.Action != "" && in.Action != in.Body.Action {
		return Resumed{}, bad("action", "the body and the query say different things", "say it once")
	}
	verb := holdshort.Verb(in.Body.Action + in.Action)
	if in.Action == in.Body.Action {
		verb = holdshort.Verb(in.Action)
	}
	if verb != holdshort.Approve && verb != holdshort.Reject { // whatever else it says, it is not an approval
		return Resumed{}, bad("action", "it is neither approve nor reject", `send {"action":"approve"} or {"action":"reject"}`)
	}
	wait, err := c.patience(in.Wait)
	if err != nil {
		return Resumed{}, err
	}
	if err := c.mayResume(in.ID); err != nil {
		return Resumed{}, err
	}
	ctx, err := c.once(http.StatusOK, string(in.ID))
	if err != nil {
		return Resumed{}, err
	}
	out, err := c.engine.Decide(ctx, c.who.Tenant, engine.DecideInput{Request: in.ID, Action: verb, Actor: c.who.Actor, Channel: "resume", CancelOnReject: true})
	d, err := c.decided(in.ID, out, err)
	if err != nil {
		return Resumed{}, err
	}
	return c.resumed(d, verb, wait)
}

// patience is how long to wait for the final answer.
func (c *call) patience(asked time.Duration) (time.Duration, error) {
	for _, prefer := range c.r.Header.Values("Prefer") {
		for _, p := range strings.Split(prefer, ",") {
			if strings.EqualFold(strings.TrimSpace(p), "respond-async") {
				c.w.Header().Set("Preference-Applied", "respond-async")
				return 0, nil
			}
		}
	}
	if asked == 0 {
		asked = resumeWait
	}
	return asked, waiting(asked)
}

// mayResume refuses whoever knows a request's id and neither started its run nor was asked: they learn nothing but that it is not theirs.
// The id is as hard to guess as a key, and whoever holds it is to be told why they cannot go on.
func (c *call) mayResume(id holdshort.RequestID) error {
	if _, err := c.engine.RequestFor(c.ctx, c.who.Tenant, id, c.who.Actor); holdshort.CodeOf(err) != holdshort.NotFound {
		return err
	}
	if _, err := c.engine.RequestByID(c.ctx, c.who.Tenant, id); err != nil {
		return err
	}
	c.engine.Denied(c.ctx, c.who.Tenant, c.who.Actor, "hitl.request.decide")
	return &holdshort.Error{Code: holdshort.Forbidden, Op: "resume " + string(id), Message: "somebody else started this, and you were not asked", Hint: "resume it as the user who started it, or as somebody whom the request asks"}
}

func (c *call) resumed(d Decided, verb holdshort.Verb, wait time.Duration) (Resumed, error) {
	out := Resumed{RequestID: d.Request.ID, SessionID: d.Request.SessionID, TaskID: d.Request.RunID, Request: d.Request, Status: "Completed", Message: "the request is " + string(d.Request.Outcome)}
	if d.Request.Status == holdshort.RequestOpen {
		out.Status, out.Message, c.status = "Paused", "the vote counts; others have to approve too", http.StatusAccepted
	}
	if d.Request.RunID == "" {
		return out, nil
	}
	run, err := c.engine.RunByID(c.ctx, c.who.Tenant, d.Request.RunID)
	if err != nil {
		return out, err
	}
	if d.Request.Status != holdshort.RequestOpen && wait > 0 && !engine.Resting(run) {
		if err := c.hold(wait, func(ctx context.Context) error {
			_, err := c.engine.AwaitRun(ctx, c.who.Tenant, run.ID, engine.Resting)
			return err
		}); err != nil {
			return out, err
		}
		if run, err = c.engine.RunByID(c.ctx, c.who.Tenant, run.ID); err != nil {
			return out, err
		}
	}
	return c.stands(out, run, verb)
}

// stands describes the run as it is now, to somebody who may only know as much as their rights allow.
func (c *call) stands(out Resumed, run holdshort.Run, verb holdshort.Verb) (Resumed, error) {
	out.Status = tealStates[run.Status]
	switch {
	case run.Status == holdshort.RunCanceled && verb == holdshort.Reject:
		out.Message = "rejected; the task is canceled"
	case run.Status.Ended():
		out.Message = "the task is " + string(run.Status)
	case engine.Resting(run):
		out.Message = "the task waits"
	default:
		out.Message, c.status = "the task goes on", http.StatusAccepted
	}
	if !c.engine.Visible(c.who.Actor, nil, &run) {
		out.Run = &Run{Run: holdshort.Run{ID: run.ID, Status: run.Status, SessionID: run.SessionID, TraceID: run.TraceID, CreatedAt: run.CreatedAt, UpdatedAt: run.UpdatedAt}, OpenRequests: []holdshort.RequestID{}}
		return out, nil
	}
	out.Run = c.run(run)
	next, err := c.awaited(engine.Received{}, run)
	if next != nil {
		out.Hitl = c.hitl(*next)
	}
	return out, err
}
