package inbox_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/demo"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/internal/browser"
)

// TestKindsInBrowser: every kind of request is answered on its card, and what was answered is what the run gets.
func TestKindsInBrowser(t *testing.T) {
	t.Parallel()
	h := newHall(t, -1)
	tab := h.tab("ana", browser.Look{Calm: true}, "/")
	tab.Allowed = []string{"status of 4"}
	result := func(req holdshort.Request) string {
		t.Helper()
		tab.Wait(`document.querySelector("#card .standing")`)
		return string(h.rests(req.RunID, ended).Result)
	}
	ask := func(kind string) holdshort.Request {
		t.Helper()
		req := h.asks("ask", hallQuestion{Kind: kind, Text: "What now?"})
		h.show(tab, req.ID)
		return req
	}
	for _, c := range []struct {
		kind string
		act  func()
		want string
	}{
		{"one", func() { tab.Press("2"); tab.Press("\x1b"); tab.Click("#card .select") }, `"b"`},
		{"many", func() { tab.Press("1"); tab.Press("3"); tab.Click("#card .select") }, `["a","c"]`},
		{"text", func() { tab.Type("#card [name=value]", "To the <b>barn</b>"); tab.Click("#card .answers") }, `"To the \u003cb\u003ebarn\u003c/b\u003e"`},
		{"confirm", func() { tab.Press("a") }, `true`},
		{"mend", func() { tab.Click(`#card [data-fill="stars"]`); tab.Click("#card .answers") }, `"stars"`},
		{"form", func() {
			tab.Type(`#card [name="f.name"]`, "Cora")
			tab.Type(`#card [name="f.weight"]`, "80")
			tab.Wait(`document.querySelector("#card [data-field='f.weight'] small.wrong").textContent`) // while it is typed
			tab.Click("#card .answers")
			tab.Wait(`document.querySelector("#card [role=alert]")?.textContent.trim() && document.querySelector("#card [name='f.name']").value === "Cora"`)
			tab.Type(`#card [name="f.weight"]`, "8.5")
			tab.Click(`#card button[value="add:f.lines"]`)
			tab.Wait(`document.querySelector("#card [name$='.sku']") && document.querySelector("#card [name='f.weight']").value === "8.5"`)
			tab.Type(`#card [name$=".sku"]`, "bike-1")
			tab.Click("#card .answers")
		}, `{"lines":[{"sku":"bike-1"}],"name":"Cora","weight":8.5}`},
	} {
		req := ask(c.kind)
		c.act()
		if got := result(req); !sameJSON(got, c.want) {
			t.Errorf("%s: %s, want %s", c.kind, got, c.want)
		}
	}

	h.lose.Store(true)
	lost := h.pay(55)
	h.show(tab, lost.ID)
	tab.Press("a")
	tab.Shows("#card", "nobody knows whether it happened")
	h.lose.Store(false)
	tab.Click("#card .outcome a")
	tab.Wait(`document.querySelector("#card article[data-kind=reconcile]")?.dataset.settled`)
	tab.Shows("#card", "unknown outcome")
	tab.Wait(`document.querySelector("[data-count=unknown]").textContent === "1"`)
	tab.Click(`#card [value=happened]`)
	tab.Type("#card [name=result]", `{"receipt":"re_9"}`)
	tab.Click("#card .select")
	tab.Wait(`document.querySelector("#card .standing")`)
	if run := h.rests(lost.RunID, ended); run.Status != holdshort.RunCompleted || !strings.Contains(string(run.Result), "re_9") || h.paid.Load() != 0 {
		t.Errorf("%+v, %d paid", run, h.paid.Load())
	}
	tab.Wait(`document.querySelector("[data-count=unknown]").textContent === ""`)
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && string(asJSON(x)) == string(asJSON(y))
}

