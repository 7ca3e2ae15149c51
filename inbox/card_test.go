package inbox

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

const refundArgs = `{"order":"1043","amount":620,"iban":"DE-SECRET-1","note":"arrived broken","deep":{"secret":"S-DEEP","open":"to see"}}`

// Every kind of request offers what it takes, to those who may, and to nobody else.
func TestCardOfEveryKind(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	tests := []struct {
		name, flow, input string
		offers            []string // what the card has for ana
		not               []string
	}{
		{"approval of a call", "refund", refundArgs, []string{`value="approve"`, "Approve 620", `value="reject"`, `value="respond"`, `data-verb="edit"`, "undone by others only", "Stopped by “"}, []string{`name="confirm"`, `value="select"`}},
		{"approval of what is final", "mail", `{"to":"a@example.org"}`, []string{"Approve mail.send", "cannot be undone", `name="confirm"`, `data-word="send"`}, nil},
		{"several calls", "batch", `{}`, []string{"Approve all 3 calls", `value="each"`, `name="call.1"`, `name="call.2"`, "runs with the others", `data-word="2"`}, []string{`name="call.0"`}},
		{"single choice", "ask", `"single"`, []string{`type="radio" form=`, "&lt;b&gt;Pears", `value="select"`}, []string{`value="approve"`, "<b>Pears"}},
		{"multi choice", "ask", `"multi"`, []string{`type="checkbox" form=`, `value="select"`}, []string{`value="approve"`}},
		{"free text", "ask", `"text"`, []string{`<textarea form=`, `name="value"`, `value="answer"`}, nil},
		{"form", "ask", `"form"`, []string{`name="f.name"`, "Full name", `name="f.count"`, "1 to 9", `value="add:f.lines"`, `value="answer"`}, []string{`name="value"`}},
		{"yes or no", "ask", `"confirm"`, []string{`value="approve"`, `value="reject"`}, []string{`name="value"`}},
		{"approval without calls", "ask", `"approve"`, []string{`value="approve"`, `value="reject"`}, []string{"What will run"}},
		{"escalation", "ask", `"escalate"`, []string{`value="approve"`, `value="answer"`, `value="reject"`}, nil},
		{"repair", "ask", `"mend"`, []string{"What has to be put right", "paper", "gold", `data-fill="stars"`, `value="answer"`}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := b.start(tt.flow, tt.input)
			path := "/requests/" + string(req.ID) + "/card"
			mine := b.get("ana", path)
			if mine.status != http.StatusOK {
				t.Fatalf("%d %s", mine.status, mine.body)
			}
			mine.has(t, tt.offers...)
			mine.lacks(t, tt.not...)
			mine.has(t, `data-status="open"`, `data-fingerprint="`+req.Fingerprint+`"`, `action="/requests/`+string(req.ID)+`/decide"`)
			for _, who := range []string{"olga", "adam", "abe", "rea", "cora"} { // they may look
				theirs := b.get(who, path)
				if theirs.status != http.StatusOK {
					t.Errorf("%s gets %d", who, theirs.status)
				}
				theirs.has(t, "not decide it")
				theirs.lacks(t, `name="action"`, `name="call.1"`, `name="option"`, `name="value"`)
			}
			if got := b.get("eve", path); got.status != http.StatusNotFound || strings.Contains(got.body, req.Fingerprint) {
				t.Errorf("eve gets %d %s", got.status, got.body)
			}
			if got := b.get("", path); got.status != http.StatusUnauthorized {
				t.Errorf("nobody gets %d", got.status)
			}
		})
	}
}

