package inbox

import (
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)">`)

// summarised asks for the summary of a selection and gives the form that it has.
func (b *deskBed) summarised(who, verb string, reqs ...holdshort.Request) (shown, url.Values) {
	b.t.Helper()
	form := url.Values{"verb": {verb}}
	for _, r := range reqs {
		form.Add("pick", string(r.ID))
	}
	page := b.post(who, "/requests/batch?step=summary", form, "HX-Request", "true")
	if page.status != http.StatusOK {
		b.t.Fatalf("summary: %d %s", page.status, page.text)
	}
	return page, page.fields()
}

func (s shown) fields() url.Values {
	out := url.Values{}
	for _, f := range hiddenField.FindAllStringSubmatch(s.text, -1) {
		out.Add(f[1], f[2])
	}
	return out
}

// said is what a result page says of each request.
func (s shown) said() map[string]string {
	out := map[string]string{}
	for _, m := range regexp.MustCompile(`(?s)<li data-id="([^"]+)" data-tone="([a-z]+)">.*?<span class="[a-z]+">(.*?)</span></li>`).FindAllStringSubmatch(s.text, -1) {
		out[m[1]] = m[2] + ": " + m[3]
	}
	return out
}

// The summary says what runs, with every argument and what it adds up to; nothing is decided by it. Sent, each is decided.
func TestBatchApproves(t *testing.T) {
	t.Parallel()
	b := newDeskBed(t)
	one, two, mail := b.call("orders.refund", `{"amount":100.10,"currency":"EUR","order":"1"}`), b.call("orders.refund", `{"amount":20.05,"currency":"EUR","order":"2"}`), b.call("mail.send", `{"to":"cora"}`)
	page, form := b.summarised("ana", "approve", one, two, mail)
	page.has(t, "Approve 3 requests?", "orders.refund", "2 calls", "amount <b>120.15 EUR</b> in all", "mail.send", `&#34;order&#34;:&#34;1&#34;`, `&#34;to&#34;:&#34;cora&#34;`)
	page.lacks(t, "<html", "cannot be undone", "Left out")
	if b.stands(one).Status != holdshort.RequestOpen {
		t.Fatal("a summary decided something")
	}
	form.Set("message", "all fine")
	done := b.post("ana", "/requests/batch", form, "HX-Request", "true")
	done.has(t, "3 of 3 approved")
	for _, req := range []holdshort.Request{one, two, mail} {
		if now := b.stands(req); now.Outcome != holdshort.Approved {
			t.Errorf("%s is %s %s", req.ID, now.Status, now.Outcome)
		}
		d, err := b.engine.Decision(t.Context(), deskTenant, req.ID)
		if err != nil || d.Actor.ID != "ana" || d.Message != "all fine" || d.Fingerprint != req.Fingerprint || d.Channel != "inbox" {
			t.Errorf("decision %+v, %v", d, err)
		}
	}
	again := b.post("ana", "/requests/batch", form, "HX-Request", "true") // the answer was lost, and it is sent again
	again.has(t, "3 of 3 approved")
	whole := b.post("ana", "/requests/batch?step=summary", url.Values{"verb": {"reject"}, "pick": {string(b.call("mail.send", `{}`).ID)}})
	whole.has(t, "<html", "Reject 1 request?", "What will not run")
}

