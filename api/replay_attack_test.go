package api_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/holdshort/holdshort"
)

// A call that was refused leaves nothing under its key; one that was done is the only one of its key, whoever races it.
func TestKeysOfRefusedCalls(t *testing.T) {
	d := newHouse(t)
	_, id := d.starts(t, "refund", refund{"77", 120})
	path := "/v1/requests/" + string(id) + "/decision"
	for range 2 {
		if a := d.call(t, "eve", "POST", path, `{"action":"approve"}`, "Idempotency-Key", "k"); a.status != http.StatusNotFound {
			t.Fatalf("eve: %d %s", a.status, a.body)
		}
		if a := d.call(t, "ana", "POST", path, `{"action":"approve","fingerprint":"another"}`, "Idempotency-Key", "k"); a.status != http.StatusConflict {
			t.Fatalf("another fingerprint: %d %s", a.status, a.body)
		}
	}
	var wg sync.WaitGroup
	statuses := make([]int, 16)
	for i := range statuses {
		wg.Go(func() {
			body := `{"action":"approve"}`
			if i%2 == 1 {
				body = `{"action":"reject"}`
			}
			statuses[i] = d.call(t, "ana", "POST", path, body, "Idempotency-Key", "k").status
		})
	}
	wg.Wait()
	var done [2]int
	for i, status := range statuses {
		switch status {
		case http.StatusOK:
			done[i%2]++
		case http.StatusUnprocessableEntity, http.StatusConflict:
		default:
			t.Errorf("call %d: %d", i, status)
		}
	}
	if (done[0] == 0) == (done[1] == 0) {
		t.Errorf("under one key %d were told that they approved and %d that they rejected", done[0], done[1])
	}
	if a := d.call(t, "eve", "POST", path, `{"action":"approve"}`, "Idempotency-Key", "k"); a.status != http.StatusNotFound {
		t.Errorf("eve is told what ana did: %d %s", a.status, a.body)
	}
	if got := d.status(t, id); got != holdshort.RequestResolved {
		t.Errorf("the request is %s", got)
	}
}
