package api_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
)

// What is withheld cannot be found out by trying: nothing that is shown beside it is a plain hash of it.
func TestWithheldCannotBeGuessed(t *testing.T) {
	d := newHouse(t)
	_, id := d.starts(t, "bank", map[string]any{"iban": "DE001", "amount": 5})
	guess := func(iban string) string {
		sum := sha256.Sum256([]byte(`{"amount":5,"iban":"` + iban + `"}`))
		return hex.EncodeToString(sum[:])
	}
	for _, path := range []string{"/v1/requests/" + string(id), "/v1/requests?status=open"} {
		if a := d.call(t, "olga", "GET", path, nil); strings.Contains(string(a.body), guess("DE001")) || strings.Contains(string(a.body), "DE001") {
			t.Errorf("GET %s tells the withheld number to whoever tries a few: %s", path, a.body)
		}
	}
	a := d.call(t, "ana", "POST", "/v1/requests/"+string(id)+"/decision", map[string]any{"action": "approve"})
	if strings.Contains(string(a.body), guess("DE001")) {
		t.Errorf("the decision does: %s", a.body)
	}
	if a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// One name for one field: what a reader with another idea of capitals takes for a rejection is never an approval.
func TestCapitalsDoNotDecide(t *testing.T) {
	d := newHouse(t)
	_, id := d.starts(t, "refund", refund{"77", 120})
	a := d.call(t, "ana", "POST", "/v1/requests/"+string(id)+"/decision", `{"action":"reject","ACTION":"approve"}`)
	if got := d.status(t, id); a.status != http.StatusBadRequest || got != holdshort.RequestOpen {
		t.Errorf(`{"action":"reject","ACTION":"approve"}: %d, the request is %s`, a.status, got)
	}
}

// JSON as deep as it may be breaks nothing.
func TestDeepJSON(t *testing.T) {
	d := newHouse(t)
	for _, depth := range []int{500, 9_900, 200_000} {
		deep := strings.Repeat("[", depth) + strings.Repeat("]", depth)
		for _, body := range []string{
			`{"kind":"approval","actions":[{"tool":"x","args":{"a":` + deep + `}}]}`,
			`{"kind":"approval","actions":[{"tool":"x","args":{"a":1}}],"context":{"a":` + deep + `}}`,
			`{"kind":"clarification","question":"?","expected_input":"form","schema":{"properties":{"a":{"const":` + deep + `}}}}`,
		} {
			a := d.call(t, "gate", "POST", "/v1/requests", body)
			if a.status >= 500 {
				t.Errorf("depth %d: %d %s", depth, a.status, a.body[:min(len(a.body), 300)])
			}
		}
	}
}

// Spans of time that are none, and numbers that do not fit.
func TestOddSpans(t *testing.T) {
	d := newHouse(t)
	_, id := d.starts(t, "refund", refund{"77", 120})
	ask := func(extra string) string {
		return `{"kind":"approval","actions":[{"tool":"x","args":{"a":1}}],` + extra + `}`
	}
	for _, body := range []string{`"expires_in":"never"`, `"expires_in":"2562047h"`, `"expires_in":-1`, `"expires_in":"-1s"`, `"expires_in":1e300`, `"expires_in":0.0000000001`, `"expires_in":"9223372036854775807ns"`, `"on_timeout":"approve"`} {
		a := d.call(t, "gate", "POST", "/v1/requests", ask(body))
		if a.status >= 500 {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
		var req holdshort.Request
		if a.status == http.StatusCreated {
			a.into(t, &req)
			if req.ExpiresAt.IsZero() || time.Until(req.ExpiresAt) > 366*24*time.Hour || req.OnTimeout == holdshort.TimeoutApprove {
				t.Errorf("%s: expires at %v, then %s", body, req.ExpiresAt, req.OnTimeout)
			}
		}
	}
	for _, path := range []string{"/v1/requests?limit=99999999999999999999", "/v1/requests?limit=-1", "/v1/requests?limit=9223372036854775807", "/v1/requests/" + string(id) + "?wait=2562047h", "/v1/requests/" + string(id) + "?wait=-1s",
		"/v1/requests/" + string(id) + "?wait=NaN", "/v1/events?after=-1", "/v1/events?after=99999999999999999999", "/v1/requests?cursor=%00", "/v1/requests?cursor=../../x", "/v1/requests/req_%2e%2e%2fx", "/v1/requests/%00"} {
		if a := d.call(t, "ana", "GET", path, nil); a.status != http.StatusBadRequest && a.status != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
}

// The longest key that is taken is taken everywhere.
func TestLongestKey(t *testing.T) {
	d := newHouse(t)
	_, id := d.starts(t, "refund", refund{"77", 120})
	key := strings.Repeat("k", 200)
	a := d.call(t, "ana", "POST", "/v1/requests/decisions", map[string]any{"items": []any{map[string]any{"id": id, "action": "approve"}}}, "Idempotency-Key", key)
	if a.status != 200 || d.status(t, id) != holdshort.RequestResolved {
		t.Errorf("many: %d %s", a.status, a.body)
	}
	a = d.call(t, "gate", "POST", "/v1/requests", `{"kind":"approval","actions":[{"tool":"x","args":{"a":1}}]}`, "Idempotency-Key", key)
	var req shownRequest
	if a.into(t, &req); a.status != http.StatusCreated {
		t.Fatalf("raise: %d %s", a.status, a.body)
	}
	if a := d.call(t, "ana", "POST", "/v1/requests/"+string(req.ID)+"/decision", map[string]any{"action": "approve"}); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a := d.call(t, "gate", "POST", "/v1/requests/"+string(req.ID)+"/claim", nil, "Idempotency-Key", key); a.status != 200 {
		t.Errorf("claim: %d %s", a.status, a.body)
	}
}

// A page whose name was pointed at this machine reads no figures.
func TestMetricsNotByAnotherName(t *testing.T) {
	d := newHouse(t, func(o *houseOptions) {
		o.api.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "figures") })
	})
	r, err := http.NewRequestWithContext(t.Context(), "GET", d.http.URL+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "evil.example:8080"
	res, err := d.http.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if res.Body.Close(); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("figures for evil.example: %d", res.StatusCode)
	}
}

