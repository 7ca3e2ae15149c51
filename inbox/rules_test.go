package inbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/replay"
	"github.com/holdshort/holdshort/policy/rulebook"
)

func TestWhatRulesSay(t *testing.T) {
	t.Parallel()
	hours := func(n int) time.Duration { return time.Duration(n) * time.Hour }
	to := func(quorum int, roles ...string) holdshort.Audience {
		return holdshort.Audience{Roles: roles, Quorum: quorum}
	}
	for _, tt := range []struct {
		then   policy.Verdict
		limits []rulebook.Limit
		want   string
	}{
		{policy.Verdict{Decision: policy.Deny}, nil, "denies it: nobody can approve it"},
		{policy.Verdict{Decision: policy.Allow}, nil, "allows it: nobody is asked"},
		{policy.Verdict{}, nil, "asks a reviewer, within 10 min where the agent sets no time of its own"},
		{policy.Verdict{Audience: to(2, "finance"), ExpiresIn: hours(24), Editable: []string{"amount"}}, nil, "asks two of finance, within 24 h, may edit amount"},
		{policy.Verdict{Audience: to(1, "finance", "legal"), ExpiresIn: hours(72), Editable: []string{"*"}}, nil, "asks one of finance or legal, within 3 days, may edit everything"},
		{policy.Verdict{Audience: holdshort.Audience{Owner: true}, ExpiresIn: policy.Never}, nil, "asks the session's own user, for as long as it takes"},
		{policy.Verdict{Audience: holdshort.Audience{Users: []string{"ana"}, Separate: true}, ExpiresIn: 90 * time.Minute}, nil, "asks ana other than who asked, within 90 min"},
		{policy.Verdict{Audience: to(1, "reviewer"), ExpiresIn: hours(1), OnTimeout: holdshort.TimeoutApprove, Priority: holdshort.PriorityHigh}, nil, "asks a reviewer, within 1 h, runs if nobody answers, high priority"},
		{policy.Verdict{ExpiresIn: hours(1), Redacted: []string{"iban", "name"}, Blind: []string{"name"}, OnReject: holdshort.RejectCancel}, nil, "asks a reviewer, within 1 h, hides iban and name (name may be approved unseen), a no cancels the run"},
		{policy.Verdict{ExpiresIn: hours(1), Redacted: []string{"to"}, Blind: []string{"to"}}, nil, "asks a reviewer, within 1 h, hides to, which may be approved unseen"},
		{policy.Verdict{Decision: policy.Allow, Audience: to(1, "finance"), ExpiresIn: hours(1)}, []rulebook.Limit{{Unit: rulebook.Spend, Scope: policy.PerDay, Max: 2000}, {Scope: policy.PerSession, Max: 10}},
			"allows up to a cost of 2,000 per day and 10 calls per session, past that asks one of finance, within 1 h"},
		{policy.Verdict{Decision: policy.Allow}, []rulebook.Limit{{Unit: rulebook.Repeats, Scope: policy.PerRun, Max: 2, Deny: true, Name: "shared"}}, "allows up to 2 repeats of one call per run (counted as “shared”), past that denies"},
	} {
		book, err := rulebook.Compile([]rulebook.Rule{{Name: "r", When: "true", Then: tt.then, Limits: tt.limits}}, rulebook.Options{})
		if err != nil {
			t.Fatal(err)
		}
		rules, _ := (&replay.Rules{Book: book}).Rules()
		if got := ruleViewOf(1, rules[0]); got.Says != tt.want || got.Word+" "+got.Rest() != got.Says {
			t.Errorf("%q\nwant %q", got.Says, tt.want)
		}
	}
}

func TestPolicyPage(t *testing.T) {
	t.Parallel()
	b := newRulesBed(t)
	b.live(150)
	status, header, text := b.do("adm", http.MethodGet, "/policy?rule=big", nil)
	if status != http.StatusOK || header.Get("Content-Security-Policy") != guard {
		t.Fatalf("%d, %v", status, header)
	}
	for _, want := range []string{"6 rules, read from the top", b.rules.Version(), "two of finance, within 24 h, may edit amount, hides iban", `tool == &#34;refund&#34; &amp;&amp; args.amount &gt; 500`, "holdshort.yaml:12", "Anything else",
		"a reviewer, within 10 min", "People decided 20, and nobody said no or changed anything: could it be allowed?", `<option value="refund">`, `<option value="desk">`, `id="named" aria-current="true"`, "&lt;script&gt;alert(1)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not there", want)
		}
	}
	if found := overviewInline.FindString(text); found != "" || strings.Contains(text, "\u202e") {
		t.Errorf("%q is in the page", found)
	}
	if strings.Index(text, ">never<") > strings.Index(text, ">reads<") || strings.Index(text, ">small<") > strings.Index(text, ">big<") || strings.Index(text, ">middle<") > strings.Index(text, "Anything else") {
		t.Error("the rules are not in their order")
	}
	if _, _, text := b.do("adm", http.MethodGet, "/policy?rule=gone<b>", nil); !strings.Contains(text, "There is no rule called “gone&lt;b&gt;” any more") {
		t.Error("a rule that is gone is not told")
	}
	// Somebody of finance alone reads the rules, and not how they fare.
	if _, _, text := b.do("fin", http.MethodGet, "/policy", nil); !strings.Contains(text, "two of finance") || strings.Contains(text, "in 30 days") || strings.Contains(text, "replay-form") {
		t.Error("finance sees something else than the rules")
	}
}

