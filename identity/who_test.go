package identity

import (
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// TestAllows: scopes only take away, what asks does not answer, and a link opens one request.
func TestAllows(t *testing.T) {
	service := func(scopes ...string) Who { return Who{Method: ByKey, Actor: bot, Scopes: scopes} }
	person := func(method string, scopes ...string) Who { return Who{Method: method, Actor: ana, Scopes: scopes} }
	admin := func(scopes ...string) Who {
		return Who{Method: ByKey, Scopes: scopes, Actor: holdshort.Actor{ID: "key:root", Kind: holdshort.Service, Roles: []string{policy.Admin}}}
	}
	for name, c := range map[string]struct {
		who Who
		yes []policy.Action
		no  []policy.Action
	}{
		"a service without scopes":         {service(), []policy.Action{policy.Raise, policy.Claim, policy.View, policy.Start}, []policy.Action{policy.Decide}},
		"raise":                            {service("raise"), []policy.Action{policy.Raise, policy.View, policy.CancelRequest}, []policy.Action{policy.Decide, policy.Claim, policy.Start, policy.ManageKeys, policy.ViewAudit}},
		"raise and decide":                 {service("raise", "decide"), []policy.Action{policy.Raise}, []policy.Action{policy.Decide}},
		"claim and decide":                 {service("claim", "decide"), []policy.Action{policy.Claim}, []policy.Action{policy.Decide}},
		"decide":                           {service("decide"), []policy.Action{policy.Decide, policy.View, policy.Comment}, []policy.Action{policy.Raise, policy.Claim, policy.Assign}},
		"view":                             {service("view"), []policy.Action{policy.View}, []policy.Action{policy.Decide, policy.Comment, policy.ViewAudit, policy.Post}},
		"manage":                           {service("manage"), []policy.Action{policy.Assign, policy.CancelRun, policy.RetryRun, policy.TakeOver, policy.Say}, []policy.Action{policy.Decide, policy.ManageKeys, policy.ManageWebhooks}},
		"keys":                             {service("keys"), []policy.Action{policy.ManageKeys}, []policy.Action{policy.View, policy.ManageWebhooks}},
		"webhooks":                         {service("webhooks"), []policy.Action{policy.ManageWebhooks, policy.Redeliver}, []policy.Action{policy.View, policy.ManageKeys}},
		"audit":                            {service("audit"), []policy.Action{policy.ViewAudit}, []policy.Action{policy.ManageKeys}},
		"an unknown scope":                 {service("everything"), nil, policy.Actions},
		"admin":                            {admin("admin"), policy.Actions, nil},
		"admin without scopes":             {admin(), policy.Actions, nil},
		"admin, raise and decide":          {admin("raise", "decide"), []policy.Action{policy.Raise, policy.Decide}, []policy.Action{policy.ManageKeys}},
		"the admin scope without the role": {service("admin"), []policy.Action{policy.Raise, policy.ManageKeys}, []policy.Action{policy.Decide}},
		"a person's admin scope":           {person(ByKey, "admin"), policy.Actions, nil},
		"a personal key":                   {person(ByKey), policy.Actions, nil},
		"a personal key that raises":       {person(ByKey, "raise", "decide"), []policy.Action{policy.Raise}, []policy.Action{policy.Decide}},
		"a login":                          {person(ByLogin), policy.Actions, nil},
		"a program's token":                {Who{Method: ByJWT, Actor: bot}, []policy.Action{policy.Raise}, []policy.Action{policy.Decide}},
		"a link":                           {person(ByLink), []policy.Action{policy.View, policy.Decide, policy.Comment}, []policy.Action{policy.Raise, policy.Assign, policy.ManageKeys, policy.Start, policy.CancelRequest}},
		"nobody":                           {Who{}, nil, policy.Actions},
		"what is no action":                {admin("admin"), nil, []policy.Action{"", "everything"}},
	} {
		for _, a := range c.yes {
			if err := c.who.Check(a); err != nil || !c.who.Allows(a) {
				t.Errorf("%s: %s: %v", name, a, err)
			}
		}
		for _, a := range c.no {
			if wantCode(t, c.who.Check(a), holdshort.Forbidden); c.who.Allows(a) {
				t.Errorf("%s: may %s", name, a)
			}
		}
	}
}

// TestScopesNamed: every action that there is has a scope, so that a new one is not left to keys of all scopes by oversight.
func TestScopesNamed(t *testing.T) {
	for _, a := range policy.Actions {
		if len(scopeOf[a]) == 0 {
			t.Errorf("%s has no scope", a)
		}
	}
}