// What needs a closer look is left out of an approval, with the reason; saying no is possible for most of it.
func TestBatchLeavesOut(t *testing.T) {
	t.Parallel()
	b := newDeskBed(t)
	reviewers := holdshort.Audience{Roles: []string{policy.Reviewer}}
	fine := b.call("orders.refund", `{"amount":1}`)
	cases := []struct {
		req       holdshort.Request
		why       string
		rejecting string // "" if it can be rejected with others
	}{
		{b.call("disk.erase", `{"disk":"a"}`), "cannot be undone: it needs a typed confirmation", ""},
		{b.asks(engine.AskInput{Question: "Pay them?", Actions: []engine.AskAction{{Tool: "bank.send", Args: []byte(`{"iban":"DE00 1234"}`)}}}), "part of it is withheld: reveal it first", ""},
		{b.call("orders.refund", `{"two":true}`), "it takes more than one approval", ""},
		{b.asks(engine.AskInput{Question: "Both?", Actions: []engine.AskAction{{Tool: "orders.refund"}, {Tool: "mail.send"}}}), "it has several calls", ""},
		{b.call("orders.refund", `{"finance":true}`), "you are not among those who decide it", "you are not among those who decide it"},
		{b.asks(engine.AskInput{Kind: holdshort.Clarification, Question: "Which colour?", Audience: reviewers}), "it takes an answer of its own", "it takes an answer of its own"},
		{b.asks(engine.AskInput{Kind: holdshort.Disambiguation, Question: "Which one?", Options: []holdshort.Option{{ID: "a"}, {ID: "b"}}, Audience: reviewers}), "it takes an answer of its own", "it takes an answer of its own"},
	}
	closed := b.call("orders.refund", `{"amount":2}`)
	b.decides("ben", closed, holdshort.Reject)
	cases = append(cases, struct {
		req            holdshort.Request
		why, rejecting string
	}{closed, "it is closed: rejected by Ben", "it is closed: rejected by Ben"})
	reqs := []holdshort.Request{fine}
	for _, c := range cases {
		reqs = append(reqs, c.req)
	}
	page, form := b.summarised("ana", "approve", reqs...)
	page.has(t, "Approve 1 request?", "1 call of the selection cannot be undone")
	page.lacks(t, "DE00 1234")
	if got := form["id"]; len(got) != 1 || got[0] != string(fine.ID) {
		t.Errorf("decided would be %v", got)
	}
	left := func(page shown, id holdshort.RequestID) string {
		_, after, found := strings.Cut(page.text, `<li><a href="/requests/`+string(id)+`"`)
		if !found {
			return ""
		}
		line, _, _ := strings.Cut(after, "</li>")
		return line
	}
	for _, c := range cases {
		if got := left(page, c.req.ID); !strings.Contains(got, c.why) {
			t.Errorf("%s: left out because %q, want %q", c.req.Question, got, c.why)
		}
	}
	rejecting, _ := b.summarised("ana", "reject", reqs...)
	rejecting.lacks(t, "DE00 1234")
	for _, c := range cases {
		if got := left(rejecting, c.req.ID); (got == "") != (c.rejecting == "") || !strings.Contains(got, c.rejecting) {
			t.Errorf("%s: left out of a rejection because %q, want %q", c.req.Question, got, c.rejecting)
		}
	}
	// Whoever writes the form by hand gets no further.
	for _, c := range cases {
		sent := b.post("ana", "/requests/batch", url.Values{"verb": {"approve"}, "key": {"k-" + string(c.req.ID)}, "id": {string(c.req.ID)}, "fingerprint": {c.req.Fingerprint}}, "HX-Request", "true")
		if said := sent.said()[string(c.req.ID)]; !strings.HasPrefix(said, "no: not decided") {
			t.Errorf("%s by hand: %q\n%s", c.req.Question, said, sent.text)
		}
		if now := b.stands(c.req); now.Outcome == holdshort.Approved {
			t.Errorf("%s was approved by a form that somebody wrote", c.req.Question)
		}
	}
}

// Between the summary and the button things happen: each item says what became of it, and the others are decided.
func TestBatchMixed(t *testing.T) {
	t.Parallel()
	b := newDeskBed(t)
	fine, taken, canceled, changed := b.call("orders.refund", `{"amount":1}`), b.call("orders.refund", `{"amount":2}`), b.call("orders.refund", `{"amount":3}`), b.call("orders.refund", `{"amount":4}`)
	hidden := b.asks(engine.AskInput{Question: "Only for eve?", Audience: holdshort.Audience{Roles: []string{policy.Reviewer}}})
	_, form := b.summarised("ana", "approve", fine, taken, canceled, changed, hidden)
	b.decides("ben", taken, holdshort.Reject)
	if _, err := b.engine.CancelRequest(t.Context(), deskTenant, engine.CancelRequestInput{Request: canceled.ID, Actor: deskActor("olga")}); err != nil {
		t.Fatal(err)
	}
	for i, id := range form["id"] {
		if id == string(changed.ID) {
			form["fingerprint"][i] = fine.Fingerprint
		}
	}
	page := b.post("ana", "/requests/batch", form, "HX-Request", "true")
	page.has(t, "2 of 5 approved")
	said := page.said()
	for req, want := range map[holdshort.RequestID]string{fine.ID: "yes: approved", taken.ID: "no: not decided by you: rejected by Ben just now", canceled.ID: "no: not decided by you: canceled",
		changed.ID: "no: not decided: what is asked is not what the summary showed", hidden.ID: "yes: approved"} {
		if said[string(req)] != want {
			t.Errorf("of %s it says %q, want %q", req, said[string(req)], want)
		}
	}
	if b.stands(changed).Status != holdshort.RequestOpen || b.stands(taken).Outcome != holdshort.Rejected {
		t.Error("something else was decided")
	}
	page.lacks(t, "again</button>") // nothing of it is unsure
}

