package setup_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// approve approves what a run waits for, and gives which call that was.
func (h *house) approve(run holdshort.RunID) string {
	h.t.Helper()
	now, err := h.as("ben").AwaitRun(h.t.Context(), run)
	if err != nil || now.Request == nil {
		h.t.Fatalf("%+v, %v", now.Run, err)
	}
	if _, err := h.as("ana", reviewer...).Decide(h.t.Context(), now.Request.ID, client.Choice{Action: holdshort.Approve, Fingerprint: now.Request.Fingerprint}); err != nil {
		h.t.Fatal(err)
	}
	return string(now.Request.Actions[0].Args)
}

// Each approval is for one call: a run with three of them pauses three times, under a fresh id each, and the answer to one is none to another.
func TestSeveralPauses(t *testing.T) {
	h := newHouse(t, houseOptions{text: async(desk)})
	taken := h.says(h.session("refunds"), "look up order 9")
	var seen []holdshort.RequestID
	for i, want := range []string{`{"amount":1,"order":"a1"}`, `{"amount":2,"order":"a2"}`, `{"amount":3,"order":"a3"}`} {
		run, err := h.as("ben").AwaitRun(t.Context(), taken.Run.ID)
		if err != nil || run.Request == nil || slices.Contains(seen, run.Request.ID) {
			t.Fatalf("pause %d: %+v, %v", i, run, err)
		}
		seen = append(seen, run.Request.ID)
		if told := h.shop.told(); len(told) != i+1 { // the look-up, and what was approved so far
			t.Fatalf("pause %d: %q", i, told)
		}
		if got := h.approve(taken.Run.ID); got != want {
			t.Errorf("pause %d: %s, want %s", i, got, want)
		}
		if status, _, body := h.call("ana", "POST", "/v1/resume/"+string(run.Request.ID), `{"action":"approve"}`); status != 409 {
			t.Errorf("the answer again: %d %s", status, body)
		}
	}
	if run := h.end(taken.Run.ID); run.Status != holdshort.RunCompleted || !strings.Contains(string(run.Result), "paid back a3") {
		t.Errorf("%s %s", run.Status, run.Result)
	}
	if told := h.shop.told(); len(told) != 4 {
		t.Errorf("%q", told)
	}
}

// What waits outlives the process: the next one says how many wait, resumes nothing by itself, and goes on with exactly what was approved.
func TestRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "holdshort.db")
	h := newHouse(t, houseOptions{text: async(desk), path: path})
	first, second := h.says(h.session("refunds"), "refund order 1 for 10"), h.says(h.session("refunds"), "refund order 2 for 20")
	h.stop()
	again := newHouse(t, houseOptions{text: async(desk), path: path, shop: h.shop})
	again.keys = h.keys
	again.log.says(t, "waiting_runs=2")
	if told := h.shop.told(); len(told) != 0 {
		t.Fatalf("a restart approved: %q", told)
	}
	for _, taken := range []client.Taken{first, second} {
		run, err := again.as("ben").Run(t.Context(), taken.Run.ID)
		if err != nil || run.Status != holdshort.RunWaiting || run.Request == nil || run.Request.ID != taken.Request.ID || run.Request.Fingerprint != taken.Request.Fingerprint || run.Request.Question != taken.Request.Question {
			t.Fatalf("%+v, %v; it was %+v", run, err, taken.Request)
		}
		again.approve(taken.Run.ID)
		if run := again.end(taken.Run.ID); run.Status != holdshort.RunCompleted {
			t.Errorf("%s %+v", run.Status, run.Error)
		}
	}
	if told := h.shop.told(); len(told) != 2 {
		t.Errorf("%q", told)
	}
}

// The agent's input_timeout is the time of its approvals, unless a rule says another. When it is over the run has failed and nothing ran.
func TestTimeout(t *testing.T) {
	var passed atomic.Int64
	began := time.Now()
	h := newHouse(t, houseOptions{text: strings.Replace(async(desk), "input_timeout: 600", "input_timeout: 90", 1), clock: func() time.Time { return time.Now().Add(time.Duration(passed.Load())) }})
	taken := h.says(h.session("refunds"), "refund order 1 for 10")
	big := h.says(h.session("refunds"), "refund order 1 for 1000")
	if got := taken.Request.ExpiresAt.Sub(taken.Request.CreatedAt); got != 90*time.Second {
		t.Errorf("it expires after %s", got)
	}
	if got := big.Request.ExpiresAt.Sub(big.Request.CreatedAt); got != 24*time.Hour {
		t.Errorf("the rule's own time: %s", got)
	}
	passed.Store(int64(91*time.Second + time.Since(began)))
	req, err := h.as("ben").Request(t.Context(), taken.Request.ID)
	if err != nil || req.Status != holdshort.RequestExpired {
		t.Errorf("%+v, %v", req.Request, err)
	}
	h.as("ana", reviewer...)
	if status, _, body := h.call("ana", "POST", "/v1/requests/"+string(req.ID)+"/decision", `{"action":"approve"}`); status != 410 {
		t.Errorf("too late: %d %s", status, body)
	}
	run := h.end(taken.Run.ID)
	if run.Status != holdshort.RunFailed || run.Error == nil || run.Error.Code != holdshort.Expired {
		t.Errorf("%s %+v", run.Status, run.Error)
	}
	if other, err := h.as("ben").Run(t.Context(), big.Run.ID); err != nil || other.Status != holdshort.RunWaiting {
		t.Errorf("%+v, %v", other.Run, err)
	}
	if told := h.shop.told(); len(told) != 0 {
		t.Errorf("%q", told)
	}
}

// A batch is one request; nothing of it runs before the decision, and then each call once.
func TestBatch(t *testing.T) {
	h := newHouse(t, houseOptions{text: async(desk)})
	taken := h.says(h.session("refunds"), "refund order 1 for 10 and order 2 for 20")
	if taken.Request == nil || len(taken.Request.Actions) != 2 {
		t.Fatalf("%+v", taken.Request)
	}
	calls := []holdshort.CallDecision{{CallID: taken.Request.Actions[0].CallID, Action: holdshort.Edit, Args: json.RawMessage(`{"order":"1","amount":5}`)}, {CallID: taken.Request.Actions[1].CallID, Action: holdshort.Reject}}
	if _, err := h.as("ana", reviewer...).Decide(t.Context(), taken.Request.ID, client.Choice{Action: holdshort.Edit, Calls: calls}); err != nil {
		t.Fatal(err)
	}
	run := h.end(taken.Run.ID)
	if told := h.shop.told(); run.Status != holdshort.RunCompleted || !slices.Equal(told, []string{`POST /refunds {"amount":5,"order":"1"}`}) {
		t.Errorf("%s %+v: %q", run.Status, run.Error, told)
	}
}
