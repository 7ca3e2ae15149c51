package inbox_test

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/demo"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/internal/browser"
	"github.com/holdshort/holdshort/internal/testall"
	"github.com/holdshort/holdshort/policy"
)

// gallery is the environment variable with the folder that pictures of everything go to. Default: none are taken.
const gallery = "HOLDSHORT_GALLERY"

// walk visits every page in every state. A page must not be wider than its screen, break a rule of accessibility, or write an error to
// its console.
type walk struct {
	*hall
	tab     *browser.Tab
	look    string
	shots   string
	sampled bool // each state in one look only
}

// walkLooks are the looks of pictures.
var walkLooks = map[string]browser.Look{
	"light": {Calm: true}, "dark": {Calm: true, Dark: true}, "phone": {Calm: true, Phone: true}, "rtl": {Calm: true, Language: "he"},
}

// darkPhone differs from a light desktop in everything at once.
var darkPhone = browser.Look{Calm: true, Phone: true, Dark: true, Language: "he"}

// TestEveryPage visits each state once, partly on a light desktop and partly on a dark phone that reads from right to left.
// With HOLDSHORT_TEST_ALL=1, or for pictures, it visits each state in each look.
func TestEveryPage(t *testing.T) {
	t.Parallel()
	shots := os.Getenv(gallery)
	if shots == "" && !testall.Enabled() {
		newWalk(t, "light", walkLooks["light"], walk{sampled: true}).all()
		return
	}
	if shots != "" {
		t.Cleanup(func() { index(t, shots, []string{"light", "dark", "rtl", "phone"}) })
	}
	looks := maps.Clone(walkLooks)
	if shots == "" {
		looks["dark phone, right to left"] = darkPhone
	}
	for name, look := range looks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newWalk(t, name, look, walk{shots: shots}).all()
		})
	}
}

func newWalk(t *testing.T, name string, look browser.Look, w walk) *walk {
	t.Helper()
	w.hall, w.look = newHall(t, 25*time.Second), name
	w.tab = browser.Start(t).Tab(t, look)
	w.tab.Allowed = []string{"status of 40", "status of 50", "net::ERR_", "EventSource"}
	return &w
}

func (w *walk) all() {
	w.onPhone()
	w.before()
	all := w.fill()
	w.onDesktop()
	w.lists()
	w.cards(all)
	w.onPhone()
	w.deciding(all)
	w.onDesktop()
	w.work()
	w.onPhone()
	w.administration()
	w.links()
}

// onPhone shows the next pages of a sampled walk on a dark phone that reads from right to left.
func (w *walk) onPhone() { w.Helper(); w.dress("dark phone, right to left", darkPhone) }

// onDesktop shows the next pages of a sampled walk on a light desktop.
func (w *walk) onDesktop() { w.Helper(); w.dress("light", walkLooks["light"]) }

func (w *walk) dress(name string, look browser.Look) {
	w.Helper()
	if w.sampled {
		w.look = name
		w.tab.Open("about:blank") // a page is told its language when it is loaded
		w.tab.Dress(look)
	}
}

// open goes to a page that hears the server.
func (w *walk) open(path string) {
	w.Helper()
	w.tab.Open(w.http.URL + path)
	w.tab.Wait(`document.readyState === "complete" && (!document.getElementById("state") || document.getElementById("state").textContent.startsWith("live"))`)
}

// see looks at the state that the page is in.
func (w *walk) see(name string) {
	w.Helper()
	w.tab.Wait(`document.fonts.status === "loaded" && !document.querySelector("#card[aria-busy]") && ![...document.querySelectorAll("article.request")].some(a => !a.dataset.settled)`)
	if w.shots != "" {
		w.tab.Shot(filepath.Join(w.shots, w.look, name+".png"))
	}
	if wide := w.tab.Excess(); wide > 0 {
		w.Errorf("%s, %s: the page is %d px too wide", w.look, name, wide)
	}
	if w.sampled && !slices.Contains(representative, name) {
		return
	}
	var within []string
	if w.sampled && strings.HasPrefix(name, "card-") && name != "card-approval" { // the list beside it was checked before
		within = []string{"#card"}
	}
	for _, barrier := range w.tab.Barriers(w.TB.(*testing.T), within...) {
		w.Errorf("%s, %s: %+v", w.look, name, barrier)
	}
}

