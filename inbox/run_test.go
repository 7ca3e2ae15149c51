package inbox

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/testall"
)

// The list shows what somebody may see, filtered as its address says, and why each does not move.
func TestRunsList(t *testing.T) {
	t.Parallel()
	b := newRunBed(t)
	steps, broken := b.starts("ben", "steps", 2), b.starts("ben", "broken", "")
	nap, asks := b.starts("ben", "nap", ""), b.starts("fin", "refund", "77")
	at := func(run holdshort.Run) string { return `href="/runs/` + string(run.ID) + `"` }
	for _, tt := range []struct {
		who, path string
		has, not  []holdshort.Run
	}{
		{"adm", "/runs", []holdshort.Run{steps, broken, nap, asks}, nil},
		{"ben", "/runs", []holdshort.Run{steps, broken, nap}, []holdshort.Run{asks}},
		{"eve", "/runs", nil, []holdshort.Run{steps, broken, nap, asks}},
		{"ana", "/runs", nil, []holdshort.Run{steps, asks}}, // a reviewer sees requests, not runs
		{"olga", "/runs?status=failed", []holdshort.Run{broken}, []holdshort.Run{steps, nap, asks}},
		{"olga", "/runs?status=waiting", []holdshort.Run{nap, asks}, []holdshort.Run{steps, broken}},
		{"olga", "/runs?name=nap", []holdshort.Run{nap}, []holdshort.Run{steps, broken, asks}},
		{"olga", "/runs?held=yes", nil, []holdshort.Run{steps, broken, nap, asks}},
		{"olga", "/runs?status=nonsense", []holdshort.Run{steps, broken, nap, asks}, nil},
	} {
		page := b.get(tt.who, tt.path)
		if page.status != http.StatusOK {
			t.Fatalf("%s %s: %d", tt.who, tt.path, page.status)
		}
		for _, run := range tt.has {
			page.has(t, at(run))
		}
		for _, run := range tt.not {
			page.lacks(t, at(run))
		}
	}
	page := b.get("adm", "/runs")
	page.has(t, "holding short", "waits for a person", "the &lt;wheel&gt; is off", "step a nap sleeps")
	if strings.Index(page.text, at(asks)) > strings.Index(page.text, at(steps)) {
		t.Error("the newest is not the first")
	}
	b.get("eve", "/runs").has(t, "No runs yet")
	if page := b.get("", "/runs"); page.status != http.StatusUnauthorized {
		t.Errorf("a stranger: %d", page.status)
	}
}

// A run's page tells everybody who may see it the truth about its state, and its values only those who may know them.
func TestRunPage(t *testing.T) {
	t.Parallel()
	b := newRunBed(t)
	run := b.starts("ben", "steps", 3)
	path := "/runs/" + string(run.ID)
	for who, values := range map[string]bool{"ben": true, "adm": true, "aud": true, "olga": false} {
		page := b.get(who, path)
		page.has(t, "completed", "look 0", "look 2", "run.completed", `id="picture"`, "3 steps")
		if got := strings.Contains(page.text, "a-value-1"); got != values {
			t.Errorf("%s sees values: %v", who, got)
		}
		if got := strings.Contains(page.text, "&lt;b&gt;all done&lt;/b&gt;"); got != values {
			t.Errorf("%s sees the result: %v", who, got)
		}
		if csp := page.header.Get("Content-Security-Policy"); !strings.Contains(csp, "script-src 'self'") || strings.Contains(csp, "unsafe") {
			t.Errorf("policy %q", csp)
		}
		if strings.Contains(page.text, " style=") || strings.Contains(page.text, "<script>") || strings.Contains(page.text, " onclick") {
			t.Error("something on the page is against its own policy")
		}
		page.lacks(t, "/cancel", "/retry") // it is over
	}
	for _, who := range []string{"eve", "ana"} {
		for _, p := range []string{path, path + "/timeline", path + "?step=1"} {
			if page := b.get(who, p); page.status != http.StatusNotFound || strings.Contains(page.text, "look 0") {
				t.Errorf("%s %s: %d", who, p, page.status)
			}
		}
	}
	if page := b.get("adm", "/runs/run_nothing"); page.status != http.StatusNotFound {
		t.Errorf("%d", page.status)
	}
	part := b.get("adm", path, "HX-Request", "true")
	part.lacks(t, "<html", "<nav class=\"nav\"")
	part.has(t, `id="run"`, `data-live-run`)
}

