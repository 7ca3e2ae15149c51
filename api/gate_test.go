package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/holdshort/holdshort"
)

type claimed struct {
	Actions []struct {
		CallID      string          `json:"call_id"`
		Tool        string          `json:"tool"`
		Args        json.RawMessage `json:"args"`
		OperationID string          `json:"operation_id"`
	} `json:"actions"`
	Token        string   `json:"claim_token"`
	OperationIDs []string `json:"operation_ids"`
	LeaseUntil   string   `json:"lease_until"`
}

// The whole gate: raise, wait, decide, claim once, report.
func TestGate(t *testing.T) {
	d := newDoor(t)
	raise := map[string]any{"kind": "approval", "question": "Refund 120 EUR?", "actions": []any{map[string]any{"tool": "refund", "args": map[string]any{"order": "77", "amount": 120}}}, "expires_in": "10m"}
	a := d.call(t, "gate", "POST", "/v1/requests", raise, "Idempotency-Key", "r1")
	if a.status != http.StatusCreated {
		t.Fatalf("%d %s", a.status, a.body)
	}
	var req, same shownRequest
	a.into(t, &req)
	again := d.call(t, "gate", "POST", "/v1/requests", raise, "Idempotency-Key", "r1")
	again.into(t, &same)
	if again.status != 200 || same.ID != req.ID || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("raised again: %d %s", again.status, again.body)
	}
	path := "/v1/requests/" + string(req.ID)
	if a := d.call(t, "gate", "POST", path+"/claim", nil); a.status != 409 && a.status != 422 {
		t.Errorf("a claim before the decision: %d %s", a.status, a.body)
	}
	if a := d.call(t, "gate", "POST", path+"/decision", `{"action":"approve"}`); a.status != 403 {
		t.Errorf("the raiser decides: %d %s", a.status, a.body)
	}
	if a := d.call(t, "gate", "GET", path+"?wait=10ms", nil); a.status != 202 {
		t.Errorf("while it is open: %d", a.status)
	}
	waited := make(chan answer, 1)
	go func() { waited <- d.call(t, "gate", "GET", path+"?wait=30s", nil) }()
	if a := d.call(t, "ana", "POST", path+"/decision", map[string]any{"action": "approve", "fingerprint": req.Fingerprint}); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	var told shownRequest
	(<-waited).into(t, &told)
	if told.Outcome != holdshort.Approved {
		t.Errorf("who waits is told %+v", told)
	}
	if a := d.call(t, "admin", "POST", path+"/claim", nil); a.status == 200 {
		t.Errorf("somebody else claims: %s", a.body)
	}
	var first, second claimed
	d.call(t, "gate", "POST", path+"/claim", nil, "Idempotency-Key", "c1").into(t, &first)
	repeated := d.call(t, "gate", "POST", path+"/claim", nil, "Idempotency-Key", "c1")
	repeated.into(t, &second)
	if len(first.Actions) != 1 || string(first.Actions[0].Args) != `{"amount":120,"order":"77"}` || first.Token == "" || second.Token != first.Token || repeated.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%+v, then %+v", first, second)
	}
	if a := d.call(t, "gate", "POST", path+"/claim", nil); a.status != 409 {
		t.Errorf("a second claim: %d %s", a.status, a.body)
	}
	report := map[string]any{"claim_token": first.Token, "call_id": first.Actions[0].CallID, "status": "done", "result": map[string]any{"refund": "re_9"}}
	if a := d.call(t, "gate", "POST", path+"/extend", map[string]any{"claim_token": first.Token, "lease": "10m"}); a.status != 200 {
		t.Errorf("extend: %d %s", a.status, a.body)
	}
	if a := d.call(t, "gate", "POST", path+"/outcome", map[string]any{"claim_token": "forged", "status": "done"}); a.status < 400 || a.status >= 500 {
		t.Errorf("a forged token: %d %s", a.status, a.body)
	}
	for range 2 {
		if a := d.call(t, "gate", "POST", path+"/outcome", report); a.status != 200 {
			t.Errorf("outcome: %d %s", a.status, a.body)
		}
	}
	report["status"] = "failed"
	if a := d.call(t, "gate", "POST", path+"/outcome", report); a.status != 409 {
		t.Errorf("the contrary: %d %s", a.status, a.body)
	}
}

func TestGateOnlyNarrows(t *testing.T) {
	d := newDoor(t)
	for name, c := range map[string]struct {
		body   map[string]any
		status int
	}{
		"approve on timeout": {map[string]any{"kind": "approval", "question": "x?", "on_timeout": "approve", "actions": []any{map[string]any{"tool": "t"}}}, 403},
		"unknown kind":       {map[string]any{"kind": "wish", "question": "x?"}, 400},
		"no question":        {map[string]any{"kind": "clarification"}, 400},
		"wrong duration":     {map[string]any{"kind": "clarification", "question": "x?", "expires_in": "soon"}, 400},
	} {
		t.Run(name, func(t *testing.T) {
			if a := d.call(t, "gate", "POST", "/v1/requests", c.body); a.status != c.status {
				t.Errorf("%d %s, want %d", a.status, a.body, c.status)
			}
		})
	}
}
