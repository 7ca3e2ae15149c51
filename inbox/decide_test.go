package inbox

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
)

// What the form says is what is decided, and the card that comes back says what came of it.
func TestDecideFromTheCard(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	tests := []struct {
		name, flow, input string
		pairs             []string
		status            int
		outcome           holdshort.Outcome
		check             func(*testing.T, holdshort.Decision)
	}{
		{"approve", "refund", refundArgs, []string{"action", "approve"}, 200, holdshort.Approved, nil},
		{"reject with a reason", "refund", refundArgs, []string{"action", "reject", "reason", "not\r\nbroken"}, 200, holdshort.Rejected, func(t *testing.T, d holdshort.Decision) {
			if d.Message != "not\nbroken" || d.Channel != "page" {
				t.Errorf("%q by %q", d.Message, d.Channel)
			}
		}},
		{"answer for the tool", "refund", refundArgs, []string{"action", "respond", "respond", "paid by hand"}, 200, holdshort.Answered, nil},
		{"edit", "refund", refundArgs, []string{"action", "edit", "editing", "1", "a.0.amount", "590", "a.0.note", "arrived broken"}, 200, holdshort.Edited, func(t *testing.T, d holdshort.Decision) {
			want := `{"amount":590,"deep":{"open":"to see","secret":"S-DEEP"},"iban":"DE-SECRET-1","note":"arrived broken","order":"1043"}`
			if len(d.Calls) != 1 || string(d.Calls[0].Args) != want {
				t.Errorf("%s, want %s", d.Calls[0].Args, want)
			}
		}},
		{"fields that nobody changed", "refund", refundArgs, []string{"action", "edit", "editing", "1", "a.0.amount", "620", "a.0.note", "arrived broken"}, 200, holdshort.Approved, nil},
		{"a field that may not change", "refund", refundArgs, []string{"action", "edit", "editing", "1", "a.0.amount", "620", "a.0.note", "arrived broken", "a.0.order", "99"}, 200, holdshort.Approved, nil},
		{"an edit that does not fit", "refund", refundArgs, []string{"action", "edit", "editing", "1", "a.0.amount", "0", "a.0.note", "x"}, 422, "", nil},
		{"an edit that is no number", "refund", refundArgs, []string{"action", "edit", "editing", "1", "a.0.amount", "much", "a.0.note", "kept as typed"}, 422, "", nil},
		{"an edit that the rules deny", "refund", refundArgs, []string{"action", "edit", "editing", "1", "a.0.amount", "6000", "a.0.note", "x"}, 422, "", nil},
		{"one option", "ask", `"single"`, []string{"action", "select", "option", "b"}, 200, holdshort.Selected, nil},
		{"no option", "ask", `"single"`, []string{"action", "select"}, 422, "", nil},
		{"two of one", "ask", `"single"`, []string{"action", "select", "option", "a", "option", "b"}, 422, "", nil},
		{"two of many", "ask", `"multi"`, []string{"action", "select", "option", "b", "option", "a"}, 200, holdshort.Selected, nil},
		{"a text", "ask", `"text"`, []string{"action", "answer", "value", " forty two "}, 200, holdshort.Answered, func(t *testing.T, d holdshort.Decision) {
			if string(d.Value) != `"forty two"` {
				t.Errorf("%s", d.Value)
			}
		}},
		{"an empty text", "ask", `"text"`, []string{"action", "answer", "value", "  "}, 422, "", nil},
		{"yes", "ask", `"confirm"`, []string{"action", "approve"}, 200, holdshort.Approved, nil},
		{"no", "ask", `"approve"`, []string{"action", "reject"}, 200, holdshort.Rejected, nil},
		{"an escalation", "ask", `"escalate"`, []string{"action", "answer", "value", "tell them"}, 200, holdshort.Answered, nil},
		{"a repair", "ask", `"mend"`, []string{"action", "answer", "value", "stars"}, 200, holdshort.Answered, nil},
		{"a form", "ask", `"form"`, []string{"action", "answer", "f.name", "Cora Lind", "f.count", "2", "f.gift", "true", "f.lines.#", "0", "f.lines.#", "3", "f.lines.0.sku", "A", "f.lines.0.n", "", "f.lines.3.sku", "B", "f.lines.3.n", "4"}, 200, holdshort.Answered, func(t *testing.T, d holdshort.Decision) {
			if want := `{"count":2,"gift":true,"lines":[{"sku":"A"},{"n":4,"sku":"B"}],"name":"Cora Lind"}`; string(d.Value) != want {
				t.Errorf("%s, want %s", d.Value, want)
			}
		}},
		{"a form with a field too small", "ask", `"form"`, []string{"action", "answer", "f.name", "C", "f.count", "2"}, 422, "", nil},
		{"a form with a field missing", "ask", `"form"`, []string{"action", "answer", "f.name", "Cora"}, 422, "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := b.start(tt.flow, tt.input)
			got := b.decide("ana", req, tt.pairs...)
			if got.status != tt.status {
				t.Fatalf("%d, want %d: %.600s", got.status, tt.status, got.body)
			}
			now := b.standing(req)
			if tt.outcome == "" {
				if now.Status != holdshort.RequestOpen {
					t.Fatalf("it is %s", now.Status)
				}
				got.has(t, "Not recorded", `role="alert"`, `data-status="open"`)
				for i := 0; i < len(tt.pairs); i += 2 { // what was typed is there again
					if text := strings.TrimSpace(tt.pairs[i+1]); text != "" && (strings.HasPrefix(tt.pairs[i], "a.") || strings.HasPrefix(tt.pairs[i], "f.")) && tt.pairs[i] != "f.lines.#" {
						got.has(t, text)
					}
				}
				return
			}
			if now.Status != holdshort.RequestResolved || now.Outcome != tt.outcome {
				t.Fatalf("it is %s %s", now.Status, now.Outcome)
			}
			got.has(t, `data-status="resolved"`, "You ")
			d, err := b.engine.Decision(t.Context(), cardTenant, req.ID)
			if err != nil {
				t.Fatal(err)
			}
			if tt.check != nil {
				tt.check(t, d)
			}
			b.rest(req)
			if page := b.get("ben", "/requests/"+string(req.ID)+"/card"); !strings.Contains(page.body, "ana ") {
				t.Errorf("ben does not see who decided: %.900s", page.body)
			} else {
				page.lacks(t, `data-verb="approve"`, `data-verb="reject"`)
			}
		})
	}
}

