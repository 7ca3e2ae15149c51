package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

var payBack = client.Raise{Kind: holdshort.Approval, Actions: []client.Action{{Tool: "payments.refund", Args: json.RawMessage(`{"amount":120,"order":"77"}`)}}}

// decideFirst waits for an open request and decides it.
func decideFirst(t *testing.T, c *client.Client, choose func(client.Request) client.Choice) {
	t.Helper()
	for {
		page, err := c.Requests(t.Context(), client.Find{Status: holdshort.RequestOpen})
		if err != nil {
			t.Error(err)
			return
		}
		if len(page.Items) == 0 {
			continue
		}
		choice := choose(page.Items[0])
		choice.Fingerprint = page.Items[0].Fingerprint
		if _, err := c.Decide(t.Context(), page.Items[0].ID, choice); err != nil {
			t.Error(err)
		}
		return
	}
}

func TestGate(t *testing.T) {
	boom := errors.New("the bank said no")
	tests := []struct {
		name     string
		choice   client.Choice
		act      error
		code     holdshort.Code
		acted    int64
		status   holdshort.OperationStatus
		wantArgs string
	}{
		{"approved", client.Choice{Action: holdshort.Approve}, nil, "", 1, holdshort.OperationDone, `{"amount":120,"order":"77"}`},
		{"rejected", client.Choice{Action: holdshort.Reject, Message: "ask for the parcel"}, nil, holdshort.Denied, 0, "", ""},
		{"canceled", client.Choice{Action: holdshort.Cancel}, nil, holdshort.Canceled, 0, "", ""},
		{"proven not to have happened", client.Choice{Action: holdshort.Approve}, client.NotDone(boom), holdshort.Internal, 1, holdshort.OperationFailed, `{"amount":120,"order":"77"}`},
		{"nobody knows", client.Choice{Action: holdshort.Approve}, boom, holdshort.Internal, 1, holdshort.OperationStarted, `{"amount":120,"order":"77"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDoor(t)
			agent, ana := d.agent(t), d.ana(t)
			var acted atomic.Int64
			decided := make(chan struct{})
			go func() {
				defer close(decided)
				decideFirst(t, ana, func(client.Request) client.Choice { return tt.choice })
			}()
			passed, err := agent.Gate(t.Context(), payBack, func(_ context.Context, a client.ClaimedAction) (client.Done, error) {
				acted.Add(1)
				if string(a.Args) != tt.wantArgs || a.Tool != "payments.refund" || a.OperationID == "" {
					t.Errorf("handed out %+v", a)
				}
				return client.Done{Result: "re_1", ExternalIDs: map[string][]string{"refund": {"re_1"}}}, tt.act
			})
			<-decided
			if holdshort.CodeOf(err) != tt.code || acted.Load() != tt.acted {
				t.Errorf("acted %d times, %v", acted.Load(), err)
			}
			if tt.act != nil && !errors.Is(err, boom) {
				t.Errorf("%v does not say what went wrong", err)
			}
			now, err := agent.Request(t.Context(), passed.Request.ID)
			if err != nil {
				t.Fatal(err)
			}
			if tt.status == "" && len(now.Operations) > 0 || tt.status != "" && (len(now.Operations) != 1 || now.Operations[0].Status != tt.status) {
				t.Errorf("operations %+v, want %s", now.Operations, tt.status)
			}
		})
	}
}

// A program that was killed after it claimed asks again: the question is the same one, and nothing is handed out a second time.
func TestGateAfterACrash(t *testing.T) {
	d := newDoor(t)
	agent, ana := d.agent(t), d.ana(t)
	in := payBack
	in.Key = "refund-of-order-77"
	first, err := agent.Raise(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	decideFirst(t, ana, func(client.Request) client.Choice { return client.Choice{Action: holdshort.Approve} })
	if _, err := agent.Claim(t.Context(), first.ID, 0, ""); err != nil {
		t.Fatal(err)
	}
	passed, err := agent.Gate(t.Context(), in, func(context.Context, client.ClaimedAction) (client.Done, error) {
		t.Error("it acted a second time")
		return client.Done{}, nil
	})
	if passed.Request.ID != first.ID || !errors.Is(err, holdshort.DecisionUsed) {
		t.Errorf("%s, %v; want %s and decision_used", passed.Request.ID, err, first.ID)
	}
}

func TestGateNeedsActions(t *testing.T) {
	d := newDoor(t)
	_, err := d.agent(t).Gate(t.Context(), client.Raise{Kind: holdshort.Approval, Question: "?"}, nil)
	if holdshort.CodeOf(err) != holdshort.Invalid {
		t.Errorf("%v", err)
	}
}

// Whatever answer is lost on the way, everything happens once.
func TestGateOverALineThatBreaks(t *testing.T) {
	d := newDoor(t)
	agent, ana := d.agent(t), d.ana(t)
	var posts, lost atomic.Int64
	odd := func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodPost && posts.Add(1)%2 == 1 { // every first attempt is done, and its answer lost
			lost.Add(1)
			next.ServeHTTP(discard{http.Header{}}, r)
			hijacked, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				hijacked.Close()
			}
			return
		}
		next.ServeHTTP(w, r)
	}
	d.broken.Store(&odd)
	decided := make(chan struct{})
	go func() {
		defer close(decided)
		decideFirst(t, ana, func(client.Request) client.Choice { return client.Choice{Action: holdshort.Approve} })
	}()
	acted := 0
	passed, err := agent.Gate(t.Context(), payBack, func(context.Context, client.ClaimedAction) (client.Done, error) {
		acted++
		return client.Done{}, nil
	})
	<-decided
	if err != nil || acted != 1 || len(passed.Operations) != 1 || passed.Operations[0].Status != holdshort.OperationDone {
		t.Errorf("acted %d times, %+v, %v", acted, passed.Operations, err)
	}
	if lost.Load() < 4 { // raise, decide, claim, outcome
		t.Errorf("only %d answers were lost: nothing was proven", lost.Load())
	}
	all, err := ana.Requests(t.Context(), client.Find{})
	if err != nil || len(all.Items) != 1 {
		t.Errorf("%d requests, %v: a repeated call was done twice", len(all.Items), err)
	}
}

// discard is where an answer goes that nobody gets.
type discard struct{ h http.Header }

func (d discard) Header() http.Header         { return d.h }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}