// Replayed, the page is what it would have been after that step.
func TestRunReplay(t *testing.T) {
	t.Parallel()
	b := newRunBed(t)
	run := b.starts("ben", "steps", 4)
	path := "/runs/" + string(run.ID)
	page := b.get("ben", path+"?step=2")
	page.has(t, "Step 2 of 4", "a-value-1", "until step 2 of 4", "step=1#step", "step=3#step", `rel="next"`, "running")
	page.lacks(t, "a-value-2", "look 3", "all done", "run.completed", "data-live-run", "/cancel")
	for _, tt := range []struct{ step, want string }{{"1", "Step 1 of 4"}, {"4", "Step 4 of 4"}, {"99", "Step 4 of 4"}} {
		b.get("ben", path+"?step="+tt.step).has(t, tt.want)
	}
	for _, step := range []string{"0", "-3", "x", "", "99999999999999999999999"} {
		b.get("ben", path+"?step="+step).lacks(t, "Step ", `class="replay"`)
	}
	b.get("olga", path+"?step=2").lacks(t, "a-value-1")
	if page := b.get("ben", path+"/timeline?step=1"); page.status != 200 || strings.Contains(page.text, "look 2") || !strings.Contains(page.text, "look 0") {
		t.Errorf("%d %s", page.status, page.text)
	}
}

// A run of thousands of steps has a page of a sane size, on which every step can be reached.
func TestRunOfThousands(t *testing.T) {
	t.Parallel()
	b := newRunBed(t)
	steps := 1000
	if testall.Enabled() {
		steps = 2000
	}
	look := func(n int) string { return fmt.Sprintf(">look %d<", n) }
	run := b.starts("ben", "steps", steps)
	path := "/runs/" + string(run.ID)
	page := b.get("ben", path)
	if len(page.text) > 400<<10 {
		t.Errorf("%d bytes", len(page.text))
	}
	page.has(t, fmt.Sprintf("%d steps", steps), look(steps-1), look(steps-200), "Earlier steps", fmt.Sprintf("from=%d#journal", steps-400), "Steps that are alike are folded.")
	page.lacks(t, look(steps-201), "Later steps")
	page = b.get("ben", path+"?from=0")
	page.has(t, look(0), look(199), "Later steps", "from=200#journal")
	page.lacks(t, look(200), "Earlier steps")
	half := steps / 2
	b.get("ben", fmt.Sprintf("%s?step=%d", path, half)).has(t, fmt.Sprintf("Step %d of %d", half, steps), look(half-1),
		fmt.Sprintf("from=%d&amp;step=%d#journal", half-400, half), fmt.Sprintf("a-value-%d", half-1))
	if page := b.get("ben", path+"?unfold=all"); page.status != 200 || len(page.text) > 1<<20 {
		t.Errorf("%d, %d bytes", page.status, len(page.text))
	}
	for _, from := range []string{"-1", "x", "5000", ""} {
		b.get("ben", path+"?from="+from).has(t, look(steps-1))
	}
}

// A run that waits says for whom; decided, its page has the decision, the operation and the picture of the pause.
func TestRunPaused(t *testing.T) {
	t.Parallel()
	b := newRunBed(t)
	run := b.starts("ben", "refund", "77")
	req := b.openOf(run.ID)
	path := "/runs/" + string(run.ID)
	b.get("ben", path).has(t, "holding short", "It waits for approval of role reviewer.", "/requests/"+string(req.ID), "waits for a person", "data-live-run")
	b.decides("ana", req, holdshort.Approve)
	b.rests(run.ID)
	b.get("ben", path).has(t, "completed", "Ana approved", "orders.refund", "receipt rc-77", "done")
}

// Canceling and retrying are for those who may, from our own page, and twice is once.
func TestRunActs(t *testing.T) {
	t.Parallel()
	b := newRunBed(t)
	nap, broken := b.starts("ben", "nap", ""), b.starts("ben", "broken", "")
	cancel, retry := "/runs/"+string(nap.ID)+"/cancel", "/runs/"+string(broken.ID)+"/retry"
	b.get("ben", "/runs/"+string(nap.ID)).has(t, `action="`+cancel+`"`)
	b.get("aud", "/runs/"+string(nap.ID)).lacks(t, cancel)
	b.get("ben", "/runs/"+string(broken.ID)).lacks(t, retry) // retrying is an operator's
	b.get("olga", "/runs/"+string(broken.ID)).has(t, `action="`+retry+`"`, "the &lt;wheel&gt; is off")
	for _, tt := range []struct {
		who, path string
		headers   []string
		want      int
	}{
		{"eve", cancel, nil, http.StatusNotFound}, {"aud", cancel, nil, http.StatusForbidden}, {"ben", retry, nil, http.StatusForbidden}, {"", cancel, nil, http.StatusUnauthorized},
		{"ben", cancel, []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden}, {"olga", "/runs/run_none/retry", nil, http.StatusNotFound},
	} {
		if got := b.post(tt.who, tt.path, url.Values{}, tt.headers...); got.status != tt.want {
			t.Errorf("%s %s: %d, want %d", tt.who, tt.path, got.status, tt.want)
		}
	}
	if got := b.get("ben", cancel); got.status == http.StatusOK {
		t.Error("a GET cancels")
	}
	if run := b.rests(nap.ID); run.Status != holdshort.RunWaiting {
		t.Fatalf("it is %s", run.Status)
	}
	for range 2 { // clicked twice
		if got := b.post("ben", cancel, url.Values{"reason": {"not tired"}}); got.status != http.StatusOK || !strings.Contains(got.text, "canceled") {
			t.Errorf("cancel: %d", got.status)
		}
	}
	b.mended.Store(true)
	if got := b.post("olga", retry, url.Values{}); got.status != http.StatusOK {
		t.Errorf("retry: %d %s", got.status, got.text)
	}
	if run := b.rests(broken.ID); run.Status != holdshort.RunCompleted || run.Attempt != 2 {
		t.Errorf("%s, attempt %d", run.Status, run.Attempt)
	}
	b.get("olga", "/runs/"+string(broken.ID)).has(t, "attempt 2")
	if got := b.post("olga", retry, url.Values{}); got.status != http.StatusConflict {
		t.Errorf("retry of a completed run: %d", got.status)
	}
}

