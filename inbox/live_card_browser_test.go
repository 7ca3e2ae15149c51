package inbox

import (
	"net/http"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/internal/browser"
)

// visits opens the page of a request, whose first stream follows the card.
func (e *viewEnv) visits(req holdshort.Request) {
	e.Helper()
	e.tab.Open(e.url + "/requests/" + string(req.ID))
	e.tab.Wait(`document.getElementById("state").textContent.startsWith("live")`)
	browser.Eval[any](e.tab, observeRows)
}

// comments is one event that changes a card.
func (e *viewEnv) comments(req holdshort.Request, text string) {
	e.Helper()
	in := engine.CommentInput{Request: req.ID, Actor: e.ben, Text: text}
	if _, err := e.engine.Comment(e.Context(), liveTenant, in); err != nil {
		e.Fatal(err)
	}
}

// A card whose load breaks off is loaded again, although the stream of the page never broke.
func TestCardLoadsAgainAfterBrokenLoad(t *testing.T) {
	e := newViewEnv(t)
	one := e.refund()
	e.visits(one)
	broken := e.cut(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, string(one.ID)+"/card") })
	e.comments(one, "paid twice")
	e.reach(broken)
	e.tab.Shows("#card article", "paid twice")
}

// The answer to a form arrives after the card was loaded again. It is older than the card that it replaces, which ends
// as it stands.
func TestLateAnswerDoesNotReopenCard(t *testing.T) {
	e := newViewEnv(t)
	one := e.refund()
	e.visits(one)
	posted, release := e.hold(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, string(one.ID)+"/comment") })
	e.run(`const form = document.querySelector("form.comment"); form.elements.text.value = "is it paid?"; form.requestSubmit()`)
	e.reach(posted)
	e.reject(one)
	e.cardClosed(one)
	e.run(`window.newer = document.querySelector("#card article")`)
	release()
	e.tab.Wait(`document.querySelector("#card article") !== newer`)
	e.cardClosed(one)
	e.tab.Shows("#card article", "is it paid?")
}
