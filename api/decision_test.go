package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
)

type shownRequest struct {
	ID       holdshort.RequestID     `json:"id"`
	Status   holdshort.RequestStatus `json:"status"`
	Outcome  holdshort.Outcome       `json:"outcome"`
	Actions  []holdshort.Action      `json:"actions"`
	Decision *struct {
		Action string          `json:"action"`
		Actor  holdshort.Actor `json:"actor"`
		Value  any             `json:"value"`
	} `json:"decision"`
	Fingerprint string `json:"fingerprint"`
}

func (d *door) await(t *testing.T, run holdshort.RunID) shownRun {
	t.Helper()
	var out shownRun
	for range 10 {
		d.call(t, "ben", "GET", "/v1/runs/"+string(run)+"?wait=10s", nil).into(t, &out)
		if out.Status.Ended() {
			return out
		}
	}
	t.Fatalf("run %s is still %s", run, out.Status)
	return out
}

func TestApproveOverHTTP(t *testing.T) {
	d := newDoor(t)
	run, id := d.asks(t)
	a := d.call(t, "ana", "POST", "/v1/requests/"+string(id)+"/decision", map[string]any{"action": "approve", "message": "fine"})
	if a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	var decided struct {
		Request shownRequest `json:"request"`
		Run     *shownRun    `json:"run"`
	}
	a.into(t, &decided)
	if decided.Request.Outcome != holdshort.Approved || decided.Request.Decision == nil || decided.Request.Decision.Actor.ID != "ana" || decided.Run == nil {
		t.Errorf("%s", a.body)
	}
	if ended := d.await(t, run.ID); ended.Status != holdshort.RunCompleted || string(ended.Result) != `"re_1"` || d.refunds.Load() != 1 {
		t.Errorf("%+v, %d refunds", ended, d.refunds.Load())
	}
	again := d.call(t, "ana", "POST", "/v1/requests/"+string(id)+"/decision", map[string]any{"action": "reject"})
	var problem struct {
		Code     string        `json:"code"`
		Request  *shownRequest `json:"request"`
		Decision *struct {
			Action string `json:"action"`
		} `json:"decision"`
	}
	again.into(t, &problem)
	if again.status != http.StatusConflict || problem.Code != "closed" || problem.Decision == nil || problem.Decision.Action != "approve" || problem.Request.ID != id {
		t.Errorf("the loser is told %d %s", again.status, again.body)
	}
	if kind := again.header.Get("Content-Type"); kind != "application/problem+json" {
		t.Errorf("content type %s", kind)
	}
}

func TestRefusedDecisions(t *testing.T) {
	d := newDoor(t)
	_, id := d.asks(t)
	path := "/v1/requests/" + string(id) + "/decision"
	unknown := "/v1/requests/" + string(holdshort.NewRequestID(now())) + "/decision"
	for _, c := range []struct {
		name, who, path string
		body            any
		status          int
		code            string
	}{
		{"nobody", "", path, `{"action":"approve"}`, 401, "unauthenticated"},
		{"nobody, before anything is read", "", path, `{`, 401, "unauthenticated"},
		{"an unknown word", "ana", path, `{"action":"aprove"}`, 400, "invalid"},
		{"an unknown word of who may not", "eve", path, `{"action":"aprove"}`, 400, "invalid"},
		{"no action", "ana", path, `{}`, 400, "invalid"},
		{"an unknown field", "ana", path, `{"action":"approve","mesage":"x"}`, 400, "invalid"},
		{"a wrong type", "ana", path, `{"action":7}`, 400, "invalid"},
		{"a key twice", "ana", path, `{"action":"reject","action":"approve"}`, 400, "invalid"},
		{"half a body", "ana", path, `{"action":"app`, 400, "invalid"},
		{"two bodies", "ana", path, `{"action":"approve"}{"action":"approve"}`, 400, "invalid"},
		{"a hash of one's own", "ana", path, `{"action":"approve","calls":[{"call_id":"call_1","action":"approve","args_hash":"00"}]}`, 400, "invalid"},
		{"who may not see it", "eve", path, `{"action":"approve"}`, 404, "not_found"},
		{"another tenant", "stranger", path, `{"action":"approve"}`, 404, "not_found"},
		{"no such request", "ana", unknown, `{"action":"approve"}`, 404, "not_found"},
		{"no id at all", "ana", "/v1/requests/zzz/decision", `{"action":"approve"}`, 404, "not_found"},
		{"the one who asked", "ben", path, `{"action":"approve"}`, 403, "forbidden"},
		{"another fingerprint", "ana", path, `{"action":"approve","fingerprint":"00"}`, 409, "fingerprint_mismatch"},
		{"what does not fit", "ana", path, `{"action":"select","option_ids":["x"]}`, 422, "does_not_fit"},
		{"a wrong edit", "ana", path, `{"action":"edit","args":{"order":"77"}}`, 422, "does_not_fit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := d.call(t, c.who, "POST", c.path, c.body)
			if a.status != c.status || a.code(t) != c.code {
				t.Errorf("%d %s, want %d %s", a.status, a.body, c.status, c.code)
			}
		})
	}
	var req shownRequest
	d.call(t, "ana", "GET", "/v1/requests/"+string(id), nil).into(t, &req)
	if req.Status != holdshort.RequestOpen || d.refunds.Load() != 0 {
		t.Errorf("after all that: %+v, %d refunds", req, d.refunds.Load())
	}
}

func TestReply(t *testing.T) {
	d := newDoor(t)
	a := d.call(t, "ben", "POST", "/v1/runs", map[string]any{"flow": "confirm", "input": "Send it?"})
	var run shownRun
	a.into(t, &run)
	d.call(t, "ben", "GET", "/v1/runs/"+string(run.ID)+"?wait=10s", nil).into(t, &run)
	path := "/v1/requests/" + string(run.OpenRequests[0]) + "/reply"
	unclear := d.call(t, "ben", "POST", path, map[string]any{"text": "perhaps tomorrow"})
	if unclear.status != 422 || unclear.code(t) != "invalid_reply" || !strings.Contains(string(unclear.body), "Send it?") {
		t.Errorf("%d %s", unclear.status, unclear.body)
	}
	if a := d.call(t, "ben", "POST", path, map[string]any{"text": "Yes!"}); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if ended := d.await(t, run.ID); string(ended.Result) != "true" {
		t.Errorf("%+v", ended)
	}
}

func TestManyDecisions(t *testing.T) {
	d := newDoor(t)
	var items []map[string]any
	for i := range 5 {
		_, id := d.asks(t)
		items = append(items, map[string]any{"id": id, "action": []string{"approve", "reject", "approve", "nonsense", "approve"}[i]})
	}
	items = append(items, map[string]any{"id": "req_unknown", "action": "approve"})
	type result struct {
		Items []struct {
			ID      string `json:"id"`
			Status  int    `json:"status"`
			Problem *struct {
				Code string `json:"code"`
			} `json:"problem"`
		} `json:"items"`
	}
	var first, second result
	d.call(t, "ana", "POST", "/v1/requests/decisions", map[string]any{"items": items}, "Idempotency-Key", "many").into(t, &first)
	d.call(t, "ana", "POST", "/v1/requests/decisions", map[string]any{"items": items}, "Idempotency-Key", "many").into(t, &second)
	for _, r := range []result{first, second} {
		var got []int
		for _, item := range r.Items {
			got = append(got, item.Status)
		}
		if fmt.Sprint(got) != "[200 200 200 400 200 404]" {
			t.Errorf("%v", got)
		}
	}
}
