package inbox

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/holdshort/holdshort/internal/browser"
)

// TestStreamWaitsForScripts holds the script of the list back, as a slow network does. No stream may open before it has
// run: it would tell events to a page that has no listener for them yet, and count them as shown.
func TestStreamWaitsForScripts(t *testing.T) {
	e := newViewEnv(t)
	one := e.refund()
	script := func(name string) func(*http.Request) bool {
		return func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/"+name) }
	}
	e.tab = browser.Start(t).Tab(t, browser.Look{Calm: true}) // its cache is empty
	e.tab.Open(e.url + "/assets/" + e.in.looks.build + "/icon.svg")
	app, releaseApp := e.hold(script("app.js"))
	list, releaseList := e.hold(script("desk.js"))
	e.run(`document.cookie = "who=ana; path=/"; location.assign("/")`)
	e.reach(app)
	e.reach(list)
	e.tab.Wait(`document.querySelector(".desk")`)
	e.run(`window.streams = 0; const ask = window.fetch;
		window.fetch = (url, ...more) => { if (String(url).startsWith("/live")) streams++; return ask(url, ...more); }`)
	releaseApp()
	browser.Eval[bool](e.tab, `import(document.querySelector("script[src$='/app.js']").src).then(() => true)`)
	if n := browser.Eval[int](e.tab, `streams`); n != 0 {
		t.Errorf("the page opens %d streams before the script of its list has run", n)
		e.tab.Wait(`document.getElementById("state").textContent.startsWith("live")`)
	}
	e.reject(one)
	releaseList()
	e.tab.Wait(`document.getElementById("state").textContent.startsWith("live")`)
	e.tab.Wait(fmt.Sprintf(`!document.getElementById("row-%s")`, one.ID))
}
