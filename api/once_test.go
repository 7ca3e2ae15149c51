package api_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

func now() time.Time { return time.Now() }

func TestIdempotentDecision(t *testing.T) {
	d := newDoor(t)
	_, id := d.asks(t)
	path := "/v1/requests/" + string(id) + "/decision"
	body := map[string]any{"action": "approve"}
	first := d.call(t, "ana", "POST", path, body, "Idempotency-Key", "k1")
	second := d.call(t, "ana", "POST", path, body, "Idempotency-Key", "k1")
	if first.status != 200 || second.status != 200 || first.header.Get("Idempotent-Replayed") != "" || second.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%d %v, then %d %s %v", first.status, first.header, second.status, second.body, second.header)
	}
	if a := d.call(t, "ana", "POST", path, map[string]any{"action": "reject"}, "Idempotency-Key", "k1"); a.status != 422 || a.code(t) != "idempotency_key_reused" {
		t.Errorf("the key with another body: %d %s", a.status, a.body)
	}
	if a := d.call(t, "admin", "POST", path, body, "Idempotency-Key", "k1"); a.status == 200 {
		t.Errorf("somebody else's key: %d %s", a.status, a.body)
	}
	for _, bad := range []string{strings.Repeat("k", 256), "ü", "a\tb"} {
		if a := d.call(t, "ana", "POST", path, body, "Idempotency-Key", bad); a.status != 400 {
			t.Errorf("key %q: %d %s", bad, a.status, a.body)
		}
	}
}

func TestIdempotentStart(t *testing.T) {
	d := newDoor(t)
	body := map[string]any{"flow": "refund", "input": refund{"77", 120}}
	d.as(t, "ben")
	ids := make([]string, 20)
	replayed := make([]bool, len(ids))
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			a := d.call(t, "ben", "POST", "/v1/runs", body, "Idempotency-Key", "start")
			if a.status != http.StatusCreated {
				t.Errorf("%d %s", a.status, a.body)
				return
			}
			var run shownRun
			a.into(t, &run)
			ids[i], replayed[i] = string(run.ID), a.header.Get("Idempotent-Replayed") == "true"
		})
	}
	wg.Wait()
	fresh := 0
	for i := range ids {
		if ids[i] != ids[0] {
			t.Errorf("two runs: %s and %s", ids[0], ids[i])
		}
		if !replayed[i] {
			fresh++
		}
	}
	if fresh != 1 {
		t.Errorf("%d calls say that they started it", fresh)
	}
	var list struct{ Items []shownRun }
	d.call(t, "ben", "GET", "/v1/runs", nil).into(t, &list)
	if len(list.Items) != 1 {
		t.Errorf("%d runs", len(list.Items))
	}
}