// representative are the states whose accessibility is checked in an ordinary run, at least one of each kind of page. The checks take
// half of the time of a walk.
var representative = []string{"login", "inbox-empty", "inbox-selection", "batch-summary", "card-approval", "card-several", "card-form",
	"card-editing-wrong", "card-undo", "card-not-connected", "runs", "run-held", "session", "playground-paused", "overview", "policy-tried",
	"page-audit", "page-settings-webhooks", "page-not-allowed", "link-open"}

// card opens a request and waits until it can be used.
func (w *walk) card(req holdshort.Request) {
	w.Helper()
	w.open("/requests/" + string(req.ID))
	w.tab.Wait(`document.querySelector("article.request")?.dataset.settled`)
}

func (w *walk) press(verb string) {
	w.Helper()
	browser.Eval[any](w.tab, fmt.Sprintf(`void document.dispatchEvent(new CustomEvent("hs:decide", {detail: {id: document.querySelector("article.request").dataset.id, verb: %q}}))`, verb))
}

// write puts a text into a field as somebody would who types.
func (w *walk) write(selector, text string) {
	w.Helper()
	write(w.tab, selector, text)
}

func write(tab *browser.Tab, selector, text string) {
	tab.Helper()
	tab.Wait(fmt.Sprintf(`document.querySelector(%q)`, selector))
	browser.Eval[any](tab, fmt.Sprintf(`void (e => { e.value = %q; e.dispatchEvent(new Event("input", {bubbles: true})); })(document.querySelector(%q))`, text, selector))
}

// before is what somebody sees on the first day.
func (w *walk) before() {
	link, err := w.people.LoginLink(w.Context(), demo.Tenant, persons["ana"], "/")
	if err != nil {
		w.Fatal(err)
	}
	w.open(link)
	w.see("login")
	w.open("/as/ana?next=/")
	w.see("inbox-empty")
	for _, page := range []string{"runs", "sessions", "overview"} {
		w.open("/" + page)
		w.see(page + "-empty")
	}
}

// asked are requests of all kinds, by what they show.
type hallRequests map[string]holdshort.Request

