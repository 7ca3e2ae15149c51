package policy

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
)

type pointer struct{ rule string }

func (p *pointer) Judge(context.Context, Call) (Verdict, error) {
	return Verdict{Decision: Allow, Rule: p.rule}, nil
}

func says(v Verdict, err error) Policy {
	return Func(func(context.Context, Call) (Verdict, error) { return v, err })
}

// Whatever goes wrong, nothing runs that nobody looked at.
func TestJudgeFailsClosed(t *testing.T) {
	broken := errors.New("no such field")
	tests := []struct {
		name     string
		policy   Policy
		call     Call
		decision Decision
		reason   string
	}{
		{"no policy", nil, Call{Known: true}, Ask, "tool_requires_review"},
		{"a policy that is nil", Func(nil), Call{Known: true}, Ask, "policy_error"},
		{"a policy that points nowhere", (*pointer)(nil), Call{Known: true}, Ask, "policy_error"},
		{"a panic", Func(func(context.Context, Call) (Verdict, error) { panic("no") }), Call{Known: true}, Ask, "policy_error"},
		{"an error", says(Verdict{}, broken), Call{Known: true}, Ask, "policy_error"},
		{"an error beside allow", says(Verdict{Decision: Allow}, broken), Call{Known: true}, Ask, "policy_error"},
		{"an error of a deny rule", says(Verdict{Decision: Deny}, broken), Call{Known: true}, Deny, "policy_error"},
		{"an error beside no word", says(Verdict{Decision: "yes"}, broken), Call{Known: true}, Ask, "policy_error"},
		{"nothing said", says(Verdict{}, nil), Call{Known: true}, Ask, "tool_requires_review"},
		{"a word that is none", says(Verdict{Decision: "allowed"}, nil), Call{Known: true}, Ask, "tool_requires_review"},
		{"another case", says(Verdict{Decision: "ALLOW"}, nil), Call{Known: true}, Ask, "tool_requires_review"},
		{"an unknown tool, allowed", says(Verdict{Decision: Allow}, nil), Call{Effect: "read"}, Deny, "policy_violation"},
		{"an unknown tool, no policy", nil, Call{}, Deny, "policy_violation"},
		{"an unknown reason", says(Verdict{Decision: Ask, Reason: "because"}, nil), Call{Known: true}, Ask, "tool_requires_review"},
		{"a reason of another kind", says(Verdict{Decision: Ask, Reason: "missing_fields"}, nil), Call{Known: true}, Ask, "tool_requires_review"},
		{"a known reason", says(Verdict{Decision: Ask, Reason: "high_risk"}, nil), Call{Known: true}, Ask, "high_risk"},
		{"a limit of nothing known", says(Verdict{Decision: Allow, Limits: []Limit{{Scope: "week", Max: 5}}}, nil), Call{Known: true}, Ask, "policy_error"},
		{"a limit", says(Verdict{Decision: Allow, Limits: []Limit{{Scope: PerRun, Max: 5}}}, nil), Call{Known: true}, Allow, "tool_requires_review"},
		{"a limit of nothing known, denied", says(Verdict{Decision: Deny, Limits: []Limit{{Scope: "week"}}}, nil), Call{Known: true}, Deny, "tool_requires_review"},
		{"allowed", says(Verdict{Decision: Allow}, nil), Call{Known: true}, Allow, "tool_requires_review"},
		{"denied", says(Verdict{Decision: Deny}, nil), Call{Known: true}, Deny, "tool_requires_review"},
		{"ask always", AskAlways, Call{Known: true, Effect: "read"}, Ask, "tool_requires_review"},
		{"reads", AllowReads, Call{Known: true, Effect: "read"}, Allow, "tool_requires_review"},
		{"writes", AllowReads, Call{Known: true, Effect: "write"}, Ask, "tool_requires_review"},
		{"what is neither", AllowReads, Call{Known: true}, Ask, "tool_requires_review"},
		{"reads of an unknown tool", AllowReads, Call{Effect: "read"}, Deny, "policy_violation"},
	}
	for _, tt := range tests {
		v := Judge(context.Background(), tt.policy, tt.call)
		if v.Decision != tt.decision || v.Reason != tt.reason {
			t.Errorf("%s: %s because of %s, want %s because of %s", tt.name, v.Decision, v.Reason, tt.decision, tt.reason)
		}
	}
}