// However often and however fast the same card is sent, it counts once and gives the same answer.
func TestDecideOnce(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	req := b.start("refund", refundArgs)
	form := b.seen("ana", req, "action", "approve")
	const times = 12
	answers := make([]cardAnswer, times)
	b.key("ana")
	var wg sync.WaitGroup
	for i := range times {
		wg.Go(func() { answers[i] = b.post("ana", "/requests/"+string(req.ID)+"/decide", form) })
	}
	wg.Wait()
	first := 0
	for _, a := range answers {
		if a.status != http.StatusOK {
			t.Errorf("%d: %.500s", a.status, a.body)
		}
		a.has(t, "You approved this", `data-status="resolved"`)
		if a.header.Get("Idempotent-Replayed") == "" {
			first++
		}
	}
	if first != 1 {
		t.Errorf("%d were the first, want 1", first)
	}
	b.rest(req)
	if b.paid.Load() != 1 {
		t.Errorf("paid %d times", b.paid.Load())
	}
	changed := b.form("ana", req, "action", "reject")
	changed.Set("key", form.Get("key"))
	if got := b.post("ana", "/requests/"+string(req.ID)+"/decide", changed); got.status == http.StatusOK {
		t.Errorf("another decision under the same key gives %d", got.status)
	}
}

// Two people press at the same moment: one decides, the other learns who, and that nothing of theirs was used.
func TestDecideTogether(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	for range 8 {
		req := b.start("refund", refundArgs)
		forms := map[string]url.Values{"ana": b.seen("ana", req, "action", "approve"), "ben": b.form("ben", req, "action", "reject", "reason", "my reason")}
		var mu sync.Mutex
		var wg sync.WaitGroup
		answers := map[string]cardAnswer{}
		for who, form := range forms {
			wg.Go(func() {
				a := b.post(who, "/requests/"+string(req.ID)+"/decide", form)
				mu.Lock()
				answers[who] = a
				mu.Unlock()
			})
		}
		wg.Wait()
		winner, loser := "ana", "ben"
		if answers["ben"].status == http.StatusOK {
			winner, loser = "ben", "ana"
		}
		if answers[winner].status != http.StatusOK || answers[loser].status != http.StatusConflict {
			t.Fatalf("ana gets %d, ben gets %d", answers["ana"].status, answers["ben"].status)
		}
		answers[loser].has(t, "Nothing of yours was used", "before you", winner+" ")
		answers[loser].lacks(t, `data-verb="approve"`, `data-verb="reject"`)
		b.rest(req)
	}
}