// fill makes weeks of work, and much that waits.
func (w *walk) fill() hallRequests {
	all := hallRequests{}
	verbs := []holdshort.Verb{holdshort.Approve, holdshort.Approve, holdshort.Reject, holdshort.Approve, holdshort.Approve, holdshort.Approve}
	key, _, err := w.engine.CreateKey(w.Context(), demo.Tenant, engine.CreateKeyInput{Name: "till", Scopes: []string{holdshort.ScopeRaise}, Actor: holdshort.SystemActor("demo")})
	if err != nil {
		w.Fatal(err)
	}
	for i := range 18 { // the past
		at := time.Duration(19-i) * 33 * time.Hour
		w.clock.Ago(at)
		asked, err := w.engine.Ask(w.Context(), demo.Tenant, engine.AskInput{Kind: holdshort.Approval, Actor: key.Actor(), Actions: []engine.AskAction{{Tool: "bank.transfer", Args: asJSON(payment{To: "Dana Levi", Amount: float64(100 + 10*i)})}}})
		if err != nil {
			w.Fatal(err)
		}
		w.clock.Ago(at - time.Duration(1+i*i%17)*time.Minute)
		w.decides([]string{"ana", "ben"}[i%2], asked.Request, engine.DecideInput{Action: verbs[i%len(verbs)]})
	}
	if err := demo.Seed(w.Context(), w.engine, w.clock); err != nil {
		w.Fatal(err)
	}
	w.clock.Ago(100 * time.Minute)
	all["expired"] = w.pay(13)
	w.clock.Ago(0)
	all["approval"], all["other"], all["undo"], all["reveal"], all["race"], all["edit"] = w.pay(320), w.pay(75), w.pay(210), w.pay(60), w.pay(85), w.pay(620)
	all["soon"] = w.pay(13)
	all["quorum"] = w.pay(2500)
	w.decides("ben", all["quorum"], engine.DecideInput{Action: holdshort.Approve})
	all["final"] = w.asks("erase disk", map[string]string{"disk": "backup-04"})
	all["several"] = w.asks("several", 3)
	all["plain"] = w.asks("write", map[string]any{"path": "notes.txt", "text": "hello"})
	all["unsent"] = w.asks("write", map[string]any{"path": "unsent.txt", "text": "hello"})
	var lines []string
	for i := range 60 {
		lines = append(lines, fmt.Sprintf("%02d  total of the day: %d EUR\u200b, p\u0430id", i+1, 37*i))
	}
	all["long"] = w.asks("write", map[string]any{"path": "report/2026/totals.txt", "text": strings.Join(lines, "\n"), "mode": 420, "owner": map[string]any{"name": "desk", "groups": []string{"finance", "night shift"}, "quota": nil}, "overwrite": true})
	all["rtl"] = w.asks("write", map[string]any{"path": "שלום.txt", "text": "שלום, ההזמנה שלך בדרך."})
	for name, kind := range map[string]string{"choice": "one", "choices": "many", "form": "form", "confirm": "confirm", "escalation": "escalate", "repair": "mend", "text": "text"} {
		all[name] = w.asks("ask", hallQuestion{Kind: kind, Text: map[string]string{"one": "The lamp is broken. What do we offer?", "many": "What of this may we offer?", "form": "How shall the parcel be sent?",
			"confirm": "Is the customer the one who called yesterday?", "escalate": "The carrier denies everything. Who takes it over?", "mend": "There is no gold paper. Which one instead?", "text": "Where shall the bike be delivered?"}[kind]})
	}
	w.lose.Store(true)
	lost := w.pay(55)
	w.decides("ana", lost, engine.DecideInput{Action: holdshort.Approve})
	run := w.rests(lost.RunID, func(r holdshort.Run) bool { return r.Open == 1 && r.Status == holdshort.RunWaiting })
	all["unknown"], all["lost"] = w.asked(run), lost
	w.lose.Store(false)
	for name, in := range map[string]engine.DecideInput{"approved": {Action: holdshort.Approve, Message: "as agreed"}, "rejected": {Action: holdshort.Reject, Message: "the photos show another bike"},
		"changed": {Action: holdshort.Edit, Args: asJSON(payment{"Dana Levi", 40, "DE02120300000000202051", "half of it"})}} {
		all[name] = w.pay(80)
		w.decides("ben", all[name], in)
		w.rests(all[name].RunID, ended)
	}
	all["canceled"] = w.pay(81)
	if _, err := w.engine.CancelRequest(w.Context(), demo.Tenant, engine.CancelRequestInput{Request: all["canceled"].ID, Actor: persons["ana"], Reason: "asked by mistake"}); err != nil {
		w.Fatal(err)
	}
	if _, err := w.engine.Comment(w.Context(), demo.Tenant, engine.CommentInput{Request: all["approval"].ID, Actor: persons["ben"], Text: "The photos look right to me."}); err != nil {
		w.Fatal(err)
	}
	w.rests(all["expired"].RunID, ended)
	return all
}

// lists visits the inbox without a card.
func (w *walk) lists() {
	w.open("/")
	w.see("inbox")
	browser.Eval[any](w.tab, `void [...document.querySelectorAll(".pick")].slice(0, 14).forEach(b => b.click())`)
	w.tab.Wait(`document.querySelector(".picking")`)
	w.see("inbox-selection")
	browser.Eval[any](w.tab, `void document.querySelector("#picked .primary").click()`)
	w.tab.Wait(`document.querySelector("#ask[open] h1")`)
	w.see("batch-summary")
	browser.Eval[any](w.tab, `void document.getElementById("ask").close()`)
	w.tab.Press("?")
	w.tab.Wait(`document.getElementById("help").open && document.querySelector("#help table, #help dl, #help h2")`)
	w.see("help")
	for name, query := range map[string]string{"search": "q=transfer", "search-nothing": "q=xyzzy", "mine-empty": "view=mine", "decided": "view=decided", "unknown": "view=unknown"} {
		w.open("/?" + query)
		w.see("inbox-" + name)
	}
}

