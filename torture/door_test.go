package torture

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// TestDoorRepeats: a call is made again under its own key until somebody answers, and only then.
func TestDoorRepeats(t *testing.T) {
	refuse := func(status int, code holdshort.Code) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(map[string]any{"code": code, "status": status})
		}
	}
	breaks := func(w http.ResponseWriter, _ *http.Request) { hangUp(w) }
	done := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Idempotent-Replayed", "true")
		_, _ = w.Write([]byte("{}"))
	}
	for _, tt := range []struct {
		name    string
		answers []http.HandlerFunc
		final   bool
		want    holdshort.Code
	}{
		{"at once", []http.HandlerFunc{done}, false, ""},
		{"after a connection that broke", []http.HandlerFunc{breaks, breaks, done}, false, ""},
		{"after a server that could not", []http.HandlerFunc{refuse(503, holdshort.StoreUnavailable), refuse(429, holdshort.RateLimited), done}, false, ""},
		{"somebody was faster", []http.HandlerFunc{refuse(409, holdshort.Conflict), done}, false, ""},
		{"a conflict that is the answer", []http.HandlerFunc{refuse(409, holdshort.Conflict)}, true, holdshort.Conflict},
		{"a refusal", []http.HandlerFunc{breaks, refuse(409, holdshort.Closed)}, false, holdshort.Closed},
		{"what no server of ours says", []http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "oops", http.StatusTeapot) }}, false, holdshort.Internal},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var keys []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				keys = append(keys, r.Header.Get("Idempotency-Key"))
				tt.answers[len(keys)-1](w, r)
			}))
			defer server.Close()
			r, sent, err := newDoor(func() string { return server.URL }).until(t.Context(), visit{method: http.MethodPost, path: "/v1/runs", key: "k", body: struct{}{}, final: tt.final})
			if err != nil || r.code() != tt.want || r.ok() != (tt.want == "") || r.replayed != r.ok() {
				t.Errorf("got %d %q %v, want %q", r.status, r.code(), err, tt.want)
			}
			if sent != len(tt.answers) || len(keys) != sent || slices.ContainsFunc(keys, func(k string) bool { return k != "k" }) {
				t.Errorf("sent %d times under %q, want %d", sent, keys, len(tt.answers))
			}
		})
	}
}

// TestLedgerReplays: what a repeated decision is answered with over HTTP must be what was acknowledged before.
func TestLedgerReplays(t *testing.T) {
	mine, other := holdshort.Decision{Action: holdshort.Approve, Message: "a"}, holdshort.Decision{Action: holdshort.Approve, Message: "b"}
	for _, tt := range []struct {
		name string
		told []answered
		want bool
	}{
		{"the same again", []answered{{Status: 200, Decision: &mine}, {Status: 200, Decision: &mine, Replayed: true}}, false},
		{"a vote, and others decided since", []answered{{Status: 200}, {Status: 200, Decision: &other, Votes: []holdshort.Vote{mine}, Replayed: true}}, false},
		{"a vote that is gone", []answered{{Status: 200}, {Status: 200, Decision: &other, Replayed: true}}, true},
		{"another decision now", []answered{{Status: 200, Decision: &mine}, {Status: 200, Decision: &other, Replayed: true}}, true},
		{"too late for itself", []answered{{Status: 409, Code: holdshort.Closed, Decision: &mine}}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := &load{ledger: newLedger(&Report{})}
			l.ledger.asked["req_1"] = &toldPause{sent: map[string]bool{"a": true, "b": true}}
			in := engine.DecideInput{Request: "req_1", Message: "a"}
			for _, a := range tt.told {
				l.ledger.decided(in.Request, "ana0", in.Message, a)
			}
			if got := l.ledger.report.Violations[OneDecision] > 0; got != tt.want {
				t.Errorf("violated: %v, want %v: %v", got, tt.want, l.ledger.report.Faults)
			}
		})
	}
}
