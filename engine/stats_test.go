package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/store"
)

func (r *room) stats() Stats {
	r.Helper()
	s, err := r.Stats(r.Context(), acme)
	if err != nil {
		r.Fatal(err)
	}
	return s
}

// TestStats: open by kind with the oldest, what became of the rest, what waits.
func TestStats(t *testing.T) {
	approve := flow.New("approve", 1, func(c *flow.Context, q string) (bool, error) {
		a, err := flow.Approve(c, "q", flow.Question{Text: q, Expires: 48 * time.Hour})
		return a.Approved(), err
	})
	sleep := flow.New("sleep", 1, func(c *flow.Context, _ string) (string, error) { flow.Sleep(c, "zz", 100*time.Hour); return "", nil })
	broken := flow.New("broken", 1, func(c *flow.Context, _ string) (string, error) { return "", fmt.Errorf("no") })
	r := newRoom(t, Config{Flows: []flow.Flow{approve, asker("ask"), escalating(), sleep, broken}})
	if got := r.stats(); got.Open.Count != 0 || len(got.ByKind) != 0 || got.Day.Outcomes == nil || got.Week.Expired.Count != 0 || !got.Open.Oldest.IsZero() {
		t.Errorf("an empty tenant: %+v", got)
	}
	born := r.clock.now()
	s := r.chatting("")
	r.box.set(failing("name?"))
	for range 4 {
		r.begin("approve", s, `"go?"`)
	}
	r.begin("escalate", s, `"lost"`)
	r.begin("ask", s, `"name?"`)
	r.begin("sleep", s, `""`)
	r.begin("broken", s, `""`)
	got := r.stats()
	if got.Open.Count != 6 || got.ByKind[holdshort.Approval].Count != 4 || got.ByKind[holdshort.Escalation].Count != 1 || got.ByKind[holdshort.Clarification].Count != 1 || got.Open.More {
		t.Errorf("%+v", got)
	}
	if oldest := got.ByKind[holdshort.Approval].Oldest; oldest.Sub(born) > 2*time.Millisecond || !got.Open.Oldest.Equal(oldest) || !got.ByKind[holdshort.Escalation].Oldest.After(oldest) {
		t.Errorf("oldest %v, born %v", oldest, born)
	}
	if got.Waiting.Count != 6 || got.Sleeping.Count != 1 || got.Failed.Count != 1 || got.Held.Count != 0 || got.Unknown.Count != 0 || got.Outbox.Count != 1 || got.Outbox.Oldest.IsZero() {
		t.Errorf("%+v", got)
	}
	r.clock.move(10 * time.Minute)
	var open []holdshort.Request
	for _, req := range r.requests(s) {
		if req.Kind == holdshort.Approval {
			open = append(open, req)
		}
	}
	decide := func(id holdshort.RequestID, verb holdshort.Verb) {
		t.Helper()
		if _, err := r.Decide(t.Context(), acme, DecideInput{Request: id, Action: verb, Actor: ana}); err != nil {
			t.Fatal(err)
		}
		r.settle()
	}
	decide(open[0].ID, holdshort.Approve) // and the question expires
	r.pass(30 * time.Hour)
	decide(open[1].ID, holdshort.Approve)
	decide(open[2].ID, holdshort.Reject)
	decide(open[3].ID, holdshort.Cancel)
	got = r.stats()
	// The escalation expired a day after it was made, so within the last day.
	if got.Day.Outcomes[holdshort.Approved].Count != 1 || got.Day.Outcomes[holdshort.Rejected].Count != 1 || got.Day.Expired.Count != 1 || got.Day.Canceled.Count != 1 {
		t.Errorf("day %+v", got.Day)
	}
	if got.Week.Outcomes[holdshort.Approved].Count != 2 || got.Week.Expired.Count != 2 || got.Week.Canceled.Count != 1 || got.Open.Count != 0 {
		t.Errorf("week %+v", got.Week)
	}
	if day := (30*time.Hour + 10*time.Minute).Seconds(); got.Day.MedianSeconds < day-1 || got.Day.MedianSeconds > day+1 || got.Week.MedianSeconds < day-1 || got.Week.MedianSeconds > day+1 {
		t.Errorf("median %v and %v", got.Day.MedianSeconds, got.Week.MedianSeconds)
	}
	r.pass(8 * 24 * time.Hour)
	if got = r.stats(); len(got.Week.Outcomes) != 0 || got.Week.Expired.Count != 0 || got.Week.MedianSeconds != 0 {
		t.Errorf("a quiet week: %+v", got.Week)
	}
	if other, err := r.Stats(t.Context(), "rival"); err != nil || other.Open.Count != 0 || other.Failed.Count != 0 {
		t.Errorf("another tenant: %+v %v", other, err)
	}
}

// TestStatsStop: past a thousand the numbers say so and stop, for each kind by itself.
func TestStatsStop(t *testing.T) {
	onBoth(t, Config{}, func(t *testing.T, r *room) {
		const many = 1100
		err := r.update(t.Context(), acme, func(c *change) error {
			for i := range many + 1 {
				req := holdshort.Request{ID: holdshort.NewRequestID(c.now.Add(time.Duration(i))), Version: 1, Kind: holdshort.Approval, Status: holdshort.RequestOpen, Question: "?",
					ExpectedInput: holdshort.YesNo, Allowed: []holdshort.Verb{holdshort.Approve}, Priority: holdshort.PriorityNormal, CreatedAt: c.now, AskedAt: c.now, Fingerprint: "f",
					RunID: holdshort.NewRunID(c.now.Add(time.Duration(i))), OriginStepID: "q"}
				if i == many {
					req.Kind = holdshort.Reconcile
				}
				if err := c.PutRequest(req); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		got := r.stats()
		if !got.Open.More || got.Open.Count != store.MostCounted || !got.ByKind[holdshort.Approval].More || got.ByKind[holdshort.Approval].Count != 1000 ||
			got.ByKind[holdshort.Reconcile] != (Tally{Count: 1, Oldest: got.ByKind[holdshort.Reconcile].Oldest}) || !got.Waiting.More {
			t.Errorf("%+v", got)
		}
	})
}