// cards visits requests of every kind and status.
func (w *walk) cards(all hallRequests) {
	for _, name := range []string{"approval", "soon", "quorum", "final", "several", "long", "rtl", "choice", "choices", "form", "confirm", "escalation", "repair", "text", "unknown", "lost", "approved", "rejected", "changed", "canceled", "expired"} {
		w.card(all[name])
		w.see("card-" + name)
		if name == "approval" || name == "long" || name == "several" {
			browser.Eval[any](w.tab, `void (e => e.scrollTop = e.scrollHeight)(document.getElementById("card"))`)
			w.see("card-" + name + "-end")
		}
	}
}

// deciding visits a card in the states between the first key and the outcome.
func (w *walk) deciding(all hallRequests) {
	w.card(all["edit"])
	w.press("edit")
	w.write(`[name="a.0.amount"]`, "590")
	w.tab.Wait(`document.querySelector(".decide .approve").textContent.includes("590")`)
	w.see("card-editing")
	w.write(`[name="a.0.amount"]`, "a lot")
	w.tab.Wait(`[...document.querySelectorAll("small.wrong, .check")].some(e => e.textContent && e.checkVisibility())`)
	w.see("card-editing-wrong")
	w.card(all["other"])
	w.press("reject")
	w.tab.Wait(`document.querySelector("details[data-verb=reject]").open`)
	w.see("card-rejecting")
	w.card(all["reveal"])
	browser.Eval[any](w.tab, `void document.querySelector(".reveal button").click()`)
	w.tab.Wait(`document.querySelector("article.request").textContent.includes("DE02120300000000202051")`)
	w.see("card-revealed")
	w.card(all["undo"])
	w.press("approve")
	w.tab.Wait(`document.querySelector(".pending .undo")`)
	w.see("card-undo")
	w.press("undo")
	w.tab.Wait(`!document.querySelector(".decide.waiting")`)
	w.card(all["race"])
	w.decides("ben", all["race"], engine.DecideInput{Action: holdshort.Reject, Message: "too much"})
	w.tab.Wait(`document.querySelector(".standing")`)
	w.see("card-decided-by-another")
	browser.Eval[any](w.tab, `void (document.cookie = "holdshort_look=undo=no; path=/")`)
	w.card(all["unsent"])
	again := w.failing(http.StatusServiceUnavailable, "POST", "/decide")
	w.press("approve")
	w.tab.Wait(`document.querySelector(".pending").textContent.includes("Not delivered")`)
	w.see("card-not-delivered")
	again()
	w.card(all["plain"])
	again = w.failing(http.StatusServiceUnavailable, "", "/")
	w.http.CloseClientConnections()
	w.tab.Wait(`document.body.classList.contains("stale")`)
	w.see("card-not-connected")
	again()
	w.open("/requests/req_00000000000000000000000000")
	w.see("card-nothing")
}

// work visits the pages of runs, sessions and figures.
func (w *walk) work() {
	w.open("/runs")
	w.see("runs")
	many := 180
	if w.sampled {
		many = 40
	}
	small, large, broken, waits := w.start("march", 3), w.start("march", many), w.start("broken", ""), w.start("complaint", demo.Case{Order: "77", Problem: "dented"})
	held := w.start("drifting", "")
	w.drift.Store(true)
	w.decides("ana", w.asked(held), engine.DecideInput{Action: holdshort.Answer, Value: asJSON("to the barn")})
	w.rests(held.ID, func(r holdshort.Run) bool { return r.Held != nil || ended(r) })
	for name, run := range map[string]holdshort.Run{"held": held, "small": small, "large": large, "failed": broken, "waiting": waits} {
		w.open("/runs/" + string(run.ID))
		w.see("run-" + name)
	}
	w.open("/sessions")
	w.see("sessions")
	w.open(browser.Eval[string](w.tab, `new URL(document.querySelector("main a[href^='/sessions/']").href).pathname`))
	w.see("session")
	w.open("/playground?new=yes")
	w.see("playground")
	browser.Eval[any](w.tab, `void [...document.querySelectorAll(".chat-try")].find(b => b.textContent.includes("order 77")).click()`)
	w.tab.Wait(`document.querySelector(".widget article.request")?.dataset.settled && document.getElementById("standing").textContent`)
	w.see("playground-paused")
	w.open("/overview")
	w.see("overview")
	browser.Eval[any](w.tab, `void scrollTo(0, 900)`)
	w.see("overview-end")
}