// Two presses, or a form that is sent again, decide once; the same key for something else is refused.
func TestBatchOnce(t *testing.T) {
	t.Parallel()
	b := newDeskBed(t)
	req := b.call("orders.refund", `{"amount":1}`)
	_, form := b.summarised("ana", "approve", req)
	var wait sync.WaitGroup
	answers := make([]shown, 6)
	for i := range answers {
		wait.Go(func() { answers[i] = b.post("ana", "/requests/batch", form, "HX-Request", "true") })
	}
	wait.Wait()
	for _, a := range answers {
		if said := a.said()[string(req.ID)]; said != "yes: approved" {
			t.Errorf("%q", said)
		}
	}
	other := url.Values{}
	for name, values := range form {
		other[name] = values
	}
	other.Set("verb", "reject")
	if said := b.post("ana", "/requests/batch", other, "HX-Request", "true").said()[string(req.ID)]; !strings.HasPrefix(said, "no: not decided") {
		t.Errorf("the same key for another decision: %q", said)
	}
	if said := b.post("ben", "/requests/batch", form, "HX-Request", "true").said()[string(req.ID)]; !strings.Contains(said, "approved by Ana") {
		t.Errorf("somebody else with the same form: %q", said)
	}
}

// Forms that are not whole, come from elsewhere or from somebody who may not decide are refused, and decide nothing.
func TestBatchRefuses(t *testing.T) {
	t.Parallel()
	b := newDeskBed(t)
	req := b.call("orders.refund", `{"amount":1}`)
	whole := func(change func(url.Values)) url.Values {
		f := url.Values{"verb": {"approve"}, "key": {"k"}, "id": {string(req.ID)}, "fingerprint": {req.Fingerprint}}
		change(f)
		return f
	}
	many := whole(func(f url.Values) {
		for range mostPicked {
			f.Add("id", "req_x")
			f.Add("fingerprint", "f")
		}
	})
	for name, tt := range map[string]struct {
		form url.Values
		want int
	}{
		"no verb":            {whole(func(f url.Values) { f.Del("verb") }), http.StatusBadRequest},
		"a verb for one":     {whole(func(f url.Values) { f.Set("verb", "edit") }), http.StatusBadRequest},
		"no key":             {whole(func(f url.Values) { f.Del("key") }), http.StatusBadRequest},
		"no fingerprint":     {whole(func(f url.Values) { f.Del("fingerprint") }), http.StatusBadRequest},
		"an empty one":       {whole(func(f url.Values) { f.Set("fingerprint", "") }), http.StatusBadRequest},
		"one request twice":  {whole(func(f url.Values) { f.Add("id", string(req.ID)); f.Add("fingerprint", req.Fingerprint) }), http.StatusBadRequest},
		"nothing":            {whole(func(f url.Values) { f.Del("id") }), http.StatusBadRequest},
		"more than can be":   {many, http.StatusBadRequest},
		"a form of rubbish":  {url.Values{"verb": {"approve"}}, http.StatusBadRequest},
		"a selection of all": {url.Values{"verb": {"approve"}, "pick": make([]string, 0)}, http.StatusBadRequest},
	} {
		if got := b.post("ana", "/requests/batch", tt.form); got.status != tt.want {
			t.Errorf("%s: %d", name, got.status)
		}
	}
	good := whole(func(url.Values) {})
	for _, site := range []string{"cross-site", "same-site"} {
		if got := b.post("ana", "/requests/batch", good, "Sec-Fetch-Site", site); got.status != http.StatusForbidden {
			t.Errorf("from %s: %d", site, got.status)
		}
	}
	if got := b.post("ana", "/requests/batch", good, "Sec-Fetch-Site", "", "Origin", "https://elsewhere.example"); got.status != http.StatusForbidden {
		t.Errorf("from elsewhere: %d", got.status)
	}
	if got := b.post("", "/requests/batch", good); got.status != http.StatusUnauthorized {
		t.Errorf("from nobody: %d", got.status)
	}
	for _, who := range []string{"olga", "aud", "eve", "fin"} {
		got := b.post(who, "/requests/batch", good, "HX-Request", "true")
		if said := got.said()[string(req.ID)]; !strings.HasPrefix(said, "no: not decided") {
			t.Errorf("%s: %d %q", who, got.status, said)
		}
	}
	if b.stands(req).Status != holdshort.RequestOpen {
		t.Error("it was decided all the same")
	}
	b.post("eve", "/requests/batch", good, "HX-Request", "true").lacks(t, "orders.refund") // who may not look learns nothing
}

