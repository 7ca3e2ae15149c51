package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// A key that may not decide does not decide by writing "yes" into a chat either: what a scope withholds, no other path gives.
func TestMessagesDecideOnlyWithTheScope(t *testing.T) {
	d := newHouse(t)
	d.keys["poster"] = d.key(t, tenant, "", []string{policy.Operator, policy.Reviewer}, []string{holdshort.ScopePost})
	session := d.chat(t)
	a := d.call(t, "ben", "POST", "/v1/runs", map[string]any{"flow": "refund", "session_id": session, "input": refund{"77", 120}})
	if a.status != http.StatusCreated {
		t.Fatalf("%d %s", a.status, a.body)
	}
	var run shownRun
	a.into(t, &run)
	d.call(t, "ben", "GET", "/v1/runs/"+string(run.ID)+"?wait=10s", nil).into(t, &run)
	if len(run.OpenRequests) != 1 {
		t.Fatalf("%+v", run)
	}
	id := run.OpenRequests[0]
	var req struct {
		Code string `json:"code"`
	}
	d.call(t, "ana", "GET", "/v1/requests/"+string(id), nil).into(t, &req)
	if a := d.call(t, "poster", "POST", "/v1/requests/"+string(id)+"/decision", map[string]any{"action": "approve"}); a.status != http.StatusForbidden {
		t.Fatalf("decide without the scope: %d %s", a.status, a.body)
	}
	d.call(t, "poster", "POST", "/v1/sessions/"+string(session)+"/messages", map[string]any{"text": req.Code + " yes", "reply_to": string(id)})
	if got := d.status(t, id); got != holdshort.RequestOpen {
		t.Errorf("a key with the scope post alone decided by a message: the request is %s, refunds %d", got, d.refunds.Load())
	}
}

// A key that may raise does not decide, whichever way it tries.
func TestRaiserDoesNotAnswerInChat(t *testing.T) {
	d := newHouse(t)
	d.keys["agent"] = d.key(t, tenant, "", nil, []string{holdshort.ScopeRaise, holdshort.ScopeClaim, holdshort.ScopePost, holdshort.ScopeActAsUser})
	session := d.chat(t)
	a := d.call(t, "ben", "POST", "/v1/sessions/"+string(session)+"/messages?wait=10s", map[string]any{"text": "hello"})
	var got shownTaken
	a.into(t, &got)
	if got.Request == nil {
		t.Fatalf("%s", a.body)
	}
	if a := d.call(t, "agent", "POST", "/v1/requests/"+string(got.Request.ID)+"/decision", map[string]any{"action": "approve"}, "Holdshort-User", "ben"); a.status != http.StatusForbidden {
		t.Fatalf("decide: %d %s", a.status, a.body)
	}
	a = d.call(t, "agent", "POST", "/v1/sessions/"+string(session)+"/messages?wait=10s", map[string]any{"text": "yes"}, "Holdshort-User", "ben")
	if now := d.status(t, got.Request.ID); now != holdshort.RequestOpen {
		t.Errorf("a key that may raise decided by a message: %s", now)
	}
}

// Whoever raises a request speaks to nobody's user without the right to.
func TestRaiseIntoOthersSessions(t *testing.T) {
	d := newHouse(t)
	session := d.chat(t) // ben's
	for _, who := range []string{"gate", "eve"} {
		a := d.call(t, who, "POST", "/v1/requests", map[string]any{"kind": "clarification", "question": "What is your password?", "expected_input": "free_text", "session_id": session})
		if a.status < 400 {
			t.Errorf("%s asked ben in his own chat: %d %s", who, a.status, a.body)
		}
	}
}

// The same key with another query is another call.
func TestKeyCoversTheQuery(t *testing.T) {
	d := newHouse(t)
	_, id := d.starts(t, "refund", refund{"77", 120})
	first := d.call(t, "ana", "POST", "/v1/resume/"+string(id)+"?action=approve", nil, "Idempotency-Key", "k1")
	if first.status != 200 {
		t.Fatalf("%d %s", first.status, first.body)
	}
	second := d.call(t, "ana", "POST", "/v1/resume/"+string(id)+"?action=reject", nil, "Idempotency-Key", "k1")
	if second.status != http.StatusUnprocessableEntity && second.status != http.StatusConflict {
		t.Errorf("reject under the key of an approval: %d %s", second.status, second.body)
	}
}

// A key speaks for several users: what it did for one is not what it did for the other.
func TestKeyCoversTheUser(t *testing.T) {
	d := newHouse(t)
	d.keys["agent"] = d.key(t, tenant, "", nil, []string{holdshort.ScopeStart, holdshort.ScopePost, holdshort.ScopeActAsUser})
	body := map[string]any{"flow": "refund", "input": refund{"77", 120}}
	var one, two shownRun
	d.call(t, "agent", "POST", "/v1/runs", body, "Holdshort-User", "ana", "Idempotency-Key", "k").into(t, &one)
	a := d.call(t, "agent", "POST", "/v1/runs", body, "Holdshort-User", "ben", "Idempotency-Key", "k")
	if a.status != http.StatusCreated {
		t.Fatalf("nothing was started for ben: %d %s", a.status, a.body)
	}
	if a.into(t, &two); one.ID == "" || one.ID == two.ID {
		t.Errorf("ben was given ana's run: %s", a.body)
	}
}

// A key that is revoked while somebody waits with it opens nothing when the wait ends.
func TestRevokedWhileWaiting(t *testing.T) {
	d := newHouse(t)
	_, id := d.starts(t, "refund", refund{"77", 120})
	waiter := d.key(t, tenant, "wim", []string{policy.Reviewer}, nil)
	d.keys["wim"] = waiter
	d.as(t, "ana") // before the two run beside each other
	_, key, err := d.engine.KeyBySecret(t.Context(), waiter)
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan answer, 1)
	go func() { answered <- d.call(t, "wim", "GET", "/v1/requests/"+string(id)+"?wait=20s", nil) }()
	decided := make(chan struct{})
	time.AfterFunc(300*time.Millisecond, func() {
		defer close(decided)
		d.engine.RevokeKey(t.Context(), tenant, key.ID, holdshort.SystemActor("test"))
		d.call(t, "ana", "POST", "/v1/requests/"+string(id)+"/decision", map[string]any{"action": "reject", "message": "a secret reason"})
	})
	if a := <-answered; a.status != http.StatusUnauthorized {
		t.Errorf("a revoked key was told what was decided: %d %s", a.status, a.body)
	}
	<-decided // who waits is woken by the commit, before whoever decided has their answer
}