func TestAnErrorLeavesNothingOfTheVerdictButItsName(t *testing.T) {
	v := Judge(context.Background(), says(Verdict{Decision: Allow, Rule: "big refunds", Version: "7", Audience: holdshort.Audience{Users: []string{"eve"}}, OnTimeout: holdshort.TimeoutApprove,
		Editable: []string{"*"}, Blind: []string{"iban"}, ValidFor: time.Hour * 1000}, errors.New("no")), Call{Known: true})
	want := Verdict{Decision: Ask, Rule: "big refunds", Version: "7", Reason: "policy_error"}.withDefaults()
	if !reflect.DeepEqual(v, want) {
		t.Errorf("gives %+v, want %+v", v, want)
	}
}

func TestDefaults(t *testing.T) {
	reviewers := holdshort.Audience{Roles: []string{"reviewer"}, Quorum: 1}
	base := Verdict{Decision: Ask, Reason: "tool_requires_review", Audience: reviewers, ExpiresIn: 10 * time.Minute, ValidFor: 24 * time.Hour,
		OnTimeout: holdshort.TimeoutFail, OnReject: holdshort.RejectContinue, Priority: holdshort.PriorityNormal}
	with := func(change func(*Verdict)) Verdict { v := base; change(&v); return v }
	tests := []struct {
		name       string
		said, want Verdict
	}{
		{"nothing", Verdict{}, base},
		{"a quorum alone", Verdict{Audience: holdshort.Audience{Quorum: 2, Separate: true}}, with(func(v *Verdict) { v.Audience.Quorum, v.Audience.Separate = 2, true })},
		{"fewer than nobody", Verdict{Audience: holdshort.Audience{Quorum: -1}}, base},
		{"people", Verdict{Audience: holdshort.Audience{Users: []string{"ana"}}}, with(func(v *Verdict) { v.Audience = holdshort.Audience{Users: []string{"ana"}, Quorum: 1} })},
		{"the owner", Verdict{Audience: holdshort.Audience{Owner: true}}, with(func(v *Verdict) { v.Audience = holdshort.Audience{Owner: true, Quorum: 1} })},
		{"for ever", Verdict{ExpiresIn: Never}, with(func(v *Verdict) { v.ExpiresIn = Never })},
		{"before it began", Verdict{ExpiresIn: -time.Minute, ValidFor: -1}, base},
		{"unknown words", Verdict{OnTimeout: "aprove", OnReject: "carry on", Priority: "!!"}, base},
		{"known words", Verdict{OnTimeout: holdshort.TimeoutApprove, OnReject: holdshort.RejectCancel, Priority: holdshort.PriorityCritical}, with(func(v *Verdict) {
			v.OnTimeout, v.OnReject, v.Priority = holdshort.TimeoutApprove, holdshort.RejectCancel, holdshort.PriorityCritical
		})},
	}
	for _, tt := range tests {
		if got := Judge(context.Background(), says(tt.said, nil), Call{Known: true}); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestMeets(t *testing.T) {
	ask := func(quorum int, separate bool) Verdict {
		return Verdict{Decision: Ask, Audience: holdshort.Audience{Roles: []string{"finance"}, Quorum: quorum, Separate: separate}}
	}
	stood := func(quorum int, separate bool) holdshort.Audience {
		return holdshort.Audience{Roles: []string{"finance"}, Quorum: quorum, Separate: separate}
	}
	tests := []struct {
		name  string
		now   Verdict
		stood holdshort.Audience
		want  bool
	}{
		{"allowed now", Verdict{Decision: Allow}, stood(1, false), true},
		{"denied now", Verdict{Decision: Deny}, stood(9, true), false},
		{"the same", ask(1, false), stood(1, false), true},
		{"none written is one", ask(0, false), stood(1, false), true},
		{"fewer", ask(1, false), stood(2, false), true},
		{"more", ask(2, false), stood(1, false), false},
		{"somebody else, now", ask(1, true), stood(1, false), false},
		{"somebody else, then too", ask(1, true), stood(1, true), true},
		{"somebody else, and there were two", ask(1, true), stood(2, false), true},
		{"no word", Verdict{Decision: "?", Audience: holdshort.Audience{Quorum: 2}}, stood(1, false), false},
	}
	for _, tt := range tests {
		if got := tt.now.Meets(tt.stood); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestMetBy(t *testing.T) {
	ana, ben, bob := person("ana", "finance"), person("ben", "finance", "board"), person("bob", "finance")
	requester := holdshort.Requester{User: "bob"}
	ask := func(quorum int, roles ...string) Verdict {
		return Verdict{Decision: Ask, Audience: holdshort.Audience{Roles: roles, Quorum: quorum}}
	}
	separate := ask(1, "finance")
	separate.Audience.Separate = true
	tests := []struct {
		name      string
		now       Verdict
		approvers []holdshort.Actor
		want      bool
	}{
		{"allowed now", Verdict{Decision: Allow}, nil, true},
		{"denied now", Verdict{Decision: Deny}, []holdshort.Actor{ana, ben}, false},
		{"nobody", ask(1, "finance"), nil, false},
		{"one of them", ask(1, "finance"), []holdshort.Actor{ana}, true},
		{"one of others", ask(1, "board"), []holdshort.Actor{ana}, false},
		{"one of others, who is both", ask(1, "board"), []holdshort.Actor{ben}, true},
		{"two", ask(2, "finance"), []holdshort.Actor{ana, ben}, true},
		{"one twice", ask(2, "finance"), []holdshort.Actor{ana, ana}, false},
		{"two, one of them of others", ask(2, "board"), []holdshort.Actor{ana, ben}, false},
		{"two, one of them the requester", ask(2, "finance"), []holdshort.Actor{ana, bob}, false},
		{"the requester", ask(1, "finance"), []holdshort.Actor{bob}, true},
		{"the requester, who may not", separate, []holdshort.Actor{bob}, false},
		{"the owner", Verdict{Decision: Ask, Audience: holdshort.Audience{Owner: true}}, []holdshort.Actor{person("bob")}, true},
		{"no audience", Verdict{Decision: Ask}, []holdshort.Actor{ana}, false},
		{"no word", Verdict{Decision: "?"}, []holdshort.Actor{ana}, false},
	}
	for _, tt := range tests {
		if got := tt.now.MetBy("bob", requester, tt.approvers...); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// What a tool's owner wants asked about, and what is no longer what somebody agreed to, no rule allows.
func TestGuardedTools(t *testing.T) {
	finance := holdshort.Audience{Roles: []string{"finance"}, Quorum: 1}
	says := func(d Decision) Policy {
		return Func(func(context.Context, Call) (Verdict, error) {
			return Verdict{Decision: d, Rule: "rule", Audience: finance, OnTimeout: holdshort.TimeoutApprove, ExpiresIn: time.Hour}, nil
		})
	}
	for _, tt := range []struct {
		name     string
		decision Decision
		call     Call
		want     Decision
		rule     string
		role     string
	}{
		{"a plain tool", Allow, Call{Known: true}, Allow, "rule", "finance"},
		{"a guarded tool", Allow, Call{Known: true, Guarded: true}, Ask, "requires approval", "finance"},
		{"a changed tool", Allow, Call{Known: true, Changed: true}, Ask, "changed tool", "reviewer"},
		{"both", Allow, Call{Known: true, Changed: true, Guarded: true}, Ask, "changed tool", "reviewer"},
		{"what asks already", Ask, Call{Known: true, Changed: true, Guarded: true}, Ask, "rule", "finance"},
		{"what is denied", Deny, Call{Known: true, Guarded: true}, Deny, "rule", "finance"},
		{"what nobody knows", Allow, Call{Guarded: true}, Deny, "unknown tool", ""},
	} {
		v := Judge(t.Context(), says(tt.decision), tt.call)
		if v.Decision != tt.want || v.Rule != tt.rule || tt.role != "" && v.Audience.Roles[0] != tt.role {
			t.Errorf("%s: %+v", tt.name, v)
		}
		if tt.decision == Allow && tt.want == Ask && (v.OnTimeout != holdshort.TimeoutFail || v.ExpiresIn != time.Hour) {
			t.Errorf("%s: the clock approves it, or its time is lost: %+v", tt.name, v)
		}
	}
}
