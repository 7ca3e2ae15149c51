package engine_test

import (
	"fmt"
	"testing"

	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
)

// messages for a flow that nobody has must not stand before those for one that is here.
func TestAttackInboundStarves(t *testing.T) {
	here := flow.New("here", 1, func(c *flow.Context, in any) (string, error) { return "ok", nil })
	b := newBed(t, engine.Config{})
	gone, err := b.OpenSession(t.Context(), tenant, engine.OpenSessionInput{User: "carl", Flow: "gone"})
	if err != nil {
		t.Fatal(err)
	}
	fine, err := b.OpenSession(t.Context(), tenant, engine.OpenSessionInput{User: "ana", Flow: "here"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 105 {
		b.Receive(t.Context(), tenant, engine.Inbound{Session: gone.ID, Channel: "api", ID: fmt.Sprint(i), Text: "hello"})
	}
	b.clock.move(1000)
	b.Receive(t.Context(), tenant, engine.Inbound{Session: fine.ID, Channel: "api", ID: "x", Text: "hello"})
	b.restart(func(c *engine.Config) { c.Flows = []flow.Flow{here} })
	page, err := b.Runs(t.Context(), tenant, engine.RunQuery{Session: fine.ID})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Items) != 1 {
		t.Errorf("%d runs for a message that this node can take", len(page.Items))
	}
}