// What is withheld is nowhere on the page, for nobody who has not revealed it, whatever they do with the card.
func TestCardWithholds(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	secrets := []string{"DE-SECRET", "S-DEEP"}
	before := b.start("refund", refundArgs)
	b.decide("ben", before, "action", "edit", "editing", "1", "a.0.amount", "590", "a.0.note", "arrived broken")
	b.rest(before)
	req := b.start("refund", strings.Replace(refundArgs, "DE-SECRET-1", "DE-SECRET-2", 1))
	path := "/requests/" + string(req.ID)
	pages := map[string]cardAnswer{
		"the card":               b.get("ana", path+"/card"),
		"the fields":             b.get("ana", path+"/card?edit"),
		"whoever may only look":  b.get("abe", path+"/card"),
		"an administrator":       b.get("adam", path+"/card"),
		"a decided one":          b.get("ana", "/requests/"+string(before.ID)+"/card"),
		"a misfit":               b.unseen("ana", req, "action", "edit", "editing", "1", "a.0.amount", "x"),
		"a denied edit":          b.unseen("ana", req, "action", "edit", "editing", "1", "a.0.amount", "9999"),
		"an edit of what is hid": b.unseen("ana", req, "action", "edit", "editing", "1", "a.0.iban", "DE-OTHER", "a.0.amount", "x"),
		"a check":                b.post("ana", path+"/check", b.form("ana", req, "editing", "1", "a.0.amount", "610")),
		"a made-up proof":        b.call("ana", "GET", path+"/card", nil, proofHeader, "9999999999.v1:abc"),
		"somebody else's proof":  b.call("ben", "GET", path+"/card", nil, proofHeader, proofOf(t, b, "ana", req)),
		"the proof of another":   b.call("ana", "GET", path+"/card", nil, proofHeader, proofOf(t, b, "ana", before)),
	}
	for name, page := range pages {
		page.lacks(t, secrets...)
		if name != "a check" && !strings.Contains(page.body, "article") {
			t.Errorf("%s: %d %s", name, page.status, page.body)
		}
	}
	pages["the card"].has(t, `class="withheld"`, "to see", "Reveal what is withheld")
	pages["whoever may only look"].lacks(t, "Reveal what is withheld")
}

func proofOf(t *testing.T, b *cardBed, who string, req holdshort.Request) string {
	t.Helper()
	page := b.post(who, "/requests/"+string(req.ID)+"/reveal", url.Values{})
	_, rest, ok := strings.Cut(page.body, `data-proof="`)
	proof, _, _ := strings.Cut(rest, `"`)
	if !ok || proof == "" {
		t.Fatalf("no proof: %d %s", page.status, page.body)
	}
	return proof
}

