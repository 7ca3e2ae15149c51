package engine

import (
	"slices"
	"time"

	"github.com/holdshort/holdshort"
)

var zero time.Time

// gather adds an approval to those that a quorum needs. more: the request stays open. Any veto resolves at once, so only approvals gather.
func (c *change) gather(req holdshort.Request, run *holdshort.Run, d holdshort.Decision, out *Decided) (more bool, err error) {
	if req.Audience.Needed() <= 1 || d.Action == holdshort.Reject || d.Action == holdshort.Cancel || len(req.Actions) == 0 && d.Action != holdshort.Approve {
		return false, nil
	}
	if d.Action != holdshort.Approve || slices.ContainsFunc(d.Calls, func(call holdshort.CallDecision) bool { return call.Action != holdshort.Approve }) {
		return false, &holdshort.Error{Code: holdshort.DoesNotFit, Field: "calls", Message: "where several people must approve, the whole is approved or rejected",
			Hint: "approve all calls, reject the whole, or edit it"}
	}
	votes, err := c.Votes(req.ID)
	if err != nil {
		return false, err
	}
	out.Votes = votes
	approvers := []holdshort.Actor{d.Actor}
	for _, v := range votes {
		if v.Actor.Same(d.Actor) {
			return false, &holdshort.Error{Code: holdshort.AlreadyVoted, Op: "decide " + string(req.ID), Message: clip(d.Actor.ID) + " has approved this already", Hint: "somebody else has to"}
		}
		// Whoever wrote the vote, it counts only if it is signed, about this, and by somebody who may.
		err := c.e.keyring.VerifyVote(c.Tenant(), v)
		if err == nil && v.Fingerprint == req.Fingerprint && v.Action == holdshort.Approve && req.Audience.Includes(v.Actor, ownerOf(req, run)) &&
			!req.Audience.Excludes(v.Actor, req.Requester) {
			approvers = append(approvers, v.Actor)
		}
	}
	if holdshort.Distinct(approvers) >= req.Audience.Needed() {
		return false, nil
	}
	if err := c.vote(req, run, d); err != nil {
		return false, err
	}
	out.Votes = append(out.Votes, d)
	c.ring(requestTopic(req.ID))
	return true, nil
}

// vote stores one signed approval.
func (c *change) vote(req holdshort.Request, run *holdshort.Run, v holdshort.Vote) error {
	v, err := c.sign(v, c.e.keyring.SignVote)
	if err != nil {
		return err
	}
	if err := c.AddVote(v); err != nil {
		return err
	}
	return c.event("hitl.request.voted", run, &req, v.Actor.ID, "", map[string]string{"vote": string(v.ID)})
}
