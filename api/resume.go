package api

import (
	"cmp"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

func (s *Server) resumeEndpoints() []endpoint {
	a := about{tag: "resume", summary: "Approve or reject everything that a request asks for, and wait for what the run comes to. Prefer: respond-async answers at once; Accept: text/event-stream streams what the run says meanwhile.", action: policy.Decide, also: []int{202}, once: true, wait: true, errors: []int{409, 410, 422}}
	var list []endpoint
	for _, path := range []string{"/v1/resume/{request_id}", "/tealagents/v1alpha1/resume/{request_id}"} {
		e := stream("POST", path, a, (*call).resume)
		e.out = reflect.TypeFor[Resumed]()
		list = append(list, e)
	}
	return list
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

// resumption is how somebody resumes.
type resumption struct {
	ID     holdshort.RequestID `path:"request_id"`
	Action string              `query:"action"`
	Wait   time.Duration       `query:"wait"`
	Body   struct {
		Action string `json:"action,omitempty"`
	} `body:""`
}

// verb is what was said, in the body, the query, or both.
func (in resumption) verb() (holdshort.Verb, error) {
	if in.Action != "" && in.Body.Action != "" && in.Action != in.Body.Action {
		return "", bad("action", "the body and the query say different things", "say it once")
	}
	verb := holdshort.Verb(cmp.Or(in.Body.Action, in.Action))
	if verb != holdshort.Approve && verb != holdshort.Reject { // whatever else it says, it is not an approval
		return "", bad("action", "it is neither approve nor reject", `send {"action":"approve"} or {"action":"reject"}`)
	}
	return verb, nil
}

func (c *call) resume(in resumption) error {
	verb, err := in.verb()
	if err != nil {
		return err
	}
	if err := waiting(in.Wait); err != nil {
		return err
	}
	run, err := c.mayResume(in.ID)
	if err != nil {
		return err
	}
	how, err := c.manner(run.Agent, in.Wait)
	if err != nil {
		return err
	}
	if !c.r.URL.Query().Has("wait") && c.w.Header().Get("Preference-Applied") == "" {
		how.wait = longestWait
	}
	streams := strings.Contains(c.r.Header.Get("Accept"), "text/event-stream")
	var pieces <-chan engine.Delta
	if streams && run.ID != "" { // from before the decision: what it sets free may speak at once
		heard, stop := c.engine.Listen(c.who.Tenant, "", run.ID)
		defer stop()
		pieces = heard
	}
	ctx, err := c.once(http.StatusOK, string(in.ID))
	if err != nil {
		return err
	}
	out, err := c.engine.Decide(ctx, c.who.Tenant, engine.DecideInput{Request: in.ID, Action: verb, Actor: c.who.Actor, Channel: "resume", CancelOnReject: true})
	d, err := c.decided(in.ID, out, err)
	if err != nil {
		return err
	}
	if streams {
		return c.streamResumed(d, verb, how, pieces)
	}
	answer, err := c.resumed(d, verb, how)
	if err != nil {
		return err
	}
	return c.answer(answer)
}

// mayResume refuses whoever knows a request's id and neither started its run nor was asked: they learn nothing but that it is not theirs.
// The id is as hard to guess as a key, and whoever holds it is to be told why they cannot go on.
func (c *call) mayResume(id holdshort.RequestID) (run holdshort.Run, err error) {
	v, err := c.engine.RequestFor(c.ctx, c.who.Tenant, id, c.who.Actor)
	if err == nil && v.Request.RunID != "" {
		return c.engine.RunByID(c.ctx, c.who.Tenant, v.Request.RunID)
	}
	if holdshort.CodeOf(err) != holdshort.NotFound {
		return run, err
	}
	if _, err := c.engine.RequestByID(c.ctx, c.who.Tenant, id); err != nil {
		return run, err
	}
	c.engine.Denied(c.ctx, c.who.Tenant, c.who.Actor, "hitl.request.decide")
	return run, &holdshort.Error{Code: holdshort.Forbidden, Op: "resume " + string(id), Message: "somebody else started this, and you were not asked", Hint: "resume it as the user who started it, or as somebody whom the request asks"}
}

func (c *call) resumed(d Decided, verb holdshort.Verb, how manner) (Resumed, error) {
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
	if d.Request.Status != holdshort.RequestOpen {
		if run, err = c.await(run, how); err != nil {
			return out, err
		}
	}
	if !how.enough(run) {
		c.status = http.StatusAccepted
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
	case run.Held != nil:
		out.Status, out.Message = "Paused", "the task is held: "+string(run.Held.Code)+"; an operator retries or cancels it"
	case engine.Resting(run):
		out.Message = "the task waits"
	default:
		out.Message = "the task goes on"
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
