package inbox

import (
	"strings"
	"testing"

	"github.com/holdshort/holdshort/internal/browser"
	"github.com/holdshort/holdshort/policy"
)

// TestLivePage: in a browser, an open page follows what happens, says when it no longer can, and goes on when it can again.
func TestLivePage(t *testing.T) {
	t.Parallel()
	b := newLiveBed(t)
	ana := b.people.set("ana", policy.Reviewer)
	first := b.ask("Which Dana is meant?", roles(policy.Reviewer))
	tab := browser.Start(t).Tab(t, browser.Look{Calm: true})
	tab.Allowed = []string{"net::ERR_", " to fetch", " to load resource"}
	tab.Open(b.http.URL + "/as/ana")
	tab.Wait(`document.getElementById("state").textContent.startsWith("live")`)
	if browser.Eval[bool](tab, `document.body.classList.contains("stale")`) {
		t.Error("a page that hears the server is grey")
	}
	second := b.ask("Is the address right?", roles(policy.Reviewer))
	tab.Wait(`document.getElementById("row-` + string(second.ID) + `")`)
	tab.Wait(`document.querySelector("[data-count=all]").textContent === "2"`)
	b.answer(first.ID, ana)
	tab.Wait(`!document.getElementById("row-` + string(first.ID) + `")`)
	tab.Wait(`document.querySelector("[data-count=all]").textContent === "1"`)
	browser.Eval[any](tab, `void document.querySelector("h1").append(Object.assign(document.createElement("textarea"), {id: "mine", value: "what I type"}))`)

	b.close()
	tab.Wait(`document.body.classList.contains("stale") && document.getElementById("state").textContent.startsWith("Not connected since ")`)
	b.answer(second.ID, ana)
	third := b.ask("Came while the server was away", roles(policy.Reviewer))
	b.open()
	tab.Wait(`!document.body.classList.contains("stale") && document.getElementById("state").textContent.startsWith("live")`)
	tab.Wait(`document.getElementById("row-` + string(third.ID) + `") && !document.getElementById("row-` + string(second.ID) + `")`)
	if typed := browser.Eval[string](tab, `document.getElementById("mine").value`); typed != "what I type" {
		t.Errorf("what was typed is %q", typed)
	}

	b.close()
	tab.Wait(`document.body.classList.contains("stale")`)
	b.open()
	b.in.looks.build = "another" // as after an upgrade
	tab.Wait(`document.getElementById("tell").textContent.includes("This page is from an older version")`)

	b.people.remove("ana")
	b.close()
	b.open()
	tab.Wait(`document.getElementById("state").textContent.startsWith("You are logged out.")`)
	if to := browser.Eval[string](tab, `document.querySelector("#state a").getAttribute("href")`); !strings.HasPrefix(to, "/login?next=") {
		t.Errorf("the login is at %q", to)
	}
}

// TestLivePageOfflineAndBack: what the browser itself notices, and a page that it kept and shows again.
func TestLivePageOfflineAndBack(t *testing.T) {
	t.Parallel()
	b := newLiveBed(t)
	b.people.set("ana", policy.Reviewer)
	tab := browser.Start(t).Tab(t, browser.Look{Phone: true})
	tab.Allowed = []string{"net::ERR_", " to fetch", " to load resource"}
	tab.Open(b.http.URL + "/as/ana")
	tab.Wait(`document.getElementById("state").textContent.startsWith("live")`)
	tab.Offline(true)
	tab.Wait(`document.body.classList.contains("stale") && document.getElementById("tell").textContent.startsWith("Not connected since ")`)
	missed := b.ask("Came while the phone was in a tunnel", roles(policy.Reviewer))
	tab.Offline(false)
	tab.Wait(`!document.body.classList.contains("stale") && document.getElementById("row-` + string(missed.ID) + `")`)
	tab.Wait(`!document.getElementById("tell").textContent.includes("Not connected")`)
	tab.Open(b.http.URL + "/help")
	later := b.ask("Came while another page was shown", roles(policy.Reviewer))
	browser.Eval[any](tab, `history.back()`)
	tab.Wait(`document.getElementById("row-` + string(later.ID) + `") && !document.body.classList.contains("stale")`)
}

// TestLivePageInTheBackground: a browser has few connections, so a page that nobody sees gives its own back; one of them stays to notify.
func TestLivePageInTheBackground(t *testing.T) {
	t.Parallel()
	b := newLiveBed(t)
	b.people.set("ana", policy.Reviewer)
	tab := browser.Start(t).Tab(t, browser.Look{Calm: true})
	tab.Open(b.http.URL + "/as/ana")
	tab.Wait(`document.getElementById("state").textContent.startsWith("live")`)
	streams := func() int {
		b.hub.mu.Lock()
		defer b.hub.mu.Unlock()
		return b.hub.open[string(liveTenant)+"\x00ana"]
	}
	see := func(hidden string) {
		browser.Eval[any](tab, `void (Object.defineProperty(document, "hidden", {configurable: true, get: () => `+hidden+`}), document.dispatchEvent(new Event("visibilitychange")))`)
	}
	browser.Eval[any](tab, `void navigator.locks.request("holdshort-live", () => new Promise(done => { window.leave = done }))`) // as another page does
	see("true")
	tab.Wait(`document.getElementById("state").textContent.startsWith("Paused")`)
	eventually(t, "a page that nobody sees is connected", func() bool { return streams() == 0 })
	browser.Eval[any](tab, `void window.leave()`)
	tab.Wait(`document.getElementById("state").textContent.startsWith("live")`)
	eventually(t, "nobody stays to notify", func() bool { return streams() == 1 })
	see("false")
	tab.Wait(`navigator.locks.query().then(locks => locks.held.length === 0)`)
	if n := streams(); n != 1 {
		t.Errorf("a page that is seen again has %d streams", n)
	}
}
