package inbox

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/internal/testall"
)

// What is withheld, and may not be approved unseen, is not approved by whoever never looked, whichever button they press.
func TestAttackApprovalUnseen(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	for _, pairs := range [][]string{{"action", "approve"}, {"action", "each", "call.0", "approve"}, {"action", "edit", "editing", "1", "a.0.amount", "30", "a.0.note", ""}, {"action", "approve", "proof", "9999999999.forged:AAAA"}} {
		req := b.start("refund", refundArgs)
		if got := b.unseen("ana", req, pairs...); got.status != http.StatusUnprocessableEntity || b.standing(req).Status != holdshort.RequestOpen {
			t.Errorf("%v: %d, the request is %s", pairs, got.status, b.standing(req).Status)
		}
	}
	if n := b.paid.Load(); n != 0 {
		t.Errorf("paid %d times", n)
	}
}

// Arguments with very many values are compared and shown in the time that a page has.
func TestAttackManyValues(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	ben := holdshort.Actor{ID: "ben", Kind: holdshort.Person, Roles: []string{"finance"}}
	values := 2 * mostLeaves
	if testall.Enabled() {
		values = 10 * mostLeaves
	}
	many := func(last int) string {
		return `{"order":"1","amount":20,"deep":{"list":[` + strings.Repeat("1,", values) + fmt.Sprint(last) + `]}}`
	}
	first := b.start("refund", many(1))
	if _, err := b.engine.Decide(t.Context(), cardTenant, engine.DecideInput{Request: first.ID, Action: holdshort.Approve, Actor: ben}); err != nil {
		t.Fatal(err)
	}
	b.rest(first)
	second := b.start("refund", many(2))
	eventually(t, "the first request is not found as similar", func() bool {
		alike, err := b.engine.Similar(t.Context(), cardTenant, second, ben)
		if err != nil {
			t.Fatal(err)
		}
		return alike.Last != nil
	})
	began := time.Now()
	got := b.get("ana", "/requests/"+string(second.ID)+"/card")
	if got.status != http.StatusOK || !strings.Contains(got.body, "too much to compare") {
		t.Errorf("%d after %v: %.200s", got.status, time.Since(began), got.body)
	}
}