// What is over says how, and keeps what somebody typed out of it.
func TestDecideTooLate(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	canceled := b.start("refund", refundArgs)
	form := b.seen("ana", canceled, "action", "approve")
	if _, err := b.engine.CancelRequest(t.Context(), cardTenant, engine.CancelRequestInput{Request: canceled.ID, Actor: holdshort.Actor{ID: "adam", Kind: holdshort.Person, Roles: []string{"admin"}}, Reason: "not needed"}); err != nil {
		t.Fatal(err)
	}
	got := b.post("ana", "/requests/"+string(canceled.ID)+"/decide", form)
	if got.status != http.StatusConflict {
		t.Errorf("%d", got.status)
	}
	got.has(t, "Canceled", "not needed", "Nothing of yours was used")
	if page := b.get("ana", "/requests/"+string(canceled.ID)+"/card"); !strings.Contains(page.body, `data-status="canceled"`) {
		t.Errorf("%.400s", page.body)
	}
	expired := b.start("hurry", `{}`)
	form = b.form("ana", expired, "action", "answer", "value", "what I meant to say")
	b.clock.Ago(-2 * time.Minute)
	if _, err := b.engine.AwaitRequest(t.Context(), cardTenant, expired.ID); err != nil {
		t.Fatal(err)
	}
	got = b.post("ana", "/requests/"+string(expired.ID)+"/decide", form)
	if got.status != http.StatusGone {
		t.Errorf("%d", got.status)
	}
	got.has(t, "Expired", "Nothing of yours was used", `data-status="expired"`)
	got.lacks(t, `name="action"`)
}

// An edit stays visible as what it was and what ran.
func TestDecidedEditShowsBoth(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	req := b.start("refund", refundArgs)
	b.decide("ana", req, "action", "edit", "editing", "1", "a.0.amount", "590", "a.0.note", "")
	b.rest(req)
	page := b.get("ben", "/requests/"+string(req.ID)+"/card")
	page.has(t, `<del class="was"><span class="number">620</span></del> <ins><span class="number">590</span></ins>`, "changed and approved", "left out")
	page.lacks(t, "DE-SECRET", "S-DEEP")
}

