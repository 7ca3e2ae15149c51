package inbox_test

import (
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/internal/browser"
	"github.com/holdshort/holdshort/policy"
)

func TestZZ(t *testing.T) {
	d := newLinkBed(t)
	_, id := d.starts(t, "refund", bedRefund{"1", 1})
	token, fingerprint := d.link(t, id, ana)
	tab := browser.Start(t).Tab(t, browser.Look{Dark: true})
	tab.Open(d.http.URL + linkAddress(id, token))
	tab.Wait(`document.querySelector("article.request").dataset.settled`)
	carl := holdshort.Actor{ID: "carl", Kind: holdshort.Person, Roles: []string{policy.Reviewer}}
	if _, err := d.engine.Decide(t.Context(), bedTenant, engine.DecideInput{Request: id, Actor: carl, Action: holdshort.Reject, Fingerprint: fingerprint}); err != nil {
		t.Fatal(err)
	}
	browser.Eval[any](tab, `void dispatchEvent(new Event("online"))`) // it would look within seconds by itself
	tab.Wait(`document.querySelector(".standing")?.textContent.includes("carl rejected") && !document.querySelector(".decide .primary")`)
	t.Log(browser.Eval[[]string](tab, `performance.getEntriesByType("resource").map(e => e.responseStatus + " " + e.name)`))
}
