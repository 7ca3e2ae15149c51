package inbox

import (
	"fmt"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/internal/browser"
	"github.com/holdshort/holdshort/internal/testall"
)

// tab opens the inbox in a browser and waits until it hears the server.
func (b *deskBed) tab(who string, look browser.Look) *browser.Tab {
	b.t.Helper()
	tab := browser.Start(b.t).Tab(b.t, look)
	tab.Open(b.http.URL + "/as/" + who)
	tab.Wait(`document.getElementById("state").textContent.startsWith("live")`)
	return tab
}

func isOpen(req holdshort.Request) string {
	return fmt.Sprintf(`document.querySelector("#card:not([aria-busy]) article[data-id='%s']") && location.pathname === "/requests/%s"`, req.ID, req.ID)
}

func isFocused(req holdshort.Request) string {
	return fmt.Sprintf(`document.activeElement.closest("li.row")?.dataset.id === '%s'`, req.ID)
}

// Keys move, open, select and decide; they do nothing while somebody types, when they are off, or before what they act on can have been seen.
func TestDeskKeys(t *testing.T) {
	t.Parallel()
	b := newDeskBed(t)
	one, two, three := b.call("orders.refund", `{"amount":1}`), b.call("orders.refund", `{"amount":2}`), b.call("orders.refund", `{"amount":3}`)
	tab := b.tab("ana", browser.Look{})
	tab.Press("j")
	tab.Wait(isOpen(one) + " && " + isFocused(one))
	tab.Press("jk") // who goes on does not stop
	tab.Wait(isOpen(one))
	tab.Press("/")
	tab.Wait(`document.activeElement.type === "search"`)
	tab.Press("axr?j")
	tab.Wait(`new URLSearchParams(location.search).get("q")?.endsWith("axr?j") && document.querySelector(".list .empty")`)
	if n := browser.Eval[int](tab, `document.querySelectorAll(".pick:checked, dialog[open]").length`); n != 0 {
		t.Errorf("keys acted while somebody typed: %d", n)
	}
	browser.Eval[any](tab, `void history.back()`)
	tab.Wait(`document.querySelectorAll("li.row").length === 3 && !location.search`)
	tab.Press("\x1b")
	tab.Wait(`document.activeElement.closest("li.row")`)

	tab.Press("?")
	tab.Wait(`document.getElementById("help").open`)
	tab.Click("#help [data-keys-on]")
	tab.Press("\x1b")
	tab.Wait(`!document.getElementById("help").open`)
	tab.Press("x")
	if n := browser.Eval[int](tab, `document.querySelectorAll(".pick:checked").length`); n != 0 {
		t.Error("keys act though they are off")
	}
	tab.Press("?")
	tab.Wait(`document.getElementById("help").open`)
	tab.Click("#help [data-keys-on]")
	tab.Press("\x1b")
	tab.Wait(`!document.getElementById("help").open`)

	// Approved: the next one opens, and a second press of the same key, meant for the first, decides nothing.
	browser.Eval[any](tab, `void document.querySelector("#row-`+string(one.ID)+` a").click()`)
	tab.Wait(isOpen(one) + ` && document.querySelector("#card .approve")`)
	browser.Eval[any](tab, `void document.addEventListener("hs:decided", () => setTimeout(() => document.dispatchEvent(new KeyboardEvent("keydown", {key: "a", bubbles: true}))))`)
	tab.Wait(`(document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "a", bubbles: true})), !document.getElementById("row-` + string(one.ID) + `"))`)
	tab.Wait(isOpen(two) + " && " + isFocused(two))
	tab.Wait(`document.querySelector("#tell .told").textContent.startsWith("Approved: ") && document.getElementById("say").textContent.startsWith("Next: ")`)
	if b.stands(one).Outcome != holdshort.Approved {
		t.Errorf("%+v", b.stands(one))
	}
	if now := b.stands(two); now.Status != holdshort.RequestOpen {
		t.Errorf("what came under the finger was decided: %s", now.Outcome)
	}
	tab.Press("x")
	tab.Press("j")
	tab.Wait(isOpen(three))
	tab.Press("x")
	tab.Wait(`document.querySelectorAll(".pick:checked").length === 2`)
	tab.Press("r")
	tab.Wait(`document.getElementById("ask").open && document.querySelector("#ask h1").textContent === "Reject 2 requests?"`)
	tab.Press("\x1b")
	tab.Wait(`!document.getElementById("ask").open`)
	tab.Press("\x1b")
	tab.Wait(`document.querySelectorAll(".pick:checked").length === 0`)
}

