package api_test

import (
	"net/http"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// A key that makes keys makes none that is more than itself: no wider scope, no other person, no name of the kernel's own.
func TestKeysMakeNoMoreThanThemselves(t *testing.T) {
	d := newHouse(t)
	d.keys["maker"] = d.key(t, tenant, "", []string{policy.Admin}, []string{holdshort.ScopeKeys, holdshort.ScopeDecide})
	d.keys["rooted"] = d.key(t, tenant, "", []string{policy.Admin}, []string{holdshort.ScopeAdmin})
	for name, c := range map[string]struct {
		who  string
		body map[string]any
		want int
	}{
		"the same":           {"maker", map[string]any{"name": "x", "scopes": []string{"decide"}}, http.StatusCreated},
		"without scopes":     {"maker", map[string]any{"name": "x"}, http.StatusForbidden},
		"every scope":        {"maker", map[string]any{"name": "x", "scopes": []string{"admin"}}, http.StatusForbidden},
		"another scope":      {"maker", map[string]any{"name": "x", "scopes": []string{"decide", "raise"}}, http.StatusForbidden},
		"another person":     {"maker", map[string]any{"name": "x", "user": "ana", "roles": []string{policy.Reviewer}, "scopes": []string{"decide"}}, http.StatusForbidden},
		"an administrator's": {"rooted", map[string]any{"name": "x", "user": "ana", "scopes": []string{"decide"}}, http.StatusCreated},
		"the policy":         {"rooted", map[string]any{"name": "x", "user": "policy:big refunds"}, http.StatusBadRequest},
		"the kernel":         {"rooted", map[string]any{"name": "x", "user": "system:timeout"}, http.StatusBadRequest},
		"a group":            {"rooted", map[string]any{"name": "x", "user": "group:finance"}, http.StatusBadRequest},
		"an operator makes":  {"olga", map[string]any{"name": "x", "scopes": []string{"view"}}, http.StatusForbidden},
		"a reviewer makes":   {"ana", map[string]any{"name": "x", "scopes": []string{"view"}}, http.StatusForbidden},
	} {
		if a := d.call(t, c.who, "POST", "/v1/keys", c.body); a.status != c.want {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
}
