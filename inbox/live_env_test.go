package inbox

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/internal/browser"
	"github.com/holdshort/holdshort/policy"
)

// testAll is the environment variable that runs the full grids of cases instead of a sample.
const testAll = "HOLDSHORT_TEST_ALL"

func sampled[T any](all []T, sample ...T) []T {
	if os.Getenv(testAll) == "1" {
		return all
	}
	return sample
}

// viewEnv is an inbox in one tab that stays open while its views change. The server can hold answers back.
type viewEnv struct {
	*liveBed
	url   string
	tab   *browser.Tab
	ben   holdshort.Actor
	count atomic.Int64
	mu    sync.Mutex
	holds []*hold
}

func newViewEnv(t *testing.T) *viewEnv {
	t.Helper()
	e := &viewEnv{liveBed: newLiveBed(t)}
	e.people.set("ana", policy.Reviewer)
	e.ben = e.people.set("ben", policy.Reviewer)
	inner := e.http.Config.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { e.serve(w, r, inner) }))
	t.Cleanup(func() {
		e.in.Close()
		server.CloseClientConnections()
		server.Close()
	})
	e.url = server.URL
	e.tab = browser.Start(t).Tab(t, browser.Look{Calm: true})
	e.tab.Open(server.URL + "/as/ana")
	e.tab.Wait(`document.getElementById("state").textContent.startsWith("live")`)
	browser.Eval[any](e.tab, observeRows)
	return e
}

// observeRows records each row that stands in a list whose query can never return it. A row that leaves is not counted.
const observeRows = `void (() => {
	window.wrong = [];
	window.first = navigation.currentEntry.index; // the page is not left by going back, nor by going back twice before the first has happened
	window.going = null;
	const fits = (row, q) => {
		const decided = q.get("view") === "decided", found = q.get("q");
		return decided === !row.querySelector(".pick") && (decided || found || !row.querySelector(".state")) &&
			(!q.get("kind") || row.dataset.kind === q.get("kind")) &&
			(q.get("view") !== "mine" || row.dataset.assignee === "ana") &&
			(!found || row.querySelector("b").textContent.includes(found));
	};
	new MutationObserver(() => {
		const view = document.querySelector(".desk").dataset.view, q = new URLSearchParams(view);
		for (const row of document.querySelectorAll("#rows li.row:not(.leaving)")) if (!fits(row, q)) wrong.push(view + ": " + row.textContent);
	}).observe(document.getElementById("list"), {childList: true, subtree: true});
})()`

// hold keeps requests that match back. A page is drawn first, and its answer is held; a stream is held before it opens.
type hold struct {
	match   func(*http.Request) bool
	reached chan struct{}
	free    chan struct{}
	answer  func(http.ResponseWriter, *http.Request) // in place of the server's; nil: the server answers
}

// hold holds the next request that matches, until the returned release is called. reached is closed when it is held.
func (e *viewEnv) hold(match func(*http.Request) bool) (reached <-chan struct{}, release func()) {
	h := e.expect(match, nil)
	release = sync.OnceFunc(func() { close(h.free) })
	e.Cleanup(release)
	return h.reached, release
}

// cut breaks the connection of the next request that matches, in the middle of the answer. broken is closed when it did.
func (e *viewEnv) cut(match func(*http.Request) bool) (broken <-chan struct{}) {
	e.tab.Allowed = append(e.tab.Allowed, "net::ERR_")
	return e.expect(match, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		w.WriteHeader(http.StatusOK)
		http.NewResponseController(w).Flush() // a browser repeats a request whose answer has not begun
		panic(http.ErrAbortHandler)
	}).reached
}

