package browser

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	code := m.Run()
	Stop()
	os.Exit(code)
}

// TestTab: what the other tests believe of this package is so.
func TestTab(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte(`<!doctype html><html lang="en"><head><title>A page</title><meta name="viewport" content="width=device-width"></head><body><main><h1>Hello</h1><p id="lang">` + r.Header.Get("Accept-Language") + `</p>
<label>Name <input id="name"></label><button id="b">Press</button><p id="out"></p><img src="data:," id="dumb">
<script>document.getElementById("b").onclick = () => { document.getElementById("out").textContent = "Hello " + document.getElementById("name").value; };
document.addEventListener("keydown", e => { if (e.key === "k" && e.target === document.body) document.title = "pressed"; });</script></main></body></html>`))
	}))
	defer page.Close()
	b := Start(t)
	tab := b.Tab(t, Look{Phone: true, Dark: true, Calm: true, Language: "he", Zone: "Asia/Tokyo"})
	tab.Open(page.URL)
	tab.Type("#name", "ana")
	tab.Click("#b")
	tab.Shows("#out", "Hello ana")
	tab.Wait(`matchMedia("(prefers-color-scheme: dark)").matches && matchMedia("(prefers-reduced-motion: reduce)").matches && innerWidth === 390`)
	if zone := Eval[string](tab, `Intl.DateTimeFormat().resolvedOptions().timeZone`); zone != "Asia/Tokyo" || tab.Text("#lang") != "he" {
		t.Errorf("zone %s, language %s", zone, tab.Text("#lang"))
	}
	Eval[bool](tab, `(document.activeElement.blur(), true)`)
	tab.Press("k")
	tab.Wait(`document.title === "pressed"`)
	found := tab.Barriers(t)
	if len(found) != 1 || found[0].ID != "image-alt" {
		t.Errorf("%+v", found)
	}
	tab.Offline(true)
	if ok := Eval[bool](tab, `fetch("/").then(() => true, () => false)`); ok {
		t.Error("the network is still there")
	}
	tab.Offline(false)
	if ok := Eval[bool](tab, `fetch("/").then(() => true, () => false)`); !ok {
		t.Error("the network did not come back")
	}
	tab.Allowed = []string{"ERR_INTERNET_DISCONNECTED"}
	Eval[bool](tab, `(console.error("something odd"), true)`)
	Eval[bool](tab, `true`)
	if lines := tab.Complaints(); len(lines) > 1 || len(lines) == 1 && !strings.Contains(lines[0], "something odd") {
		t.Errorf("%q", lines)
	}
	tab.Allowed = append(tab.Allowed, "something odd")
	other := b.Tab(t, Look{NoScript: true})
	other.Open(page.URL)
	if other.Text("#out") != "" || Eval[int](other, "innerWidth") != 1440 {
		t.Error("tabs share something")
	}
}

// TestWaitWithoutScripts: the timers of a page without scripts never run out, and Wait still notices what changes on it.
func TestWaitWithoutScripts(t *testing.T) {
	rest := make(chan struct{})
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/" {
			w.Write([]byte(`<!doctype html><title>A form</title><form action="/slow"><button>Send</button></form>`))
			return
		}
		w.Write([]byte(`<!doctype html><title>First</title><p>one</p>` + strings.Repeat(" ", 8<<10)))
		w.(http.Flusher).Flush()
		<-rest
		w.Write([]byte(`<p id="second">two</p>`))
	}))
	defer page.Close()
	tab := Start(t).Tab(t, Look{NoScript: true})
	tab.Open(page.URL)
	tab.Click("button")
	tab.Wait(`document.title === "First"`)
	time.AfterFunc(300*time.Millisecond, func() { close(rest) })
	tab.Wait(`document.getElementById("second")`)
}
