package engine

import (
	"slices"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// standingDecision loads the decision of a resolved request and checks that it is ours, unchanged, and about exactly this request: what is in
// the database is not believed because it is there.
func (c *change) standingDecision(req holdshort.Request) (holdshort.Decision, error) {
	d, err := c.Decision(req.ID)
	if holdshort.CodeOf(err) == holdshort.NotFound {
		return d, forgedClaim(req, "the request is resolved by a decision that nobody made")
	}
	if err != nil {
		return d, err
	}
	if err := c.e.keyring.VerifyDecision(c.Tenant(), d); err != nil {
		return d, err
	}
	fingerprint, err := req.ComputeFingerprint(c.Tenant())
	if err != nil {
		return d, err
	}
	if fingerprint != req.Fingerprint || d.Fingerprint != req.Fingerprint || d.RequestID != req.ID {
		return d, forgedClaim(req, "the decision is about something else than the request")
	}
	return d, nil
}

func forgedClaim(req holdshort.Request, message string) error {
	return wrongClaim(req, holdshort.MACInvalid, message, "nothing is handed out; look into the database's access log and raise it again")
}

// claimable gives the calls of a request that were approved, with the arguments that its decision is signed for.
func (c *change) claimable(req holdshort.Request) (d holdshort.Decision, calls []handed, err error) {
	switch req.StatusAt(c.now) {
	case holdshort.RequestOpen:
		return d, nil, wrongClaim(req, holdshort.WrongState, "it waits for a decision", "claim it when it is approved; GET with wait tells when")
	case holdshort.RequestExpired:
		return d, nil, wrongClaim(req, holdshort.Expired, "nobody decided in time", "raise it again")
	case holdshort.RequestCanceled:
		return d, nil, wrongClaim(req, holdshort.Closed, "the request was canceled", "nothing is to be done")
	}
	if d, err = c.standingDecision(req); err != nil {
		return d, nil, err
	}
	switch {
	case d.Action == holdshort.Reject || req.Outcome == holdshort.Rejected:
		return d, nil, wrongClaim(req, holdshort.Denied, "it was rejected", "do not do it; tell who asked for it why")
	case req.Outcome != holdshort.Approved && req.Outcome != holdshort.Edited || len(req.Actions) == 0:
		return d, nil, wrongClaim(req, holdshort.DoesNotFit, "nothing of it is to be run", "read its decision: the answer is there")
	}
	for i, a := range req.Actions {
		if holdshort.ArgsHash(a.Args) != a.ArgsHash {
			return d, nil, forgedClaim(req, "the arguments are not those of their hash")
		}
		h := handed{index: i, action: a, args: a.Args}
		j := slices.IndexFunc(d.Calls, func(cd holdshort.CallDecision) bool { return cd.CallID == a.CallID })
		switch {
		case j < 0 && a.NeedsApproval:
			return d, nil, forgedClaim(req, "a call that needs a decision has none")
		case j >= 0:
			h.decided = &d.Calls[j]
			if h.decided.Action == holdshort.Edit {
				h.args = h.decided.Args
			} else if h.decided.Action != holdshort.Approve {
				continue
			}
			if holdshort.ArgsHash(h.args) != h.decided.ArgsHash {
				return d, nil, forgedClaim(req, "the arguments are not those of the decision")
			}
		}
		calls = append(calls, h)
	}
	if len(calls) == 0 {
		return d, nil, wrongClaim(req, holdshort.Denied, "no call of it was approved", "do not do it")
	}
	return d, calls, nil
}

// stillApproved holds an approval against the time that it is good for and against what the policy says now: only what is stricter than what
// the decision met matters. It gives the verdict on each call.
func (c *change) stillApproved(req holdshort.Request, d holdshort.Decision, calls []handed) ([]policy.Verdict, error) {
	if next, err := successor(c, req.ID); err != nil {
		return nil, err
	} else if next != "" {
		return nil, wrongClaim(req, holdshort.WrongState, "the edited form needs other or more people and was asked again", "claim "+string(next)+" in its place")
	}
	if c.now.After(d.At.Add(req.ValidFor)) {
		return nil, wrongClaim(req, holdshort.Expired, "the approval was good for "+req.ValidFor.String(), "raise it again")
	}
	verdicts := make([]policy.Verdict, len(calls))
	for i, h := range calls {
		t, known := c.e.tools[h.action.Tool]
		if known && h.action.SchemaHash != "" && t.SchemaHash() != h.action.SchemaHash {
			return nil, wrongClaim(req, holdshort.WrongState, "the arguments of "+clip(h.action.Tool)+" have another form now than when it was approved", "raise it again")
		}
		v := c.judgeGate(req, h.action.Tool, h.args)
		if v.Decision == policy.Deny {
			return nil, wrongClaim(req, holdshort.Denied, "the policy no longer allows "+clip(h.action.Tool)+" ("+clip(v.Rule)+")", "do not do it")
		}
		met, err := c.metGate(v, req, d, h)
		if err != nil {
			return nil, err
		}
		if !met {
			return nil, wrongClaim(req, holdshort.WrongState, "the policy wants other or more people to approve "+clip(h.action.Tool)+" now ("+clip(v.Rule)+")", "raise it again")
		}
		verdicts[i] = v
	}
	return verdicts, nil
}

// metGate reports whether those who approved a call are enough for what the policy says now. What nobody had to approve needs the policy's
// leave still.
func (c *change) metGate(v policy.Verdict, req holdshort.Request, d holdshort.Decision, h handed) (bool, error) {
	if h.decided == nil {
		return v.Decision == policy.Allow, nil
	}
	return c.met(v, req, d, nil)
}
