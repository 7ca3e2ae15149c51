package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
)

// While a person has a session, no program speaks to its user: neither by asking, nor by adding what an assistant is said to have said.
func TestNobodySpeaksDuringTakeover(t *testing.T) {
	d := newHouse(t)
	d.keys["agent"] = d.key(t, tenant, "", nil, []string{holdshort.ScopeRaise, holdshort.ScopePost, holdshort.ScopeActAsUser, holdshort.ScopeStart, holdshort.ScopeView})
	session := d.chat(t)
	at := "/v1/sessions/" + string(session)
	if a := d.call(t, "olga", "POST", at+"/takeover", nil); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for name, c := range map[string]struct {
		path string
		body any
	}{
		"asking":    {"/v1/requests", map[string]any{"kind": "clarification", "question": "MACHINE asks", "expected_input": "free_text", "session_id": session}},
		"adding":    {at + "/messages/batch", map[string]any{"messages": []any{map[string]any{"role": "assistant", "text": "MACHINE says"}}}},
		"running":   {"/v1/runs", map[string]any{"flow": "chat", "session_id": session, "input": map[string]any{"text": "MACHINE runs"}}},
		"as olga":   {at + "/say", map[string]any{"text": "MACHINE as olga"}},
		"returning": {at + "/handback", nil},
	} {
		a := d.call(t, "agent", "POST", c.path, c.body, "Holdshort-User", "ben")
		if a.status >= 500 {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
		if name == "running" && a.status == http.StatusCreated {
			var run shownRun
			a.into(t, &run)
			d.call(t, "agent", "GET", "/v1/runs/"+string(run.ID)+"?wait=5s", nil, "Holdshort-User", "ben")
		}
		if said := string(d.call(t, "ben", "GET", at+"/messages?window=all", nil).body); strings.Contains(said, "MACHINE") {
			t.Errorf("%s: ben reads %s", name, said)
		}
	}
	var s shownSession
	if d.call(t, "ben", "GET", at, nil).into(t, &s); s.Mode != "takeover" {
		t.Errorf("the session is %s", s.Mode)
	}
}