// Several calls: each gets its own fate, and how many of them cannot be undone has to be typed.
func TestDecideEachCall(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	tests := []struct {
		name       string
		pairs      []string
		status     int
		paid, sent int64
		wrong      string
	}{
		{"all, confirmed", []string{"action", "approve", "confirm", "2"}, 200, 1, 2, ""},
		{"all, not confirmed", []string{"action", "approve"}, 422, 0, 0, "cannot be undone"},
		{"all, the wrong number", []string{"action", "approve", "confirm", "1"}, 422, 0, 0, "type 2"},
		{"each, one left out", []string{"action", "each", "call.1", "approve", "call.2", "reject"}, 422, 0, 0, "call 4 is not decided"},
		{"each, one final", []string{"action", "each", "call.1", "approve", "call.2", "approve", "call.3", "reject", "confirm", "1"}, 200, 1, 1, ""},
		{"each, one final, confirmed as two", []string{"action", "each", "call.1", "approve", "call.2", "approve", "call.3", "reject", "confirm", "2"}, 422, 0, 0, "type 1"},
		{"each, nothing final", []string{"action", "each", "call.1", "approve", "call.2", "reject", "call.3", "reject"}, 200, 1, 0, ""},
		{"each, edited", []string{"action", "each", "editing", "1", "call.1", "approve", "a.1.amount", "15", "a.1.note", "", "call.2", "reject", "call.3", "reject"}, 200, 1, 0, ""},
		{"each, answered", []string{"action", "each", "call.1", "reject", "call.2", "respond", "respond.2", "told by phone", "call.3", "reject"}, 200, 0, 0, ""},
		{"each, answered with nothing", []string{"action", "each", "call.1", "reject", "call.2", "respond", "call.3", "reject"}, 422, 0, 0, "is empty"},
		{"none", []string{"action", "each", "call.1", "reject", "call.2", "reject", "call.3", "reject"}, 200, 0, 0, ""},
		{"reject the whole", []string{"action", "reject"}, 200, 0, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := b.start("batch", `{}`)
			paid, sent := b.paid.Load(), b.sent.Load()
			got := b.decide("ana", req, tt.pairs...)
			if got.status != tt.status {
				t.Fatalf("%d, want %d: %.500s", got.status, tt.status, got.body)
			}
			if tt.name == "each, one final" {
				got.has(t, "You approved 2 of 3 calls")
			}
			if tt.wrong != "" {
				got.has(t, tt.wrong)
			} else {
				b.rest(req)
			}
			if p, s := b.paid.Load()-paid, b.sent.Load()-sent; p != tt.paid || s != tt.sent {
				t.Errorf("%d paid, %d sent, want %d and %d", p, s, tt.paid, tt.sent)
			}
		})
	}
}

// What cannot be undone runs only if somebody typed its name, whatever their page looks like.
func TestDecideConfirmed(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	for typed, want := range map[string]int{"": 422, "yes": 422, "mail.send": 422, "send": 200, " SEND ": 200} {
		req := b.start("mail", `{"to":"a@example.org","body":"x"}`)
		if got := b.decide("ana", req, "action", "approve", "confirm", typed); got.status != want {
			t.Errorf("%q gives %d, want %d", typed, got.status, want)
		}
		if want != 200 {
			if got := b.decide("ana", req, "action", "edit", "editing", "1", "a.0.to", "b@example.org", "a.0.body", "x", "confirm", typed); got.status != want {
				t.Errorf("an edit with %q gives %d, want %d", typed, got.status, want)
			}
			if got := b.decide("ana", req, "action", "reject"); got.status != 200 {
				t.Errorf("rejecting gives %d", got.status)
			}
		}
	}
}

// A quorum: the first approval counts, shows so, and cannot be given twice.
func TestDecideByTwo(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	req := b.start("refund", `{"order":"7","amount":1200}`)
	b.get("ana", "/requests/"+string(req.ID)+"/card").has(t, "two of finance")
	got := b.decide("ana", req, "action", "approve")
	if got.status != 200 || b.standing(req).Status != holdshort.RequestOpen {
		t.Fatalf("%d, %s", got.status, b.standing(req).Status)
	}
	got.has(t, "Your approval counts", "you</span> · approved", "one more of finance", "It waits for others")
	got.lacks(t, `name="action"`)
	if again := b.post("ana", "/requests/"+string(req.ID)+"/decide", url.Values{"fingerprint": {req.Fingerprint}, "key": {"another"}, "action": {"approve"}}); again.status != http.StatusConflict {
		t.Errorf("a second vote gives %d", again.status)
	}
	b.get("ben", "/requests/"+string(req.ID)+"/card").has(t, "ana</span> · approved", "one more of finance", `value="approve"`)
	if got := b.decide("ben", req, "action", "approve"); got.status != 200 {
		t.Fatalf("%d", got.status)
	}
	b.rest(req)
	if b.paid.Load() != 1 {
		t.Errorf("paid %d times", b.paid.Load())
	}
}