// What may or may not have arrived is said to be so, and only that is sent again, under the same key.
func TestBatchUnsure(t *testing.T) {
	t.Parallel()
	looks, err := newLooks()
	if err != nil {
		t.Fatal(err)
	}
	v := &visit{Inbox: &Inbox{log: slog.New(slog.DiscardHandler), looks: looks}, ctx: t.Context()}
	b := batchView{Verb: holdshort.Approve, Key: "the key", Message: "all fine", Count: 3}
	b.add(batchResult{ID: "req_1", Question: "One?", Said: "approved", Tone: "yes"}, "f1")
	b.add(batchResult{ID: "req_2", Question: "Two?"}.refusedBy(errors.New("the disk is full of secrets"), engine.Decided{}, v), "f2")
	b.add(batchResult{ID: "req_3", Question: "Three?"}.refusedBy(&holdshort.Error{Code: holdshort.Expired}, engine.Decided{}, v), "f3")
	text, err := looks.text("desk_batch", b)
	if err != nil {
		t.Fatal(err)
	}
	page := shown{text: text}
	page.has(t, "1 of 3 approved", "it is not known whether this arrived", "it expired before this arrived", "Send that one again")
	page.lacks(t, "secrets")
	want := url.Values{"verb": {"approve"}, "key": {"the key"}, "message": {"all fine"}, "id": {"req_2"}, "fingerprint": {"f2"}}
	if got := page.fields(); got.Encode() != want.Encode() {
		t.Errorf("sent again would be %s", got.Encode())
	}
}

func TestSums(t *testing.T) {
	t.Parallel()
	item := func(args string) batchItem { return batchItem{Args: args} }
	for name, tt := range map[string]struct {
		items []batchItem
		want  string
	}{
		"one":            {[]batchItem{item(`{"amount":1}`)}, ""},
		"whole numbers":  {[]batchItem{item(`{"amount":1}`), item(`{"amount":2}`)}, "amount 3"},
		"exactly":        {[]batchItem{item(`{"amount":0.1}`), item(`{"amount":0.2}`)}, "amount 0.3"},
		"currencies":     {[]batchItem{item(`{"amount":1,"currency":"EUR"}`), item(`{"amount":2,"currency":"USD"}`)}, "amount 1 EUR, 2 USD"},
		"cents":          {[]batchItem{item(`{"amount":1.5,"currency":"EUR"}`), item(`{"amount":2,"currency":"EUR"}`)}, "amount 3.50 EUR"},
		"not all have":   {[]batchItem{item(`{"amount":1}`), item(`{"order":2}`)}, ""},
		"no amount":      {[]batchItem{item(`{"order":1}`), item(`{"order":2}`)}, ""},
		"text":           {[]batchItem{item(`{"amount":"1"}`), item(`{"amount":"2"}`)}, ""},
		"no object":      {[]batchItem{item(`[1]`), item(`[2]`)}, ""},
		"negative":       {[]batchItem{item(`{"total":-1.5}`), item(`{"total":1.25}`)}, "total -0.25"},
		"first has more": {[]batchItem{item(`{"amount":1,"price":2}`), item(`{"amount":1}`)}, "amount 2"},
	} {
		var got []string
		for _, s := range sumsOf(tt.items) {
			got = append(got, s.Field+" "+s.Total)
		}
		if strings.Join(got, "; ") != tt.want {
			t.Errorf("%s: %v, want %s", name, got, tt.want)
		}
	}
}
