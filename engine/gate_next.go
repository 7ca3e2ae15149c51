package engine

import (
	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

// spend uses up the approval of an edit that is asked about again: what can be claimed is the request in its place.
func (c *change) spend(req holdshort.Request, d holdshort.Decision, next holdshort.RequestID) error {
	for _, a := range req.Actions {
		if err := c.UseDecision(d.ID, a.CallID, string(next)); err != nil {
			return err
		}
	}
	return c.follow(d.RequestID, next)
}

// timeoutGate is what on_timeout says of a request that no run waits for. Those who look after the system are asked where it says escalate;
// in every other case its raiser reads that it expired.
func (c *change) timeoutGate(req holdshort.Request) error {
	if req.OnTimeout != holdshort.TimeoutEscalate {
		return nil
	}
	draft := req
	draft.Kind, draft.Prompt, draft.Priority, draft.OnTimeout = holdshort.Escalation, false, holdshort.PriorityHigh, holdshort.TimeoutFail
	draft.Audience.Roles, draft.Audience.Users, draft.Audience.Owner = []string{policy.Operator}, nil, false
	draft.ExpiresIn = escalationTime
	draft.Revision, draft.Outcome, draft.AskedAt, draft.QueueUntil, draft.ExpiresAt, draft.ClosedAt, draft.Assignee, draft.Code, draft.Reasks = 0, "", zero, zero, zero, zero, "", "", 0
	next, err := c.complete(nil, draft)
	if err != nil {
		return err
	}
	if next, err = c.openGate(next, "system:timeout"); err != nil {
		return err
	}
	return c.follow(req.ID, next.ID)
}

const nextScope = "next request"

// follow lets whoever knows a request that closed find the one in its place.
func (c *change) follow(id, next holdshort.RequestID) error {
	return c.AddReplay(store.Replay{Scope: nextScope, Key: string(id), BodyHash: "next", Answer: []byte(next), At: c.now})
}

// successor gives the request in the place of one that closed, nothing if there is none.
func successor(tx store.InboundReader, id holdshort.RequestID) (holdshort.RequestID, error) {
	next, err := tx.Replay(nextScope, string(id))
	if holdshort.CodeOf(err) == holdshort.NotFound {
		return "", nil
	}
	return holdshort.RequestID(next.Answer), err
}

// inPlaceOf gives the request that a run asks in the place of one that closed: it was made at that very moment, for the same step.
func inPlaceOf(tx store.ReadTx, req holdshort.Request) (next holdshort.RequestID, err error) {
	if req.Outcome != holdshort.Edited && (req.Status != holdshort.RequestExpired || req.OnTimeout != holdshort.TimeoutEscalate) {
		return "", nil
	}
	err = eachRequest(tx, store.RequestQuery{Run: req.RunID, Order: store.ByNewest}, func(r holdshort.Request) bool {
		if r.ID != req.ID && r.OriginStepID == req.OriginStepID && r.CreatedAt.Equal(req.ClosedAt) {
			next = r.ID
		}
		return next == "" && !r.CreatedAt.Before(req.ClosedAt)
	})
	return next, err
}
