package inbox_test

import (
	"encoding/json"
	"maps"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/inbox"
	"github.com/holdshort/holdshort/policy"
)

// link makes the personal link of somebody to a request.
func (d *linkBed) link(t *testing.T, id holdshort.RequestID, person holdshort.Actor) (token, fingerprint string) {
	t.Helper()
	req, err := d.engine.RequestByID(t.Context(), bedTenant, id)
	if err != nil {
		t.Fatal(err)
	}
	return string(d.people.LinkFor(bedTenant, req, person, 0)), req.Fingerprint
}

func linkAddress(id holdshort.RequestID, token string) string {
	return "/r/" + string(id) + "?t=" + token
}

// TestLinkShowsAndDecides: opening a link changes nothing, however often and by whatever method; its form decides, once.
func TestLinkShowsAndDecides(t *testing.T) {
	d := newLinkBed(t)
	run, id := d.starts(t, "refund", bedRefund{"77 <img src=x onerror=alert(1)>", 120})
	token, fingerprint := d.link(t, id, ana)
	before := d.events(t)
	for i := range 10 {
		var method []string
		if i%2 == 1 {
			method = []string{"HEAD"}
		}
		a := d.page(t, none, linkAddress(id, token)+"&utm_source=mail", nil, method...)
		if a.status != 200 || a.header.Get("Cache-Control") != "no-store" || a.header.Get("Referrer-Policy") != "no-referrer" || !strings.Contains(a.header.Get("X-Robots-Tag"), "noindex") || a.header.Get("Set-Cookie") != "" {
			t.Fatalf("%d %v", a.status, a.header)
		}
		csp := a.header.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || !strings.Contains(csp, "script-src 'self'") || !strings.Contains(csp, "frame-ancestors 'none'") {
			t.Errorf("policy %q", csp)
		}
		if method == nil {
			for _, want := range []string{"orders.refund", "120", ">Approve 120<", "Reject", "&lt;img src=x", "left", "refunds &lt;b&gt;need", fingerprint, `<html lang="en" dir="ltr">`} {
				if !strings.Contains(a.body, want) {
					t.Errorf("the page does not show %q", want)
				}
			}
			if strings.Contains(a.body, "<img") || strings.Contains(a.body, `class="nav"`) || strings.Contains(a.body, `action="/requests/`) {
				t.Error("the page has what a stranger wrote in it as HTML, or what only the inbox has")
			}
		}
	}
	if after := d.events(t); !maps.Equal(after, before) || d.status(t, id) != holdshort.RequestOpen {
		t.Errorf("looking left %v and the request %s", after, d.status(t, id))
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
		"look":              {func(v url.Values) { v.Set("action", "look") }, 200},
		"fields":            {func(v url.Values) { v.Set("action", "fields") }, 200},
		"select":            {func(v url.Values) { v.Set("action", "select") }, 422},
		"too long":          {func(v url.Values) { v.Set("message", strings.Repeat("a", 100<<10)) }, 413},
		"far too long":      {func(v url.Values) { v.Set("message", strings.Repeat("a", 2<<20)) }, 413},
	} {
		changed := maps.Clone(form)
		wrong.change(changed)
		if a := d.page(t, none, "/r/"+string(id), changed); a.status != wrong.want || d.status(t, id) != holdshort.RequestOpen {
			t.Errorf("%s: %d, want %d; the request is %s", name, a.status, wrong.want, d.status(t, id))
		}
	}
	if a := d.page(t, none, "/r/"+string(id), form); a.status != 200 || !strings.Contains(a.body, "You approved this") {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if ended := d.ends(t, run); ended.Status != holdshort.RunCompleted || d.refunds.Load() != 1 {
		t.Errorf("%+v, %d refunds", ended, d.refunds.Load())
	}
	again := d.page(t, none, "/r/"+string(id), form)
	if again.status != 409 || !strings.Contains(again.body, "Too late") || !strings.Contains(again.body, "You approved this") || d.refunds.Load() != 1 {
		t.Errorf("again: %d %s", again.status, again.body)
	}
	if a := d.page(t, none, linkAddress(id, token), nil); a.status != 200 || !strings.Contains(a.body, "You approved this") || strings.Contains(a.body, `value="approve"`) {
		t.Errorf("afterwards: %d %s", a.status, a.body)
	}
	if strings.Contains(d.log.String(), token) {
		t.Error("the token is in the log")
	}
}

// TestLinkDoubleClick: the same form sent many times at once is one decision, and each answer says so.
func TestLinkDoubleClick(t *testing.T) {
	d := newLinkBed(t)
	run, id := d.starts(t, "refund", bedRefund{"1", 1})
	token, fingerprint := d.link(t, id, ana)
	form := url.Values{"t": {token}, "fingerprint": {fingerprint}, "action": {"approve"}, "key": {"the-key-of-one-page"}}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if a := d.page(t, none, "/r/"+string(id), form); a.status != 200 || !strings.Contains(a.body, "You approved this") {
				t.Errorf("%d %.2000s", a.status, a.body)
			}
		})
	}
	wait.Wait()
	if ended := d.ends(t, run); ended.Status != holdshort.RunCompleted || d.refunds.Load() != 1 || d.events(t)["hitl.request.decided"] != 1 {
		t.Errorf("%+v, %d refunds, %v", ended, d.refunds.Load(), d.events(t))
	}
}

