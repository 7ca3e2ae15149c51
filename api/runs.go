package api

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

func (s *Server) runEndpoints() []endpoint {
	read := stream("GET", "/v1/runs/{id}", about{tag: "runs", summary: "One run. With wait, when it has ended or waits for somebody; 202 while it is under way. view=execution_state: where its agent stands.", action: policy.View, also: []int{202}, wait: true, errors: []int{409}}, (*call).readRun)
	read.out, read.or = reflect.TypeFor[Run](), reflect.TypeFor[agent.State]()
	return []endpoint{
		route("POST", "/v1/runs", about{tag: "runs", summary: "Start a run without a chat message. With wait, when it has ended or waits for somebody; 202 while it is under way. A blocking agent's is waited for through pauses, a minute if wait is left out.", action: policy.Start, status: 201, also: []int{200, 202}, once: true, wait: true, errors: []int{409, 413, 422}}, (*call).startRun),
		route("GET", "/v1/runs", about{tag: "runs", summary: "Runs that the caller may see, newest first.", action: policy.View}, (*call).listRuns),
		read,
		route("GET", "/v1/runs/{id}/journal", about{tag: "runs", summary: "What it recorded, step by step.", action: policy.View, errors: []int{409}}, (*call).readJournal),
		route("GET", "/v1/runs/{id}/operations", about{tag: "runs", summary: "What it did to the world: the ledger.", action: policy.View}, (*call).readOperations),
		route("GET", "/v1/runs/{id}/why", about{tag: "runs", summary: "Why it stands where it stands.", action: policy.View}, (*call).readWhy),
		route("POST", "/v1/runs/{id}/cancel", about{tag: "runs", summary: "Call a run off.", action: policy.CancelRun, once: true, errors: []int{409, 422}}, (*call).cancelRun),
		route("POST", "/v1/runs/{id}/retry", about{tag: "runs", summary: "Let a failed or held run go on.", action: policy.RetryRun, once: true, errors: []int{409, 422}}, (*call).retryRun),
	}
}

// Begin says what to run.
type Begin struct {
	SessionID holdshort.SessionID `json:"session_id,omitempty"`
	Agent     string              `json:"agent,omitempty"`
	Flow      string              `json:"flow,omitempty"`
	Input     json.RawMessage     `json:"input,omitempty"`
	TraceID   string              `json:"trace_id,omitempty"`
}

func (c *call) startRun(in struct {
	Wait time.Duration `query:"wait"`
	Body Begin         `body:""`
}) (*Run, error) {
	b := in.Body
	if b.Flow == "" && b.Agent == "" {
		return nil, bad("flow", "it says what to run", "name an agent or a flow that this server has")
	}
	var err error
	if b.Agent, err = c.agentOf(b.Agent, b.Flow); err != nil {
		return nil, err
	}
	how, err := c.manner(b.Agent, in.Wait)
	if err != nil {
		return nil, err
	}
	if len(b.TraceID) > 200 {
		return nil, bad("trace_id", "it is over 200 bytes", "shorten it")
	}
	id := holdshort.NewRunID(time.Now())
	ctx, err := c.once(http.StatusCreated, string(id))
	if err != nil {
		return nil, err
	}
	if b.SessionID != "" { // whoever may not see a session starts nothing in it
		if _, err := c.engine.SessionFor(c.ctx, c.who.Tenant, b.SessionID, c.who.Actor); err != nil {
			return nil, err
		}
	}
	run, err := c.engine.Start(ctx, c.who.Tenant, engine.StartInput{ID: id, Flow: b.Flow, Agent: b.Agent, Session: b.SessionID, Input: b.Input, Trace: b.TraceID,
		User: c.who.Actor.Who(), Actor: c.who.Actor, TraceParent: c.traceParent()})
	before, again := c.replayed(err)
	if again {
		run, err = c.engine.RunFor(c.ctx, c.who.Tenant, holdshort.RunID(before), c.who.Actor)
	}
	if err != nil {
		return nil, err
	}
	if how.wait > 0 {
		if run, err = c.await(run, how); err != nil {
			return nil, err
		}
		if !c.engine.Visible(c.who.Actor, nil, &run) { // rights may be taken away while somebody waits
			return nil, c.deny(policy.View)
		}
		if !how.enough(run) && !again {
			c.status = http.StatusAccepted
		}
	}
	return c.paused(run)
}

// await waits for a run in the manner of the call. What it gives is for who the caller is then.
func (c *call) await(run holdshort.Run, how manner) (holdshort.Run, error) {
	if how.enough(run) || how.wait <= 0 {
		return run, nil
	}
	if err := c.hold(how.wait, func(ctx context.Context) error {
		_, err := c.engine.AwaitRun(ctx, c.who.Tenant, run.ID, how.enough)
		return err
	}); err != nil {
		return run, err
	}
	return c.engine.RunByID(c.ctx, c.who.Tenant, run.ID)
}

// paused shows one run with the request that it waits for, if the caller may see that.
func (c *call) paused(run holdshort.Run) (*Run, error) {
	out := c.run(run)
	if run.Status != holdshort.RunWaiting || len(out.OpenRequests) == 0 {
		return out, nil
	}
	req, err := c.awaited(engine.Received{}, run)
	if req != nil {
		out.Request, out.Hitl = req, c.hitl(*req)
	}
	return out, err
}