// What somebody points at stays where it is while rows come and go, and so does a list that was scrolled.
func TestDeskHoldsStill(t *testing.T) {
	t.Parallel()
	b := newDeskBed(t)
	var reqs []holdshort.Request
	for i := range 6 {
		reqs = append(reqs, b.call("orders.refund", fmt.Sprintf(`{"amount":%d}`, i)))
	}
	tab := b.tab("ana", browser.Look{Calm: true})
	top := func(req holdshort.Request) float64 {
		return browser.Eval[float64](tab, fmt.Sprintf(`document.getElementById("row-%s").getBoundingClientRect().top`, req.ID))
	}
	point := func(req holdshort.Request) {
		browser.Eval[any](tab, fmt.Sprintf(`void (window.point = () => document.querySelector("#row-%s a").dispatchEvent(new PointerEvent("pointermove", {bubbles: true, pointerType: "mouse"})), point(), window.pointing = setInterval(point, 50))`, req.ID))
	}
	point(reqs[3])
	before := top(reqs[3])
	critical := b.urgent("Now?")
	tab.Wait(fmt.Sprintf(`document.getElementById("row-%s")`, critical.ID))
	if now := top(reqs[3]); now-before > 1 || before-now > 1 {
		t.Errorf("a row came, and what is pointed at moved from %v to %v", before, now)
	}
	b.decides("ben", critical, holdshort.Reject)
	tab.Wait(fmt.Sprintf(`document.querySelector("#row-%s.closed") || !document.getElementById("row-%s")`, critical.ID, critical.ID))
	b.decides("ben", reqs[0], holdshort.Reject)
	tab.Wait(fmt.Sprintf(`document.querySelector("#row-%s.closed") || !document.getElementById("row-%s")`, reqs[0].ID, reqs[0].ID))
	if now := top(reqs[3]); now-before > 1 || before-now > 1 {
		t.Errorf("rows left, and what is pointed at moved from %v to %v", before, now)
	}
	browser.Eval[any](tab, `void (clearInterval(window.pointing), document.getElementById("list").dispatchEvent(new PointerEvent("pointerleave")))`)
	tab.Wait(fmt.Sprintf(`!document.getElementById("row-%s") && !document.getElementById("row-%s")`, critical.ID, reqs[0].ID))
	if n := browser.Eval[int](tab, `document.querySelectorAll("li.row").length`); n != 5 {
		t.Errorf("%d rows are left", n)
	}
}

// Lists that have closed requests too follow what happens: what is decided comes to the one, and stays in the other with its outcome.
func TestDeskFollowsClosed(t *testing.T) {
	t.Parallel()
	b := newDeskBed(t)
	one, two := b.call("orders.refund", `{"amount":1}`), b.call("orders.refund", `{"amount":2}`)
	b.decides("ben", one, holdshort.Reject)
	decided, found := b.tab("ana", browser.Look{}), b.tab("ana", browser.Look{})
	decided.Click(`.nav a[data-view="decided"]`)
	decided.Wait(`location.search === "?view=decided" && document.querySelectorAll("li.row").length === 1 && document.querySelector(".nav [aria-current=page]").dataset.view === "decided"`)
	found.Open(b.http.URL + "/?q=orders.refund")
	found.Wait(`document.querySelectorAll("li.row").length === 2 && document.getElementById("state").textContent.startsWith("live")`)
	b.decides("ben", two, holdshort.Approve)
	decided.Wait(`document.querySelector("li.row")?.dataset.id === "` + string(two.ID) + `" && document.querySelector("li.row small").textContent.startsWith("by Ben")`)
	found.Wait(`document.querySelector("#row-` + string(two.ID) + ` .state")?.textContent === "approved" && document.querySelectorAll("li.row").length === 2`)
}