// TestLinkIsPersonal: a link is for one request and one person, whose rights count when it is used.
func TestLinkIsPersonal(t *testing.T) {
	d := newLinkBed(t)
	_, one := d.starts(t, "refund", bedRefund{"1", 1})
	_, two := d.starts(t, "refund", bedRefund{"2", 2})
	token, fingerprint := d.link(t, one, ana)
	form := func(token, fingerprint string) url.Values {
		return url.Values{"t": {token}, "fingerprint": {fingerprint}, "action": {"approve"}}
	}
	_, other := d.link(t, two, ana)
	if a := d.page(t, none, "/r/"+string(two), form(token, other)); a.status != 401 || d.status(t, two) != holdshort.RequestOpen {
		t.Errorf("the link of another request: %d", a.status)
	}
	// ben asked for it: he may look, and nothing else.
	bens, _ := d.link(t, one, ben)
	look := d.page(t, none, linkAddress(one, bens), nil)
	if look.status != 200 || strings.Contains(look.body, `value="approve"`) || strings.Contains(look.body, `value="reject"`) {
		t.Errorf("ben sees %d %s", look.status, look.body)
	}
	for _, action := range []string{"approve", "reject", "cancel"} {
		changed := form(bens, fingerprint)
		changed.Set("action", action)
		if a := d.page(t, none, "/r/"+string(one), changed); a.status != 403 && action != "cancel" || a.status < 400 || d.status(t, one) != holdshort.RequestOpen {
			t.Errorf("ben %ss: %d, the request is %s", action, a.status, d.status(t, one))
		}
	}
	for name, a := range map[string]bedAnswer{"unknown": d.page(t, none, "/r/req_unknown?t="+token, nil), "forged": d.page(t, none, linkAddress(one, "forged"), nil), "none": d.page(t, none, "/r/"+string(one), nil),
		"no request": d.page(t, none, "/r/%3Cscript%3E?t="+token, nil)} {
		if a.status != 401 && a.status != 404 || strings.Contains(a.body, "orders.refund") || strings.Contains(a.body, token) || strings.Contains(a.body, "<script>") {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
		if name == "none" && !strings.Contains(a.body, `href="/login?next=/r/`+string(one)+`"`) {
			t.Errorf("nobody is led to the login: %s", a.body)
		}
	}
	// A link opens nothing else: not the inbox, not the audit, with the token wherever it is put.
	for _, path := range []string{"/", "/audit", "/settings", "/requests/" + string(one), "/requests/" + string(one) + "/card"} {
		if a := d.page(t, none, path+"?t="+token, nil, "Authorization", "Bearer "+token); a.status != 401 {
			t.Errorf("%s: %d", path, a.status)
		}
	}
}

// TestLinkByLogin: who is logged in decides without a link, and no other site does it for them.
func TestLinkByLogin(t *testing.T) {
	d := newLinkBed(t)
	_, id := d.starts(t, "refund", bedRefund{"1", 1})
	_, fingerprint := d.link(t, id, ana)
	if a := d.page(t, ana, "/r/"+string(id), nil); a.status != 200 || !strings.Contains(a.body, ">Approve 1<") || !strings.Contains(a.body, "All open requests") || a.header.Get("Referrer-Policy") != "same-origin" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	form := url.Values{"fingerprint": {fingerprint}, "action": {"approve"}}
	for _, foreign := range [][]string{{"Origin", "https://elsewhere.example"}, {"Sec-Fetch-Site", "cross-site"}} {
		if a := d.page(t, ana, "/r/"+string(id), form, foreign...); a.status/100 != 4 || d.status(t, id) != holdshort.RequestOpen {
			t.Errorf("%v: %d", foreign, a.status)
		}
	}
	if a := d.page(t, ana, "/r/"+string(id), form, "Sec-Fetch-Site", "same-origin"); a.status != 200 || d.status(t, id) != holdshort.RequestResolved {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestLinkForms: every shape of question can be answered without a script.
func TestLinkForms(t *testing.T) {
	d := newLinkBed(t)
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
		"form": {"form", []string{"Full name", `name="f.size"`, "small"},
			url.Values{"action": {"answer"}, "f.name": {"Ana Ray"}, "f.count": {"3"}, "f.size": {`"large"`}, "f.gift": {"true"}, "f.tags.#": {"0"}, "f.tags.0": {"a"}}, 200,
			`{"count":3,"gift":true,"name":"Ana Ray","size":"large","tags":["a"]}`},
		"form, optional left": {"form", nil, url.Values{"action": {"answer"}, "f.name": {"A"}, "f.count": {"3"}}, 200, `{"count":3,"name":"A"}`},
		"form, no number":     {"form", nil, url.Values{"action": {"answer"}, "f.name": {"A"}, "f.count": {"three"}}, 422, ""},
		"form, missing":       {"form", nil, url.Values{"action": {"answer"}, "f.name": {"A"}}, 422, ""},
		"form, not offered":   {"form", nil, url.Values{"action": {"answer"}, "f.name": {"A"}, "f.count": {"1"}, "f.size": {`"huge"`}}, 422, ""},
	} {
		t.Run(name, func(t *testing.T) {
			run, id := d.starts(t, "ask", c.kind)
			token, fingerprint := d.link(t, id, ana)
			shown := d.page(t, none, linkAddress(id, token), nil)
			for _, want := range c.shows {
				if !strings.Contains(shown.body, want) {
					t.Errorf("the page does not show %q: %s", want, shown.body)
				}
			}
			c.form.Set("t", token)
			c.form.Set("fingerprint", fingerprint)
			a := d.page(t, none, "/r/"+string(id), c.form)
			if a.status != c.status {
				t.Fatalf("%d %s", a.status, a.body)
			}
			if c.status != 200 {
				if d.status(t, id) != holdshort.RequestOpen || !strings.Contains(a.body, "Not recorded") || c.form.Has("f.name") && !strings.Contains(a.body, `value="A"`) {
					t.Errorf("the request is %s: %s", d.status(t, id), a.body)
				}
				return
			}
			if ended := d.ends(t, run); string(ended.Result) != c.result {
				t.Errorf("the run got %s", ended.Result)
			}
		})
	}
}

// TestLinkGrowsForms: without a script a button adds an entry to a list, and nothing is decided or lost by it.
func TestLinkGrowsForms(t *testing.T) {
	d := newLinkBed(t)
	_, id := d.starts(t, "ask", "form")
	token, fingerprint := d.link(t, id, ana)
	a := d.page(t, none, "/r/"+string(id), url.Values{"t": {token}, "fingerprint": {fingerprint}, "action": {"add:f.tags"}, "f.name": {"Ana Ray"}})
	if a.status != 200 || !strings.Contains(a.body, `name="f.tags.0"`) || !strings.Contains(a.body, `value="Ana Ray"`) || d.status(t, id) != holdshort.RequestOpen {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestLinkBatch: calls can be decided one by one, and changed.
func TestLinkBatch(t *testing.T) {
	d := newLinkBed(t)
	run, id := d.starts(t, "pair", bedRefund{"5", 50})
	token, fingerprint := d.link(t, id, ana)
	shown := d.page(t, none, linkAddress(id, token), nil).body
	for _, want := range []string{"Approve all 2 calls", `name="call.1"`} {
		if !strings.Contains(shown, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	form := url.Values{"t": {token}, "fingerprint": {fingerprint}, "action": {"fields"}}
	if fields := d.page(t, none, "/r/"+string(id), form); fields.status != 200 || !strings.Contains(fields.body, `name="a.0.amount"`) || !strings.Contains(fields.body, `name="editing"`) || strings.Contains(fields.body, `name="a.0.order"`) {
		t.Errorf("the arguments are not fields: %d %s", fields.status, fields.body)
	}
	form = url.Values{"t": {token}, "fingerprint": {fingerprint}, "action": {"each"}, "editing": {"1"}, "call.0": {"approve"}, "a.0.amount": {"40"}, "a.1.amount": {"50"}}
	if a := d.page(t, none, "/r/"+string(id), form); a.status != 422 || d.status(t, id) != holdshort.RequestOpen || !strings.Contains(a.body, `value="40"`) {
		t.Fatalf("half decided: %d", a.status)
	}
	form.Set("call.1", "reject")
	if a := d.page(t, none, "/r/"+string(id), form); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if ended := d.ends(t, run); ended.Status != holdshort.RunCompleted || d.refunds.Load() != 1 {
		t.Errorf("%+v, %d refunds", ended, d.refunds.Load())
	}
	req, err := d.engine.Decision(t.Context(), bedTenant, id)
	if err != nil || len(req.Calls) != 2 || string(req.Calls[0].Args) != `{"amount":40,"order":"5"}` || req.Channel != "link" || req.Actor.Assurance != holdshort.AssuranceLink {
		t.Errorf("%+v %v", req, err)
	}
}

// TestLinkWithheld: what a rule withholds is shown to those who decide when they ask for it, and that is noted first.
func TestLinkWithheld(t *testing.T) {
	d := newLinkBed(t)
	_, id := d.starts(t, "bank", map[string]any{"iban": "DE02-SECRET", "amount": 5, "note": "a\u202eb\u200bc p\u0430y"})
	token, fingerprint := d.link(t, id, ana)
	first := d.page(t, none, linkAddress(id, token), nil).body
	if strings.Contains(first, "DE02-SECRET") || !strings.Contains(first, "withheld") {
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
	form := url.Values{"t": {token}, "fingerprint": {fingerprint}, "action": {"reveal"}}
	shown := d.page(t, none, "/r/"+string(id), form)
	if shown.status != 200 || !strings.Contains(shown.body, "DE02-SECRET") || d.status(t, id) != holdshort.RequestOpen || d.events(t)["hitl.request.revealed"] != 1 {
		t.Errorf("%d %s", shown.status, shown.body)
	}
	if again := d.page(t, none, linkAddress(id, token), nil).body; strings.Contains(again, "DE02-SECRET") {
		t.Error("it stays revealed")
	}
	bens, _ := d.link(t, id, ben)
	form.Set("t", bens)
	if a := d.page(t, none, "/r/"+string(id), form); strings.Contains(a.body, "DE02-SECRET") || d.events(t)["hitl.request.revealed"] != 1 {
		t.Errorf("ben, who asked, is shown it: %d", a.status)
	}
	if strings.Contains(d.log.String(), "DE02-SECRET") {
		t.Error("it is in the log")
	}
}

// TestLinkEdit: what is changed runs as it was changed, and what is not changed stays what it was, byte for byte.
func TestLinkEdit(t *testing.T) {
	d := newLinkBed(t)
	run, id := d.starts(t, "refund", bedRefund{"7\u202e7\U000e0041", 120})
	token, fingerprint := d.link(t, id, ana)
	if shown := d.page(t, none, linkAddress(id, token), nil).body; strings.ContainsAny(shown, "\u202e\U000e0041") {
		t.Error("the page hides something")
	}
	form := url.Values{"t": {token}, "fingerprint": {fingerprint}, "action": {"edit"}, "editing": {"1"}, "a.0.amount": {"100"}}
	if a := d.page(t, none, "/r/"+string(id), form); a.status != 200 || !strings.Contains(a.body, "You changed") {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if ended := d.ends(t, run); ended.Status != holdshort.RunCompleted || d.refunds.Load() != 1 {
		t.Errorf("%+v, %d refunds", ended, d.refunds.Load())
	}
	var ran bedRefund
	decided, err := d.engine.Decision(t.Context(), bedTenant, id)
	if err != nil || json.Unmarshal(decided.Calls[0].Args, &ran) != nil || ran != (bedRefund{"7\u202e7\U000e0041", 100}) {
		t.Errorf("%+v %v", decided, err)
	}
}

// TestLinkIrreversible: what cannot be undone is not approved by a finger that slips, by whatever page.
func TestLinkIrreversible(t *testing.T) {
	d := newLinkBed(t)
	run, id := d.starts(t, "wipe", map[string]any{"disk": "sda"})
	token, fingerprint := d.link(t, id, ana)
	shown := d.page(t, none, linkAddress(id, token), nil).body
	if !strings.Contains(shown, "cannot be undone") || !strings.Contains(shown, `name="confirm"`) {
		t.Errorf("%s", shown)
	}
	form := url.Values{"t": {token}, "fingerprint": {fingerprint}, "action": {"approve"}}
	for _, typed := range []string{"", "yes", "wip", "disk.wipe.sda"} {
		form.Set("confirm", typed)
		if a := d.page(t, none, "/r/"+string(id), form); a.status != 422 || d.status(t, id) != holdshort.RequestOpen {
			t.Errorf("%q: %d", typed, a.status)
		}
	}
	form.Set("confirm", "wipe")
	if a := d.page(t, none, "/r/"+string(id), form); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if ended := d.ends(t, run); ended.Status != holdshort.RunCompleted || d.refunds.Load() != 1 {
		t.Errorf("%+v", ended)
	}
}

// TestLinkQuorum: a page says how many approved, and who.
func TestLinkQuorum(t *testing.T) {
	d := newLinkBed(t)
	run, id := d.starts(t, "refund", bedRefund{"9", 5000})
	token, fingerprint := d.link(t, id, ana)
	vote := func(token string) bedAnswer {
		return d.page(t, none, "/r/"+string(id), url.Values{"t": {token}, "fingerprint": {fingerprint}, "action": {"approve"}})
	}
	if a := vote(token); a.status != 200 || !strings.Contains(a.body, "Others have to approve too") || strings.Contains(a.body, `value="approve"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := vote(token); a.status != 409 || d.status(t, id) != holdshort.RequestOpen {
		t.Errorf("twice: %d", a.status)
	}
	carl := holdshort.Actor{ID: "carl", Kind: holdshort.Person, Roles: []string{policy.Reviewer}}
	second, _ := d.link(t, id, carl)
	if a := d.page(t, none, linkAddress(id, second), nil); !strings.Contains(a.body, ">ana</span> · approved") {
		t.Errorf("%s", a.body)
	}
	if a := vote(second); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if ended := d.ends(t, run); ended.Status != holdshort.RunCompleted {
		t.Errorf("%+v", ended)
	}
}

// TestLinkAfterwards: a page of something that is over says how it ended, to whoever comes by a link, and a form that comes late is told so.
func TestLinkAfterwards(t *testing.T) {
	d := newLinkBed(t)
	_, canceled := d.starts(t, "refund", bedRefund{"1", 1})
	_, taken := d.starts(t, "refund", bedRefund{"2", 2})
	late := url.Values{"action": {"approve"}}
	for name, c := range map[string]struct {
		id   holdshort.RequestID
		end  func(fingerprint string)
		says string
	}{
		"canceled": {canceled, func(string) {
			if _, err := d.engine.CancelRequest(t.Context(), bedTenant, engine.CancelRequestInput{Request: canceled, Actor: olga, Reason: "no longer"}); err != nil {
				t.Fatal(err)
			}
		}, "canceled"},
		"somebody else": {taken, func(fingerprint string) {
			carl := holdshort.Actor{ID: "carl", Kind: holdshort.Person, Roles: []string{policy.Reviewer}}
			if _, err := d.engine.Decide(t.Context(), bedTenant, engine.DecideInput{Request: taken, Actor: carl, Action: holdshort.Reject, Fingerprint: fingerprint}); err != nil {
				t.Fatal(err)
			}
		}, "carl rejected"},
	} {
		token, fingerprint := d.link(t, c.id, ana)
		c.end(fingerprint)
		if a := d.page(t, none, linkAddress(c.id, token), nil); a.status != 200 || !strings.Contains(a.body, c.says) || strings.Contains(a.body, `value="approve"`) {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
		late.Set("t", token)
		late.Set("fingerprint", fingerprint)
		if a := d.page(t, none, "/r/"+string(c.id), late); a.status != 409 || !strings.Contains(a.body, "Too late") || !strings.Contains(a.body, c.says) {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if d.refunds.Load() != 0 {
		t.Errorf("%d refunds", d.refunds.Load())
	}
}

// TestLinkExpired: a link outlives its request for a while, to say that it came to nothing.
func TestLinkExpired(t *testing.T) {
	d := newLinkBed(t)
	_, id := d.starts(t, "ask", "soon")
	token, fingerprint := d.link(t, id, ana)
	d.clock.Ago(-2 * time.Minute)
	if _, err := d.engine.AwaitRequest(t.Context(), bedTenant, id); err != nil {
		t.Fatal(err)
	}
	if a := d.page(t, none, linkAddress(id, token), nil); a.status != 200 || !strings.Contains(a.body, `data-status="expired"`) || !strings.Contains(a.body, "xpired") || strings.Contains(a.body, `value="answer"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := d.page(t, none, "/r/"+string(id), url.Values{"t": {token}, "fingerprint": {fingerprint}, "action": {"answer"}, "value": {"too late"}}); a.status != 410 || !strings.Contains(a.body, "Too late") {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestLinkTokenStaysPut: the token is in the form of the page, and in nothing that a browser asks for, shows or passes on.
func TestLinkTokenStaysPut(t *testing.T) {
	d := newLinkBed(t)
	_, id := d.starts(t, "refund", bedRefund{"1", 1})
	token, _ := d.link(t, id, ana)
	shown := d.page(t, none, linkAddress(id, token), nil)
	rest := strings.Replace(strings.Replace(shown.body, `name="t" value="`+token+`"`, "", 1), `data-token="`+token+`"`, "", 1)
	if rest == shown.body || strings.Contains(rest, token) || strings.Contains(rest, url.QueryEscape(token)) {
		t.Errorf("the token is elsewhere on the page: %s", rest)
	}
	for name, values := range shown.header {
		if strings.Contains(strings.Join(values, " "), token) {
			t.Errorf("the token is in %s", name)
		}
	}
}

// TestLinkLooks: the page follows the device, the language, and what somebody set; and answers scripts with the card alone.
func TestLinkLooks(t *testing.T) {
	d := newLinkBed(t)
	_, id := d.starts(t, "refund", bedRefund{"1", 1})
	token, fingerprint := d.link(t, id, ana)
	for name, c := range map[string]struct{ header, value, want string }{
		"dark":   {"Cookie", "holdshort_look=theme=dark", `data-theme="dark"`},
		"right":  {"Accept-Language", "he-IL,he;q=0.9", `dir="rtl"`},
		"device": {"Accept-Language", "en", `<meta name="color-scheme" content="light dark">`},
	} {
		if a := d.page(t, none, linkAddress(id, token), nil, c.header, c.value); !strings.Contains(a.body, c.want) {
			t.Errorf("%s: no %q in %.300s", name, c.want, a.body)
		}
	}
	part := d.page(t, none, "/r/"+string(id), url.Values{"t": {token}, "action": {"look"}}, "HX-Request", "true")
	if part.status != 200 || !strings.HasPrefix(strings.TrimSpace(part.body), "<article") || !strings.Contains(part.body, fingerprint) {
		t.Errorf("%d %.200s", part.status, part.body)
	}
	if a := d.page(t, none, "/r/"+string(id), url.Values{"t": {"forged"}, "action": {"look"}}, "HX-Request", "true"); a.status != 401 || strings.Contains(a.body, "<html") {
		t.Errorf("%d %.200s", a.status, a.body)
	}
}

// TestLinkRate: whoever holds a link does not hold up the others.
func TestLinkRate(t *testing.T) {
	d := newLinkBed(t, func(_ *identity.Config, o *inbox.Options) { o.Rate, o.Burst = 0.001, 3 })
	_, id := d.starts(t, "refund", bedRefund{"1", 1})
	token, _ := d.link(t, id, ana)
	for i := range 5 {
		a := d.page(t, none, linkAddress(id, token), nil)
		if want := map[bool]int{true: 200, false: 429}[i < 3]; a.status != want || want == 429 && a.header.Get("Retry-After") == "" {
			t.Errorf("%d: %d", i, a.status)
		}
	}
	others, _ := d.link(t, id, holdshort.Actor{ID: "carl", Kind: holdshort.Person, Roles: []string{policy.Reviewer}})
	if a := d.page(t, none, linkAddress(id, others), nil); a.status != 200 {
		t.Errorf("somebody else: %d", a.status)
	}
}

// TestLinkDeep: a request that nests as deep as one may is a page all the same.
func TestLinkDeep(t *testing.T) {
	d := newLinkBed(t)
	for _, depth := range []int{10, 100, 500} {
		run, err := d.engine.Start(t.Context(), bedTenant, engine.StartInput{Flow: "bank", User: "ben", Input: json.RawMessage(`{"a":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`)})
		if err != nil {
			continue // refused at the door
		}
		d.awaits(t, run.ID, func(r holdshort.Run) bool { return r.Status == holdshort.RunWaiting || r.Status.Ended() })
		page, err := d.engine.Requests(t.Context(), bedTenant, engine.RequestQuery{Run: run.ID, Status: holdshort.RequestOpen})
		if err != nil {
			t.Fatal(err)
		}
		for _, req := range page.Items {
			token, _ := d.link(t, req.ID, ana)
			if a := d.page(t, none, linkAddress(req.ID, token), nil); a.status != 200 {
				t.Errorf("depth %d: %d", depth, a.status)
			}
		}
	}
}
