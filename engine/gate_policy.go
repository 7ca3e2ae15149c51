package engine

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// judgeGate is the policy's verdict on a call of somebody outside. The gate's tools live there, so that this node has none of that name is no
// reason to deny it: it is judged as one that changes things for good, and what the policy has no opinion on asks.
func (c *change) judgeGate(req holdshort.Request, tool string, args json.RawMessage) policy.Verdict {
	return c.e.judgeGate(c.Tenant(), req, tool, args, c.now)
}

func (e *Engine) judgeGate(tenant holdshort.TenantID, req holdshort.Request, tool string, args json.RawMessage, now time.Time) policy.Verdict {
	call := e.judged(tenant, nil, "", tool, args, now)
	call.User, call.Session = req.Requester.User, req.SessionID
	if !call.Known {
		call.Known, call.Effect, call.Reversible = true, "write", "no"
	}
	return policy.Judge(e.hookContext(), e.config.Policy, call)
}

// weigh judges every action, and completes the draft with what the policy says and what the raiser narrows.
func (c *change) weigh(in AskInput, draft *holdshort.Request) (policy.Verdict, error) {
	if len(draft.Actions) == 0 {
		return policy.Verdict{Decision: policy.Ask}, c.question(in, draft)
	}
	var all policy.Verdict
	denied, reserved, words := false, map[string]int64{}, map[string]string{}
	for i := range draft.Actions {
		a := &draft.Actions[i]
		v := c.judgeGate(*draft, a.Tool, a.Args)
		if v.Decision == policy.Allow {
			if err := c.withinLimits(&v, *draft, *a, reserved); err != nil {
				return v, err
			}
		}
		if a.NeedsApproval = v.Decision != policy.Allow; a.NeedsApproval {
			a.Editable, a.Redacted, a.Blind, words[a.CallID] = v.Editable, v.Redacted, v.Blind, v.Question
		}
		switch {
		case denied:
		case v.Decision == policy.Deny:
			all, denied = v, true
		case i == 0 || all.Decision == policy.Allow && v.Decision == policy.Ask:
			all = v
		case all.Decision == policy.Ask && v.Decision == policy.Ask:
			var err error
			if all, err = both(all, v); err != nil {
				return all, err
			}
		}
	}
	if asked := slices.DeleteFunc(slices.Clone(draft.Actions), func(a holdshort.Action) bool { return !a.NeedsApproval }); len(asked) > 1 && all.Question != "" {
		all.Question = template(asked, words)
	}
	return all, c.narrow(in, draft, all)
}

// withinLimits lets what the policy allows ask, or denies it, when it would pass a limit. It is reserved by the claim.
func (c *change) withinLimits(v *policy.Verdict, draft holdshort.Request, a holdshort.Action, reserved map[string]int64) error {
	for _, l := range v.Limits {
		name, n := c.e.gateLimit(l, c.Tenant(), draft, a.Tool, a.Args, c.now)
		used, err := c.Counter(name)
		if err != nil {
			return err
		}
		if reserved[name] += n; reserved[name] <= l.Max-used {
			continue
		}
		v.Decision, v.Reason = policy.Ask, "policy_violation"
		if l.Deny {
			v.Decision = policy.Deny
			return nil
		}
	}
	return nil
}

// gateLimit names what a limit counts, as it does for runs, for a request that no run waits for: what is per run is per request, and what is
// per session, where there is none, per key that raises.
func (e *Engine) gateLimit(l policy.Limit, tenant holdshort.TenantID, req holdshort.Request, tool string, args json.RawMessage, now time.Time) (name string, n int64) {
	if name = l.Name; name == "" {
		name = tool
	}
	name += e.apart(l, tenant, tool, args)
	switch l.Scope {
	case policy.PerSession:
		name = "limit/session/" + cmp.Or(string(req.SessionID), req.Requester.RaisedBy) + "/" + name
	case policy.PerDay:
		name = "limit/day/" + now.UTC().Format("2006-01-02") + "/" + name
	default:
		name = "limit/run/" + string(req.ID) + "/" + name
	}
	if !l.Spend {
		return name + "/calls", 1
	}
	return name + "/spend", costOf(e.tools[tool], args)
}

// reserveGate counts a call that is handed out against the policy's limits. Past one it is refused, unless a person approved it and the policy
// lets people decide there.
func (c *change) reserveGate(v policy.Verdict, req holdshort.Request, h handed) error {
	for _, l := range v.Limits {
		name, n := c.e.gateLimit(l, c.Tenant(), req, h.action.Tool, h.args, c.now)
		used, err := c.Counter(name)
		if err != nil {
			return err
		}
		if n > l.Max-used && (h.decided == nil || l.Deny) {
			return wrongClaim(req, holdshort.LimitReached, "the limit of "+clip(l.Name)+" is reached", "raise it again: it then asks a person, if the policy lets one decide")
		}
		if err := c.AddCounter(name, n); err != nil {
			return err
		}
	}
	return nil
}