func TestWhoSeesRules(t *testing.T) {
	t.Parallel()
	b := newRulesBed(t)
	form := url.Values{"tool": {"refund"}, "args": {`{"amount":1}`}, "rules": {"[]"}}
	for who, want := range map[string][3]int{"adm": {200, 200, 200}, "olga": {200, 200, 200}, "aud": {200, 200, 200}, "rev": {200, 200, 403}, "fin": {200, 200, 403}, "eve": {403, 403, 403}, "linked": {403, 403, 403}, "": {401, 401, 401}} {
		view, _, page := b.do(who, http.MethodGet, "/policy", nil)
		try, _, _ := b.do(who, http.MethodPost, "/policy/try", form)
		replayed, _, _ := b.do(who, http.MethodPost, "/policy/replay", form)
		if got := [3]int{view, try, replayed}; got != want {
			t.Errorf("%s: view, try, replay %v, want %v", who, got, want)
		}
		if strings.Contains(page, `id="replay-form"`) != (want[2] == 200) {
			t.Errorf("%s: the replay form is there, or not", who)
		}
		if view != 200 && strings.Contains(page, "args.amount") {
			t.Errorf("%s sees a condition", who)
		}
	}
	for _, path := range []string{"/policy/try", "/policy/replay"} {
		if status, _, _ := b.do("adm", http.MethodPost, path, form, "Sec-Fetch-Site", "cross-site"); status != http.StatusForbidden {
			t.Errorf("%s from another site: %d", path, status)
		}
		if status, header, _ := b.do("adm", http.MethodGet, path, nil); status != http.StatusSeeOther || !strings.HasPrefix(header.Get("Location"), "/policy#") {
			t.Errorf("%s opened: %d, %v", path, status, header)
		}
	}
}

// What the try-out says is what the kernel does with the same call.
func TestTryOut(t *testing.T) {
	t.Parallel()
	b := newRulesBed(t)
	for _, tt := range []struct {
		name  string
		form  url.Values
		want  []string
		lacks string
	}{
		{"allowed", url.Values{"tool": {"refund"}, "args": {`{"amount":20}`}}, []string{"It would run", "Rule 3, “small”, is the first whose condition is true", "Limits count what has run", "<dd dir=\"auto\">20</dd>"}, ""},
		{"asked", url.Values{"tool": {"refund"}, "args": {`{"amount":900}`}, "agent": {"desk"}, "user": {"eve"}}, []string{"It would ask", "Asks two of finance, within 24 h", "Rule 4, “big”", "agent.desk", "eve"}, ""},
		{"denied", url.Values{"tool": {"erase"}}, []string{"It would be denied", "Rule 1, “never”"}, ""},
		{"no rule", url.Values{"tool": {"mail"}, "args": {`{"to":""}`}}, []string{"It would ask", "No rule matches, and what no rule speaks of asks a reviewer"}, ""},
		{"unknown tool", url.Values{"tool": {"nosuch"}}, []string{"It would be denied", "No tool of this server is called so"}, "Rule 1"},
		{"outside", url.Values{"tool": {"nosuch"}, "outside": {"yes"}}, []string{"It would ask", "No rule matches", `name="outside" value="yes" checked`}, ""},
		{"its owner's word", url.Values{"tool": {"guarded"}}, []string{"It would ask", "Rule 2, “reads”", "owner wants a person asked about every call"}, ""},
		{"a condition that cannot be evaluated", url.Values{"tool": {"mail"}, "args": {`{}`}}, []string{"It would ask", "could not be evaluated", "no such key: to", "nothing runs because a rule is broken"}, ""},
		{"cost", url.Values{"tool": {"refund"}, "args": {`{"amount":20}`}, "cost": {"7"}, "at": {"2026-01-31T22:00"}}, []string{"<dd dir=\"auto\">7</dd>", "2026-01-31T22:00:00Z"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, _, text := b.do("rev", http.MethodPost, "/policy/try", tt.form)
			part, _, fragment := b.do("rev", http.MethodPost, "/policy/try", tt.form, "HX-Request", "true")
			if status != http.StatusOK || part != http.StatusOK || strings.Contains(fragment, "<html") {
				t.Fatalf("%d, %d", status, part)
			}
			for _, want := range tt.want {
				if !strings.Contains(text, want) || !strings.Contains(fragment, want) {
					t.Errorf("%q is not there:\n%s", want, fragment)
				}
			}
			if tt.lacks != "" && strings.Contains(fragment, tt.lacks) {
				t.Errorf("%q is there", tt.lacks)
			}
			args := tt.form.Get("args")
			if args == "" {
				args = "{}"
			}
			if !strings.Contains(text, "rules, read from the top") || !strings.Contains(text, strings.ReplaceAll(args, `"`, "&#34;")) {
				t.Error("the page forgot what was typed")
			}
		})
	}
	for _, tt := range []struct{ field, value, want string }{
		{"tool", " ", "Name a tool."}, {"args", `{"a":`, "it ends too early"}, {"args", "{\n\"a\": nope}", "line 2, character 7"}, {"args", `{"a":1,"a":2}`, "this key twice"}, {"args", `<script>alert(1)</script>`, "This is no JSON"},
		{"at", "soon", "Write a moment"}, {"cost", "-3", "Write a whole number"}, {"cost", "1e9", "Write a whole number"},
	} {
		form := url.Values{"tool": {"refund"}, "args": {"{}"}}
		form.Set(tt.field, tt.value)
		status, _, text := b.do("rev", http.MethodPost, "/policy/try", form)
		if status != http.StatusUnprocessableEntity || !strings.Contains(text, tt.want) || strings.Contains(text, "It would") || strings.Contains(text, "<script>alert") || !strings.Contains(text, `aria-invalid="true"`) {
			t.Errorf("%s %q: %d, no %q", tt.field, tt.value, status, tt.want)
		}
	}
	if open, err := b.kit.Engine().Stats(t.Context(), "default"); err != nil || b.count(time.Time{}).open != 0 {
		t.Errorf("trying asked somebody: %+v, %v", open, err)
	}
}

