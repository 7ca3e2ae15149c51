package api_test

import (
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
)

type shownResumed struct {
	TaskID  holdshort.RunID `json:"task_id"`
	Status  string          `json:"status"`
	Message string          `json:"message"`
	Request shownRequest    `json:"request"`
	Run     *shownRun       `json:"run"`
}

// TestResume: the caller gets the final answer; what is not a clear approve or reject decides nothing.
func TestResume(t *testing.T) {
	d := newHouse(t)
	for _, path := range []string{"/v1/resume/", "/tealagents/v1alpha1/resume/"} {
		run, id := d.starts(t, "refund", refund{"1", 10})
		for what, c := range map[string]struct{ query, body string }{
			"nothing":   {"", `{}`},
			"no body":   {"", ``},
			"typo":      {"", `{"action":"aprove"}`},
			"a yes":     {"", `{"action":"yes"}`},
			"capitals":  {"", `{"action":"Approve"}`},
			"disagree":  {"?action=reject", `{"action":"approve"}`},
			"in query":  {"?action=perhaps", ``},
			"too long":  {"?wait=2h", `{"action":"approve"}`},
			"edit":      {"", `{"action":"edit"}`},
			"twice":     {"?action=approve&action=approve", ``},
			"truthy":    {"", `{"approved":true}`},
			"uppercase": {"", `{"ACTION":"APPROVE"}`},
		} {
			if a := d.call(t, "ana", "POST", path+string(id)+c.query, c.body); a.status != 400 || d.status(t, id) != holdshort.RequestOpen {
				t.Errorf("%s: %d %s; the request is %s", what, a.status, a.body, d.status(t, id))
			}
		}
		if a := d.call(t, "eve", "POST", path+string(id), `{"action":"approve"}`); a.status != 403 || a.code(t) != "forbidden" || strings.Contains(string(a.body), "refund") {
			t.Errorf("by another user: %d %s", a.status, a.body)
		}
		if a := d.call(t, "stranger", "POST", path+string(id), `{"action":"approve"}`); a.status != 404 {
			t.Errorf("from another tenant: %d %s", a.status, a.body)
		}
		if a := d.call(t, "ben", "POST", path+string(id), `{"action":"approve"}`); a.status != 403 {
			t.Errorf("by whoever asked for it: %d %s", a.status, a.body)
		}
		a := d.call(t, "ana", "POST", path+string(id)+"?action=approve", `{"action":"approve"}`)
		var got shownResumed
		a.into(t, &got)
		if a.status != 200 || got.Status != "Completed" || got.TaskID != run.ID || got.Request.Outcome != holdshort.Approved || got.Run == nil || got.Run.Status != holdshort.RunCompleted {
			t.Errorf("%d %s", a.status, a.body)
		}
		if again := d.call(t, "ana", "POST", path+string(id), `{"action":"approve"}`); again.status != 409 {
			t.Errorf("again: %d %s", again.status, again.body)
		}
	}
	if d.refunds.Load() != 2 {
		t.Errorf("%d refunds", d.refunds.Load())
	}
}

