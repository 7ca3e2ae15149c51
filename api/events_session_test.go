package api_test

import (
	"encoding/json"
	"testing"

	"github.com/holdshort/holdshort"
)

// TestSessionStreamShowsOperations: the event stream of a session has the operations of its runs, with the ids that connect them.
func TestSessionStreamShowsOperations(t *testing.T) {
	d := newHouse(t)
	var s struct {
		ID holdshort.SessionID `json:"id"`
	}
	if a := d.call(t, "ben", "POST", "/v1/sessions", map[string]any{}); a.status != 201 {
		t.Fatalf("%d %s", a.status, a.body)
	} else {
		a.into(t, &s)
	}
	stream := d.tune(t, "ben", "/v1/sessions/"+string(s.ID)+"/events")
	a := d.call(t, "ben", "POST", "/v1/runs", map[string]any{"flow": "refund", "session_id": s.ID, "input": refund{"77", 120}})
	if a.status != 201 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	var run shownRun
	a.into(t, &run)
	var created holdshort.Event
	asked := stream.until("hitl.request.created")
	if err := json.Unmarshal([]byte(asked[len(asked)-1].Data), &created); err != nil {
		t.Fatal(err)
	}
	if a := d.call(t, "ana", "POST", "/v1/requests/"+string(created.Request)+"/decision", map[string]any{"action": "approve"}); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	seen := map[string]holdshort.Event{}
	for _, h := range stream.until("run.completed") {
		var e holdshort.Event
		if err := json.Unmarshal([]byte(h.Data), &e); err != nil {
			t.Fatal(err)
		}
		seen[h.Name] = e
	}
	for _, name := range []string{"operation.started", "operation.done"} {
		e, ok := seen[name]
		if !ok {
			t.Errorf("the stream of the session lacks %s", name)
			continue
		}
		if e.Session != s.ID || e.Run != run.ID || e.Request != created.Request || e.Trace == "" || e.Trace != created.Trace || e.Flow != "refund" {
			t.Errorf("%s says %+v", name, e)
		}
	}
}