func TestReplayPage(t *testing.T) {
	t.Parallel()
	b := newRulesBed(t)
	b.kit.Advance(11 * 24 * time.Hour) // what is on record is of these days
	for _, amount := range []int{20, 90, 900} {
		b.ask(engine.AskInput{Kind: holdshort.Approval, Actions: []engine.AskAction{{Tool: "refund", Args: json.RawMessage(fmt.Sprintf(`{"amount":%d,"iban":"DE89370400440532013000","note":"<b>hi</b>"}`, amount))}}})
	}
	rules := func(list ...rulebook.Rule) url.Values {
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		return url.Values{"rules": {string(text)}}
	}
	allow, deny := rulebook.Rule{Name: "all", When: "true", Then: policy.Verdict{Decision: policy.Allow}}, rulebook.Rule{Name: "none", When: "true", Then: policy.Verdict{Decision: policy.Deny}}
	hide := rulebook.Rule{Name: "hidden", When: "true", Then: policy.Verdict{Redacted: []string{"iban"}}}
	for _, tt := range []struct {
		name string
		form url.Values
		want []string
	}{
		{"everything runs", rules(allow), []string{"Of 3 calls, 2 asked less", "would run where somebody was asked", "unchanged"}},
		{"nothing does", rules(deny), []string{"Of 3 calls, 3 newly denied", "would be denied where they ran", "would be denied where somebody was asked"}},
		{"everything asks", rules(hide), []string{"Of 3 calls, 1 asked more", "would ask where nobody was asked"}},
		{"the same", rules(rulesOfBed...), []string{"Nothing would change: 3 calls are judged as before"}},
		{"what cannot be read", url.Values{"rules": {"<script>"}}, []string{"These rules cannot be replayed", "line:1", "this cannot be read"}},
		{"nothing", url.Values{"rules": {"  "}}, []string{"There is nothing to replay"}},
		{"a bad condition", rules(rulebook.Rule{Name: "odd", When: "tol == 1"}), []string{"These rules cannot be replayed", "did you mean tool?"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, text := b.do("aud", http.MethodPost, "/policy/replay", tt.form)
			status, _, fragment := b.do("aud", http.MethodPost, "/policy/replay", tt.form, "HX-Request", "true")
			if status != http.StatusOK || strings.Contains(fragment, "<html") {
				t.Errorf("%d", status)
			}
			for _, want := range tt.want {
				if !strings.Contains(text, want) || !strings.Contains(fragment, want) {
					t.Errorf("%q is not there:\n%s", want, fragment)
				}
			}
			if overviewInline.MatchString(text) || strings.Contains(fragment, "<script") || strings.Contains(fragment, "<b>hi") {
				t.Error("markup of others is in the page")
			}
			if tt.name == "everything asks" && strings.Contains(fragment, "DE8937") {
				t.Error("what the changed rules hide is shown")
			}
		})
	}
}

