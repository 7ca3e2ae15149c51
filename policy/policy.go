// Package policy says what needs a person, and which one: the verdict on a call, and who may do what.
// It may import the root package.
package policy

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
)

// Decision of a rule.
type Decision string

const (
	Ask   Decision = "ask" // the zero value reads as this: what no rule speaks of needs a person
	Allow Decision = "allow"
	Deny  Decision = "deny"
)

// Call is what a policy judges.
type Call struct {
	Tenant     holdshort.TenantID
	Tool       string
	Args       json.RawMessage
	Known      bool   // the node has this tool; what follows is the tool's own declaration
	Effect     string // read or write
	Reversible string // yes, no or external
	Idempotent bool
	Guarded    bool // a person is asked about every call
	Changed    bool // the definition is another than the one that somebody agreed to
	Hinted     bool // a server said something of it:
	Trusted    bool // and is believed
	ReadOnly   bool
	Destroys   bool
	Cost       int64
	Agent      string
	Flow       string
	User       string
	Session    holdshort.SessionID
	Run        holdshort.RunID
	Now        time.Time
}

// Verdict is what a policy says of a call.
type Verdict struct {
	Decision Decision
	Rule     string // its name, for people and the log
	Version  string // of the policy
	Reason   string // default: tool_requires_review
	// For an Ask. A zero audience is role reviewer.
	Audience  holdshort.Audience
	ExpiresIn time.Duration // default: 10 minutes; Never asks for ever
	ValidFor  time.Duration // how long an approval is good; default: 24 hours
	Undo      time.Duration // how long a page keeps a decision back so that it can be undone; default: as the person likes; NoUndo: not at all
	OnTimeout holdshort.OnTimeout
	OnReject  holdshort.OnReject
	Editable  []string // fields that a decider may change; none: none; "*": all
	Redacted  []string
	Blind     []string
	Priority  holdshort.Priority
	Question  string // default: from a template
	// Limits are reserved when the call starts. Past one the call asks, or is denied.
	Limits []Limit
}

// Never is an expiry that somebody wrote.
const Never time.Duration = -1

// NoUndo has a decision sent at once.
const NoUndo time.Duration = -1

// Scope of a limit.
type Scope string

const (
	PerRun     Scope = "run"
	PerSession Scope = "session"
	PerDay     Scope = "day"
)

// Limit bounds what calls may add up to.
type Limit struct {
	Name  string // default: the tool
	Scope Scope
	Max   int64
	Spend bool // counts the tool's cost; default: the number of calls
	// Repeats counts calls with the same arguments, each apart. Default: all calls together.
	Repeats bool
	Deny    bool // past it: deny; default: ask
}

// unknown reports whether nobody can tell what the limit counts.
func (l Limit) unknown() bool { return l.Scope != PerRun && l.Scope != PerSession && l.Scope != PerDay }

// Policy judges calls. An error asks: it never allows.
type Policy interface {
	Judge(ctx context.Context, call Call) (Verdict, error)
}

// Func is a policy in Go.
type Func func(ctx context.Context, call Call) (Verdict, error)

// Judge calls f.
func (f Func) Judge(ctx context.Context, call Call) (Verdict, error) { return f(ctx, call) }

// AskAlways is the policy of whoever has none: every call needs a reviewer.
var AskAlways Policy = Func(func(context.Context, Call) (Verdict, error) { return Verdict{Decision: Ask, Rule: "default"}, nil })

// AllowReads lets tools that change nothing run, and asks about the others.
var AllowReads Policy = Func(func(_ context.Context, c Call) (Verdict, error) {
	if c.Known && c.Effect == "read" {
		return Verdict{Decision: Allow, Rule: "reads"}, nil
	}
	return Verdict{Decision: Ask, Rule: "writes"}, nil
})

// Judge asks p and fails closed: no policy, an error, a panic or an unknown word ask; an unknown tool is denied.
func Judge(ctx context.Context, p Policy, call Call) (v Verdict) {
	if !call.Known {
		return Verdict{Decision: Deny, Rule: "unknown tool", Reason: "policy_violation"}
	}
	if p == nil {
		p = AskAlways
	}
	defer func() {
		if recover() != nil {
			v = Verdict{Decision: Ask, Rule: "policy error", Reason: "policy_error"}
		}
		v = v.withDefaults()
	}()
	v, err := p.Judge(ctx, call)
	if err == nil {
		return v.guarded(call)
	}
	if v.Decision != Deny { // a deny rule that fails denies, any other asks
		v.Decision = Ask
	}
	return Verdict{Decision: v.Decision, Rule: v.Rule, Version: v.Version, Reason: "policy_error"}
}

// guarded: what a tool's owner wants asked about, and what is no longer what somebody agreed to, no rule allows.
func (v Verdict) guarded(call Call) Verdict {
	if (call.Changed || call.Guarded) && v.OnTimeout == holdshort.TimeoutApprove {
		v.OnTimeout = holdshort.TimeoutFail // the clock is no person
	}
	switch {
	case v.Decision != Allow:
	case call.Changed: // whoever the rule had in mind, it was for another tool
		v.Decision, v.Rule, v.OnTimeout, v.Audience = Ask, "changed tool", holdshort.TimeoutFail, holdshort.Audience{}
	case call.Guarded:
		v.Decision, v.Rule, v.OnTimeout = Ask, "requires approval", holdshort.TimeoutFail
	}
	return v
}

// withDefaults fills in what a policy left out, and reads words that it does not know as the careful ones.
func (v Verdict) withDefaults() Verdict {
	switch v.Decision {
	case Allow, Deny, Ask:
	default:
		v.Decision = Ask
	}
	if v.Decision == Allow && slices.ContainsFunc(v.Limits, Limit.unknown) {
		v.Decision, v.Reason = Ask, "policy_error"
	}
	if kind, ok := holdshort.KindOf(v.Reason); !ok || kind != holdshort.Approval {
		v.Reason = "tool_requires_review"
	}
	if !v.Audience.Owner && len(v.Audience.Users) == 0 && len(v.Audience.Roles) == 0 {
		v.Audience.Roles = []string{"reviewer"}
	}
	if v.Audience.Quorum < 1 {
		v.Audience.Quorum = 1
	}
	if v.ExpiresIn <= 0 && v.ExpiresIn != Never {
		v.ExpiresIn = 10 * time.Minute
	}
	if v.ValidFor <= 0 {
		v.ValidFor = 24 * time.Hour
	}
	switch v.OnTimeout {
	case holdshort.TimeoutResume, holdshort.TimeoutClear, holdshort.TimeoutEscalate, holdshort.TimeoutApprove:
	default:
		v.OnTimeout = holdshort.TimeoutFail
	}
	switch v.OnReject {
	case holdshort.RejectCancel, holdshort.RejectReturn:
	default:
		v.OnReject = holdshort.RejectContinue
	}
	switch v.Priority {
	case holdshort.PriorityLow, holdshort.PriorityHigh, holdshort.PriorityCritical:
	default:
		v.Priority = holdshort.PriorityNormal
	}
	return v
}
