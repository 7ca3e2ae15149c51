package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
)

func (d *door) status(t *testing.T, id holdshort.RequestID) holdshort.RequestStatus {
	t.Helper()
	req, err := d.engine.RequestByID(t.Context(), tenant, id)
	if err != nil {
		t.Fatal(err)
	}
	return req.Status
}

// TestNoPages: a server without pages has nothing beside its calls.
func TestNoPages(t *testing.T) {
	d := newHouse(t)
	_, id := d.starts(t, "refund", refund{"1", 1})
	for _, line := range []string{"GET /", "GET /live.js", "GET /nothing", "GET /r/" + string(id), "POST /r/" + string(id), "POST /"} {
		method, path, _ := strings.Cut(line, " ")
		a := d.call(t, "ana", method, path, nil)
		refused(t, line, a, 404)
		if strings.Contains(string(a.body), string(id)) {
			t.Errorf("%s: %s", line, a.body)
		}
	}
}

// TestPagesGetTheRest: whatever is no call goes to the pages as it came, whoever asks; what is under /v1 never does.
func TestPagesGetTheRest(t *testing.T) {
	d := newHouse(t, func(o *houseOptions) {
		o.api.Pages = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "page of %s %s", r.Method, r.URL) })
	})
	for _, line := range []string{"GET /", "GET /r/req_1?t=x", "POST /r/req_1", "GET /assets/1/base.css", "POST /settings/look"} {
		method, path, _ := strings.Cut(line, " ")
		if a := d.call(t, "", method, path, nil); a.status != 200 || string(a.body) != "page of "+line {
			t.Errorf("%s: %d %s", line, a.status, a.body)
		}
	}
	refused(t, "under /v1", d.call(t, "ana", "GET", "/v1/nothing", nil), 404)
}
