package telemetry_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/sqlite"
)

// TestEventsTotalCountsEveryEvent: the counter of a process shows every event that it committed, those of operations, messages and seals too.
func TestEventsTotalCountsEveryEvent(t *testing.T) {
	path := t.TempDir() + "/t.db"
	n := startNode(t, path)
	s, err := n.OpenSession(t.Context(), "default", engine.OpenSessionInput{User: "ben", Channel: "chat", Address: "+1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = n.Receive(t.Context(), "default", engine.Inbound{Channel: "chat", Address: "+1", ID: "m1", Text: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	run, err := n.Start(t.Context(), "default", engine.StartInput{Flow: "refund", Session: s.ID, User: "ben", Input: []byte(`"77"`)})
	if err != nil {
		t.Fatal(err)
	}
	if run, err = n.AwaitRun(t.Context(), "default", run.ID, engine.Resting); err != nil {
		t.Fatal(err)
	}
	ids, err := n.OpenRequests(t.Context(), "default", run)
	if err != nil || len(ids) != 1 {
		t.Fatal(ids, err)
	}
	ana := holdshort.Actor{ID: "ana", Kind: holdshort.Person, Roles: []string{policy.Reviewer}, Assurance: holdshort.AssuranceLogin}
	if _, err := n.Decide(t.Context(), "default", engine.DecideInput{Request: ids[0], Action: holdshort.Approve, Actor: ana}); err != nil {
		t.Fatal(err)
	}
	if run, err := n.AwaitRun(t.Context(), "default", run.ID, engine.Ended); err != nil || run.Status != holdshort.RunCompleted {
		t.Fatal(run.Status, run.Error, err)
	}
	n.stop()
	recorder := httptest.NewRecorder()
	n.metrics.ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))

	file, err := sqlite.OpenReadOnly(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stored := map[string]int{}
	err = file.System().Export(t.Context(), func(r store.Record) error {
		if r.Event != nil {
			stored[r.Event.Type]++
		}
		return nil
	})
	if err != nil || stored["operation.done"] == 0 || stored["message.received"] == 0 || stored["run.completed"] == 0 {
		t.Fatalf("the log has %v: %v", stored, err)
	}
	for name, count := range stored {
		line := fmt.Sprintf("holdshort_events_total{type=%q} %d\n", name, count)
		if !strings.Contains(recorder.Body.String(), line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
	if got := strings.Count(recorder.Body.String(), "\nholdshort_events_total{"); got != len(stored) {
		t.Errorf("the metrics count %d types of events, the log has %d", got, len(stored))
	}
}