// After deciding the card says what became of it, up to what the tool gave, as the role allows.
func TestOutcomeOnTheCard(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	req := b.start("refund", refundArgs)
	b.decide("ana", req, "action", "approve")
	b.rest(req)
	path := "/requests/" + string(req.ID) + "/card"
	all := b.get("adam", path)
	all.has(t, "orders.refund", ">done<", "re_77", "The run is completed", "to see")
	all.lacks(t, "DE-SECRET", "S-DEEP")               // what the tool says of it is withheld like what it was given
	b.get("ana", path).lacks(t, "re_77", "DE-SECRET") // an operator sees that it is done, not what it gave
	b.get("ben", path).has(t, ">done<")

	lost := b.start("lose", `{"amount":5}`)
	b.decide("ana", lost, "action", "approve")
	run, err := b.engine.AwaitRun(t.Context(), cardTenant, lost.RunID, func(r holdshort.Run) bool { return r.Open == 1 && r.Status == holdshort.RunWaiting })
	if err != nil {
		t.Fatal(err)
	}
	ids, err := b.engine.OpenRequests(t.Context(), cardTenant, run)
	if err != nil || len(ids) != 1 {
		t.Fatalf("%v, %v", ids, err)
	}
	page := b.get("ana", "/requests/"+string(lost.ID)+"/card")
	page.has(t, "nobody knows whether it happened", `href="/requests/`+string(ids[0])+`"`)
	ask := b.standing(holdshort.Request{ID: ids[0]})
	card := b.get("ana", "/requests/"+string(ask.ID)+"/card")
	card.has(t, "What was called", `href="/requests/`+string(lost.ID)+`"`, `<span class="number">5</span>`, "unknown outcome", "It happened", "Give up", `name="result"`)
	if got := b.decide("ana", ask, "action", "select", "option", "happened", "result", `{"receipt":"re_9"}`); got.status != 200 {
		t.Fatalf("%d %.400s", got.status, got.body)
	}
	b.rest(lost)
	journal, err := b.engine.Journal(t.Context(), cardTenant, lost.RunID)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, e := range journal {
		var outcome flow.CallOutcome
		found = found || e.Kind == flow.KindCall && json.Unmarshal(e.Outcome, &outcome) == nil && string(outcome.Value) == `{"receipt":"re_9"}`
	}
	if !found {
		t.Errorf("the run was not told what happened: %+v", journal)
	}
}

// What is typed is checked as it is typed, and that leaves nothing behind.
func TestCheckAsYouType(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	req := b.start("refund", refundArgs)
	form := b.start("ask", `"form"`)
	tests := []struct {
		name  string
		req   holdshort.Request
		pairs []string
		ok    bool
		says  string
	}{
		{"as it is", req, []string{"editing", "1", "a.0.amount", "620", "a.0.note", "arrived broken"}, true, ""},
		{"less", req, []string{"editing", "1", "a.0.amount", "590", "a.0.note", "arrived broken"}, true, `"was":"620","is":"590"`},
		{"more than one may", req, []string{"editing", "1", "a.0.amount", "1500", "a.0.note", "x"}, true, "needs two of finance"},
		{"what the rules deny", req, []string{"editing", "1", "a.0.amount", "6000", "a.0.note", "x"}, false, "policy does not allow"},
		{"what the schema refuses", req, []string{"editing", "1", "a.0.amount", "0", "a.0.note", "x"}, false, `"field":"amount"`},
		{"no number", req, []string{"editing", "1", "a.0.amount", "x", "a.0.note", "x"}, false, `"field":"a.0.amount"`},
		{"a form", form, []string{"f.name", "Cora", "f.count", "3"}, true, ""},
		{"a form that does not fit", form, []string{"f.name", "Cora", "f.count", "30"}, false, `"field":"count"`},
	}
	for _, tt := range tests {
		got := b.post("ana", "/requests/"+string(tt.req.ID)+"/check", b.form("ana", tt.req, tt.pairs...))
		var answer checkAnswer
		if err := json.Unmarshal([]byte(got.body), &answer); err != nil || got.status != 200 || answer.OK != tt.ok || !strings.Contains(got.body, tt.says) {
			t.Errorf("%s: %d %s, want %v %q", tt.name, got.status, got.body, tt.ok, tt.says)
		}
	}
	if got := b.post("eve", "/requests/"+string(req.ID)+"/check", url.Values{"editing": {"1"}}); got.status != http.StatusNotFound {
		t.Errorf("eve gets %d", got.status)
	}
	if now := b.standing(req); now.Status != holdshort.RequestOpen || now.Revision != req.Revision || b.paid.Load() != 0 {
		t.Errorf("checking changed something: %+v", now)
	}
}

