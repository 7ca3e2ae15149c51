package inbox_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/demo"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/internal/browser"
)

// TestTwoReviewers: both press at the same moment; one decides, and the other is told who did.
func TestTwoReviewers(t *testing.T) {
	t.Parallel()
	h := newHall(t, -1)
	ana, ben := h.tab("ana", browser.Look{Calm: true}, "/"), h.tab("ben", browser.Look{Calm: true, Dark: true}, "/")
	ana.Allowed, ben.Allowed = []string{"status of 409"}, []string{"status of 409"}
	req := h.pay(320)
	h.show(ana, req.ID)
	h.show(ben, req.ID)
	ana.Shows("[data-looking]", "Ben is looking")
	ben.Shows("[data-looking]", "Ana is looking")
	for _, tab := range []*browser.Tab{ana, ben} { // the next one must not take the place of what is looked at here
		browser.Eval[any](tab, `void addEventListener("hs:decided", e => e.stopImmediatePropagation(), true)`)
		browser.Eval[any](tab, fmt.Sprintf(`void setTimeout(() => document.querySelector("#card .approve").click(), %d - Date.now())`, time.Now().Add(time.Second).UnixMilli()))
	}
	for _, tab := range []*browser.Tab{ana, ben} {
		tab.Wait(`document.querySelector("#card article").dataset.status === "resolved" && !document.querySelector("#card .decide .primary")`)
	}
	h.rests(req.RunID, ended)
	got, by := h.now(req.ID), h.said(req.ID).Actor.Name
	if got.Outcome != holdshort.Approved || h.paid.Load() != 1 {
		t.Fatalf("%+v, %d paid", got, h.paid.Load())
	}
	winner, loser := ana, ben
	if by == "Ben" {
		winner, loser = ben, ana
	}
	winner.Shows("#card .standing", "You approved this")
	loser.Shows("#card", by+" approved this")

	// What takes two: each sees the other's at once, and the second decides.
	large := h.pay(2500)
	h.show(ana, large.ID)
	h.show(ben, large.ID)
	ana.Press("a")
	ben.Wait(`/Ana\s*· approved/.test(document.querySelector("#card .voters").innerText) && document.querySelector("#card .voters").innerText.includes("one more of finance")`)
	if h.now(large.ID).Status != holdshort.RequestOpen {
		t.Fatal("one was enough")
	}
	ben.Press("a")
	ben.Wait(`!document.querySelector("#row-` + string(large.ID) + `:not(.closed)")`)
	if h.rests(large.RunID, ended); h.now(large.ID).Outcome != holdshort.Approved || h.paid.Load() != 2 {
		t.Errorf("%+v, %d paid", h.now(large.ID), h.paid.Load())
	}
}

// TestUndoInBrowser: nothing is sent while a decision can be taken back, whatever becomes of the page.
func TestUndoInBrowser(t *testing.T) {
	t.Parallel()
	h := newHall(t, 30*time.Second)
	tab := h.tab("ana", browser.Look{Calm: true}, "/")
	req := h.pay(210)
	waits := func() {
		t.Helper()
		h.show(tab, req.ID)
		tab.Press("a")
		tab.Wait(`document.querySelector("#card .pending .undo") === document.activeElement && document.querySelector("#card .pending").textContent.includes("Approving 210 in ")`)
	}
	waits()
	tab.Press("u")
	tab.Shows("#card .check", "Undone: nothing was sent.")
	tab.Wait(`document.activeElement.matches(".approve") && document.querySelector("#card .pending").hidden`)

	waits() // and the page is loaded again
	tab.Reload()
	tab.Wait(`document.querySelector("#card article")?.dataset.settled`)
	tab.Shows("#card .check", "Not sent: the page was left before.")

	waits() // and the connection is lost
	tab.Allowed = []string{"net::ERR_", " to fetch", " to load resource"}
	tab.Offline(true)
	tab.Shows("#card .check", "The connection was lost: nothing was sent.")
	tab.Offline(false)
	tab.Wait(`!document.body.classList.contains("stale")`)

	waits() // and somebody else was faster
	h.decides("ben", req, engine.DecideInput{Action: holdshort.Reject})
	tab.Shows("#card .standing", "Ben rejected this")
	tab.Gone("#card .pending .undo")

	req = h.pay(211)
	h.show(tab, req.ID)
	tab.Press("a")
	tab.Wait(`document.querySelector("#card .pending .undo")`)
	tab.Open("about:blank") // as a closed tab
	if h.sent.Load() != 0 || h.paid.Load() != 0 || h.now(req.ID).Status != holdshort.RequestOpen {
		t.Errorf("%d decisions were sent, %d paid", h.sent.Load(), h.paid.Load())
	}
}

