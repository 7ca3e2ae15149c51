package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

var (
	carl    = holdshort.Actor{ID: "carl", Kind: holdshort.Person, Assurance: holdshort.AssuranceLogin}
	auditor = holdshort.Actor{ID: "aud", Kind: holdshort.Person, Roles: []string{"auditor"}, Assurance: holdshort.AssuranceLogin}
	admin   = holdshort.Actor{ID: "adm", Kind: holdshort.Person, Roles: []string{"admin"}, Assurance: holdshort.AssuranceLogin}
)

// TestOverview: what stands and what happened, as the kernel left it, for those who look after requests.
func TestOverview(t *testing.T) {
	const secret = "order 4711 of Mr. Smith"
	lost := counter{do: func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{}, errors.New("connection reset")
	}}
	far := &hooks{fail: errors.New("refused")}
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&lost)}, Senders: map[string]engine.Sender{engine.WebhookChannel: far},
		Policy: asking(policy.Verdict{Decision: policy.Ask, Rule: "refunds", ExpiresIn: time.Hour, Audience: holdshort.Audience{Roles: []string{"reviewer"}}, Priority: holdshort.PriorityHigh})})
	hook, err := b.CreateWebhook(t.Context(), tenant, engine.CreateWebhookInput{URL: "https://hooks.example.org/in", Actor: admin})
	if err != nil {
		t.Fatal(err)
	}
	paid := b.start("refunds", refund{secret, 120})
	b.clock.move(90 * time.Second)
	b.approve(paid.ID)
	no := b.start("refunds", refund{secret, 10})
	b.clock.move(30 * time.Second)
	b.decide(engine.DecideInput{Request: b.request(no.ID).ID, Action: holdshort.Reject, Actor: ben, Message: secret})
	waits := b.start("refunds", refund{secret, 20})
	if _, err := b.Assign(t.Context(), tenant, engine.AssignInput{Request: b.request(waits.ID).ID, To: "ben", Actor: ops}); err != nil {
		t.Fatal(err)
	}
	b.advance(10 * time.Minute)
	o, err := b.Overview(t.Context(), tenant, 24*time.Hour, ana)
	if err != nil {
		t.Fatal(err)
	}
	if o.Closed != (engine.Closings{Total: 2, Approved: 1, Rejected: 1}) || !o.Sample.All || o.Sample.Looked != 2 || o.Times.N != 2 || o.Times.P50 != 30*time.Second || o.Times.P90 != 90*time.Second {
		t.Errorf("closed %+v of %+v, in %+v", o.Closed, o.Sample, o.Times)
	}
	if o.Open.Total.Count != 2 || o.Open.ByKind[holdshort.Approval].Count != 1 || o.Open.ByKind[holdshort.Reconcile].Count != 1 || o.Open.ByAge[0].Tally.Count != 0 || o.Open.ByAge[1].Tally.Count != 2 {
		t.Errorf("open %+v", o.Open)
	}
	if len(o.ByRule) != 1 || o.ByRule[0].Rule != "refunds" || o.ByRule[0].NeverDenied || o.ByRule[0].Closed.Total != 2 {
		t.Errorf("rules %+v", o.ByRule)
	}
	if len(o.People) != 2 || o.People[0].Actor != "ben" || o.People[0].Decided != 1 || o.People[0].Assigned.Count != 1 || o.People[1].Actor != "ana" {
		t.Errorf("people %+v", o.People)
	}
	if o.Unknown.Total.Count != 1 || len(o.Unknown.Latest) != 1 || o.Unknown.Latest[0].RunID != paid.ID || o.Unknown.Latest[0].Capability != "refund" {
		t.Errorf("unknown %+v", o.Unknown)
	}
	if o.Runs.Waiting.Count != 2 || o.Runs.Failed.Count != 0 || o.Runs.Held.Count != 0 {
		t.Errorf("runs %+v", o.Runs)
	}
	if o.Outbox.Queued.Count == 0 || len(o.Outbox.Channels) != 1 || o.Outbox.Channels[0].Queued != o.Outbox.Queued || len(o.Outbox.Webhooks) != 1 || o.Outbox.Webhooks[0].ID != hook.ID || o.Outbox.Webhooks[0].Wrong == 0 || o.Outbox.Webhooks[0].At.IsZero() {
		t.Errorf("outbox %+v", o.Outbox)
	}
	raw, err := json.Marshal(o)
	if err != nil || strings.Contains(string(raw), "4711") {
		t.Errorf("it tells %s (%v)", raw, err)
	}
}

// TestOverviewRights: who has nothing to do with requests gets no figures, and is told whom to ask.
func TestOverviewRights(t *testing.T) {
	b := newBed(t, engine.Config{})
	for _, c := range []struct {
		actor holdshort.Actor
		want  holdshort.Code
	}{
		{ana, ""}, {ops, ""}, {auditor, ""}, {admin, ""}, {holdshort.SystemActor("test"), ""},
		{eve, holdshort.Forbidden}, {carl, holdshort.Forbidden}, {bot, holdshort.Forbidden}, {holdshort.Actor{}, holdshort.Forbidden}, {holdshort.Actor{Roles: []string{"reviewer"}}, holdshort.Forbidden},
	} {
		_, err := b.Overview(t.Context(), tenant, time.Hour, c.actor)
		if code(err) != c.want || err != nil && holdshort.HintOf(err) == "" {
			t.Errorf("%s %v: %v, want %q", c.actor.ID, c.actor.Roles, err, c.want)
		}
	}
	for _, period := range []time.Duration{0, -time.Hour, time.Minute, 400 * 24 * time.Hour} {
		if _, err := b.Overview(t.Context(), tenant, period, admin); code(err) != holdshort.Invalid || holdshort.HintOf(err) == "" {
			t.Errorf("the last %s: %v", period, err)
		}
	}
}