// The picture on a card is there for those who decide, also if they may not see the run.
func TestMiniTimeline(t *testing.T) {
	t.Parallel()
	b := newRunBed(t)
	run := b.starts("ben", "refund", "77")
	req := b.openOf(run.ID)
	b.get("adm", "/requests/"+string(req.ID)+"/card", "HX-Request", "true").has(t, "timeline mini", "holding short")
	v := &visit{Inbox: &Inbox{engine: b.engine}, ctx: t.Context(), now: req.CreatedAt.Add(time.Minute)}
	v.who.Tenant, v.who.Actor = deskTenant, deskActor("ana")
	got, err := v.miniTimeline(req)
	if err != nil || got.Empty || got.ID != "" || len(got.Bars) != 1 || got.Bars[0].Text != "holding short · 1 min" || got.Bars[0].Link != "" {
		t.Errorf("%+v, %v", got, err)
	}
	v.who.Tenant, v.who.Actor = deskTenant, deskActor("eve")
	if got, err := v.miniTimeline(req); holdshort.CodeOf(err) != holdshort.NotFound || !got.Empty {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := v.miniTimeline(holdshort.Request{ID: "req_1"}); err != nil || !got.Empty {
		t.Errorf("without a run: %+v, %v", got, err)
	}
}

// A run's state is what stands in its way first.
func TestStateOfRun(t *testing.T) {
	t.Parallel()
	held := &holdshort.Hold{Code: holdshort.JournalMismatch, Since: dawn}
	for _, tt := range []struct {
		run  holdshort.Run
		want runState
	}{
		{holdshort.Run{Status: holdshort.RunWaiting, Held: held, Open: 1}, runState{"held: journal_mismatch", "no", dawn}},
		{holdshort.Run{Status: holdshort.RunWaiting, Open: 2, UpdatedAt: dawn}, runState{"holding short", "hold", dawn}},
		{holdshort.Run{Status: holdshort.RunWaiting, UpdatedAt: dawn}, runState{"waiting", "", dawn}},
		{holdshort.Run{Status: holdshort.RunRunning, UpdatedAt: dawn}, runState{"running", "", dawn}},
		{holdshort.Run{Status: holdshort.RunCompleted, EndedAt: dawn}, runState{"completed", "yes", dawn}},
		{holdshort.Run{Status: holdshort.RunFailed, EndedAt: dawn}, runState{"failed", "no", dawn}},
		{holdshort.Run{Status: holdshort.RunCanceled, EndedAt: dawn, Held: held}, runState{"canceled", "", dawn}},
	} {
		if got := stateOfRun(tt.run); got != tt.want {
			t.Errorf("%+v: %+v", tt.run, got)
		}
	}
}

// Money is written as money, and only where it is known.
func TestMoney(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "", -5: "", 1: "0.000001", 1500: "0.0015", 2_500_000: "2.50", 12_345_678: "12.345678", 990_000: "0.99"} {
		if got := money(n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

// Values that are long are shortened, and say so.
func TestValues(t *testing.T) {
	t.Parallel()
	long := valueOf([]byte(`"` + strings.Repeat("ä", 20000) + `"`))
	if len(long.Text) > longestValue || long.Size != "40,002" || !strings.HasPrefix(long.Text, `"ää`) || strings.ContainsRune(long.Text, '\uFFFD') {
		t.Errorf("%d bytes, %s", len(long.Text), long.Size)
	}
	for raw, want := range map[string]valueView{"": {None: true}, "null": {None: true}, `{"a":1}`: {Text: "{\n  \"a\": 1\n}"}, `"\u003cb\u003E \\u003c \\\u0026 \n \"`: {Text: `"<b> \\u003c \\& \n \"`}, "not json": {Text: "not json"}} {
		if got := valueOf([]byte(raw)); got != want {
			t.Errorf("%q: %+v", raw, got)
		}
	}
}
