package inbox

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/internal/testall"
	"github.com/holdshort/holdshort/policy"
)

// Each sees what waits for them: reviewers what asks roles, a role its own, those who watch over everything all, a stranger nothing.
func TestDeskByRole(t *testing.T) {
	t.Parallel()
	b := newDeskBed(t)
	open := b.call("orders.refund", `{"order":"77","amount":5}`)
	finance := b.call("orders.refund", `{"order":"78","amount":5,"finance":true}`)
	for _, tt := range []struct {
		who  string
		want []holdshort.Request
	}{
		{"ana", []holdshort.Request{open, finance}}, {"fin", []holdshort.Request{finance}}, {"olga", []holdshort.Request{open, finance}}, {"aud", []holdshort.Request{open, finance}},
		{"adm", []holdshort.Request{open, finance}}, {"eve", nil},
	} {
		page := b.get(tt.who, "/")
		if got := fmt.Sprint(page.rows()); page.status != http.StatusOK || got != idsOf(tt.want...) {
			t.Errorf("%s sees %s, want %s (%d)", tt.who, got, idsOf(tt.want...), page.status)
		}
		if csp := page.header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") {
			t.Errorf("%s: policy %q", tt.who, csp)
		}
	}
	b.get("eve", "/").has(t, "Nothing waits for a person")
	if page := b.get("eve", "/requests/"+string(open.ID)); page.status != http.StatusNotFound || strings.Contains(page.text, "orders.refund") || strings.Contains(page.text, "77") {
		t.Errorf("a stranger sees %d %s", page.status, page.text)
	}
	if page := b.get("", "/"); page.status != http.StatusUnauthorized || !strings.Contains(page.text, "/login") {
		t.Errorf("nobody sees %d", page.status)
	}
	if part := b.get("eve", "/?part=row&id="+string(open.ID), "HX-Request", "true"); part.status != http.StatusNotFound {
		t.Errorf("a stranger gets a row: %d", part.status)
	}
}

// Filters narrow, chips say how many there are, and a chip that is on leads back.
func TestDeskFilters(t *testing.T) {
	t.Parallel()
	b := newDeskBed(t)
	reviewers := holdshort.Audience{Roles: []string{policy.Reviewer}}
	plain := b.call("orders.refund", `{"order":"1"}`)
	question := b.asks(engine.AskInput{Kind: holdshort.Clarification, Question: "Which colour?", ExpiresIn: time.Hour, Audience: reviewers})
	critical := b.asks(engine.AskInput{Question: "Stop the line?", ExpiresIn: time.Hour, Priority: holdshort.PriorityCritical, Audience: reviewers})
	due := b.asks(engine.AskInput{Question: "Quickly?", ExpiresIn: 5 * time.Minute, Audience: reviewers})
	if _, err := b.engine.Assign(t.Context(), deskTenant, engine.AssignInput{Request: question.ID, Actor: deskActor("olga"), To: "ana"}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		query string
		want  string
	}{
		{"", idsOf(critical, plain, question, due)},
		{"?sort=newest", idsOf(due, critical, question, plain)},
		{"?kind=clarification", idsOf(question)},
		{"?kind=approval", idsOf(critical, plain, due)},
		{"?priority=critical", idsOf(critical)},
		{"?due=soon", idsOf(due)},
		{"?kind=approval&priority=critical", idsOf(critical)},
		{"?kind=clarification&priority=critical", "[]"},
		{"?view=mine", idsOf(question)},
		{"?view=unknown", "[]"},
		{"?q=colour", idsOf(question)},
		{"?q=orders.refund", idsOf(plain)},
		{"?q=nowhere", "[]"},
		{"?kind=nonsense", "[]"},
		{"?view=nonsense&sort=nonsense", idsOf(critical, plain, question, due)},
	} {
		if got := fmt.Sprint(b.get("ana", "/"+tt.query).rows()); got != tt.want {
			t.Errorf("%s shows %s, want %s", tt.query, got, tt.want)
		}
	}
	page := b.get("ana", "/?kind=approval")
	page.has(t, `<a class="chip" href="/" aria-current="true">Approvals <span data-count="kinds.approval">3</span></a>`, `href="/?kind=clarification"`, `href="/?kind=approval&amp;priority=critical"`,
		`href="/?due=soon&amp;kind=approval"`, `<a class="chip" href="/">All <span data-count="all">4</span></a>`)
	page.lacks(t, "Escalations", "Choices")
	b.get("ben", "/?view=mine").has(t, "Nothing is assigned to you")
	b.get("ana", "/?view=unknown").has(t, "Every call has a known outcome")
	b.get("ana", "/?q=nowhere").has(t, "Nothing has these words", `value="nowhere"`)
	b.get("ana", "/?kind=takeover").has(t, "Nothing fits these filters", `href="/"`)
	b.get("ana", "/?view=decided").has(t, "Nothing was decided yet")
}