// On a phone the list is the page: a card covers it, and what is covered cannot be reached; after a decision the next one waits for a tap.
func TestDeskPhone(t *testing.T) {
	t.Parallel()
	b := newDeskBed(t)
	one, two := b.call("orders.refund", `{"amount":1}`), b.call("orders.refund", `{"amount":2}`)
	tab := b.tab("ana", browser.Look{Phone: true, Calm: true})
	if wide := browser.Eval[int](tab, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("the page is %d wide", wide)
	}
	tab.Click("#row-" + string(one.ID) + " a")
	tab.Wait(isOpen(one) + ` && document.getElementById("list").inert && document.activeElement.closest("#card")`)
	tab.Click("#card .back")
	tab.Wait(`!document.getElementById("list").inert && location.pathname === "/" && getComputedStyle(document.getElementById("card")).visibility === "hidden"`)
	tab.Click("#row-" + string(one.ID) + " a")
	tab.Wait(isOpen(one))
	tab.Click("#card .approve")
	tab.Wait(`document.querySelector("#tell .told a")?.textContent.startsWith("Next: ")`)
	if at := browser.Eval[string](tab, `location.pathname`); at != "/requests/"+string(one.ID) {
		t.Errorf("it went on by itself, to %s", at)
	}
	tab.Click("#tell .told a")
	tab.Wait(isOpen(two))
}

// A saved view is there after a reload, leads to what it was, and goes when it is removed.
func TestDeskSavedViews(t *testing.T) {
	t.Parallel()
	b := newDeskBed(t)
	b.call("orders.refund", `{"amount":1}`)
	urgent := b.urgent("Now?")
	tab := b.tab("ana", browser.Look{})
	if browser.Eval[bool](tab, `!document.getElementById("save").hidden`) {
		t.Error("the plain inbox can be saved")
	}
	tab.Click(`.chip[href="/?priority=critical"]`)
	tab.Wait(`location.search === "?priority=critical" && !document.getElementById("save").hidden && document.querySelectorAll("li.row").length === 1`)
	tab.Click("#save")
	tab.Type(".naming input", "<b>Now</b>")
	tab.Press("\r")
	tab.Wait(`document.querySelector("#views .chip[aria-current]")?.textContent === "<b>Now</b>" && document.getElementById("save").hidden`)
	tab.Open(b.http.URL + "/")
	tab.Wait(`document.querySelectorAll("li.row").length === 2`)
	tab.Click("#views .chip")
	tab.Wait(`location.search === "?priority=critical" && document.querySelectorAll("li.row").length === 1 && document.getElementById("row-` + string(urgent.ID) + `")`)
	tab.Click("#views .gone")
	tab.Wait(`!document.querySelector("#views .chip") && !document.getElementById("save").hidden`)
}