// Revealing is noted before anything is shown; who may not decide may not reveal either, so nobody approves what they could not see.
func TestCardReveals(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	req := b.start("refund", refundArgs)
	path := "/requests/" + string(req.ID)
	for _, who := range []string{"abe", "adam", "olga", "rea", "cora", "eve"} {
		got := b.post(who, path+"/reveal", url.Values{})
		if got.status != http.StatusForbidden && got.status != http.StatusNotFound {
			t.Errorf("%s reveals: %d", who, got.status)
		}
		got.lacks(t, "DE-SECRET")
		if got := b.post(who, path+"/decide", url.Values{"fingerprint": {req.Fingerprint}, "key": {"k"}, "action": {"approve"}}); got.status != http.StatusForbidden && got.status != http.StatusNotFound {
			t.Errorf("%s approves: %d", who, got.status)
		}
	}
	shown := b.post("ana", path+"/reveal", url.Values{})
	shown.has(t, "DE-SECRET-1", "S-DEEP", `data-proof="`)
	shown.lacks(t, `class="withheld"`)
	revealed := 0
	page, err := b.engine.Events(t.Context(), cardTenant, engine.EventQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range page.Items {
		if e.Type == "hitl.request.revealed" && e.Actor == "ana" && e.Request == req.ID {
			revealed++
		}
	}
	if revealed != 1 {
		t.Errorf("%d notes that ana looked, want 1", revealed)
	}
	again := b.call("ana", "GET", path+"/card", nil, proofHeader, proofOf(t, b, "ana", req))
	again.has(t, "DE-SECRET-1")
	if b.standing(req).Status != holdshort.RequestOpen {
		t.Error("looking decided something")
	}
}

// What models and callers write is text on the page, never part of it; what cannot be seen is shown by its number.
func TestCardOfHostileContent(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	nasty := `<script>alert(1)</script>\"><img src=x onerror=alert(2)>\u202eknab\u200b{{.ID}} javascript:alert(3)`
	req := b.start("refund", `{"order":"`+nasty+`","amount":5,"note":"`+nasty+`","deep":{"<b>x</b>":"`+nasty+`"},"`+nasty+`":1}`)
	path := "/requests/" + string(req.ID)
	b.post("ben", path+"/comment", url.Values{"text": {"<script>comment</script>"}})
	for name, page := range map[string]cardAnswer{
		"card": b.get("ana", path+"/card"), "fields": b.get("ana", path+"/card?edit"),
		"whole page": b.call("ana", "GET", path+"/card", nil, "HX-Request", ""),
		"draft":      b.decide("ana", req, "action", "reject", "reason", `</textarea><script>d</script>`, "call.0", `"><script>`, "value", `</textarea><script>`, "confirm", `"><script>`, "fingerprint", "x"),
	} {
		page.lacks(t, "<script>alert", "<img src=x", "<b>x</b>", "<script>comment", "<script>d", `"><script>`, "\u202e", "\u200b", " style=\"", "onerror=alert(2)>\"")
		if !strings.Contains(page.body, "U+202E") {
			t.Errorf("%s does not show what cannot be seen", name)
		}
		if page.header.Get("Content-Security-Policy") != guard {
			t.Errorf("%s has the policy %q", name, page.header.Get("Content-Security-Policy"))
		}
	}
}

// A long text is there in full, with its lines numbered and a way to jump to it.
func TestCardOfLongArguments(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	var body strings.Builder
	for i := range 400 {
		body.WriteString(`line ` + strings.Repeat("x", i%7) + `\n`)
	}
	page := b.get("ana", "/requests/"+string(b.start("mail", `{"to":"a@example.org","body":"`+body.String()+`THE END","list":[{"a":[1,{"b":"inner leaf"}]}]}`).ID)+"/card")
	page.has(t, `class="numbered"`, "THE END", `class="jumps"`, `href="#arg-0-0"`, `id="arg-0-0"`, "inner leaf")
	if n := strings.Count(page.body, "line "); n < 400 {
		t.Errorf("%d lines, want 400", n)
	}
	page.lacks(t, "<details class=\"args")
}

// Other sites, other methods and unknown words decide nothing.
func TestCardDecidesNothingByItself(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	req := b.start("refund", refundArgs)
	path := "/requests/" + string(req.ID)
	form := func(pairs ...string) url.Values { return b.form("ana", req, pairs...) }
	tests := []struct {
		name    string
		form    url.Values
		headers []string
		want    int
	}{
		{"another site", form("action", "approve"), []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		{"another origin", form("action", "approve"), []string{"Origin", "https://evil.example"}, http.StatusForbidden},
		{"no button", form(), nil, http.StatusBadRequest},
		{"an unknown word", form("action", "yes please"), nil, http.StatusBadRequest},
		{"no fingerprint", url.Values{"action": {"approve"}, "key": {"k"}}, nil, http.StatusBadRequest},
		{"another fingerprint", url.Values{"action": {"approve"}, "key": {"k"}, "fingerprint": {strings.Repeat("0", 64)}}, nil, http.StatusConflict},
		{"an answer to what is no question", form("action", "answer", "value", "x"), nil, http.StatusUnprocessableEntity},
		{"an empty answer for the tool", form("action", "respond"), nil, http.StatusUnprocessableEntity},
		{"more fields", form("action", "add:f.lines"), nil, http.StatusOK},
		{"a look at the fields", form("action", "draw"), nil, http.StatusOK},
	}
	for _, tt := range tests {
		if got := b.post("ana", path+"/decide", tt.form, tt.headers...); got.status != tt.want {
			t.Errorf("%s gives %d, want %d: %s", tt.name, got.status, tt.want, got.body)
		}
	}
	for _, method := range []string{"GET", "HEAD", "PUT", "DELETE"} {
		if got := b.call("ana", method, path+"/decide?action=approve&fingerprint="+req.Fingerprint, nil); got.status == http.StatusOK {
			t.Errorf("%s gives %d", method, got.status)
		}
	}
	if now := b.standing(req); now.Status != holdshort.RequestOpen || b.paid.Load() != 0 {
		t.Errorf("the request is %s, %d paid", now.Status, b.paid.Load())
	}
}
