package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/tool"
)

func redactCards(_ context.Context, r engine.Redaction) ([]holdshort.Part, error) {
	for i := range r.Parts {
		if r.Stage == engine.StageModel {
			r.Parts[i].Text = strings.ReplaceAll(r.Parts[i].Text, "4111", "[card]")
		}
	}
	return r.Parts, nil
}

// What the hook takes out on the way to a model does not reach it: neither as history, nor as the message that is being answered, nor as
// one that comes meanwhile.
func TestRedactedOnTheWayToTheModel(t *testing.T) {
	m := &lines{said: []line{says("hello"), wants(call("a", "refund", `{"order":"1"}`)), says("done"), says("done")}}
	pay := refund()
	k := holdshorttest.New(t, holdshorttest.Options{Agents: []*agent.Agent{build(t, agent.Config{Model: m, Tools: []tool.Tool{pay.Tool()}})}, Policy: editable, Configure: func(c *engine.Config) {
		c.Redact = redactCards
	}})
	session := k.Chat("carl", "desk")
	resultOf(t, k, k.As("carl").Say(session, "my card is 4111"))
	run := k.As("carl").Say(session, "refund to 4111")
	k.As("carl").Say(session, "really 4111")
	k.As("ana", "reviewer").Approve(k.Request(run))
	resultOf(t, k, run)
	for i, req := range m.asked {
		for _, msg := range req.Messages {
			if msg.Role == model.User && strings.Contains(msg.Text, "4111") {
				t.Errorf("answer %d was asked for with %q", i+1, msg.Text)
			}
		}
	}
}