// both gives the verdict that satisfies two: whoever decides is of both audiences. A batch that nobody could decide is refused.
func both(a, b policy.Verdict) (policy.Verdict, error) {
	x, y := a.Audience, b.Audience
	meet := holdshort.Audience{Owner: x.Owner && y.Owner, Quorum: max(x.Needed(), y.Needed()), Separate: x.Separate || y.Separate}
	meet.Users = slices.DeleteFunc(slices.Clone(x.Users), func(s string) bool { return !slices.Contains(y.Users, s) })
	meet.Roles = slices.DeleteFunc(slices.Clone(x.Roles), func(s string) bool { return !slices.Contains(y.Roles, s) })
	if nobody(meet) {
		return a, wrongAsk(holdshort.DoesNotFit, "actions", "the calls need different people", "raise one request for each")
	}
	a.Audience = meet
	if a.ExpiresIn == policy.Never || b.ExpiresIn != policy.Never && b.ExpiresIn < a.ExpiresIn {
		a.ExpiresIn = b.ExpiresIn
	}
	a.ValidFor = min(a.ValidFor, b.ValidFor)
	if b.Undo < 0 {
		a.Undo = b.Undo
	}
	if a.OnTimeout == holdshort.TimeoutApprove {
		a.OnTimeout = b.OnTimeout
	}
	if b.Question != a.Question {
		a.Question = "" // neither speaks for the other
	}
	if urgency(b.Priority) > urgency(a.Priority) {
		a.Priority = b.Priority
	}
	return a, nil
}

func urgency(p holdshort.Priority) int {
	return slices.Index([]holdshort.Priority{holdshort.PriorityLow, holdshort.PriorityNormal, holdshort.PriorityHigh, holdshort.PriorityCritical}, p)
}

func nobody(a holdshort.Audience) bool { return !a.Owner && len(a.Users) == 0 && len(a.Roles) == 0 }

// narrow takes from the raiser only what is stricter than the policy.
func (c *change) narrow(in AskInput, draft *holdshort.Request, v policy.Verdict) error {
	audience, err := narrowed(v.Audience, in.Audience)
	if err != nil {
		return err
	}
	expires := v.ExpiresIn
	if in.ExpiresIn != 0 {
		if expires != policy.Never && (in.ExpiresIn == policy.Never || in.ExpiresIn > expires) {
			return wrongAsk(holdshort.Forbidden, "expires_in", "the policy lets it wait for "+expires.String()+" at most", "shorten expires_in, or leave it out")
		}
		expires = in.ExpiresIn
	}
	if expires == policy.Never {
		expires = 0
	}
	draft.Audience, draft.ExpiresIn, draft.ValidFor, draft.Undo, draft.OnReject = audience, expires, v.ValidFor, v.Undo, v.OnReject
	draft.Reason, draft.Rule, draft.PolicyVersion, draft.PolicySource = v.Reason, v.Rule, v.Version, "tool_policy"
	if draft.OnTimeout == "" {
		draft.OnTimeout = v.OnTimeout
	}
	if draft.Priority == "" {
		draft.Priority = v.Priority
	}
	if v.Question != "" { // the rule's own words before those of whoever wants it
		draft.Question = v.Question
	} else if draft.Question == "" {
		draft.Question = template(draft.Actions, nil)
	}
	draft.Allowed = []holdshort.Verb{holdshort.Approve, holdshort.Reject, holdshort.Respond}
	if slices.ContainsFunc(draft.Actions, func(a holdshort.Action) bool { return len(a.Editable) > 0 }) {
		draft.Allowed = append(draft.Allowed, holdshort.Edit)
	}
	draft.Prompt = draft.SessionID != "" && audience.Owner
	return nil
}

// narrowed gives the part of the rule's audience that a raiser asks for.
func narrowed(rule, asked holdshort.Audience) (holdshort.Audience, error) {
	out := rule
	out.Separate = rule.Separate || asked.Separate
	if asked.Quorum != 0 {
		if asked.Quorum < rule.Needed() {
			return out, wrongAsk(holdshort.Forbidden, "audience/quorum", "the policy wants more people to approve", "leave the quorum out, or raise it")
		}
		out.Quorum = asked.Quorum
	}
	if nobody(asked) {
		return out, nil
	}
	outside := func(rule []string) func(string) bool {
		return func(s string) bool { return !slices.Contains(rule, s) }
	}
	if asked.Owner && !rule.Owner || slices.ContainsFunc(asked.Users, outside(rule.Users)) || slices.ContainsFunc(asked.Roles, outside(rule.Roles)) {
		return out, wrongAsk(holdshort.Forbidden, "audience", "the policy asks other people", "leave the audience out; assign the request to whom you want to see it first")
	}
	out.Owner, out.Users, out.Roles = asked.Owner, asked.Users, asked.Roles
	return out, nil
}

// question completes a request without actions: nothing runs on it, so its raiser says who is asked.
func (c *change) question(in AskInput, draft *holdshort.Request) error {
	draft.Audience = in.Audience
	draft.Audience.Quorum = in.Audience.Needed()
	owner := draft.Requester.User != ""
	usual := 5 * time.Minute
	switch {
	case draft.Kind == holdshort.Approval:
		usual = 10 * time.Minute
	case draft.Kind == holdshort.Escalation:
		usual = escalationTime
	}
	if nobody(in.Audience) {
		switch {
		case draft.Kind == holdshort.Escalation:
			draft.Audience.Roles = []string{policy.Operator}
		case draft.Kind == holdshort.Approval || !owner:
			draft.Audience.Roles = []string{policy.Reviewer}
		default:
			draft.Audience.Owner = true
		}
	} else if in.Audience.Owner && !owner {
		return wrongAsk(holdshort.Invalid, "audience/owner", "nobody owns the request", "name a session, or the user whom it is for")
	}
	if draft.OnTimeout == "" {
		draft.OnTimeout = holdshort.TimeoutFail
	}
	if draft.ExpiresIn == 0 {
		draft.ExpiresIn = usual
	} else if draft.ExpiresIn == policy.Never {
		draft.ExpiresIn = 0
	}
	draft.Prompt = draft.SessionID != "" && draft.Audience.Owner
	return nil
}
