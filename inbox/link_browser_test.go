package inbox_test

import (
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/internal/browser"
	"github.com/holdshort/holdshort/policy"
)

// TestLinkOnPhone: somebody opens their link, looks at what is withheld, changes the amount, takes it back once, approves, and sees what came
// of it, without a login and without the token in any address that is asked for.
func TestLinkOnPhone(t *testing.T) {
	t.Parallel()
	d := newLinkBed(t)
	run, id := d.starts(t, "bank", map[string]any{"iban": "DE02-SECRET", "amount": 620})
	token, _ := d.link(t, id, ana)
	tab := browser.Start(t).Tab(t, browser.Look{Phone: true, Calm: true})
	tab.Open(d.http.URL + linkAddress(id, token))
	tab.Wait(`document.querySelector("article.request").dataset.settled`)
	if wide := browser.Eval[bool](tab, `document.documentElement.scrollWidth > innerWidth`); wide {
		t.Error("the page is wider than the phone")
	}
	if low := browser.Eval[bool](tab, `document.querySelector(".decide .primary").getBoundingClientRect().height < 44 || document.querySelector(".decide").getBoundingClientRect().bottom > innerHeight + 1`); low {
		t.Error("the button is not under the thumb")
	}
	tab.Click(`.reveal button`)
	tab.Wait(`document.querySelector("article.request").textContent.includes("DE02-SECRET")`)
	tab.Click(`.decide [data-verb=edit]`)
	tab.Wait(`document.querySelector("[name='a.0.amount']")?.checkVisibility()`)
	browser.Eval[any](tab, `void (() => { const i = document.querySelector("[name='a.0.amount']"); i.value = "590"; i.dispatchEvent(new Event("input", {bubbles: true})); })()`)
	tab.Wait(`document.querySelector(".decide .primary").textContent.includes("590")`)
	tab.Click(`.decide .primary`)
	tab.Click(`.decide .undo`)
	tab.Wait(`!document.querySelector(".decide.waiting")`)
	if got := d.status(t, id); got != holdshort.RequestOpen {
		t.Fatalf("what was taken back was sent: %s", got)
	}
	if kept := browser.Eval[string](tab, `document.querySelector("[name='a.0.amount']").value`); kept != "590" {
		t.Errorf("what was typed is %q", kept)
	}
	tab.Click(`.decide .primary`)
	tab.Wait(`document.querySelector("article.request").dataset.status === "resolved"`)
	tab.Wait(`document.querySelector(".outcome")?.textContent.includes("done")`)
	if ended := d.ends(t, run); ended.Status != holdshort.RunCompleted || d.refunds.Load() != 1 {
		t.Errorf("%+v, %d calls", ended, d.refunds.Load())
	}
	asked := browser.Eval[[]string](tab, `performance.getEntriesByType("resource").map(e => e.name)`)
	for _, address := range asked {
		if strings.Contains(address, token) {
			t.Errorf("the token went out to %s", address)
		}
	}
	if strings.Contains(d.log.String(), token) || strings.Contains(d.log.String(), "DE02-SECRET") {
		t.Error("the log has the token, or what is withheld")
	}
}

// TestLinkOvertaken: somebody else decides while the page is open; it says so by itself, before anything can be pressed.
func TestLinkOvertaken(t *testing.T) {
	t.Parallel()
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
	tab.Wait(`document.title.startsWith("No longer open")`)
}

// TestLinkWithoutScripts: the same page decides once, and says so, in a browser that runs nothing.
func TestLinkWithoutScripts(t *testing.T) {
	t.Parallel()
	d := newLinkBed(t)
	run, id := d.starts(t, "refund", bedRefund{"1", 120})
	token, _ := d.link(t, id, ana)
	tab := browser.Start(t).Tab(t, browser.Look{Phone: true, NoScript: true})
	tab.Open(d.http.URL + linkAddress(id, token))
	tab.Shows(`.decide .primary`, "Approve 120")
	tab.Click(`.decide .primary`)
	tab.Shows(`.standing`, "You approved this")
	if ended := d.ends(t, run); ended.Status != holdshort.RunCompleted || d.refunds.Load() != 1 {
		t.Errorf("%+v, %d refunds", ended, d.refunds.Load())
	}
	tab.Reload() // the browser sends the form once more
	tab.Shows(`.standing`, "You approved this")
	if d.refunds.Load() != 1 || d.events(t)["hitl.request.decided"] != 1 {
		t.Errorf("%d refunds", d.refunds.Load())
	}
}

// TestSettingsInBrowser: a secret is shown once, and not when the page is loaded again; a form that the browser repeats makes one key.
func TestSettingsInBrowser(t *testing.T) {
	t.Parallel()
	d := newLinkBed(t)
	path, err := d.people.LoginLink(t.Context(), bedTenant, ada, "/settings/keys")
	if err != nil {
		t.Fatal(err)
	}
	tab := browser.Start(t).Tab(t, browser.Look{})
	tab.Open(d.http.URL + path)
	tab.Click(`button`)
	tab.Wait(`location.pathname === "/settings/keys" && document.readyState === "complete" && document.querySelector("form [name=name]")`)
	tab.Type(`form [name=name]`, "till")
	tab.Click(`form .primary`)
	tab.Wait(`document.getElementById("secret")?.textContent.startsWith("hs_")`)
	if at := browser.Eval[string](tab, `location.pathname + location.search`); at != "/settings/keys" {
		t.Errorf("the address is %s", at)
	}
	tab.Reload() // the browser sends the form once more
	tab.Shows(`.secret`, "not shown again")
	tab.Open(d.http.URL + "/settings/keys")
	tab.Shows(`table.keys`, "till")
	if browser.Eval[bool](tab, `document.getElementById("secret") !== null`) {
		t.Error("the secret is shown again")
	}
	if keys, err := d.engine.Keys(t.Context(), bedTenant); err != nil || len(keys) != 1 {
		t.Errorf("%d keys, %v", len(keys), err)
	}
}
