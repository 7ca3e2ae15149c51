package engine_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

// spoken is how an agent records an answer of its model.
type spoken struct {
	Text  string `json:"text"`
	Usage struct {
		Input  int64 `json:"input_tokens"`
		Cached int64 `json:"cached_tokens,omitempty"`
		Output int64 `json:"output_tokens"`
		Cost   int64 `json:"cost,omitempty"`
	} `json:"usage"`
}

// thoughtful asks a model, pays, and asks it again.
var thoughtful = flow.New("thoughtful", 1, func(c *flow.Context, in refund) (string, error) {
	answer := func(name string, input int64) error {
		_, err := flow.Model(c, name, func(context.Context) (spoken, error) {
			s := spoken{Text: "secret thought"}
			s.Usage.Input, s.Usage.Cached, s.Usage.Output, s.Usage.Cost = input, 10, 7, 1500
			return s, nil
		})
		return err
	}
	if err := answer("first", 100); err != nil {
		return "", err
	}
	if _, err := flow.Model(c, "own", func(context.Context) (string, error) { return "an author's own", nil }); err != nil {
		return "", err
	}
	if _, err := flow.Call[json.RawMessage](c, "pay", "refund", in); err != nil {
		return string(holdshort.CodeOf(err)), nil
	}
	return "paid", answer("second", 200)
})

func timelined(t *testing.T) (b *bed, run holdshort.Run, child holdshort.Run) {
	var pay counter
	b = newBed(t, engine.Config{Flows: []flow.Flow{thoughtful, refunds}, Tools: []tool.Tool{refundTool(&pay)},
		Policy: asking(policy.Verdict{Decision: policy.Ask, Rule: "refunds", Audience: holdshort.Audience{Roles: []string{"reviewer"}, Quorum: 2}})})
	session, err := b.OpenSession(t.Context(), tenant, engine.OpenSessionInput{Channel: "chat", Address: "+1", User: "carl"})
	if err != nil {
		t.Fatal(err)
	}
	start := func(flow string, parent holdshort.RunID) holdshort.Run {
		run, err := b.Start(t.Context(), tenant, engine.StartInput{Flow: flow, User: "carl", Session: session.ID, Parent: parent, Input: json.RawMessage(`{"order":"77","amount":120}`)})
		if err != nil {
			t.Fatal(err)
		}
		b.settle()
		return run
	}
	run = start("thoughtful", "")
	child = start("refunds", run.ID)
	start("refunds", "")
	request := b.request(run.ID).ID
	b.clock.move(time.Minute)
	b.decide(engine.DecideInput{Request: request, Action: holdshort.Approve, Actor: ana})
	b.clock.move(time.Minute)
	b.decide(engine.DecideInput{Request: request, Action: holdshort.Approve, Actor: ben})
	return b, b.run(run.ID), child
}

// TestTimeline: everything that belongs to a run, in order, and nothing of another.
func TestTimeline(t *testing.T) {
	b, run, child := timelined(t)
	if run.Status != holdshort.RunCompleted {
		t.Fatalf("the run is %s %+v", run.Status, run.Error)
	}
	tl, err := b.Timeline(t.Context(), tenant, run.ID, admin)
	if err != nil {
		t.Fatal(err)
	}
	journal, err := b.Journal(t.Context(), tenant, run.ID)
	if err != nil || tl.Run.ID != run.ID || tl.Run.Status != run.Status || len(tl.Journal) != len(journal) || !tl.Values {
		t.Errorf("%d of %d entries, values %v (%v)", len(tl.Journal), len(journal), tl.Values, err)
	}
	if len(tl.Requests) != 1 || tl.Hidden != 0 || tl.Requests[0].Decision == nil || tl.Requests[0].Decision.Actor.ID != "ben" || len(tl.Requests[0].Votes) != 1 || tl.Requests[0].Votes[0].Actor.ID != "ana" ||
		len(tl.Requests[0].Operations) != 1 || tl.Requests[0].Request.Outcome != holdshort.Approved {
		t.Errorf("requests %+v", tl.Requests)
	}
	if len(tl.Operations) != 1 || tl.Operations[0].Status != holdshort.OperationDone {
		t.Errorf("operations %+v", tl.Operations)
	}
	all, err := b.Events(t.Context(), tenant, engine.EventQuery{Run: run.ID})
	if err != nil || len(all.Items) == 0 || tl.Earlier || !slices.EqualFunc(tl.Events, all.Items, func(x, y holdshort.Event) bool { return x.ID == y.ID }) {
		t.Errorf("%d of %d events, earlier %v (%v)", len(tl.Events), len(all.Items), tl.Earlier, err)
	}
	if len(tl.Children) != 1 || tl.Children[0].ID != child.ID {
		t.Errorf("children %+v", tl.Children)
	}
	if tl.Usage != (engine.Usage{Answers: 2, Input: 300, Cached: 20, Output: 14, Cost: 3000}) {
		t.Errorf("used %+v", tl.Usage)
	}
}

// TestTimelineRights: a run is shown to those who may see it, and what it was given and gave to those who may see everything.
func TestTimelineRights(t *testing.T) {
	b, run, _ := timelined(t)
	for _, c := range []struct {
		actor       holdshort.Actor
		run, values bool
	}{
		{admin, true, true}, {auditor, true, true}, {carl, true, true}, {ops, true, false},
		{ana, false, false}, {eve, false, false}, {bot, false, false}, {holdshort.Actor{}, false, false},
	} {
		tl, err := b.Timeline(t.Context(), tenant, run.ID, c.actor)
		if !c.run {
			if code(err) != holdshort.NotFound || tl.Run.ID != "" || len(tl.Journal)+len(tl.Events)+len(tl.Requests) > 0 {
				t.Errorf("%s got %+v and %v", c.actor.ID, tl.Run, err)
			}
			continue
		}
		if err != nil || tl.Values != c.values || tl.Usage.Answers != 2 || len(tl.Requests) != 1 {
			t.Errorf("%s: %v, values %v, used %+v", c.actor.ID, err, tl.Values, tl.Usage)
		}
		same, err := b.JournalFor(t.Context(), tenant, run.ID, c.actor)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range tl.Journal {
			if string(e.Outcome) != string(same[i].Outcome) || e.Key != same[i].Key || (len(e.Outcome) > 0) && !c.values {
				t.Errorf("%s sees %s in %s", c.actor.ID, e.Outcome, e.Key)
			}
		}
	}
	if _, err := b.Timeline(t.Context(), tenant, holdshort.NewRunID(b.clock.now()), admin); code(err) != holdshort.NotFound {
		t.Errorf("a run that is not there: %v", err)
	}
	if _, err := b.Timeline(t.Context(), "rival", run.ID, admin); code(err) != holdshort.NotFound {
		t.Errorf("another tenant's: %v", err)
	}
}

// TestTimelineUnreadable: a row that nobody can read does not hide the rest.
func TestTimelineUnreadable(t *testing.T) {
	b, run, _ := timelined(t)
	b.forge(`UPDATE journal SET body = CAST('{' AS BLOB) WHERE run_id = ? AND key = 'second'`, string(run.ID))
	tl, err := b.Timeline(t.Context(), tenant, run.ID, admin)
	if err != nil || !tl.Unreadable || len(tl.Requests) != 1 || len(tl.Events) == 0 || tl.Usage.Answers != 1 {
		t.Errorf("%v, unreadable %v, %d requests, %d events, used %+v", err, tl.Unreadable, len(tl.Requests), len(tl.Events), tl.Usage)
	}
}