// What checking says of an edit is what deciding does with it.
func TestCheckAgreesWithDeciding(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	ana := holdshort.Actor{ID: "ana", Kind: holdshort.Person, Roles: []string{"finance"}}
	for _, args := range []string{
		`{"order":"1","amount":50}`, `{"order":"1","amount":50.0}`, `{"order":"1","amount":40,"note":"less"}`, `{"order":"1","amount":1500}`, `{"order":"1","amount":6000}`,
		`{"order":"2","amount":50}`, `{"order":"1","amount":0}`, `{"order":"1"}`, `{"order":"1","amount":"50"}`, `[]`, `{"order":"1","amount":50,"iban":"x"}`, `{"order":"1","amount":1e999}`, `{`,
	} {
		req := b.start("refund", `{"order":"1","amount":50}`)
		found, refusal := b.engine.CheckEdit(t.Context(), cardTenant, engine.CheckEditInput{Request: req.ID, Actor: ana, CallID: req.Actions[0].CallID, Args: json.RawMessage(args)})
		out, err := b.engine.Decide(t.Context(), cardTenant, engine.DecideInput{Request: req.ID, Action: holdshort.Edit, Actor: ana, Args: json.RawMessage(args)})
		if found.Same && refusal == nil { // nobody sends an edit that changes nothing: it is an approval
			if err != nil {
				t.Errorf("%s is the same, and is refused: %v", args, err)
			}
			continue
		}
		if holdshort.CodeOf(refusal) != holdshort.CodeOf(err) {
			t.Errorf("%s: checking says %v, deciding %v", args, refusal, err)
			continue
		}
		if err == nil && found.Again != (out.Next != nil) {
			t.Errorf("%s: asked again %v, want %v", args, out.Next != nil, found.Again)
		}
	}
	for _, who := range []holdshort.Actor{{ID: "eve", Kind: holdshort.Person}, {ID: "abe", Kind: holdshort.Person, Roles: []string{"auditor"}}, {}} {
		req := b.start("refund", refundArgs)
		if found, err := b.engine.CheckEdit(t.Context(), cardTenant, engine.CheckEditInput{Request: req.ID, Actor: who, CallID: req.Actions[0].CallID, Args: json.RawMessage(`{}`)}); err == nil {
			t.Errorf("%s checks an edit: %+v", who.ID, found)
		}
	}
}

// Pages without scripts: what is taken leads back to the request, what is not is shown on a page of its own.
func TestDecideWithoutScripts(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	req := b.start("refund", refundArgs)
	path := "/requests/" + string(req.ID)
	refused := b.post("ana", path+"/decide", b.form("ana", req, "action", "edit", "editing", "1", "a.0.amount", "x", "a.0.note", "typed by hand"), "HX-Request", "")
	if refused.status != http.StatusUnprocessableEntity {
		t.Fatalf("%d", refused.status)
	}
	refused.has(t, "<!doctype html>", "typed by hand", "is not a number", `class="panel call editing"`)
	refused.lacks(t, "DE-SECRET")
	b.call("ana", "GET", path+"/card?edit", nil, "HX-Request", "").has(t, "<!doctype html>", `class="panel call editing"`, `name="editing"`)
	taken := b.post("ana", path+"/decide", b.seen("ana", req, "action", "approve"), "HX-Request", "")
	if taken.status != http.StatusSeeOther || taken.header.Get("Location") != path {
		t.Fatalf("%d to %q", taken.status, taken.header.Get("Location"))
	}
	b.rest(req)
}

