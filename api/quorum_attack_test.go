package api_test

import (
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// Two approvals are two: one key does not give both by saying that it speaks for two.
func TestOneKeyIsNoQuorum(t *testing.T) {
	d := newHouse(t)
	d.keys["bridge"] = d.key(t, tenant, "", []string{policy.Reviewer}, []string{holdshort.ScopeDecide, holdshort.ScopeActAsUser})
	for name, second := range map[string][]string{"another user": {"Holdshort-User", "dora"}, "itself": nil} {
		_, id := d.starts(t, "refund", refund{"77", 5000}) // needs two
		approve := map[string]any{"action": "approve"}
		one := d.call(t, "bridge", "POST", "/v1/requests/"+string(id)+"/decision", approve, "Holdshort-User", "carl")
		if one.status != 200 || d.status(t, id) != holdshort.RequestOpen {
			t.Fatalf("%d %s", one.status, one.body)
		}
		two := d.call(t, "bridge", "POST", "/v1/requests/"+string(id)+"/decision", approve, second...)
		if two.status != 409 || d.status(t, id) != holdshort.RequestOpen {
			t.Errorf("one key approved twice, as carl and as %s: %d, the request is %s", name, two.status, d.status(t, id))
		}
		if a := d.call(t, "ana", "POST", "/v1/requests/"+string(id)+"/decision", approve); a.status != 200 || d.status(t, id) != holdshort.RequestResolved {
			t.Errorf("a second person: %d %s", a.status, a.body)
		}
	}
}
