package inbox

import (
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/browser"
	"github.com/holdshort/holdshort/internal/testall"
)

// tab opens the playground in a browser and waits until it hears the server.
func (b *runBed) tab(who string, look browser.Look) *browser.Tab {
	b.t.Helper()
	tab := browser.Start(b.t).Tab(b.t, look)
	tab.Open(b.http.URL + "/as/" + who)
	tab.Wait(`document.getElementById("state").textContent.startsWith("live")`)
	return tab
}

const (
	bubbles = `[...document.querySelectorAll(".bubble:not(.streams) p")].map(p => p.textContent).join("|")`
	isLive  = `document.getElementById("state").textContent.startsWith("live")`
)

// A whole conversation: answers appear, a pause is said and its card decided beside it, and a reload shows the same.
func TestPlaygroundInABrowser(t *testing.T) {
	t.Parallel()
	b := newRunBed(t)
	tab := b.tab("ana", browser.Look{})
	tab.Click("form.agent button.primary")
	tab.Wait(`document.querySelector("#chat[data-session]") && ` + isLive)
	session := browser.Eval[string](tab, `document.getElementById("chat").dataset.session`)
	tab.Type("#text", "good morning")
	browser.Eval[any](tab, `void (document.getElementById("say").requestSubmit(), document.getElementById("say").requestSubmit())`) // a double click
	tab.Wait(bubbles + ` === "good morning|I heard: good morning"`)
	tab.Type("#text", "refund\r")
	tab.Wait(`document.getElementById("standing").textContent.includes("Paused: waits for a person") && document.querySelectorAll("#cards article.request").length === 1`)
	if testall.Enabled() { // TestEveryPage checks this state
		if found := tab.Barriers(t); len(found) > 0 {
			t.Errorf("%+v", found)
		}
	}
	tab.Open(b.http.URL + "/playground")
	tab.Wait(`location.pathname === "/playground/` + session + `" && ` + isLive + ` && document.getElementById("standing").textContent.includes("Paused")`)
	tab.Wait(`document.querySelectorAll("#cards article.request").length === 1`)
	run := b.settles(session)[0]
	b.decides("ben", b.openOf(run.ID), holdshort.Approve) // somebody else is faster
	tab.Wait(bubbles + `.endsWith("|refund|It is done.") && !document.getElementById("standing").textContent.includes("Paused")`)
	tab.Wait(`document.querySelector("#cards article.request").dataset.status === "resolved"`)
	if n := b.answers.Load(); n != 3 {
		t.Errorf("%d answers of the model", n)
	}
	if _, err := b.engine.DeleteSession(t.Context(), deskTenant, holdshort.SessionID(session), deskActor("ana")); err != nil {
		t.Fatal(err)
	}
	tab.Allowed = []string{"404"}
	tab.Open(b.http.URL + "/playground/" + session)
	tab.Shows("h1", "This conversation is gone")
	tab.Open(b.http.URL + "/playground")
	tab.Wait(`document.getElementById("choice") && location.pathname === "/playground"`)
}

// Without a connection what was written stays, and sent again it is one message; what happened meanwhile appears.
func TestPlaygroundOffline(t *testing.T) {
	t.Parallel()
	b := newRunBed(t)
	id := b.opens("ana")
	tab := b.tab("ana", browser.Look{Phone: true, Dark: true})
	tab.Allowed = []string{"net::ERR_", " to fetch", " to load resource"}
	tab.Open(b.http.URL + "/playground/" + id)
	tab.Wait(isLive)
	tab.Offline(true)
	tab.Wait(`document.body.classList.contains("stale")`)
	tab.Type("#text", "is anybody there?")
	browser.Eval[any](tab, `void document.getElementById("say").requestSubmit()`)
	tab.Shows("#unsent", "What you wrote is still here.")
	b.says("ana", id, "elsewhere", "from another window")
	if text := browser.Eval[string](tab, `document.getElementById("text").value + "|" + `+bubbles); text != "is anybody there?|" {
		t.Errorf("%q", text)
	}
	tab.Offline(false)
	tab.Wait(`!document.body.classList.contains("stale") && ` + bubbles + ` === "from another window|I heard: from another window"`)
	browser.Eval[any](tab, `void document.getElementById("say").requestSubmit()`)
	tab.Wait(bubbles + `.endsWith("|is anybody there?|I heard: is anybody there?") && document.getElementById("text").value === "" && document.getElementById("unsent").hidden`)
	if n := len(b.settles(id)); n != 2 {
		t.Errorf("%d runs", n)
	}
}

// A run's page follows the run, keeps open what somebody opened, and is replayed by keys.
func TestRunInABrowser(t *testing.T) {
	t.Parallel()
	b := newRunBed(t)
	run := b.starts("ana", "refund", "77")
	tab := b.tab("ana", browser.Look{})
	tab.Open(b.http.URL + "/runs/" + string(run.ID))
	tab.Wait(isLive)
	tab.Shows(".run-state", "holding short")
	browser.Eval[any](tab, `void (document.getElementById("d-events").open = true)`)
	b.decides("ben", b.openOf(run.ID), holdshort.Approve)
	tab.Wait(`document.querySelector(".run-state").textContent === "completed" && document.querySelector(".tl-dot") && document.getElementById("d-events").open`)
	if found := tab.Barriers(t); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	for _, step := range []struct{ key, query string }{{"\u0303", "?step=1"}, {"\u0303", "?step=2"}, {"\u0302", "?step=1"}} { // right, right, left
		tab.Press(step.key)
		tab.Wait(`location.search === "` + step.query + `" && document.querySelector(".scripted .replay")`) // its script hears keys
	}
	if found := tab.Barriers(t); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	if wide := browser.Eval[int](tab, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
		t.Errorf("the page is %d px too wide", wide)
	}
}