// stream answers the next stream with the text that the test sends.
func (e *viewEnv) stream() (opened <-chan struct{}, send chan<- string) {
	text := make(chan string)
	h := e.expect(func(r *http.Request) bool { return r.URL.Path == "/live" }, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			select {
			case part := <-text:
				fmt.Fprint(w, part)
				http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	return h.reached, text
}

func (e *viewEnv) expect(match func(*http.Request) bool, answer func(http.ResponseWriter, *http.Request)) *hold {
	h := &hold{match, make(chan struct{}), make(chan struct{}), answer}
	e.mu.Lock()
	e.holds = append(e.holds, h)
	e.mu.Unlock()
	return h
}

func (e *viewEnv) serve(w http.ResponseWriter, r *http.Request, inner http.Handler) {
	e.mu.Lock()
	at := slices.IndexFunc(e.holds, func(h *hold) bool { return h.match(r) })
	var held *hold
	if at >= 0 {
		held = e.holds[at]
		e.holds = slices.Delete(e.holds, at, at+1)
	}
	e.mu.Unlock()
	if held == nil {
		inner.ServeHTTP(w, r)
		return
	}
	if held.answer != nil {
		close(held.reached)
		held.answer(w, r)
		return
	}
	answer := httptest.NewRecorder()
	if r.URL.Path != "/live" {
		inner.ServeHTTP(answer, r)
	}
	close(held.reached)
	select {
	case <-held.free:
	case <-r.Context().Done():
		return
	}
	if r.URL.Path == "/live" {
		inner.ServeHTTP(w, r)
		return
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	w.Write(answer.Body.Bytes())
}

// forList matches the answer for a view of the list.
func forList(query string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		return r.URL.Path == "/" && r.URL.RawQuery == query && r.Header.Get("HX-Request") == "true"
	}
}

// reach waits until a request is held.
func (e *viewEnv) reach(reached <-chan struct{}) {
	e.Helper()
	select {
	case <-reached:
	case <-time.After(time.Minute):
		e.Fatal("the page did not send the request that the test holds back")
	}
}

// refund raises an approval, and colour a question. Their words and kinds tell the views apart.
func (e *viewEnv) refund() holdshort.Request {
	e.Helper()
	return e.ask(fmt.Sprintf("refund %d", e.count.Add(1)), roles(policy.Reviewer), func(in *engine.AskInput) { in.Kind = holdshort.Approval })
}

func (e *viewEnv) colour() holdshort.Request {
	e.Helper()
	return e.ask(fmt.Sprintf("colour %d", e.count.Add(1)), roles(policy.Reviewer))
}

func (e *viewEnv) reject(req holdshort.Request) {
	e.Helper()
	in := engine.DecideInput{Request: req.ID, Action: holdshort.Reject, Actor: e.ben}
	if req.Kind == holdshort.Clarification {
		in.Action, in.Value = holdshort.Answer, []byte(`"blue"`)
	}
	if _, err := e.engine.Decide(e.Context(), liveTenant, in); err != nil {
		e.Fatal(err)
	}
}

// run runs a statement on the page.
func (e *viewEnv) run(statement string) {
	e.Helper()
	browser.Eval[any](e.tab, `void (() => {`+statement+`})()`)
}

// after runs a statement on the page, and returns when a timer of the page ended. The delay is part of the stimulus.
func (e *viewEnv) after(statement string, delay time.Duration) {
	e.Helper()
	browser.Eval[bool](e.tab, fmt.Sprintf(`(() => {%s; return new Promise(done => setTimeout(done, %d, true))})()`, statement, delay.Milliseconds()))
}

// all returns the ids that the query of a view returns, on all its pages.
func (e *viewEnv) all(view string) (ids []string) {
	e.Helper()
	for next := "/?" + view; next != ""; {
		r := httptest.NewRequestWithContext(e.Context(), http.MethodGet, next, nil)
		r.Header.Set("X-Who", "ana")
		r.Header.Set("HX-Request", "true")
		w := httptest.NewRecorder()
		e.in.ServeHTTP(w, r)
		ids = append(ids, shown{text: w.Body.String()}.rows()...)
		_, after, more := strings.Cut(w.Body.String(), `<li class="more"><a href="`)
		if next = ""; more {
			next, _, _ = strings.Cut(after, `"`)
			next = strings.ReplaceAll(next, "&amp;", "&")
		}
	}
	return ids
}

// agrees waits until the list shows the view with exactly the rows that its query returns: all of them, or, where more can
// be loaded, all up to the last one shown. A row that is kept because its card is open is not counted.
func (e *viewEnv) agrees(view string) {
	e.Helper()
	e.tab.Wait(fmt.Sprintf(`document.querySelector(".desk").dataset.view === %q`, view))
	e.tab.Wait(fmt.Sprintf(`(() => {
		const open = document.getElementById("card").dataset.id, decided = %[2]t, all = %[1]s;
		const rows = [...document.querySelectorAll("#rows li.row:not(.leaving)")].filter(r => decided || !r.matches(".closed") || r.dataset.id !== open);
		const shown = new Set(rows.map(r => r.dataset.id)), places = [...shown].map(id => all.indexOf(id));
		const due = document.querySelector("#rows li.more") ? all.slice(0, Math.max(...places) + 1) : all;
		return !places.includes(-1) && due.every(id => shown.has(id));
	})()`, asList(e.all(view)), strings.Contains(view, "decided")))
	if wrong := browser.Eval[[]string](e.tab, `wrong`); len(wrong) > 0 {
		e.Errorf("%d times a list held a row that its query does not return, first %s", len(wrong), wrong[0])
		e.run(`wrong.length = 0`)
	}
}

func asList(ids []string) string {
	if len(ids) == 0 {
		return "[]"
	}
	return `["` + strings.Join(ids, `","`) + `"]`
}

// goes shows a view of the navigation and waits for it.
func (e *viewEnv) goes(name string) {
	e.Helper()
	view := map[string]string{"inbox": ""}[name]
	if name != "inbox" {
		view = "view=" + name
	}
	e.run(fmt.Sprintf(`document.querySelector('.nav a[data-view="%s"]').click()`, name))
	e.agrees(view)
}

// chips waits until the filter of a kind is there.
func (e *viewEnv) chips(kind string) {
	e.Helper()
	e.tab.Wait(fmt.Sprintf(`document.querySelector('.chip[href="/?kind=%s"]')`, kind))
}

// opens opens the card of a request and waits for it.
func (e *viewEnv) opens(req holdshort.Request) {
	e.Helper()
	e.run(fmt.Sprintf(`document.querySelector("#row-%s a").click()`, req.ID))
	e.tab.Wait(fmt.Sprintf(`document.querySelector("#card:not([aria-busy]) article[data-id='%s']")`, req.ID))
}

func (e *viewEnv) cardClosed(req holdshort.Request) {
	e.Helper()
	e.tab.Wait(fmt.Sprintf(`document.querySelector("#card article[data-id='%s']:not([data-status=open])")`, req.ID))
}

// traffic calls act so many times a second until the returned stop.
func (e *viewEnv) traffic(perSecond int, act func()) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		every := time.NewTicker(time.Second / time.Duration(perSecond))
		defer every.Stop()
		for {
			select {
			case <-every.C:
				act()
			case <-end:
				return
			}
		}
	}()
	stop = sync.OnceFunc(func() { close(end); <-ended })
	e.Cleanup(stop)
	return stop
}