// run shows a run with what it waits for.
func (c *call) run(run holdshort.Run) *Run {
	out := &Run{Run: run, OpenRequests: []holdshort.RequestID{}}
	if run.Status.Ended() || run.Open == 0 {
		return out
	}
	if ids, err := c.engine.OpenRequests(c.ctx, c.who.Tenant, run); err == nil {
		out.OpenRequests = append(out.OpenRequests, ids...)
	}
	return out
}

type runQuery struct {
	Status  holdshort.RunStatus `query:"status"`
	Session holdshort.SessionID `query:"session"`
	Agent   string              `query:"agent"`
	Flow    string              `query:"flow"`
	Held    bool                `query:"held"`
	Limit   int                 `query:"limit"`
	Cursor  string              `query:"cursor"`
}

func (c *call) listRuns(in runQuery) (Page[*Run], error) {
	paging, err := c.paging(in.Limit, in.Cursor)
	if err != nil {
		return Page[*Run]{}, err
	}
	found, err := c.engine.RunsFor(c.ctx, c.who.Tenant, engine.RunQuery{Status: in.Status, Session: in.Session, Agent: in.Agent, Flow: in.Flow, Held: in.Held, Limit: paging.Limit, Cursor: paging.Cursor}, c.who.Actor)
	return page(found.Items, found.Next, c.run), err
}

type onRun struct {
	ID holdshort.RunID `path:"id"`
}

func (c *call) readRun(in struct {
	ID   holdshort.RunID `path:"id"`
	Wait time.Duration   `query:"wait"`
	View string          `query:"view"`
}) error {
	if err := waiting(in.Wait); err != nil {
		return err
	}
	if in.View != "" && in.View != executionView {
		return bad("view", "there is no such view", "write "+executionView+", or leave it out")
	}
	run, err := reading(in.Wait > 0, func() (holdshort.Run, error) { return c.engine.RunFor(c.ctx, c.who.Tenant, in.ID, c.who.Actor) })
	if err != nil {
		return err
	}
	if in.Wait > 0 && !engine.Resting(run) {
		if err := c.hold(in.Wait, func(ctx context.Context) (err error) {
			run, err = c.engine.AwaitRun(ctx, c.who.Tenant, in.ID, engine.Resting)
			return err
		}); err != nil {
			return err
		}
		if run.ID == "" || !c.engine.Visible(c.who.Actor, nil, &run) { // it may have been taken away meanwhile
			if run, err = c.engine.RunFor(c.ctx, c.who.Tenant, in.ID, c.who.Actor); err != nil {
				return err
			}
		}
	}
	if in.Wait > 0 && !engine.Resting(run) {
		c.status = http.StatusAccepted
	}
	if in.View == executionView {
		state, err := c.executionState(run)
		if err != nil {
			return err
		}
		return c.answer(state)
	}
	shown, err := c.paused(run)
	if err != nil {
		return err
	}
	return c.answer(shown)
}

func (c *call) readJournal(in onRun) (Page[holdshort.JournalEntry], error) {
	list, err := c.engine.JournalFor(c.ctx, c.who.Tenant, in.ID, c.who.Actor)
	return page(list, "", func(e holdshort.JournalEntry) holdshort.JournalEntry { return e }), err
}

func (c *call) readOperations(in onRun) (Page[holdshort.Operation], error) {
	if _, err := c.engine.RunFor(c.ctx, c.who.Tenant, in.ID, c.who.Actor); err != nil {
		return Page[holdshort.Operation]{}, err
	}
	list, err := c.engine.Operations(c.ctx, c.who.Tenant, in.ID)
	return page(list, "", func(o holdshort.Operation) holdshort.Operation { return o }), err
}

func (c *call) readWhy(in onRun) (engine.Why, error) {
	if _, err := c.engine.RunFor(c.ctx, c.who.Tenant, in.ID, c.who.Actor); err != nil {
		return engine.Why{}, err
	}
	return c.engine.Why(c.ctx, c.who.Tenant, in.ID)
}

func (c *call) cancelRun(in struct {
	ID   holdshort.RunID `path:"id"`
	Body struct {
		Reason string `json:"reason,omitempty"`
	} `body:""`
}) (*Run, error) {
	return c.change(in.ID, func(ctx context.Context) (holdshort.Run, error) {
		return c.engine.Cancel(ctx, c.who.Tenant, in.ID, c.who.Actor, in.Body.Reason)
	})
}

func (c *call) retryRun(in onRun) (*Run, error) {
	return c.change(in.ID, func(ctx context.Context) (holdshort.Run, error) {
		return c.engine.Retry(ctx, c.who.Tenant, in.ID, c.who.Actor)
	})
}

func (c *call) change(id holdshort.RunID, do func(context.Context) (holdshort.Run, error)) (*Run, error) {
	ctx, err := c.once(http.StatusOK, string(id))
	if err != nil {
		return nil, err
	}
	run, err := do(ctx)
	if _, again := c.replayed(err); again {
		run, err = c.engine.RunFor(c.ctx, c.who.Tenant, id, c.who.Actor)
	}
	if err != nil {
		return nil, err
	}
	return c.run(run), nil
}

// traceParent is the W3C trace context that the caller sent, for the spans of the run.
func (c *call) traceParent() string {
	if t := c.r.Header.Get("Traceparent"); len(t) <= 128 {
		return t
	}
	return ""
}
