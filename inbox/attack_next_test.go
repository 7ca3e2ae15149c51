package inbox

import (
	"testing"

	"github.com/holdshort/holdshort"
)

// An edit that needs more people says so, and leads to what they are asked: nothing of it waits to be run.
func TestAttackEditThatIsAskedAgain(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	req := b.start("refund", `{"order":"1","amount":20}`)
	b.decide("ana", req, "action", "edit", "editing", "1", "a.0.amount", "1500", "a.0.note", "")
	run := b.rest(req)
	ids, err := b.engine.OpenRequests(t.Context(), cardTenant, run)
	if err != nil || len(ids) != 1 || ids[0] == req.ID {
		t.Fatalf("the run waits for %v, %v", ids, err)
	}
	for _, who := range []string{"ana", "ben"} {
		card := b.get(who, "/requests/"+string(req.ID)+"/card")
		card.has(t, `href="/requests/`+string(ids[0])+`"`, "What is asked in its place")
		card.lacks(t, "waits to be run")
	}
	next, err := b.engine.RequestByID(t.Context(), cardTenant, ids[0])
	if err != nil {
		t.Fatal(err)
	}
	if got := b.decide("ben", next, "action", "approve"); got.status != 200 || b.standing(next).Outcome != holdshort.Approved {
		t.Fatalf("%d: the second one is %s", got.status, b.standing(next).Outcome)
	}
	b.rest(req)
	b.get("ana", "/requests/"+string(req.ID)+"/card").lacks(t, "waits to be run")
	if n := b.paid.Load(); n != 1 {
		t.Errorf("paid %d times", n)
	}
}
