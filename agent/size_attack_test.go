package agent_test

import (
	"strings"
	"testing"

	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/internal/testall"
	"github.com/holdshort/holdshort/model"
)

// A conversation of many long messages goes on: what is kept of it for a run has an end, and the newest of it is there.
func TestALongConversation(t *testing.T) {
	var asked model.Request
	m := &lines{}
	turns := 25 // about 2.8 MB, more than one question to the model may hold
	if testall.Enabled() {
		turns = 55
	}
	for range turns + 5 {
		m.said = append(m.said, func(req model.Request) (model.Response, error) {
			asked = req
			return model.Response{Text: "ok " + strings.Repeat("words ", 9_000), Stop: model.StopEnd}, nil
		})
	}
	k := desk(t, m, func(c *agent.Config) { c.Limits.Window = 50 << 20 })
	session := k.Chat("carl", "desk")
	for range turns {
		resultOf(t, k, k.As("carl").Say(session, strings.Repeat("words ", 10_000)))
	}
	if got := resultOf(t, k, k.As("carl").Say(session, "and now?")); !strings.HasPrefix(got.Text, "ok") {
		t.Errorf("answers %.20q", got.Text)
	}
	size := 0
	for _, msg := range asked.Messages {
		size += len(msg.Text)
	}
	if last := asked.Messages[len(asked.Messages)-1].Text; last != "and now?" || len(asked.Messages) < 10 || size > 2<<20 {
		t.Errorf("%d messages of %d bytes, the last is %.20q", len(asked.Messages), size, last)
	}
}
