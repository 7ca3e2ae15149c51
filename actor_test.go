package holdshort_test

import (
	"testing"

	"github.com/holdshort/holdshort"
)

func TestAudienceIncludes(t *testing.T) {
	type (
		audience = holdshort.Audience
		actor    = holdshort.Actor
	)
	for _, test := range []struct {
		name     string
		audience audience
		actor    actor
		owner    string
		want     bool
	}{
		{"an empty audience includes nobody", audience{}, actor{ID: "ana", Roles: []string{"admin"}}, "ana", false},
		{"nobody is in no audience", audience{}, actor{}, "", false},
		{"an actor without id is in none", audience{Owner: true, Users: []string{""}, Roles: []string{"r"}}, actor{Roles: []string{"r"}, ForUser: "ana"}, "ana", false},
		{"a named user", audience{Users: []string{"ben", "ana"}}, actor{ID: "ana"}, "", true},
		{"another user", audience{Users: []string{"ben"}}, actor{ID: "ana"}, "", false},
		{"names are compared exactly", audience{Users: []string{"Ana"}}, actor{ID: "ana"}, "", false},
		{"a role", audience{Roles: []string{"finance"}}, actor{ID: "ana", Roles: []string{"it", "finance"}}, "", true},
		{"another role", audience{Roles: []string{"finance"}}, actor{ID: "ana", Roles: []string{"it"}}, "", false},
		{"no roles", audience{Roles: []string{"finance"}}, actor{ID: "ana"}, "", false},
		{"a user is not a role", audience{Roles: []string{"ana"}}, actor{ID: "ana"}, "", false},
		{"a role is not a user", audience{Users: []string{"finance"}}, actor{ID: "ana", Roles: []string{"finance"}}, "", false},
		{"the owner", audience{Owner: true}, actor{ID: "ana"}, "ana", true},
		{"not the owner", audience{Owner: true}, actor{ID: "ben"}, "ana", false},
		{"the owner where owners may not", audience{Roles: []string{"finance"}}, actor{ID: "ana"}, "ana", false},
		{"a session without an owner", audience{Owner: true}, actor{ID: "ana"}, "", false},
		{"who speaks for the owner", audience{Owner: true}, actor{ID: "key:shop", Kind: holdshort.Service, ForUser: "ana"}, "ana", true},
		{"who speaks for somebody else", audience{Owner: true}, actor{ID: "key:shop", Kind: holdshort.Service, ForUser: "ben"}, "ana", false},
		{"who speaks for a named user is not that user", audience{Users: []string{"ana"}}, actor{ID: "key:shop", ForUser: "ana"}, "", false},
		{"who speaks for nobody, of a session without an owner", audience{Owner: true}, actor{ID: "key:shop"}, "", false},
	} {
		if got := test.audience.Includes(test.actor, test.owner); got != test.want {
			t.Errorf("%s: got %v", test.name, got)
		}
	}
}

func TestAudienceExcludesTheRequester(t *testing.T) {
	type requester = holdshort.Requester
	two, separate, one := holdshort.Audience{Quorum: 2}, holdshort.Audience{Separate: true}, holdshort.Audience{Quorum: 1}
	ana := holdshort.Actor{ID: "ana"}
	for _, test := range []struct {
		name      string
		audience  holdshort.Audience
		actor     holdshort.Actor
		requester requester
		want      bool
	}{
		{"alone, the requester counts", one, ana, requester{User: "ana"}, false},
		{"without a quorum, the requester counts", holdshort.Audience{}, ana, requester{User: "ana"}, false},
		{"of two, the requester does not", two, ana, requester{User: "ana"}, true},
		{"separate, the requester does not", separate, ana, requester{User: "ana"}, true},
		{"of two, another counts", two, ana, requester{User: "ben", RaisedBy: "key:shop"}, false},
		{"the key that raised it", two, holdshort.Actor{ID: "key:shop"}, requester{User: "ben", RaisedBy: "key:shop"}, true},
		{"a key that speaks for the requester", separate, holdshort.Actor{ID: "key:chat", ForUser: "ana"}, requester{User: "ana"}, true},
		{"a key that speaks for another", separate, holdshort.Actor{ID: "key:chat", ForUser: "ben"}, requester{User: "ana"}, false},
		{"an unknown requester is not everybody without a user", separate, ana, requester{}, false},
		{"nor nobody", separate, holdshort.Actor{}, requester{}, false},
	} {
		if got := test.audience.Excludes(test.actor, test.requester); got != test.want {
			t.Errorf("%s: got %v", test.name, got)
		}
	}
}

func TestAudienceNeeded(t *testing.T) {
	for quorum, want := range map[int]int{-1: 1, 0: 1, 1: 1, 2: 2, 5: 5} {
		if got := (holdshort.Audience{Quorum: quorum}).Needed(); got != want {
			t.Errorf("a quorum of %d needs %d, want %d", quorum, got, want)
		}
	}
}

func TestSystemActor(t *testing.T) {
	got := holdshort.SystemActor("timeout")
	if got.ID != "system:timeout" || got.Kind != holdshort.System || got.Assurance != holdshort.AssuranceSystem || got.HasRole("admin") || got.ForUser != "" {
		t.Errorf("got %+v", got)
	}
	if (holdshort.Audience{Roles: []string{"reviewer"}, Owner: true}).Includes(got, "ana") {
		t.Error("the system is in an audience that does not name it")
	}
}
