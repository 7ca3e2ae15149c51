package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

// TestReads: a request past its time reads as expired from that instant, wherever it is read.
func TestReads(t *testing.T) {
	b := newBed(t, engine.Config{})
	req := b.ask(wantsRefund(50))
	status := func() [4]holdshort.RequestStatus {
		view, err := b.RequestFor(t.Context(), tenant, req.ID, ana)
		if err != nil {
			t.Fatal(err)
		}
		page, err := b.Requests(t.Context(), tenant, engine.RequestQuery{})
		if err != nil || len(page.Items) != 1 {
			t.Fatalf("%+v %v", page, err)
		}
		open, err := b.Requests(t.Context(), tenant, engine.RequestQuery{Status: holdshort.RequestOpen})
		if err != nil {
			t.Fatal(err)
		}
		listed := holdshort.RequestExpired
		if len(open.Items) == 1 {
			listed = holdshort.RequestOpen
		}
		return [4]holdshort.RequestStatus{b.requestByID(req.ID).Status, view.Request.Status, page.Items[0].Status, listed}
	}
	const open, expired = holdshort.RequestOpen, holdshort.RequestExpired
	b.clock.move(10*time.Minute - time.Microsecond)
	if got := status(); got != [4]holdshort.RequestStatus{open, open, open, open} {
		t.Errorf("before: %v", got)
	}
	b.clock.move(time.Microsecond)
	if got := status(); got != [4]holdshort.RequestStatus{expired, expired, expired, expired} {
		t.Errorf("at its time: %v", got)
	}
	if got, err := b.AwaitRequest(t.Context(), tenant, req.ID); err != nil || got.Status != expired {
		t.Errorf("awaited: %+v %v", got, err)
	}
	b.settle()
	if got := status(); got != [4]holdshort.RequestStatus{expired, expired, expired, expired} {
		t.Errorf("swept: %v", got)
	}
}

// TestAwaitRequest: whoever waits is told when it is decided, and gets what stood when their own time ends.
func TestAwaitRequest(t *testing.T) {
	eachStore(t, engine.Config{}, func(t *testing.T, e *engine.Engine) {
		asked, err := e.Ask(t.Context(), tenant, wantsRefund(50))
		if err != nil {
			t.Fatal(err)
		}
		for wait := 20 * time.Millisecond; ; wait *= 2 { // a busy machine may not even read the request in a short time
			short, cancel := context.WithTimeout(t.Context(), wait)
			got, err := e.AwaitRequest(short, tenant, asked.Request.ID)
			cancel()
			if err != nil && got.ID == "" && wait < safetyLimit {
				continue
			}
			if err == nil || got.ID != asked.Request.ID || got.Status != holdshort.RequestOpen {
				t.Errorf("%+v %v", got, err)
			}
			break
		}
		done := make(chan holdshort.Request)
		go func() {
			got, err := e.AwaitRequest(t.Context(), tenant, asked.Request.ID)
			if err != nil {
				t.Error(err)
			}
			done <- got
		}()
		if _, err := e.Decide(t.Context(), tenant, engine.DecideInput{Request: asked.Request.ID, Action: holdshort.Approve, Actor: ana}); err != nil {
			t.Fatal(err)
		}
		if got := <-done; got.Outcome != holdshort.Approved {
			t.Errorf("%+v", got)
		}
	})
}