// A notification says that something waits, not what: for what is critical or assigned to whoever asked to be told, while they look elsewhere.
func TestDeskNotifies(t *testing.T) {
	t.Parallel()
	b := newDeskBed(t)
	b.call("orders.refund", `{"amount":1}`)
	tab := b.tab("ana", browser.Look{Calm: true})
	browser.Eval[any](tab, `void (window.notes = [], window.Notification = class {
		static permission = "default";
		static requests = 0;
		static async requestPermission() { this.requests++; return this.permission = "granted"; }
		constructor(title, options) { notes.push(this); this.title = title; this.options = options; }
		close() {}
	})`)
	tab.Wait(`!document.getElementById("notify").hidden`)
	if n := browser.Eval[int](tab, `Notification.requests`); n != 0 {
		t.Error("permission was asked for without a click")
	}
	tab.Click("#notify")
	tab.Wait(`Notification.requests === 1 && document.getElementById("notify").ariaPressed === "true"`)
	seen := b.urgent("While I look?")
	tab.Wait(`document.getElementById("row-` + string(seen.ID) + `")`)
	browser.Eval[any](tab, `void Object.defineProperty(document, "hidden", {value: true, configurable: true})`)
	plain := b.call("orders.refund", `{"amount":2}`)
	tab.Wait(`document.getElementById("row-` + string(plain.ID) + `")`)
	if n := browser.Eval[int](tab, `notes.length`); n != 0 {
		t.Errorf("%d notifications of what is neither urgent nor theirs, or was seen", n)
	}
	urgent := b.urgent("A secret question?")
	tab.Wait(`notes.length === 1`)
	if got := browser.Eval[string](tab, `JSON.stringify([notes[0].title, notes[0].options])`); got != `["1 request waits for you",{"tag":"holdshort","body":"Holdshort"}]` {
		t.Errorf("it says %s", got)
	}
	if _, err := b.engine.Assign(t.Context(), deskTenant, engine.AssignInput{Request: plain.ID, Actor: deskActor("olga"), To: "ana"}); err != nil {
		t.Fatal(err)
	}
	tab.Wait(`notes.length === 2 && notes[1].title === "2 requests wait for you" && document.title.startsWith("(4) ")`)
	browser.Eval[any](tab, `void (delete document.hidden, notes[0].onclick())`)
	tab.Wait(isOpen(urgent))
}

// Sent into the void, a batch says so and keeps its form; sent again it decides once. Pressing twice is pressing once.
func TestDeskBatchUnsent(t *testing.T) {
	t.Parallel()
	b := newDeskBed(t)
	one, two := b.call("orders.refund", `{"amount":1}`), b.call("orders.refund", `{"amount":2}`)
	tab := b.tab("ana", browser.Look{Calm: true})
	tab.Allowed = []string{"net::ERR_", "to fetch", "to load resource"}
	tab.Press("*")
	tab.Press("a")
	tab.Wait(`document.querySelector("#ask[open] h1")?.textContent === "Approve 2 requests?"`)
	tab.Offline(true)
	tab.Click("#ask .primary")
	tab.Wait(`!document.querySelector("#ask .unsent").hidden && !document.querySelector("#ask .primary").disabled`)
	if b.stands(one).Status != holdshort.RequestOpen {
		t.Error("it was decided without having been sent")
	}
	tab.Offline(false)
	browser.Eval[any](tab, `void (document.querySelector("#ask .primary").click(), document.querySelector("#ask .primary").click())`)
	tab.Wait(`document.querySelector("#ask h1").textContent === "2 of 2 approved"`)
	for _, req := range []holdshort.Request{one, two} {
		if b.stands(req).Outcome != holdshort.Approved {
			t.Errorf("%s is %s", req.ID, b.stands(req).Status)
		}
	}
	tab.Press("\x1b")
	tab.Wait(`!document.querySelector("li.row") && document.querySelector(".list .empty b").textContent === "Nothing waits for a person"`)
}

// Nobody is kept out: not by the list, nor by what opens over it.
func TestDeskBarriers(t *testing.T) {
	t.Parallel()
	b := newDeskBed(t)
	one := b.call("orders.refund", `{"amount":1}`)
	b.call("disk.erase", `{"disk":"a"}`)
	b.urgent("Now?")
	looks := map[string]browser.Look{"a dark phone": {Phone: true, Dark: true, Calm: true}}
	if testall.Enabled() { // TestEveryPage checks these states on a light desktop
		looks["light"] = browser.Look{Calm: true}
	}
	for name, look := range looks {
		tab := b.tab("ana", look)
		check := func(state string) {
			for _, barrier := range tab.Barriers(t) {
				t.Errorf("%s, %s: %+v", name, state, barrier)
			}
		}
		browser.Eval[any](tab, `void document.querySelector("#row-`+string(one.ID)+` .pick").click()`)
		tab.Wait(`document.querySelector(".picking")`)
		check("selection")
		browser.Eval[any](tab, `void document.querySelector("#picked .primary").click()`)
		tab.Wait(`document.getElementById("ask").open`)
		check("summary")
		browser.Eval[any](tab, `void document.getElementById("ask").close()`)
		tab.Open(b.http.URL + "/help")
		check("keys")
	}
}