// Somebody who asks for an answer and does not read it is let go.
func TestAnswersNobodyReads(t *testing.T) {
	var deadlines int
	w := &counting{ResponseRecorder: httptest.NewRecorder(), set: &deadlines}
	d := newHouse(t)
	r := httptest.NewRequest("GET", "/v1/me", nil)
	r.Header.Set("Authorization", "Bearer "+adminKey)
	d.server.ServeHTTP(w, r)
	if w.Code != 200 || deadlines == 0 {
		t.Errorf("%d, write deadlines set: %d", w.Code, deadlines)
	}
}

type counting struct {
	*httptest.ResponseRecorder
	set *int
}

func (c *counting) SetWriteDeadline(time.Time) error { *c.set++; return nil }

// Methods and headers that are none of ours.
func TestOddRequestLines(t *testing.T) {
	d := newHouse(t)
	_, id := d.starts(t, "refund", refund{"77", 120})
	for _, line := range []string{"GET /v1/requests/" + string(id) + "/decision?action=approve", "PUT /v1/requests/" + string(id) + "/decision", "OPTIONS /v1/requests/" + string(id) + "/decision", "TRACE /v1/me",
		"HEAD /v1/resume/" + string(id) + "?action=approve", "GET /v1/resume/" + string(id) + "?action=approve", "APPROVE /r/" + string(id), "GET //v1/requests/" + string(id), "GET /v1/../v1/me", "POST /r/" + string(id) + "?action=approve"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(d.http.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nX-HTTP-Method-Override: POST\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", line, d.as(t, "ana"))
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if conn.Close(); res.StatusCode < 300 || res.StatusCode >= 500 {
			t.Errorf("%s: %d", line, res.StatusCode)
		}
	}
	if got := d.status(t, id); got != holdshort.RequestOpen {
		t.Errorf("one of them decided: %s", got)
	}
}
