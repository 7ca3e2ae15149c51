package policy

import (
	"slices"
	"testing"

	"github.com/holdshort/holdshort"
)

func person(id string, roles ...string) holdshort.Actor {
	return holdshort.Actor{ID: id, Kind: holdshort.Person, Roles: roles}
}

var (
	finance  = holdshort.Audience{Roles: []string{"finance"}, Quorum: 1}
	toBob    = Resource{Audience: holdshort.Audience{Owner: true}, Owner: "bob", Requester: holdshort.Requester{User: "bob"}}
	approval = Resource{Audience: finance, Owner: "bob", Requester: holdshort.Requester{User: "bob"}}
	raised   = Resource{Audience: finance, Requester: holdshort.Requester{User: "bob", RaisedBy: "key_1"}}
	run      = Resource{Owner: "bob"}
)

// What each may do, all else refused.
func TestCan(t *testing.T) {
	key := holdshort.Actor{ID: "key_1", Kind: holdshort.Service}
	forBob := holdshort.Actor{ID: "key_2", Kind: holdshort.Service, ForUser: "bob"}
	raiserIn := holdshort.Actor{ID: "key_1", Kind: holdshort.Service, Roles: []string{"finance"}}
	tests := []struct {
		name  string
		actor holdshort.Actor
		r     Resource
		may   []Action
	}{
		{"nobody", holdshort.Actor{}, approval, nil},
		{"a name without a kind", holdshort.Actor{ID: "bob", Roles: []string{Admin, "finance"}}, approval, nil},
		{"a kind without a name", holdshort.Actor{Kind: holdshort.Person, Roles: []string{Admin, "finance"}}, approval, nil},
		{"a kind that is none", holdshort.Actor{ID: "bob", Kind: "robot", Roles: []string{Admin, "finance"}}, approval, nil},
		{"the kernel", holdshort.SystemActor("timeout"), approval, Actions},
		{"somebody who says to be the kernel", holdshort.Actor{ID: "bob", Kind: holdshort.System}, approval, nil},
		{"a stranger", person("eve"), approval, nil},
		{"a stranger with a role of no meaning here", person("eve", "support"), approval, nil},
		{"a stranger, what nobody owns", person("eve"), Resource{}, nil},
		{"an admin", person("ada", Admin), approval, []Action{View, Assign, Comment, CancelRequest, CancelRun, RetryRun, Post, Start, Raise, Redeliver, Reconcile, TakeOver, Say, Pin, ManageKeys, ManageWebhooks, ViewAudit}},
		{"an admin of the audience", person("ada", Admin, "finance"), approval, []Action{View, Decide, Assign, Comment, CancelRequest, CancelRun, RetryRun, Post, Start, Raise, Redeliver, Reconcile, TakeOver, Say, Pin, ManageKeys, ManageWebhooks, ViewAudit}},
		{"an operator", person("otto", Operator), run, []Action{View, Assign, Comment, CancelRequest, CancelRun, RetryRun, Post, Start, Redeliver, Reconcile, TakeOver, Say, Pin, ManageWebhooks, ViewAudit}},
		{"an auditor", person("ida", Auditor), run, []Action{View, ViewAudit}},
		{"an auditor, a request", person("ida", Auditor), approval, []Action{View, ViewAudit}},
		{"a reviewer, an approval for others", person("rita", Reviewer), approval, []Action{View, Assign, Comment}},
		{"a reviewer, an approval for reviewers", person("rita", Reviewer), Resource{Audience: holdshort.Audience{Roles: []string{"reviewer"}}}, []Action{View, Decide, Assign, Comment}},
		{"a reviewer, a question to the user", person("rita", Reviewer), toBob, nil},
		{"a reviewer, a run", person("rita", Reviewer), run, nil},
		{"one of the audience", person("ana", "finance"), approval, []Action{View, Decide, Assign, Comment}},
		{"one of the audience, a run", person("ana", "finance"), run, nil},
		{"somebody named", person("ana"), Resource{Audience: holdshort.Audience{Users: []string{"ana"}}}, []Action{View, Decide, Assign, Comment}},
		{"the owner, an approval", person("bob"), approval, []Action{View, Comment, CancelRequest, CancelRun, Post, Start, Pin}},
		{"the owner, who is of the audience too", person("bob", "finance"), approval, []Action{View, Decide, Assign, Comment, CancelRequest, CancelRun, Post, Start, Pin}},
		{"the owner, a question", person("bob"), toBob, []Action{View, Decide, Assign, Comment, CancelRequest, CancelRun, Post, Start, Pin}},
		{"a key that speaks for the owner", forBob, toBob, []Action{View, Decide, Assign, Comment, CancelRequest, CancelRun, Post, Start, Pin}},
		{"a key that speaks for nobody", holdshort.Actor{ID: "key_2", Kind: holdshort.Service}, toBob, nil},
		{"the key that raised it", key, raised, []Action{View, CancelRequest, Raise, Claim}},
		{"another key", holdshort.Actor{ID: "key_2", Kind: holdshort.Service}, raised, nil},
		{"the key that raised it, of the audience", raiserIn, raised, []Action{View, Assign, Comment, CancelRequest, Raise, Claim}},
		{"an administrator's key that raised it", holdshort.Actor{ID: "key_1", Kind: holdshort.Service, Roles: []string{"finance", Admin}}, raised, Actions},
		{"an agent of the audience that raised it", holdshort.Actor{ID: "key_1", Kind: holdshort.Agent, Roles: []string{"finance"}}, raised, []Action{View, Assign, Comment, CancelRequest, Raise, Claim}},
	}
	for _, tt := range tests {
		for _, a := range append([]Action{"", "delete_everything"}, Actions...) {
			ok, rule := Can(a, tt.actor, tt.r)
			if want := slices.Contains(tt.may, a); ok != want {
				t.Errorf("%s: %s is %v (%s), want %v", tt.name, a, ok, rule, want)
			}
			if rule == "" {
				t.Errorf("%s: %s has no rule", tt.name, a)
			}
		}
	}
}

func TestWhoMayDecideWhatTheyAskedFor(t *testing.T) {
	bob := person("bob", "finance")
	tests := []struct {
		name     string
		audience holdshort.Audience
		actor    holdshort.Actor
		rule     string
	}{
		{"alone", finance, bob, "audience"},
		{"separate", holdshort.Audience{Roles: []string{"finance"}, Separate: true}, bob, "requester"},
		{"one of two", holdshort.Audience{Roles: []string{"finance"}, Quorum: 2}, bob, "requester"},
		{"one of two, by a key", holdshort.Audience{Roles: []string{"finance"}, Quorum: 2}, holdshort.Actor{ID: "key_2", Kind: holdshort.Service, Roles: []string{"finance"}, ForUser: "bob"}, "requester"},
		{"an administrator, one of two", holdshort.Audience{Roles: []string{"finance"}, Quorum: 2}, person("bob", "finance", Admin), "requester"},
		{"another, one of two", holdshort.Audience{Roles: []string{"finance"}, Quorum: 2}, person("ana", "finance"), "audience"},
		{"nobody's", holdshort.Audience{}, person("bob", Admin, Operator, Reviewer), "not of the audience"},
	}
	for _, tt := range tests {
		ok, rule := Can(Decide, tt.actor, Resource{Audience: tt.audience, Owner: "bob", Requester: holdshort.Requester{User: "bob"}})
		if rule != tt.rule || ok != (tt.rule == "audience") {
			t.Errorf("%s: %v by %q, want %q", tt.name, ok, rule, tt.rule)
		}
	}
}
