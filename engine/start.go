package engine

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// StartInput says what to run.
type StartInput struct {
	ID      holdshort.RunID // default: a new one; the same id again gives the run that has it
	Flow    string
	Version int // default: the newest that this node has
	Session holdshort.SessionID
	Parent  holdshort.RunID
	Agent   string
	User    string // on whose behalf
	Trace   string // default: a new one
	// TraceParent is the W3C trace context under which it starts. Default: none.
	TraceParent string
	Input       json.RawMessage
	Actor       holdshort.Actor // default: the user
}

// Start begins a run and returns when it is stored. The first commit is kept back for a moment (Config.Grace), so that a run that soon
// pauses is stored together with its pause.
func (e *Engine) Start(ctx context.Context, tenant holdshort.TenantID, in StartInput) (holdshort.Run, error) {
	run, err := e.newRun(tenant, in)
	if err != nil {
		return run, err
	}
	key, leave, err := e.startOnce(ctx, tenant)
	if err != nil {
		return holdshort.Run{}, err
	}
	defer leave()
	if in.ID != "" {
		if stands, err := e.RunByID(ctx, tenant, in.ID); err == nil {
			return sameStart(stands, run)
		} else if holdshort.CodeOf(err) != holdshort.NotFound {
			return run, err
		}
	}
	if s := e.slot(); s != nil {
		if f, ok := e.flowFor(run); ok && s.reserve(f, tenant) {
			return e.startHere(ctx, tenant, run, s, key)
		}
		s.free()
	}
	err = e.update(key.into(ctx), tenant, func(c *change) error {
		run.CreatedAt, run.UpdatedAt = c.now, c.now
		c.ring(topicRuns)
		if err := c.activate(&run); err != nil {
			return err
		}
		if err := c.PutRun(&run); err != nil {
			return err
		}
		return c.event("run.created", &run, nil, starter(run), "", nil)
	}, store.RunRow(run.ID))
	if holdshort.CodeOf(err) == holdshort.Duplicate {
		return e.startedBy(ctx, tenant, run)
	}
	return run, err
}

// startedBy gives the run that somebody else started under the same id at the same moment.
func (e *Engine) startedBy(ctx context.Context, tenant holdshort.TenantID, asked holdshort.Run) (holdshort.Run, error) {
	stands, err := e.RunByID(ctx, tenant, asked.ID)
	if err != nil {
		return holdshort.Run{}, err
	}
	return sameStart(stands, asked)
}

func (e *Engine) newRun(tenant holdshort.TenantID, in StartInput) (holdshort.Run, error) {
	now := time.Now()
	if err := e.byAgent("start run", &in.Agent, &in.Flow); err != nil {
		return holdshort.Run{}, err
	}
	run := holdshort.Run{ID: in.ID, Status: holdshort.RunQueued, SessionID: in.Session, ParentID: in.Parent, TraceID: in.Trace, TraceParent: in.TraceParent, Flow: in.Flow, FlowVersion: in.Version,
		Agent: in.Agent, User: in.User, Input: in.Input, Attempt: 1}
	if run.User == "" {
		run.User = in.Actor.ID
	}
	if in.Actor.ID != run.User {
		run.StartedBy = in.Actor.ID
	}
	if run.ID == "" {
		run.ID = holdshort.NewRunID(now)
	}
	if run.TraceID == "" {
		run.TraceID = string(run.ID)
	}
	if run.FlowVersion == 0 {
		run.FlowVersion = e.latest[in.Flow]
	}
	if run.FlowVersion == 0 {
		return run, &holdshort.Error{Code: holdshort.FlowUnknown, Op: "start run", Field: "flow", Message: "this node has no flow " + clip(in.Flow), Hint: "check the name, or register the flow"}
	}
	if !validRunID(run.ID) {
		return run, &holdshort.Error{Code: holdshort.Invalid, Op: "start run", Field: "id", Message: "a run's id is run_ and up to 60 letters, digits, dashes and underscores", Hint: "leave it out to get one"}
	}
	if len(in.Input) > 0 && !json.Valid(in.Input) {
		return run, &holdshort.Error{Code: holdshort.Invalid, Op: "start run", Field: "input", Message: "the input is not JSON", Hint: "send a JSON value"}
	}
	return run, nil
}

// byAgent puts an agent and its flow together where one of them is named. Rules about an agent hold however its run was started, and nobody
// lends its name to another flow.
func (e *Engine) byAgent(op string, agent, name *string) error {
	if of, is := e.agents[*name]; is && *agent == "" {
		*agent = of
	}
	if *agent == "" {
		return nil
	}
	own, known := e.config.Agents[*agent]
	_, taken := e.agents[*name]
	switch {
	case *name == "" && !known:
		return &holdshort.Error{Code: holdshort.AgentUnknown, Op: op, Field: "agent", Message: "this node has no agent " + clip(*agent), Hint: "check the name, or declare the agent"}
	case *name == "":
		*name = own
	case known && own != *name, taken && e.agents[*name] != *agent:
		return &holdshort.Error{Code: holdshort.Invalid, Op: op, Field: "agent", Message: "the flow " + clip(*name) + " is not that of the agent " + clip(*agent), Hint: "name one of them"}
	}
	return nil
}

// validRunID keeps out what parts the names of operations and journal keys.
func validRunID(id holdshort.RunID) bool {
	rest, ok := strings.CutPrefix(string(id), "run_")
	return ok && rest != "" && len(rest) <= 60 && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}

func sameStart(stands, asked holdshort.Run) (holdshort.Run, error) {
	if stands.Flow != asked.Flow || string(stands.Input) != string(asked.Input) || stands.User != asked.User || stands.SessionID != asked.SessionID || stands.Agent != asked.Agent {
		return holdshort.Run{}, &holdshort.Error{Code: holdshort.Duplicate, Op: "start run " + string(stands.ID), Message: "the id belongs to another run", Hint: "take a new id, or none"}
	}
	return stands, nil
}

// startHere executes a run that is not stored yet.
func (e *Engine) startHere(ctx context.Context, tenant holdshort.TenantID, run holdshort.Run, slot *slot, key *OnceKey) (holdshort.Run, error) {
	f, _ := e.flowFor(run)
	run, err := run.Apply(holdshort.RunClaim, time.Now())
	if err != nil {
		slot.free()
		return run, err
	}
	run.Lease.Owner = e.owner
	s := e.newSlice(tenant, run, f, slot)
	s.fresh, s.key = true, key
	e.execute(s)
	select {
	case <-s.first:
	case <-ctx.Done():
		return run, ctx.Err()
	}
	if holdshort.CodeOf(s.err) == holdshort.Duplicate {
		return e.startedBy(ctx, tenant, run)
	}
	return s.snapshot(), s.err
}