// administration visits the pages of rules, audit and settings.
func (w *walk) administration() {
	w.open("/policy")
	w.see("policy")
	w.write("#try-tool", "orders.refund")
	w.write("#try-args", `{"order":"79","amount":890}`)
	browser.Eval[any](w.tab, `void document.querySelector("#try-form button").click()`)
	w.tab.Wait(`document.querySelector(".verdict")`)
	browser.Eval[any](w.tab, `void document.querySelector(".verdict").scrollIntoView({block: "center"})`)
	w.see("policy-tried")
	if _, err := w.engine.CreateWebhook(w.Context(), demo.Tenant, engine.CreateWebhookInput{URL: "https://hooks.example.org/holdshort", Actor: persons["ana"]}); err != nil {
		w.Fatal(err)
	}
	for _, page := range []string{"audit", "settings", "settings/keys", "settings/people", "settings/webhooks", "help"} {
		w.open("/" + page)
		w.see(strings.ReplaceAll("page-"+page, "/", "-"))
	}
	w.open("/settings/keys")
	w.write("form [name=name]", "till at the counter")
	browser.Eval[any](w.tab, `void document.querySelector("form .primary").click()`)
	w.tab.Wait(`document.getElementById("secret")`)
	w.see("page-settings-key-made")
	w.open("/nothing/here")
	w.see("page-nothing")
	w.open("/as/eve?next=/audit")
	w.see("page-not-allowed")
}

// links are the pages of those who only have a link.
func (w *walk) links() {
	guest := holdshort.Actor{ID: "gil@example.org", Kind: holdshort.Person, Name: "Gil", Roles: []string{policy.Reviewer, "finance"}}
	req := w.asks("transfer", payment{"Dana Levi", 150, "DE02120300000000202051", "broken on arrival"})
	link := "/r/" + string(req.ID) + "?t=" + string(w.people.LinkFor(demo.Tenant, req, guest, 0))
	w.open(link)
	w.see("link-open")
	w.decides("ben", req, engine.DecideInput{Action: holdshort.Approve})
	w.rests(req.RunID, ended)
	w.open(link)
	w.see("link-decided")
	w.open("/r/" + string(req.ID) + "?t=" + string(w.people.LinkFor(demo.Tenant, req, guest, time.Nanosecond)))
	w.see("link-expired")
	w.open("/r/" + string(req.ID) + "?t=made-up")
	w.see("link-refused")
}

// index is a page to look through the pictures: each state in all its looks, side by side.
func index(t *testing.T, shots string, looks []string) {
	var page strings.Builder
	page.WriteString("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>Gallery</title><style>body{font:15px system-ui;margin:24px;background:#777;color:#fff}h2{margin:32px 0 8px}a{color:#fff}.of{display:grid;grid-template-columns:repeat(3,1fr) auto;gap:12px;align-items:start}.of img{width:100%;display:block}.of .phone{width:195px}nav{columns:220px;font-size:13px}</style></head><body><h1>Every page in every state</h1>\n<nav>")
	var names []string
	found, err := filepath.Glob(filepath.Join(shots, looks[0], "*.png"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		names = append(names, strings.TrimSuffix(filepath.Base(path), ".png"))
	}
	for _, name := range names {
		fmt.Fprintf(&page, "<a href=\"#%[1]s\">%[1]s</a><br>", name)
	}
	page.WriteString("</nav>\n")
	for _, name := range names {
		fmt.Fprintf(&page, "<h2 id=\"%[1]s\">%[1]s</h2><div class=\"of\">", name)
		for _, look := range looks {
			fmt.Fprintf(&page, "<a class=\"%[2]s\" href=\"%[2]s/%[1]s.png\"><img loading=\"lazy\" src=\"%[2]s/%[1]s.png\" alt=\"%[1]s, %[2]s\"></a>", name, look)
		}
		page.WriteString("</div>\n")
	}
	page.WriteString("</body></html>\n")
	if err := os.WriteFile(filepath.Join(shots, "index.html"), []byte(page.String()), 0o644); err != nil {
		t.Error(err)
	}
}