// TestResumeAsync: who does not want to wait is answered at once, and a repeated call decides nothing again.
func TestResumeAsync(t *testing.T) {
	d := newHouse(t)
	run, id := d.starts(t, "refund", refund{"1", 10})
	a := d.call(t, "ana", "POST", "/v1/resume/"+string(id), `{"action":"approve"}`, "Prefer", "respond-async, wait=10", "Idempotency-Key", "r1")
	var got shownResumed
	a.into(t, &got)
	if a.status != 200 && a.status != 202 || a.header.Get("Preference-Applied") != "respond-async" || got.Request.Status != holdshort.RequestResolved {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
	if ended := d.await(t, run.ID); ended.Status != holdshort.RunCompleted {
		t.Errorf("%+v", ended)
	}
	b := d.call(t, "ana", "POST", "/v1/resume/"+string(id), `{"action":"approve"}`, "Idempotency-Key", "r1")
	if b.status != 200 || b.header.Get("Idempotent-Replayed") != "true" || d.refunds.Load() != 1 {
		t.Errorf("%d %v %s", b.status, b.header, b.body)
	}
}

// TestResumeReject: nothing of what was rejected runs, and its task is canceled.
func TestResumeReject(t *testing.T) {
	d := newHouse(t)
	run, id := d.starts(t, "refund", refund{"1", 10})
	a := d.call(t, "ana", "POST", "/v1/resume/"+string(id), `{"action":"reject"}`)
	var got shownResumed
	a.into(t, &got)
	if a.status != 200 || got.Request.Outcome != holdshort.Rejected || got.Status != "Canceled" || got.Run == nil || got.Run.Status != holdshort.RunCanceled || d.refunds.Load() != 0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if ended := d.await(t, run.ID); ended.Status != holdshort.RunCanceled {
		t.Errorf("%+v", ended)
	}
}

// TestResumeQuorum: a vote that does not suffice is not a final answer.
func TestResumeQuorum(t *testing.T) {
	d := newHouse(t)
	_, id := d.starts(t, "refund", refund{"1", 5000})
	a := d.call(t, "ana", "POST", "/v1/resume/"+string(id), `{"action":"approve"}`)
	var got shownResumed
	a.into(t, &got)
	if a.status != 202 && a.status != 200 || got.Status != "Paused" || got.Request.Status != holdshort.RequestOpen || d.refunds.Load() != 0 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestEscalations: resolved by id or by session, by those who look after the system.
func TestEscalations(t *testing.T) {
	d := newHouse(t)
	open := func() (holdshort.SessionID, holdshort.RequestID, holdshort.RunID) {
		session := d.chat(t)
		a := d.call(t, "ben", "POST", "/v1/runs", map[string]any{"flow": "ask", "input": "escalate", "session_id": session})
		var run shownRun
		a.into(t, &run)
		d.call(t, "ben", "GET", "/v1/runs/"+string(run.ID)+"?wait=10s", nil).into(t, &run)
		if len(run.OpenRequests) != 1 {
			t.Fatalf("%d %s %+v", a.status, a.body, run)
		}
		return session, run.OpenRequests[0], run.ID
	}
	session, id, run := open()
	for what, body := range map[string]string{
		"neither":   `{"approved":true}`,
		"both":      `{"approved":true,"session_id":"` + string(session) + `","escalation_id":"` + string(id) + `"}`,
		"undecided": `{"escalation_id":"` + string(id) + `"}`,
		"a word":    `{"escalation_id":"` + string(id) + `","approved":"yes"}`,
	} {
		if a := d.call(t, "olga", "POST", "/v1/escalations/resolve", body); a.status != 400 {
			t.Errorf("%s: %d %s", what, a.status, a.body)
		}
	}
	if a := d.call(t, "eve", "POST", "/v1/escalations/resolve", map[string]any{"escalation_id": id, "approved": true}); a.status != 404 && a.status != 403 {
		t.Errorf("eve: %d %s", a.status, a.body)
	}
	a := d.call(t, "olga", "POST", "/v1/escalations/resolve", map[string]any{"session_id": session, "approved": true, "message": "done by hand", "resolved_by": "the desk"}, "Idempotency-Key", "e1")
	if a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if b := d.call(t, "olga", "POST", "/v1/escalations/resolve", map[string]any{"session_id": session, "approved": true, "message": "done by hand", "resolved_by": "the desk"}, "Idempotency-Key", "e1"); b.status != 200 || b.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("again: %d %s", b.status, b.body)
	}
	if ended := d.await(t, run); ended.Status != holdshort.RunCompleted {
		t.Errorf("%+v", ended)
	}
	if a := d.call(t, "olga", "POST", "/v1/escalations/resolve", map[string]any{"escalation_id": id, "approved": false}); a.status != 409 || !strings.Contains(string(a.body), "olga") {
		t.Errorf("closed: %d %s", a.status, a.body)
	}
	shared, other, _ := open()
	var second shownRun
	d.call(t, "ben", "POST", "/v1/runs", map[string]any{"flow": "ask", "input": "escalate", "session_id": shared}).into(t, &second)
	d.call(t, "ben", "GET", "/v1/runs/"+string(second.ID)+"?wait=10s", nil).into(t, &second)
	several := d.call(t, "olga", "POST", "/v1/escalations/resolve", map[string]any{"session_id": shared, "approved": true})
	if several.status != 409 || several.code(t) != "several_open" || !strings.Contains(string(several.body), string(other)) || !strings.Contains(string(several.body), string(second.OpenRequests[0])) {
		t.Errorf("two are open: %d %s", several.status, several.body)
	}
	if a := d.call(t, "olga", "POST", "/v1/escalations/resolve", map[string]any{"escalation_id": other, "approved": false, "message": "no"}); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
}
