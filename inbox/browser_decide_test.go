package inbox_test

import (
	"testing"

	"github.com/holdshort/holdshort/internal/browser"
)

// TestDemoInBrowser: the program as people run it, in a process of its own.
func TestDemoInBrowser(t *testing.T) {
	t.Parallel()
	s := open(t)
	tab := s.enter(s.Link, browser.Look{})
	tab.Allowed = []string{"net::ERR_", " to fetch", " to load resource"}
	tab.Wait(`location.pathname.startsWith("/playground")`)
	s.decides(tab)
	s.dies(tab)
}

// decides goes from the list to the card, presses once, and sees what came of it, up to the tool's result.
func (s *stage) decides(tab *browser.Tab) {
	req := s.waiting("Refund 320 EUR")
	tab.Open(s.URL + "/")
	tab.Click("#row-" + req.ID + " a")
	tab.Shows("#card h1", "Refund 320 EUR for order 77?")
	tab.Shows("#card", "orders.refund")
	browser.Eval[bool](tab, `new Promise(done => setTimeout(() => done(true), 450))`) // what has only just come under the finger is not decided
	tab.Press("a")
	tab.Wait(`document.querySelector("#card .pending .undo")`)
	if got := s.request(req.ID); got.Status != "open" {
		s.Fatalf("it was sent before the undo window ended: %+v", got)
	}
	tab.Wait(`document.querySelector("#row-` + req.ID + `") === null`)
	if got := s.request(req.ID); got.Status != "resolved" || got.Outcome != "approved" || got.Decision.Actor.Name != "Ana" {
		s.Errorf("%+v %+v", got, got.Decision)
	}
	tab.Open(s.URL + "/requests/" + req.ID)
	tab.Shows("#card", "rc-77")
	tab.Shows("#card .decide", "Closed. You approved this.")
}

// dies: the server is killed under an open page, which says so, keeps what was typed, sends nothing meanwhile, and goes on with the next server.
func (s *stage) dies(tab *browser.Tab) {
	req := s.waiting("The newsletter says")
	tab.Open(s.URL + "/requests/" + req.ID)
	tab.Wait(`document.getElementById("state").textContent.startsWith("live")`)
	tab.Type("#card textarea[name=value]", "Yes, until Sunday.")
	s.kill()
	tab.Wait(`document.body.classList.contains("stale") && document.getElementById("state").textContent.startsWith("Not connected since ")`)
	if lit := browser.Eval[bool](tab, `!document.querySelector("#card .decide .primary").matches(":disabled, [aria-disabled=true]") || getComputedStyle(document.querySelector("#card .decide .primary")).opacity === "1"`); lit {
		s.Error("the bar looks as if it could be used")
	}
	s.restart()
	tab.Wait(`!document.body.classList.contains("stale") && document.getElementById("state").textContent.startsWith("live")`)
	if typed := browser.Eval[string](tab, `document.querySelector("#card textarea[name=value]").value`); typed != "Yes, until Sunday." {
		s.Errorf("what was typed is now %q", typed)
	}
	if got := s.request(req.ID); got.Status != "open" {
		s.Fatalf("it was decided by nobody: %+v", got)
	}
	browser.Eval[any](tab, `void document.querySelector("#card .decide .primary").click()`)
	tab.Wait(`document.querySelector("#card .pending .undo")`)
	tab.Wait(`document.querySelector("#row-` + req.ID + `") === null || document.querySelector("#row-` + req.ID + `").matches(".closed")`)
	if got := s.request(req.ID); got.Outcome != "answered" || got.Decision.Actor.Name != "Ana" {
		s.Errorf("%+v %+v", got, got.Decision)
	}
}
