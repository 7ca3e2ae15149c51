package api_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

var ana = holdshort.Actor{ID: "ana", Kind: holdshort.Person, Roles: []string{policy.Reviewer}}

// page opens a page as a browser would: without a key.
func (d *door) page(t *testing.T, method, path string, form url.Values, headers ...string) answer {
	t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(t.Context(), method, d.http.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := d.http.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, raw}
}

// link makes the personal link of somebody to a request.
func (d *door) link(t *testing.T, id holdshort.RequestID, person holdshort.Actor) (token, fingerprint string) {
	t.Helper()
	req, err := d.engine.RequestByID(t.Context(), tenant, id)
	if err != nil {
		t.Fatal(err)
	}
	return string(d.people.LinkFor(tenant, req, person, 0)), req.Fingerprint
}

func (d *door) status(t *testing.T, id holdshort.RequestID) holdshort.RequestStatus {
	t.Helper()
	req, err := d.engine.RequestByID(t.Context(), tenant, id)
	if err != nil {
		t.Fatal(err)
	}
	return req.Status
}

// eventsOf counts what the log says of a request, and of who was refused.
func (d *door) eventsOf(t *testing.T, id holdshort.RequestID) (n int) {
	t.Helper()
	page, err := d.engine.Events(t.Context(), tenant, engine.EventQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range page.Items {
		if e.Request == id || strings.HasPrefix(e.Type, "access.") {
			n++
		}
	}
	return n
}

// TestLinkShowsAndDecides: opening a link changes nothing, however often and by whatever method; its form decides, once.
func TestLinkShowsAndDecides(t *testing.T) {
	d := newHouse(t)
	run, id := d.starts(t, "refund", refund{"77 <img src=x onerror=alert(1)>", 120})
	token, fingerprint := d.link(t, id, ana)
	address := "/r/" + string(id) + "?t=" + token
	before := d.eventsOf(t, id)
	for i := range 10 {
		method := "GET"
		if i%2 == 1 {
			method = "HEAD"
		}
		a := d.page(t, method, address+"&utm_source=mail", nil)
		if a.status != 200 || a.header.Get("Cache-Control") != "no-store" || a.header.Get("Referrer-Policy") != "no-referrer" || !strings.Contains(a.header.Get("X-Robots-Tag"), "noindex") {
			t.Fatalf("%d %v", a.status, a.header)
		}
		csp := a.header.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || strings.Contains(csp, "script-src") || !strings.Contains(csp, "frame-ancestors 'none'") {
			t.Errorf("policy %q", csp)
		}
		if method == "GET" {
			text := string(a.body)
			for _, want := range []string{"orders.refund", "120", "Approve orders.refund", "Reject", "&lt;img src=x", "left", "refunds &lt;b&gt;need", fingerprint} {
				if !strings.Contains(text, want) {
					t.Errorf("the page does not show %q", want)
				}
			}
			if strings.Contains(text, "<img") || strings.Contains(text, "<script") {
				t.Error("the page has what a stranger wrote in it as HTML")
			}
		}
	}
	if after := d.eventsOf(t, id); after != before || d.status(t, id) != holdshort.RequestOpen {
		t.Errorf("looking left %d events and the request %s", after-before, d.status(t, id))
	}
	form := url.Values{"t": {token}, "fingerprint": {fingerprint}, "action": {"approve"}, "message": {"fine"}}
	for name, wrong := range map[string]struct {
		change func(url.Values)
		want   int
	}{
		"no token":          {func(v url.Values) { v.Del("t") }, 401},
		"another token":     {func(v url.Values) { v.Set("t", token[:len(token)-4]+"AAAA") }, 401},
		"no fingerprint":    {func(v url.Values) { v.Del("fingerprint") }, 400},
		"other fingerprint": {func(v url.Values) { v.Set("fingerprint", strings.Repeat("0", 64)) }, 409},
		"no action":         {func(v url.Values) { v.Del("action") }, 400},
		"unknown action":    {func(v url.Values) { v.Set("action", "aprove") }, 400},
		"select":            {func(v url.Values) { v.Set("action", "select") }, 422},
		"too long":          {func(v url.Values) { v.Set("message", strings.Repeat("a", 100<<10)) }, 413},
		"far too long":      {func(v url.Values) { v.Set("message", strings.Repeat("a", 2<<20)) }, 413},
	} {
		changed := url.Values{}
		for k, v := range form {
			changed[k] = v
		}
		wrong.change(changed)
		if a := d.page(t, "POST", "/r/"+string(id), changed); a.status != wrong.want || d.status(t, id) != holdshort.RequestOpen {
			t.Errorf("%s: %d, want %d; the request is %s", name, a.status, wrong.want, d.status(t, id))
		}
	}
	if a := d.page(t, "POST", "/r/"+string(id), form); a.status != 200 || !strings.Contains(string(a.body), "You approved this") {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if ended := d.await(t, run.ID); ended.Status != holdshort.RunCompleted || d.refunds.Load() != 1 {
		t.Errorf("%+v, %d refunds", ended, d.refunds.Load())
	}
	again := d.page(t, "POST", "/r/"+string(id), form)
	if again.status != 409 || !strings.Contains(string(again.body), "ana approved this") || d.refunds.Load() != 1 {
		t.Errorf("again: %d %s", again.status, again.body)
	}
	if a := d.page(t, "GET", address, nil); a.status != 200 || !strings.Contains(string(a.body), "ana approved this") || strings.Contains(string(a.body), `value="approve"`) {
		t.Errorf("afterwards: %d %s", a.status, a.body)
	}
}

// TestLinkIsPersonal: a link is for one request and one person, whose rights count when it is used.
func TestLinkIsPersonal(t *testing.T) {
	d := newHouse(t)
	_, one := d.starts(t, "refund", refund{"1", 1})
	_, two := d.starts(t, "refund", refund{"2", 2})
	token, fingerprint := d.link(t, one, ana)
	form := func(token, fingerprint string) url.Values {
		return url.Values{"t": {token}, "fingerprint": {fingerprint}, "action": {"approve"}}
	}
	_, other := d.link(t, two, ana)
	if a := d.page(t, "POST", "/r/"+string(two), form(token, other)); a.status != 401 || d.status(t, two) != holdshort.RequestOpen {
		t.Errorf("the link of another request: %d", a.status)
	}
	// ben asked for it: he may look, and nothing else.
	bens, _ := d.link(t, one, holdshort.Actor{ID: "ben", Kind: holdshort.Person})
	look := d.page(t, "GET", "/r/"+string(one)+"?t="+bens, nil)
	if look.status != 200 || strings.Contains(string(look.body), `value="approve"`) || !strings.Contains(string(look.body), "not decide it") {
		t.Errorf("ben sees %d %s", look.status, look.body)
	}
	if a := d.page(t, "POST", "/r/"+string(one), form(bens, fingerprint)); a.status != 403 || d.status(t, one) != holdshort.RequestOpen {
		t.Errorf("ben decides: %d", a.status)
	}
	unknown := d.page(t, "GET", "/r/req_unknown?t="+token, nil)
	forged := d.page(t, "GET", "/r/"+string(one)+"?t=forged", nil)
	none := d.page(t, "GET", "/r/"+string(one), nil)
	for name, a := range map[string]answer{"unknown": unknown, "forged": forged, "none": none} {
		if a.status != 401 || strings.Contains(string(a.body), "orders.refund") {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
}

// TestLinkByLogin: who is logged in decides without a link, and no other site does it for them.
func TestLinkByLogin(t *testing.T) {
	d := newHouse(t)
	_, id := d.starts(t, "refund", refund{"1", 1})
	_, fingerprint := d.link(t, id, ana)
	bearer := []string{"Authorization", "Bearer " + d.as(t, "ana")}
	if a := d.page(t, "GET", "/r/"+string(id), nil, bearer...); a.status != 200 || !strings.Contains(string(a.body), "Approve orders.refund") {
		t.Fatalf("%d %s", a.status, a.body)
	}
	cookie := d.login(t, ana)
	form := url.Values{"fingerprint": {fingerprint}, "action": {"approve"}}
	for _, foreign := range [][]string{{"Origin", "https://elsewhere.example"}, {"Sec-Fetch-Site", "cross-site"}} {
		if a := d.page(t, "POST", "/r/"+string(id), form, append([]string{"Cookie", cookie}, foreign...)...); a.status/100 != 4 || d.status(t, id) != holdshort.RequestOpen {
			t.Errorf("%v: %d", foreign, a.status)
		}
	}
	if a := d.page(t, "POST", "/r/"+string(id), form, "Cookie", cookie, "Sec-Fetch-Site", "same-origin"); a.status != 200 || d.status(t, id) != holdshort.RequestResolved {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// login gives the cookie of somebody who opened a login link.
func (d *door) login(t *testing.T, actor holdshort.Actor) string {
	t.Helper()
	token, err := d.engine.CreateLogin(t.Context(), tenant, holdshort.Login{Kind: holdshort.LoginSession, Actor: actor})
	if err != nil {
		t.Fatal(err)
	}
	return "holdshort=" + token
}

// TestLinkForms: every shape of question can be answered without a script.
func TestLinkForms(t *testing.T) {
	d := newHouse(t)
	for name, c := range map[string]struct {
		kind   string
		shows  []string
		form   url.Values
		status int
		result string
	}{
		"one":         {"one", []string{`type="radio"`, "Apples", "Pears"}, url.Values{"action": {"select"}, "option": {"b"}}, 200, `"b"`},
		"none chosen": {"one", nil, url.Values{"action": {"select"}}, 422, ""},
		"not offered": {"one", nil, url.Values{"action": {"select"}, "option": {"z"}}, 422, ""},
		"many":        {"many", []string{`type="checkbox"`, "Plums"}, url.Values{"action": {"select"}, "option": {"c", "a"}}, 200, `["a","c"]`},
		"text":        {"text", []string{`name="value"`}, url.Values{"action": {"answer"}, "value": {"the green ones"}}, 200, `"the green ones"`},
		"empty text":  {"text", nil, url.Values{"action": {"answer"}, "value": {"  "}}, 422, ""},
		"form": {"form", []string{"Full name", `name="field.size"`, "may be left empty", "<option value=\"&#34;small&#34;\">small"},
			url.Values{"action": {"answer"}, "field.name": {"Ana Ray"}, "field.count": {"3"}, "field.size": {`"large"`}, "field.gift": {"true"}, "field.tags": {`["a"]`}}, 200,
			`{"count":3,"gift":true,"name":"Ana Ray","size":"large","tags":["a"]}`},
		"form, optional left": {"form", nil, url.Values{"action": {"answer"}, "field.name": {"A"}, "field.count": {"3"}}, 200, `{"count":3,"name":"A"}`},
		"form, no number":     {"form", nil, url.Values{"action": {"answer"}, "field.name": {"A"}, "field.count": {"three"}}, 422, ""},
		"form, missing":       {"form", nil, url.Values{"action": {"answer"}, "field.name": {"A"}}, 422, ""},
		"form, not offered":   {"form", nil, url.Values{"action": {"answer"}, "field.name": {"A"}, "field.count": {"1"}, "field.size": {`"huge"`}}, 422, ""},
	} {
		t.Run(name, func(t *testing.T) {
			run, id := d.starts(t, "ask", c.kind)
			token, fingerprint := d.link(t, id, ana)
			shown := d.page(t, "GET", "/r/"+string(id)+"?t="+token, nil)
			for _, want := range c.shows {
				if !strings.Contains(string(shown.body), want) {
					t.Errorf("the page does not show %q: %s", want, shown.body)
				}
			}
			c.form.Set("t", token)
			c.form.Set("fingerprint", fingerprint)
			a := d.page(t, "POST", "/r/"+string(id), c.form)
			if a.status != c.status {
				t.Fatalf("%d %s", a.status, a.body)
			}
			if c.status != 200 {
				if d.status(t, id) != holdshort.RequestOpen || !strings.Contains(string(a.body), "Not recorded") {
					t.Errorf("the request is %s: %s", d.status(t, id), a.body)
				}
				return
			}
			if ended := d.await(t, run.ID); string(ended.Result) != c.result {
				t.Errorf("the run got %s", ended.Result)
			}
		})
	}
}

// TestLinkBatch: calls can be decided one by one, and changed.
func TestLinkBatch(t *testing.T) {
	d := newHouse(t)
	run, id := d.starts(t, "pair", refund{"5", 50})
	token, fingerprint := d.link(t, id, ana)
	shown := string(d.page(t, "GET", "/r/"+string(id)+"?t="+token, nil).body)
	for _, want := range []string{"Approve all 2 calls", `name="call.1"`, `name="args.0"`, "These may be changed: amount"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	form := url.Values{"t": {token}, "fingerprint": {fingerprint}, "action": {"each"}, "call.0": {"edit"}, "args.0": {`{"order":"5","amount":40}`}}
	if a := d.page(t, "POST", "/r/"+string(id), form); a.status != 422 || d.status(t, id) != holdshort.RequestOpen {
		t.Fatalf("half decided: %d", a.status)
	}
	form.Set("call.1", "reject")
	if a := d.page(t, "POST", "/r/"+string(id), form); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if ended := d.await(t, run.ID); ended.Status != holdshort.RunCompleted || d.refunds.Load() != 1 {
		t.Errorf("%+v, %d refunds", ended, d.refunds.Load())
	}
	req, err := d.engine.Decision(t.Context(), tenant, id)
	if err != nil || len(req.Calls) != 2 || string(req.Calls[0].Args) != `{"amount":40,"order":"5"}` || req.Channel != "link" || req.Actor.Assurance != holdshort.AssuranceLink {
		t.Errorf("%+v %v", req, err)
	}
}

// TestLinkWithheld: what a rule withholds is shown to those who decide when they ask for it, and that is noted first.
func TestLinkWithheld(t *testing.T) {
	d := newHouse(t)
	_, id := d.starts(t, "bank", map[string]any{"iban": "DE02-SECRET", "amount": 5, "note": "a\u202eb\u200bc p\u0430y"})
	token, fingerprint := d.link(t, id, ana)
	first := string(d.page(t, "GET", "/r/"+string(id)+"?t="+token, nil).body)
	if strings.Contains(first, "DE02-SECRET") || !strings.Contains(first, "withheld") || strings.Contains(first, `name="args.0"`) {
		t.Errorf("%s", first)
	}
	for _, want := range []string{"U+202E", "U+200B", `title="U+0430`} {
		if !strings.Contains(first, want) {
			t.Errorf("%s cannot be seen: %s", want, first)
		}
	}
	if strings.ContainsAny(first, "\u202e\u200b") {
		t.Error("characters that turn the text around are in the page")
	}
	shown := d.page(t, "POST", "/r/"+string(id), url.Values{"t": {token}, "fingerprint": {fingerprint}, "action": {"reveal"}})
	if shown.status != 200 || !strings.Contains(string(shown.body), "DE02-SECRET") || d.status(t, id) != holdshort.RequestOpen {
		t.Errorf("%d %s", shown.status, shown.body)
	}
	if again := string(d.page(t, "GET", "/r/"+string(id)+"?t="+token, nil).body); strings.Contains(again, "DE02-SECRET") {
		t.Error("it stays revealed")
	}
}

// TestLinkEditShowsAll: the box in which arguments are changed hides nothing either, and what is not changed stays what it was.
func TestLinkEditShowsAll(t *testing.T) {
	d := newHouse(t)
	run, id := d.starts(t, "refund", refund{"7\u202e7\U000e0041", 120})
	token, fingerprint := d.link(t, id, ana)
	shown := string(d.page(t, "GET", "/r/"+string(id)+"?t="+token, nil).body)
	if strings.ContainsAny(shown, "\u202e\U000e0041") || !strings.Contains(shown, `7\u202e7\udb40\udc41`) {
		t.Errorf("%s", shown)
	}
	form := url.Values{"t": {token}, "fingerprint": {fingerprint}, "action": {"edit"}, "args.0": {`{"amount":100,"order":"7\u202e7\udb40\udc41"}`}}
	if a := d.page(t, "POST", "/r/"+string(id), form); a.status != 200 || !strings.Contains(string(a.body), "approved it as changed") {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if ended := d.await(t, run.ID); ended.Status != holdshort.RunCompleted || d.refunds.Load() != 1 {
		t.Errorf("%+v, %d refunds", ended, d.refunds.Load())
	}
}

// TestLinkQuorum: a page says how many approved, and who.
func TestLinkQuorum(t *testing.T) {
	d := newHouse(t)
	run, id := d.starts(t, "refund", refund{"9", 5000})
	token, fingerprint := d.link(t, id, ana)
	vote := func(token string) answer {
		return d.page(t, "POST", "/r/"+string(id), url.Values{"t": {token}, "fingerprint": {fingerprint}, "action": {"approve"}})
	}
	if a := vote(token); a.status != 200 || !strings.Contains(string(a.body), "Others have to approve too") || !strings.Contains(string(a.body), "1 of 2 approvals") || strings.Contains(string(a.body), `value="approve"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := vote(token); a.status != 409 || d.status(t, id) != holdshort.RequestOpen {
		t.Errorf("twice: %d", a.status)
	}
	carl := holdshort.Actor{ID: "carl", Kind: holdshort.Person, Roles: []string{policy.Reviewer}}
	second, _ := d.link(t, id, carl)
	if a := d.page(t, "GET", "/r/"+string(id)+"?t="+second, nil); !strings.Contains(string(a.body), "ana · approved") {
		t.Errorf("%s", a.body)
	}
	if a := vote(second); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if ended := d.await(t, run.ID); ended.Status != holdshort.RunCompleted {
		t.Errorf("%+v", ended)
	}
}

// TestLinkAfterwards: a page of something that is over says how it ended.
func TestLinkAfterwards(t *testing.T) {
	d := newHouse(t)
	_, id := d.starts(t, "refund", refund{"1", 1})
	token, fingerprint := d.link(t, id, ana)
	if a := d.call(t, "olga", "POST", "/v1/requests/"+string(id)+"/cancel", map[string]any{"reason": "no longer"}); a.status != 200 {
		t.Fatalf("%s", a.body)
	}
	if a := d.page(t, "GET", "/r/"+string(id)+"?t="+token, nil); a.status != 200 || !strings.Contains(string(a.body), "was canceled") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := d.page(t, "POST", "/r/"+string(id), url.Values{"t": {token}, "fingerprint": {fingerprint}, "action": {"approve"}}); a.status != 409 || !strings.Contains(string(a.body), "Not recorded") {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestList: the plain page has what somebody may see, and nothing for nobody.
func TestList(t *testing.T) {
	d := newHouse(t)
	_, id := d.starts(t, "refund", refund{"1", 1})
	if a := d.page(t, "GET", "/", nil); a.status != 401 || strings.Contains(string(a.body), string(id)) || !strings.Contains(string(a.body), `href="/login"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	a := d.page(t, "GET", "/", nil, "Cookie", d.login(t, ana))
	if a.status != 200 || !strings.Contains(string(a.body), "/r/"+string(id)) || !strings.Contains(a.header.Get("Content-Security-Policy"), "script-src 'self'") {
		t.Errorf("%d %s", a.status, a.body)
	}
	eve := d.page(t, "GET", "/", nil, "Cookie", d.login(t, holdshort.Actor{ID: "eve", Kind: holdshort.Person}))
	if eve.status != 200 || strings.Contains(string(eve.body), string(id)) || !strings.Contains(string(eve.body), "Nothing waits") {
		t.Errorf("%d %s", eve.status, eve.body)
	}
	if s := d.page(t, "GET", "/live.js", nil); s.status != 200 || !strings.HasPrefix(s.header.Get("Content-Type"), "text/javascript") || !strings.Contains(string(s.body), "EventSource") {
		t.Errorf("%d %v", s.status, s.header)
	}
	if a := d.page(t, "GET", "/nothing", nil); a.status != 404 {
		t.Errorf("%d", a.status)
	}
}