// What was decided says by whom, to what and when; words find what is closed too.
func TestDeskDecided(t *testing.T) {
	t.Parallel()
	b := newDeskBed(t)
	yes, no, canceled, open := b.call("orders.refund", `{"order":"1"}`), b.call("orders.refund", `{"order":"2"}`), b.call("orders.refund", `{"order":"3"}`), b.call("orders.refund", `{"order":"4"}`)
	b.decides("ana", yes, holdshort.Approve)
	b.decides("ben", no, holdshort.Reject)
	if _, err := b.engine.CancelRequest(t.Context(), deskTenant, engine.CancelRequestInput{Request: canceled.ID, Actor: deskActor("olga")}); err != nil {
		t.Fatal(err)
	}
	page := b.get("ana", "/?view=decided")
	if got := page.rows(); len(got) != 3 || slices.Contains(got, string(open.ID)) {
		t.Errorf("decided are %v", got)
	}
	page.has(t, `<span class="state yes">approved</span>`, "by Ana", `<span class="state no">rejected</span>`, "by Ben", "canceled", "just now")
	for query, want := range map[string]string{"outcome=approved": idsOf(yes), "outcome=rejected": idsOf(no), "outcome=canceled": idsOf(canceled), "by=me": idsOf(yes), "outcome=approved&q=orders.refund": idsOf(yes)} {
		if got := fmt.Sprint(b.get("ana", "/?view=decided&"+query).rows()); got != want {
			t.Errorf("decided with %s are %s, want %s", query, got, want)
		}
	}
	found := b.get("ana", "/?q=orders.refund")
	if len(found.rows()) != 4 {
		t.Errorf("words find %v", found.rows())
	}
	found.has(t, "approved</span>", "rejected</span>", "canceled</span>")
	if row := b.get("ana", "/?view=decided&part=row&id="+string(yes.ID), "HX-Request", "true"); !strings.Contains(row.text, "by Ana") || strings.Contains(row.text, "<html") {
		t.Errorf("one row: %s", row.text)
	}
}

// A deep link shows the list and the request, whether the list has it or not; parts are parts.
func TestDeskDeepLink(t *testing.T) {
	t.Parallel()
	b := newDeskBed(t)
	one, other := b.call("orders.refund", `{"order":"1"}`), b.call("mail.send", `{"to":"ana"}`)
	page := b.get("ana", "/requests/"+string(other.ID)+"?q=orders.refund")
	if page.status != http.StatusOK || fmt.Sprint(page.rows()) != idsOf(one) {
		t.Errorf("%d, rows %v", page.status, page.rows())
	}
	page.has(t, `id="card"`, `data-id="`+string(other.ID)+`"`, `class="desk open"`, `data-view="q=orders.refund"`, "<html", `href="/?q=orders.refund">Back to the list`)
	part := b.get("ana", "/", "HX-Request", "true")
	part.has(t, `id="rows"`, "Waiting for a person")
	part.lacks(t, "<html", `id="card"`)
	rows := b.get("ana", "/?part=rows")
	rows.has(t, `<li class="row`)
	rows.lacks(t, "<html", "<h1")
	if missing := b.get("ana", "/requests/req_nothing"); missing.status != http.StatusNotFound || len(missing.rows()) != 2 {
		t.Errorf("what is not there: %d %v", missing.status, missing.rows())
	}
	b.get("ana", "/help").has(t, "<html", "<kbd>j</kbd>", "assign to me")
	b.get("ana", "/help", "HX-Request", "true").lacks(t, "<html")
}