// TestPressedTwice: a double click is one decision, and one that did not arrive is sent again as the same.
func TestPressedTwice(t *testing.T) {
	t.Parallel()
	h := newHall(t, -1)
	tab := h.tab("ana", browser.Look{Calm: true}, "/")
	tab.Allowed = []string{"status of 503"}
	req := h.pay(50)
	h.show(tab, req.ID)
	tab.DoubleClick("#card .approve")
	tab.Wait(`document.querySelector("#card .standing")`)
	h.rests(req.RunID, ended)
	if h.sent.Load() != 1 || h.paid.Load() != 1 || h.noted("hitl.request.decided", req.ID) != 1 {
		t.Errorf("%d sent, %d paid, %d votes", h.sent.Load(), h.paid.Load(), h.noted("hitl.request.decided", req.ID))
	}

	req = h.pay(51)
	h.show(tab, req.ID)
	again := h.failing(503, "POST", "/decide")
	tab.Press("a")
	tab.Shows("#card .pending", "Not delivered: the server could not take it.")
	again()
	tab.Click("#card .pending .primary")
	tab.Wait(`document.querySelector("#card .standing")`)
	h.rests(req.RunID, ended)
	if h.paid.Load() != 2 || h.noted("hitl.request.decided", req.ID) != 1 {
		t.Errorf("%d paid, %d votes", h.paid.Load(), h.noted("hitl.request.decided", req.ID))
	}
}

// TestTypingSurvives: what was typed is there after a reload, and after the card was drawn anew because something happened to the request.
func TestTypingSurvives(t *testing.T) {
	t.Parallel()
	h := newHall(t, -1)
	tab := h.tab("ana", browser.Look{Calm: true}, "/")
	req := h.pay(620)
	h.show(tab, req.ID)
	tab.Press("e")
	tab.Wait(`document.activeElement.name === "a.0.amount"`)
	tab.Type(`[name="a.0.amount"]`, "590")
	tab.Click("#card details[data-verb=reject] > summary")
	tab.Wait(`document.querySelector("#card .decide [name=reason]").checkVisibility()`)
	tab.Type(`#card .decide [name=reason]`, "only half of it broke")
	kept := `document.querySelector("[name='a.0.amount']").value === "590" && document.querySelector("[name='a.0.amount']").checkVisibility() && document.querySelector(".decide [name=reason]").value === "only half of it broke"`
	if _, err := h.engine.Comment(t.Context(), demo.Tenant, engine.CommentInput{Request: req.ID, Actor: persons["ben"], Text: "Look at the second photo."}); err != nil {
		t.Fatal(err)
	}
	tab.Shows("#card .comments", "Look at the second photo.")
	tab.Wait(kept + ` && document.activeElement === document.querySelector(".decide [name=reason]")`)
	tab.Press(", the other is fine")
	tab.Reload()
	tab.Wait(`document.querySelector("#card article")?.dataset.settled`)
	tab.Wait(`document.querySelector("[name='a.0.amount']").value === "590" && document.querySelector("[name='a.0.amount']").checkVisibility() && document.querySelector(".decide [name=reason]").value === "only half of it broke, the other is fine"`)
	tab.Wait(`document.querySelector("#card .approve").textContent.includes("Approve 590")`)
	if h.sent.Load() != 0 {
		t.Error("something was sent")
	}
	browser.Eval[any](tab, `void document.querySelector("#card .approve").click()`)
	tab.Wait(`document.querySelector("#card .standing")`)
	h.rests(req.RunID, ended)
	tab.Shows("#card .standing", "You changed and approved this")
	tab.Shows("#card .outcome", "590")
	if kept := browser.Eval[int](tab, `Object.keys(sessionStorage).filter(k => k.startsWith("hs.draft.")).length`); kept != 0 {
		t.Errorf("%d drafts are kept of what is decided", kept)
	}
}