// Comments, whose it is and calling it off are the card's too.
func TestCardBesidesDeciding(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	req := b.start("refund", refundArgs)
	path := "/requests/" + string(req.ID)
	comment := url.Values{"text": {"Look at\r\nthe photos"}, "key": {"k1"}}
	for range 3 { // pressed more than once
		if got := b.post("ben", path+"/comment", comment); got.status != 200 {
			t.Fatalf("%d %.300s", got.status, got.body)
		}
	}
	said, err := b.engine.Comments(t.Context(), cardTenant, req.ID)
	if err != nil || len(said) != 1 || said[0].Text != "Look at\nthe photos" || said[0].Actor != "ben" {
		t.Fatalf("%+v, %v", said, err)
	}
	if got := b.post("ben", path+"/comment", url.Values{"text": {"  "}, "key": {"k2"}}); got.status != http.StatusBadRequest {
		t.Errorf("an empty comment gives %d", got.status)
	}
	for _, who := range []string{"abe", "eve"} {
		for _, verb := range []string{"comment", "assign", "cancel"} {
			if got := b.post(who, path+"/"+verb, url.Values{"text": {"x"}, "to": {"me"}, "key": {"k3"}}); got.status != http.StatusForbidden && got.status != http.StatusNotFound {
				t.Errorf("%s: %s gives %d", who, verb, got.status)
			}
		}
	}
	b.post("ana", path+"/assign", url.Values{"to": {"me"}}).has(t, "Assigned to <b dir=\"auto\">you</b>", "Not mine after all")
	if now := b.standing(req); now.Assignee != "ana" || now.Status != holdshort.RequestOpen {
		t.Errorf("assigned to %q, %s", now.Assignee, now.Status)
	}
	b.post("olga", path+"/cancel", url.Values{"reason": {"asked twice"}, "key": {"k4"}}).has(t, "Canceled", "asked twice", `data-status="canceled"`)
}

// Nobody approves what they have not seen all of, however they send it; rejecting needs no look.
func TestDecideUnseen(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	req := b.start("refund", refundArgs)
	b.get("ana", "/requests/"+string(req.ID)+"/card").has(t, "Part of this is withheld")
	for _, pairs := range [][]string{{"action", "approve"}, {"action", "edit", "editing", "1", "a.0.amount", "590", "a.0.note", "x"}, {"action", "each", "call.0", "approve"}, {"action", "approve", "proof", "9999999999.v1:x"}} {
		got := b.unseen("ana", req, pairs...)
		if got.status != http.StatusUnprocessableEntity {
			t.Errorf("%v gives %d", pairs, got.status)
		}
		got.has(t, "withheld from you")
		got.lacks(t, "DE-SECRET")
	}
	several := b.start("batch", `{}`)
	if got := b.unseen("ana", several, "action", "each", "call.1", "approve", "call.2", "reject", "call.3", "reject"); got.status != http.StatusUnprocessableEntity {
		t.Errorf("a call of several gives %d", got.status)
	}
	if got := b.unseen("ana", several, "action", "each", "call.1", "reject", "call.2", "reject", "call.3", "reject"); got.status != http.StatusOK {
		t.Errorf("rejecting each gives %d", got.status)
	}
	if got := b.unseen("ana", req, "action", "reject"); got.status != http.StatusOK || b.paid.Load() != 0 {
		t.Errorf("rejecting gives %d, %d paid", got.status, b.paid.Load())
	}
	blind := sight{audience: true, RequestView: engine.RequestView{Request: holdshort.Request{Actions: []holdshort.Action{{CallID: "a", NeedsApproval: true, Args: json.RawMessage(`{"iban":"x","pin":"y"}`), Redacted: []string{"iban", "pin"}, Blind: []string{"iban"}}}}}}
	if unseen(blind, holdshort.Approve, nil) == nil {
		t.Error("what is not listed as blind is approved unseen")
	}
	blind.Request.Actions[0].Blind = []string{"iban", "pin"}
	if err := unseen(blind, holdshort.Approve, nil); err != nil {
		t.Errorf("what is listed as blind cannot be approved: %v", err)
	}
}