// What people and models wrote is text, wherever it stands.
func TestDeskEscapes(t *testing.T) {
	t.Parallel()
	b := newDeskBed(t)
	hostile := `"><script>alert(1)</script><img src=x onerror=alert(2)> ` + "\u202eknab\u202c"
	req := b.asks(engine.AskInput{Question: hostile, Actions: []engine.AskAction{{Tool: "<b>tool</b>", Args: []byte(`{"<i>x</i>":"</pre><script>alert(3)</script>"}`)}}})
	for _, page := range []shown{b.get("ana", "/"), b.get("ana", "/?q="+url.QueryEscape(`"><script>alert(4)</script>`)), b.get("ana", "/requests/"+string(req.ID)),
		b.post("ana", "/requests/batch?step=summary", url.Values{"verb": {"reject"}, "pick": {string(req.ID), `"><script>alert(5)</script>`}})} {
		page.text = regexp.MustCompile(`aria-label="[^"]*"`).ReplaceAllString(page.text, "") // it is spoken, and has no look
		page.lacks(t, "<script>alert", "<img src=x", "<b>tool", "<i>x", "\u202e", ` style="`, "onclick=")
		if page.status != http.StatusOK {
			t.Errorf("status %d", page.status)
		}
	}
	b.get("ana", "/").has(t, "U+202E", "&lt;script&gt;alert(1)")
}

// Showing changes nothing: not a request, not an event of a decision.
func TestDeskGetChangesNothing(t *testing.T) {
	t.Parallel()
	b := newDeskBed(t)
	req := b.stands(b.call("orders.refund", `{"order":"1"}`))
	for _, path := range []string{"/", "/requests/" + string(req.ID), "/requests/batch?verb=approve&id=" + string(req.ID), "/requests/batch?step=summary&verb=approve&pick=" + string(req.ID), "/help"} {
		b.get("ana", path)
	}
	if now := b.stands(req); now.Status != holdshort.RequestOpen || now.Revision != req.Revision {
		t.Errorf("looking changed it: %+v", now)
	}
}

// A long list is read page by page, each row once, also when rows come and go meanwhile.
func TestDeskPaging(t *testing.T) {
	t.Parallel()
	b := newDeskBed(t)
	want := map[string]bool{}
	reviewers := holdshort.Audience{Roles: []string{policy.Reviewer}}
	priorities := []holdshort.Priority{holdshort.PriorityLow, holdshort.PriorityNormal, holdshort.PriorityHigh, holdshort.PriorityCritical}
	var all []holdshort.Request
	requests := 5 * rowsShown
	if testall.Enabled() {
		requests = 20 * rowsShown
	}
	for i := range requests {
		req := b.asks(engine.AskInput{Question: fmt.Sprintf("Number %d?", i), Priority: priorities[i%4], Audience: reviewers})
		want[string(req.ID)] = true
		all = append(all, req)
	}
	for _, sort := range []string{"", "newest", "due"} {
		seen := map[string]bool{}
		next, pages := "/?sort="+sort, 0
		for next != "" {
			page := b.get("ana", next+"&part=rows")
			rows := page.rows()
			if len(rows) > rowsShown {
				t.Fatalf("%d rows at once", len(rows))
			}
			for _, id := range rows {
				if seen[id] {
					t.Fatalf("sorted %q: %s stands there twice", sort, id)
				}
				seen[id] = true
			}
			if pages++; pages == 3 && sort == "" { // somebody decides one that was shown, and one that was not
				b.decides("ben", all[3], holdshort.Reject)
				b.decides("ben", all[requests-4], holdshort.Reject)
				delete(want, string(all[3].ID))
				delete(want, string(all[requests-4].ID))
			}
			next = ""
			if _, after, ok := strings.Cut(page.text, `<li class="more"><a href="`); ok {
				next, _, _ = strings.Cut(after, `"`)
				next = strings.ReplaceAll(next, "&amp;", "&")
			}
		}
		for id := range want {
			if !seen[id] {
				t.Errorf("sorted %q: %s was never shown", sort, id)
			}
		}
		if full := requests / rowsShown; pages != full && pages != full+1 {
			t.Errorf("sorted %q: %d pages", sort, pages)
		}
	}
	first := b.get("ana", "/")
	first.has(t, `href="/?cursor=`, "Show more", fmt.Sprintf(`data-count="all">%d<`, requests-2))
}
