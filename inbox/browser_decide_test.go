package inbox_test

import (
	"testing"

	"github.com/holdshort/holdshort/internal/browser"
)

// TestDecideInBrowser: from the list to the card, one press, and what came of it, up to the tool's result.
func TestDecideInBrowser(t *testing.T) {
	s := open(t)
	req := s.waiting("Refund 320 EUR")
	tab := s.enter(s.Link, browser.Look{})
	tab.Wait(`location.pathname.startsWith("/playground")`)
	tab.Open(s.URL + "/")
	tab.Click("#row-" + req.ID + " a")
	tab.Shows("#card h1", "Refund 320 EUR for order 77?")
	tab.Shows("#card", "orders.refund")
	tab.Press("a")
	tab.Shows("#card", "Undo")
	if got := s.request(req.ID); got.Status != "open" {
		t.Fatalf("it was sent before the undo window ended: %+v", got)
	}
	tab.Wait(`document.querySelector("#row-` + req.ID + `") === null`)
	if got := s.request(req.ID); got.Status != "resolved" || got.Outcome != "approved" || got.Decision.Actor.Name != "Ana" {
		t.Errorf("%+v %+v", got, got.Decision)
	}
	tab.Open(s.URL + "/requests/" + req.ID)
	tab.Shows("#card", "rc-77")
}