// TestVisible: what somebody may not see is not there for them, in lists and alone.
func TestVisible(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)},
		Policy: asking(policy.Verdict{Decision: policy.Ask, Audience: holdshort.Audience{Roles: []string{"finance"}, Quorum: 2}})})
	run := b.start("refunds", refund{"77", 120})
	ofRun := b.request(run.ID)
	ofGate := b.ask(wantsRefund(50))
	b.decide(engine.DecideInput{Request: ofGate.ID, Action: holdshort.Approve, Actor: ana})
	carl := holdshort.Actor{ID: "carl", Kind: holdshort.Person}
	auditor := holdshort.Actor{ID: "aud", Kind: holdshort.Person, Roles: []string{"auditor"}}
	for _, c := range []struct {
		actor               holdshort.Actor
		run, ofRun, ofGate  bool
		runs, requestsInAll int
	}{
		{ana, false, true, true, 0, 2},
		{carl, true, true, false, 1, 1},
		{bot, false, false, true, 0, 1},
		{ops, true, true, true, 1, 2},
		{auditor, true, true, true, 1, 2},
		{eve, false, false, false, 0, 0},
		{holdshort.Actor{}, false, false, false, 0, 0},
	} {
		t.Run(c.actor.ID, func(t *testing.T) {
			sees := func(err error, want bool) {
				t.Helper()
				if (err == nil) != want || err != nil && code(err) != holdshort.NotFound {
					t.Errorf("%v, want %t", err, want)
				}
			}
			_, err := b.RunFor(t.Context(), tenant, run.ID, c.actor)
			sees(err, c.run)
			_, err = b.RequestFor(t.Context(), tenant, ofRun.ID, c.actor)
			sees(err, c.ofRun)
			view, err := b.RequestFor(t.Context(), tenant, ofGate.ID, c.actor)
			sees(err, c.ofGate)
			if c.ofGate && (len(view.Votes) != 1 || view.Decision != nil) {
				t.Errorf("%+v", view)
			}
			runs, err := b.RunsFor(t.Context(), tenant, engine.RunQuery{}, c.actor)
			if err != nil || len(runs.Items) != c.runs {
				t.Errorf("%d runs (%v), want %d", len(runs.Items), err, c.runs)
			}
			requests, err := b.RequestsFor(t.Context(), tenant, engine.RequestQuery{}, c.actor)
			if err != nil || len(requests.Items) != c.requestsInAll {
				t.Errorf("%d requests (%v), want %d", len(requests.Items), err, c.requestsInAll)
			}
		})
	}
	if runs, err := b.Runs(t.Context(), tenant, engine.RunQuery{}); err != nil || len(runs.Items) != 1 {
		t.Errorf("%+v %v", runs, err)
	}
	b.decide(engine.DecideInput{Request: ofRun.ID, Action: holdshort.Reject, Actor: ana})
	entries, err := b.Journal(t.Context(), tenant, run.ID)
	if err != nil || len(entries) == 0 {
		t.Errorf("%+v %v", entries, err)
	}
	if d, err := b.Decision(t.Context(), tenant, ofRun.ID); err != nil || d.Action != holdshort.Reject {
		t.Errorf("%+v %v", d, err)
	}
	if votes, err := b.Votes(t.Context(), tenant, ofGate.ID); err != nil || len(votes) != 1 {
		t.Errorf("%+v %v", votes, err)
	}
}

// TestVisiblePages: somebody who may see few of many gets them all, page by page, each once.
func TestVisiblePages(t *testing.T) {
	b := newBed(t, engine.Config{})
	mine := holdshort.Actor{ID: "key_mine", Kind: holdshort.Service}
	want := map[holdshort.RequestID]bool{}
	for i := range 60 {
		in := engine.AskInput{Kind: holdshort.Clarification, Question: fmt.Sprint("question ", i), Actor: bot}
		if i%7 == 0 {
			in.Actor = mine
		}
		if req := b.ask(in); i%7 == 0 {
			want[req.ID] = true
		}
	}
	q := engine.RequestQuery{Limit: 2}
	for pages := 0; ; pages++ {
		page, err := b.RequestsFor(t.Context(), tenant, q, mine)
		if err != nil || len(page.Items) > 2 || pages > 60 {
			t.Fatalf("%+v %v", page, err)
		}
		for _, req := range page.Items {
			if !want[req.ID] {
				t.Errorf("%s came twice, or is somebody else's", req.ID)
			}
			delete(want, req.ID)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	if len(want) != 0 {
		t.Errorf("%d are missing", len(want))
	}
}