// What only a journal has is shown to those who may read journals.
func TestReplayHidesJournals(t *testing.T) {
	t.Parallel()
	r := replay.Result{Judged: 2, Sums: map[replay.Change]int{replay.AskedMore: 2}, Erased: 3, Older: true, Calls: []replay.Call{
		{Tool: "refund", Args: "of a request", Request: "req_1", Run: "run_1", Change: replay.AskedMore, Was: policy.Allow, Is: policy.Ask}, {Tool: "refund", Args: "of a journal", Run: "run_2", Change: replay.AskedMore, Was: policy.Allow, Is: policy.Ask}}}
	for _, journals := range []bool{true, false} {
		got := replayedRulesOf(r, journals)
		if got.Title != "Of 2 calls, 2 asked more" || got.Calls[0].Args != "of a request" || (got.Calls[1].Args != "") != journals || got.Calls[0].Link != "/requests/req_1" || got.Calls[1].Link != "/runs/run_2" || len(got.Left) != 2 {
			t.Errorf("%+v", got)
		}
	}
}

type asTheyAre interface{ Rules }

// slowRules take their time, and remember whether they were told to stop.
type slowRules struct {
	asTheyAre
	began, ended chan struct{}
}

func (s slowRules) Replay(ctx context.Context, _ holdshort.TenantID, _ []byte, _ time.Time) (replay.Result, error) {
	close(s.began)
	<-ctx.Done()
	close(s.ended)
	return replay.Result{}, ctx.Err()
}

// Whoever goes away takes the replay along; one that lasts too long is given up, and says so.
func TestReplayEnds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		timeout time.Duration
		leaves  bool
	}{{"called off", time.Hour, true}, {"too long", 50 * time.Millisecond, false}} {
		t.Run(tt.name, func(t *testing.T) {
			slow := slowRules{began: make(chan struct{}), ended: make(chan struct{})}
			b := newRulesBed(t, func(o *Options) {
				slow.asTheyAre = o.Rules
				o.Rules, o.Timeout = slow, tt.timeout
			})
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.http.URL+"/policy/replay", strings.NewReader("rules=x"))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("X-Test-Who", "adm")
			r.Header.Set("HX-Request", "true")
			if tt.leaves {
				go func() { <-slow.began; leave() }()
			}
			res, err := http.DefaultClient.Do(r)
			if tt.leaves != (err != nil) {
				t.Fatalf("%v, %v", res, err)
			}
			<-slow.ended
			if err == nil {
				defer res.Body.Close()
				raw := make([]byte, 1<<16)
				n, _ := res.Body.Read(raw)
				if !strings.Contains(string(raw[:n]), "It took too long, and was given up") {
					t.Errorf("%d: %s", res.StatusCode, raw[:n])
				}
			}
		})
	}
}

// A policy without rules, and pages that were told of none.
func TestPolicyWithoutRules(t *testing.T) {
	t.Parallel()
	inGo := policy.Func(func(_ context.Context, c policy.Call) (policy.Verdict, error) {
		if c.Tool == "erase" {
			panic("of no use")
		}
		return policy.Verdict{Decision: policy.Allow, Rule: "in go"}, nil
	})
	b := newRulesBed(t, func(o *Options) {
		old := o.Rules.(*replay.Rules)
		o.Rules = &replay.Rules{Policy: inGo, Tools: old.Tools}
	})
	_, _, text := b.do("adm", http.MethodGet, "/policy", nil)
	if !strings.Contains(text, "There are no written rules") || !strings.Contains(text, "try-form") || strings.Contains(text, "replay-form") {
		t.Errorf("%s", text)
	}
	if _, _, text = b.do("adm", http.MethodPost, "/policy/try", url.Values{"tool": {"refund"}}); !strings.Contains(text, "It would run") || strings.Contains(text, "No rule matches") {
		t.Errorf("%s", text)
	}
	if _, _, text = b.do("adm", http.MethodPost, "/policy/try", url.Values{"tool": {"erase"}}); !strings.Contains(text, "It would ask") {
		t.Error("a policy that panics does not ask")
	}
	if status, _, _ := b.do("adm", http.MethodPost, "/policy/replay", url.Values{"rules": {"x"}}); status != http.StatusNotFound {
		t.Errorf("replay without a store: %d", status)
	}
	none := newRulesBed(t, func(o *Options) { o.Rules = nil })
	if status, _, text := none.do("adm", http.MethodGet, "/policy", nil); status != http.StatusOK || !strings.Contains(text, "The rules of this server are not shown here") || strings.Contains(text, "try-form") {
		t.Errorf("%d", status)
	}
	for _, path := range []string{"/policy/try", "/policy/replay"} {
		if status, _, _ := none.do("adm", http.MethodPost, path, url.Values{"tool": {"x"}}); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
}
