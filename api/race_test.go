package api_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/holdshort/holdshort"
)

// TestManyDecide: a hundred decide one request at the same moment. One of them does; the rest are told which decision stands; what was
// approved happens once, or not at all if the one who won said no.
func TestManyDecide(t *testing.T) {
	d := newHouse(t)
	const deciders = 100
	for i := range deciders {
		name := fmt.Sprint("reviewer", i)
		d.keys[name] = d.key(t, tenant, name, []string{"reviewer"}, nil)
	}
	for round := range 3 {
		before := d.refunds.Load()
		run, id := d.starts(t, "refund", refund{fmt.Sprint(round), 10})
		var wg sync.WaitGroup
		begin := make(chan struct{})
		answers := make([]answer, deciders)
		for i := range deciders {
			wg.Go(func() {
				<-begin
				action := "approve"
				if round == 1 && i%2 == 1 {
					action = "reject"
				}
				answers[i] = d.call(t, fmt.Sprint("reviewer", i), "POST", "/v1/requests/"+string(id)+"/decision", map[string]any{"action": action, "message": fmt.Sprint("said by ", i)})
			})
		}
		close(begin)
		wg.Wait()
		type standing struct {
			Code     string `json:"code"`
			Decision *struct {
				Action string          `json:"action"`
				Actor  holdshort.Actor `json:"actor"`
			} `json:"decision"`
			Request shownRequest `json:"request"`
		}
		var winner string
		var won standing
		for i, a := range answers {
			if a.status == 200 {
				if winner != "" {
					t.Fatalf("%s and reviewer%d both won", winner, i)
				}
				winner = fmt.Sprint("reviewer", i)
				a.into(t, &won)
			}
		}
		if winner == "" || won.Request.Decision == nil || won.Request.Decision.Actor.ID != winner {
			t.Fatalf("%q won: %+v", winner, won)
		}
		for i, a := range answers {
			if a.status == 200 {
				continue
			}
			var s standing
			if err := json.Unmarshal(a.body, &s); err != nil || a.status != 409 || s.Code != "closed" || s.Decision == nil || s.Decision.Actor.ID != winner || s.Decision.Action != won.Request.Decision.Action {
				t.Fatalf("reviewer%d: %d %s", i, a.status, a.body)
			}
		}
		ended := d.await(t, run.ID)
		happened := d.refunds.Load() - before
		if won.Request.Decision.Action == "approve" && (happened != 1 || ended.Status != holdshort.RunCompleted) || won.Request.Decision.Action == "reject" && happened != 0 {
			t.Errorf("%s won, it happened %d times, the run is %s", won.Request.Decision.Action, happened, ended.Status)
		}
	}
}

// TestManyWait: those who wait for one request are all told when it is decided.
func TestManyWait(t *testing.T) {
	d := newHouse(t)
	_, id := d.starts(t, "refund", refund{"1", 10})
	d.as(t, "ana")
	const waiters = 50
	var wg sync.WaitGroup
	answers := make([]answer, waiters)
	ready := make(chan struct{}, waiters)
	for i := range waiters {
		wg.Go(func() {
			ready <- struct{}{}
			answers[i] = d.call(t, "ben", "GET", "/v1/requests/"+string(id)+"?wait=30s", nil)
		})
	}
	for range waiters {
		<-ready
	}
	if a := d.call(t, "ana", "POST", "/v1/requests/"+string(id)+"/decision", map[string]any{"action": "approve"}); a.status != 200 {
		t.Fatalf("%s", a.body)
	}
	wg.Wait()
	for _, a := range answers {
		var req shownRequest
		if a.into(t, &req); a.status != 200 || req.Status != holdshort.RequestResolved || req.Decision == nil {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
}