// TestCarefulInBrowser: what is wrong is said while it is typed; what is withheld is shown to who asks, which is noted; what cannot be undone
// takes a word; and a reason goes with a rejection.
func TestCarefulInBrowser(t *testing.T) {
	t.Parallel()
	h := newHall(t, -1)
	tab := h.tab("ana", browser.Look{Calm: true}, "/")
	tab.Allowed = []string{"status of 4"}
	req := h.pay(620)
	h.show(tab, req.ID)
	tab.Press("e")
	tab.Wait(`document.activeElement.name === "a.0.amount"`)
	tab.Type(`[name="a.0.amount"]`, "9000")
	tab.Wait(`document.querySelector("[data-field='a.0.amount'] small.wrong").textContent`)
	tab.Type(`[name="a.0.amount"]`, "1500")
	tab.Wait(`!document.querySelector("[data-field='a.0.amount'] small.wrong").textContent && document.querySelector("#card .check").textContent.includes("two")`) // it would take more people
	browser.Eval[any](tab, `void document.querySelector("#card .arg.changed .reset").click()`)
	tab.Wait(`document.querySelector("[name='a.0.amount']").value === "620" && document.querySelector("#card .approve").textContent.includes("Approve 620") && !document.querySelector("#card .check").textContent`)
	tab.Press("\x1b")

	if strings.Contains(tab.Text("#card"), "DE0212") {
		t.Error("what is withheld is on the page")
	}
	browser.Eval[any](tab, `void document.querySelector("#card .reveal button").click()`)
	tab.Shows("#card", "DE02120300000000202051")
	if n := h.noted("hitl.request.revealed", req.ID); n != 1 {
		t.Errorf("that somebody looked is noted %d times", n)
	}
	tab.Press("r")
	tab.Wait(`document.activeElement.name === "reason"`)
	tab.Press("no <b>photos</b>")
	tab.Shows("#card", "DE02120300000000202051") // still
	browser.Eval[any](tab, `void document.querySelector("#card .drawer button[value=reject]").click()`)
	tab.Shows("#card .standing", "no <b>photos</b>")
	if got := h.now(req.ID); got.Outcome != holdshort.Rejected || h.said(req.ID).Message != "no <b>photos</b>" || h.paid.Load() != 0 {
		t.Errorf("%+v", got)
	}

	final := h.asks("erase disk", map[string]string{"disk": "backup-04"})
	h.show(tab, final.ID)
	tab.Press("a")
	tab.Wait(`document.querySelector("#card .check").textContent.startsWith("This cannot be undone: type ") && document.activeElement.name === "confirm"`)
	if h.sent.Load() != 1 {
		t.Errorf("%d were sent", h.sent.Load())
	}
	tab.Press(browser.Eval[string](tab, `document.querySelector("#card .confirm").dataset.word`))
	tab.Press("\r")
	tab.Wait(`document.querySelector("#card .standing")`)
	if h.rests(final.RunID, ended); h.now(final.ID).Outcome != holdshort.Approved {
		t.Errorf("%+v", h.now(final.ID))
	}
}

// noted counts what the log has of a request.
func (h *hall) noted(name string, id holdshort.RequestID) (n int) {
	h.Helper()
	for after := int64(0); ; {
		page, err := h.engine.Events(h.Context(), demo.Tenant, engine.EventQuery{After: after})
		if err != nil {
			h.Fatal(err)
		}
		if len(page.Items) == 0 {
			return n
		}
		for _, e := range page.Items {
			if e.Type == name && e.Request == id {
				n++
			}
			after = max(after, e.Position)
		}
	}
}

// TestKeysOnly: from the inbox to a decision, and on to the next, without a pointer.
func TestKeysOnly(t *testing.T) {
	t.Parallel()
	h := newHall(t, -1)
	first, second, third := h.pay(10), h.pay(20), h.pay(30)
	tab := h.tab("ana", browser.Look{Calm: true}, "/")
	tab.Press("j")
	shown(tab, first.ID)
	tab.Press("a")
	shown(tab, second.ID) // by itself
	tab.Press("r")
	tab.Wait(`document.activeElement.name === "reason"`)
	tab.Press("not this one")
	tab.Press("\t")
	tab.Wait(`document.activeElement.value === "reject"`)
	tab.Press("\r")
	shown(tab, third.ID)
	tab.Press("c")
	tab.Wait(`document.activeElement.name === "text"`)
	tab.Press("I look at it tomorrow.\t")
	tab.Press("\r")
	tab.Shows("#card .comments", "I look at it tomorrow.")
	browser.Eval[any](tab, `void document.activeElement.blur()`)
	tab.Press("m")
	tab.Wait(`document.querySelector("#card .meta").textContent.includes("Assigned to you") && document.querySelector("[data-count=mine]").textContent === "1"`)
	browser.Eval[any](tab, `void document.activeElement.blur()`)
	tab.Press("gm")
	tab.Wait(`location.search === "?view=mine" && document.getElementById("row-` + string(third.ID) + `")`)
	h.rests(first.RunID, ended)
	if one, two := h.now(first.ID), h.now(second.ID); one.Outcome != holdshort.Approved || two.Outcome != holdshort.Rejected || h.said(second.ID).Message != "not this one" || h.now(third.ID).Status != holdshort.RequestOpen {
		t.Errorf("%s, %s %q, %s", one.Outcome, two.Outcome, h.said(second.ID).Message, h.now(third.ID).Status)
	}
}

