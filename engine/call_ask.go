package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// askAgain raises one request for all calls that can no longer run on what was decided.
func (s *slice) askAgain(ctx context.Context, key string, calls []*call) error {
	calls = slices.DeleteFunc(slices.Clone(calls), func(c *call) bool { return c.again == nil })
	if len(calls) == 0 {
		return nil
	}
	if err := s.mayPause(key); err != nil {
		return err
	}
	for _, c := range calls {
		c.verdict = *c.again
	}
	return s.Ask(ctx, key, *s.draft(key, calls, calls[0].verdict, func(*call) bool { return true }))
}

// awaits marks the calls that an open request asks about: whatever the policy says meanwhile, they wait for the decision. While a batch waits
// for its first one nothing of it runs. The request must be about what the flow asks for now.
func awaits(calls []*call, open *holdshort.Request) error {
	if open == nil {
		return nil
	}
	first := !slices.ContainsFunc(calls, func(c *call) bool { return c.approval != nil })
	for _, a := range open.Actions {
		i := slices.IndexFunc(calls, func(c *call) bool { return c.ID == a.CallID })
		if i < 0 || calls[i].Tool != a.Tool || holdshort.ArgsHash(calls[i].Args) != a.AskedFor() {
			return otherCalls(open.OriginStepID)
		}
		calls[i].waits = calls[i].entry == nil && (a.NeedsApproval || calls[i].prior == nil)
	}
	for _, c := range calls {
		c.waits = c.entry == nil && (c.waits || first && c.prior == nil)
		if first && actionOf(*open, c.ID) == nil {
			return otherCalls(open.OriginStepID)
		}
	}
	return nil
}

// settled: nothing more is to be asked about the call before it is carried out.
func (c *call) settled() bool {
	if c.entry != nil || c.verdict.Decision == policy.Deny && c.prior == nil {
		return true
	}
	if c.prior != nil {
		return c.prior.Status != holdshort.OperationFailed || c.freshlyApproved() || c.retried && c.prior.RequestID == "" && c.verdict.Decision == policy.Allow
	}
	return c.approval != nil || c.verdict.Decision == policy.Allow
}

// freshlyApproved: what failed is tried again only under a decision that is not the one which was used for it.
func (c *call) freshlyApproved() bool {
	return c.decided != nil && c.approval.Request != c.prior.RequestID // it is the newest
}

// needsPerson gives the request that has to be decided first: one for all calls of the batch.
func (s *slice) needsPerson(key string, calls []*call) *holdshort.Request {
	var asks *call
	for _, c := range calls {
		if !c.waits && !c.settled() && c.fits() == nil && asks == nil {
			asks = c
		}
	}
	if asks == nil {
		return nil
	}
	return s.draft(key, calls, asks.verdict, func(c *call) bool { return !c.waits && !c.settled() && c.fits() == nil })
}

// draft asks about a batch. The verdict is that of the call which asks for the most.
func (s *slice) draft(key string, calls []*call, v policy.Verdict, asks func(*call) bool) *holdshort.Request {
	r := &holdshort.Request{Kind: holdshort.Approval, Source: "agent", PolicySource: "tool_policy", OriginStepID: key, ReturnTo: holdshort.ReturnTo{Node: "tool_call", Mode: "execute"},
		ExpectedInput: holdshort.YesNo, Options: []holdshort.Option{{ID: "approve", Label: "Approve"}, {ID: "reject", Label: "Reject"}},
		Allowed: []holdshort.Verb{holdshort.Approve, holdshort.Edit, holdshort.Reject, holdshort.Respond}}
	words := map[string]string{}
	for _, c := range calls {
		a := holdshort.Action{CallID: c.ID, Tool: c.Tool, Args: c.Args, ArgsHash: holdshort.ArgsHash(c.Args), SchemaHash: c.tool.SchemaHash(), Effect: string(c.tool.Effect), Reversible: string(c.tool.Declared()), NeedsApproval: asks(c)}
		if len(c.ran) > 0 {
			a.Args, a.ArgsHash, a.AskedHash = c.ran, holdshort.ArgsHash(c.ran), a.ArgsHash
		}
		if c.prior != nil { // the same operation again: the same arguments
			r.Allowed = []holdshort.Verb{holdshort.Approve, holdshort.Reject, holdshort.Respond}
		}
		a.Refused = !a.NeedsApproval && c.entry == nil && c.prior == nil && (c.verdict.Decision == policy.Deny || c.fits() != nil)
		if a.NeedsApproval {
			a.Editable, a.Redacted, a.Blind = c.verdict.Editable, c.verdict.Redacted, c.verdict.Blind
			v, words[c.ID] = moreOf(v, c.verdict), c.verdict.Question
		}
		r.Actions = append(r.Actions, a)
	}
	r.Reason, r.Rule, r.PolicyVersion, r.Audience, r.ValidFor, r.Undo, r.OnTimeout, r.OnReject, r.Priority = v.Reason, v.Rule, v.Version, v.Audience, v.ValidFor, v.Undo, v.OnTimeout, v.OnReject, v.Priority
	r.Prompt = v.Audience.Owner // whoever is asked about in a chat answers there
	if v.ExpiresIn != policy.Never {
		r.ExpiresIn = v.ExpiresIn
	}
	r.Question = template(r.Actions, words)
	return r
}

// moreOf gives the stricter of two verdicts: more people, and the shorter times of both.
func moreOf(a, b policy.Verdict) policy.Verdict {
	valid, expires := min(a.ValidFor, b.ValidFor), a.ExpiresIn
	if expires == policy.Never || b.ExpiresIn != policy.Never && b.ExpiresIn < expires {
		expires = b.ExpiresIn
	}
	a.ValidFor, a.ExpiresIn, b.ValidFor, b.ExpiresIn = valid, expires, valid, expires
	if a.Undo < 0 || b.Undo < 0 { // what one rule sends at once is not kept back by another
		a.Undo, b.Undo = policy.NoUndo, policy.NoUndo
	}
	if a.OnTimeout == holdshort.TimeoutApprove && b.OnTimeout != holdshort.TimeoutApprove {
		a.OnTimeout = b.OnTimeout // the clock approves only what every rule lets it
	}
	if b.OnTimeout == holdshort.TimeoutApprove {
		b.OnTimeout = a.OnTimeout
	}
	if b.Audience.Needed() > a.Audience.Needed() || b.Audience.Needed() == a.Audience.Needed() && b.Audience.Separate && !a.Audience.Separate {
		return b
	}
	return a
}

// template asks about calls: in the words of their rules, else in plain ones. A question about several names every one of them.
func template(actions []holdshort.Action, words map[string]string) string {
	var lines []string
	ruled := ""
	for _, a := range actions {
		if a.NeedsApproval {
			ruled = words[a.CallID]
			lines = append(lines, cmp.Or(ruled, fmt.Sprintf("%s %s", a.Tool, clipTo(string(holdshort.Redact(a.Args, a.Redacted)), 300))))
		}
	}
	if len(lines) == 1 {
		return cmp.Or(ruled, "Run "+lines[0]+"?")
	}
	return fmt.Sprintf("Run these %d calls?\n%s", len(lines), strings.Join(lines, "\n"))
}