// TestPhoneInBrowser: the list, a tap, the card over it with the button under the thumb, a decision, and back; from right to left and in the dark.
func TestPhoneInBrowser(t *testing.T) {
	t.Parallel()
	h := newHall(t, -1)
	req := h.pay(75)
	tab := h.tab("ana", browser.Look{Phone: true, Dark: true, Calm: true, Language: "ar"}, "/")
	tab.Wait(`document.dir === "rtl" && getComputedStyle(document.body).direction === "rtl"`)
	tab.Click("#row-" + string(req.ID) + " a")
	shown(tab, req.ID)
	if low := browser.Eval[bool](tab, `(b => b.height < 44 || b.top < innerHeight / 2 || b.bottom > innerHeight || b.left < 0 || b.right > innerWidth)(document.querySelector("#card .approve").getBoundingClientRect())`); low || tab.Excess() > 0 {
		t.Errorf("the button is not under the thumb, or the page %d px too wide", tab.Excess())
	}
	before := browser.Eval[float64](tab, `document.querySelector("#card .approve").getBoundingClientRect().top`)
	browser.Eval[any](tab, `void (document.getElementById("card").scrollTop = 200)`)
	if after := browser.Eval[float64](tab, `document.querySelector("#card .approve").getBoundingClientRect().top`); after != before {
		t.Errorf("the button moved from %v to %v", before, after)
	}
	tab.Click("#card .approve")
	tab.Wait(`document.querySelector("#card .standing")`)
	tab.Click("#card .back")
	tab.Wait(`location.pathname === "/" && !document.querySelector("li.row:not(.closed)")`)
	h.rests(req.RunID, ended)
	if got := h.now(req.ID); got.Outcome != holdshort.Approved || h.paid.Load() != 1 {
		t.Errorf("%+v", got)
	}
}

// TestPlaygroundInBrowser: a conversation stops for a person, who decides beside it, and goes on; its run and session show the same.
func TestPlaygroundInBrowser(t *testing.T) {
	t.Parallel()
	h := newHall(t, -1)
	tab := h.tab("ana", browser.Look{Calm: true}, "/playground?new=yes")
	tab.Click(".agent .primary")
	tab.Wait(`document.querySelector("#chat[data-session]") && document.getElementById("state").textContent.startsWith("live")`)
	tab.Type("#text", "Please refund order 77")
	tab.Press("\r")
	tab.Wait(`document.querySelector("#cards article.request")?.dataset.settled`)
	tab.Shows("#cards", "Refund 320 EUR for order 77?")
	tab.Shows("#standing", "person")
	tab.Click("#cards .approve")
	tab.Shows("#log", "The receipt is rc-77")
	tab.Wait(`!document.querySelector("#standing .paused")`)
	session := browser.Eval[string](tab, `document.getElementById("chat").dataset.session`)
	tab.Open(h.http.URL + "/sessions/" + session)
	tab.Shows("main", "The receipt is rc-77")
	tab.Open(browser.Eval[string](tab, `document.querySelector("main a[href^='/runs/']").href`))
	tab.Shows("main", "completed")
	tab.Wait(`document.querySelector("main svg")?.getBoundingClientRect().width > 200`)
}

// TestWithoutScripts: whoever has none logs in, reads, and decides once, by plain links and forms.
func TestWithoutScripts(t *testing.T) {
	t.Parallel()
	h := newHall(t, -1)
	req := h.pay(75)
	tab := browser.Start(t).Tab(t, browser.Look{NoScript: true})
	link, err := h.people.LoginLink(t.Context(), demo.Tenant, persons["ana"], "/")
	if err != nil {
		t.Fatal(err)
	}
	tab.Open(h.http.URL + link)
	tab.Click("form button")
	tab.Shows("h1", "Waiting for a person")
	tab.Click("#row-" + string(req.ID) + " a")
	tab.Shows("#card h1", "Transfer 75 EUR?")
	tab.Click("#card .approve")
	tab.Shows("#card .standing", "You approved this")
	tab.Reload()
	h.rests(req.RunID, ended)
	if got := h.now(req.ID); got.Outcome != holdshort.Approved || h.paid.Load() != 1 || h.noted("hitl.request.decided", req.ID) != 1 {
		t.Errorf("%+v, %d paid", got, h.paid.Load())
	}
}
