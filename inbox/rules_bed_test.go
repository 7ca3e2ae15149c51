package inbox

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/replay"
	"github.com/holdshort/holdshort/policy/rulebook"
	"github.com/holdshort/holdshort/tool"
)

// hostile is a rule's name that would like to be markup, and to turn the text around.
const hostile = `"><script>alert(1)</script><svg onload=x>` + "\u202e" + `gnp.exe`

var rulesOfBed = []rulebook.Rule{
	{Name: "never", When: `tool == "erase"`, Then: policy.Verdict{Decision: policy.Deny}},
	{Name: "reads", When: `effect == "read"`, Then: policy.Verdict{Decision: policy.Allow}},
	{Name: "small", When: `tool == "refund" && args.amount <= 50`, Then: policy.Verdict{Decision: policy.Allow, Audience: holdshort.Audience{Roles: []string{"finance"}}, ExpiresIn: 24 * time.Hour},
		Limits: []rulebook.Limit{{Unit: rulebook.Spend, Scope: policy.PerDay, Max: 100_000_000}}},
	{Name: "big", When: `tool == "refund" && args.amount > 500`, Then: policy.Verdict{Audience: holdshort.Audience{Roles: []string{"finance"}, Quorum: 2}, ExpiresIn: 24 * time.Hour, Editable: []string{"amount"}, Redacted: []string{"iban"}}},
	{Name: "middle", When: `tool == "refund"`, Then: policy.Verdict{Audience: holdshort.Audience{Roles: []string{"finance"}}, ExpiresIn: 24 * time.Hour}},
	{Name: hostile, When: `tool == "mail" && args.to != ""`, Then: policy.Verdict{ExpiresIn: time.Hour}},
}

var rulesPeople = map[string][]string{"ana": {policy.Reviewer, "finance"}, "ben": {policy.Reviewer, "finance"}, "rev": {policy.Reviewer}, "fin": {"finance"}, "olga": {policy.Operator}, "aud": {policy.Auditor}, "adm": {policy.Admin}, "eve": nil}

func rulesActor(name string) holdshort.Actor {
	return holdshort.Actor{ID: name, Kind: holdshort.Person, Name: name, Roles: rulesPeople[name], Assurance: holdshort.AssuranceLogin}
}

// rulesBed is the pages over an engine with rules and a clock of its own.
type rulesBed struct {
	t     *testing.T
	kit   *holdshorttest.Kit
	rules *replay.Rules
	in    *Inbox
	http  *httptest.Server
}

func newRulesBed(t *testing.T, change ...func(*Options)) *rulesBed {
	t.Helper()
	book, err := rulebook.Compile(rulesOfBed, rulebook.Options{})
	if err != nil {
		t.Fatal(err)
	}
	object := json.RawMessage(`{"type":"object"}`)
	declared := func(name string, effect tool.Effect) tool.Tool {
		return holdshorttest.Counter(name).Declared(func(d *tool.Tool) { d.Effect, d.Schema = effect, object }).Tool()
	}
	refund := declared("refund", tool.Write)
	refund.Cost = func(args json.RawMessage) int64 {
		var in struct{ Amount float64 }
		if json.Unmarshal(args, &in) != nil {
			return 1 << 40
		}
		return int64(in.Amount)
	}
	guarded := declared("guarded", tool.Read)
	guarded.Guarded = true
	tools := []tool.Tool{refund, declared("lookup", tool.Read), declared("mail", tool.Write), declared("erase", tool.Write), guarded}
	b := &rulesBed{t: t}
	start := time.Now().UTC().Add(-12 * 24 * time.Hour).Truncate(time.Second)
	b.kit = holdshorttest.New(t, holdshorttest.Options{Tools: tools, Policy: book, Tenant: "default", Start: start})
	b.rules = &replay.Rules{Policy: book, Book: book, Places: []string{"holdshort.yaml:12", "holdshort.yaml:15"}, Tools: tools, Agents: []string{"desk"}, Store: b.kit.Store(), Read: func(text []byte) (*rulebook.Book, error) {
		var rules []rulebook.Rule
		if err := json.Unmarshal(text, &rules); err != nil {
			return nil, &holdshort.Error{Code: holdshort.Invalid, Op: "line:1", Message: "this cannot be read", Hint: "check it"}
		}
		return rulebook.Compile(rules, rulebook.Options{})
	}}
	log := slog.New(slog.DiscardHandler)
	people, err := identity.New(b.kit.Engine(), identity.Config{Logger: log, Hook: func(r *http.Request) (identity.Who, bool, error) {
		name := r.Header.Get("X-Test-Who")
		if c, err := r.Cookie("who"); err == nil {
			name = c.Value
		}
		method := identity.ByLogin
		if name == "linked" {
			name, method = "ana", identity.ByLink
		}
		if _, known := rulesPeople[name]; !known {
			return identity.Who{}, false, nil
		}
		return identity.Who{Tenant: "default", Actor: rulesActor(name), Method: method, CSRF: true}, true, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	options := Options{Logger: log, Rate: -1, Rules: b.rules}
	for _, c := range change {
		c(&options)
	}
	if b.in, err = New(b.kit.Engine(), people, options); err != nil {
		t.Fatal(err)
	}
	b.http = httptest.NewServer(b.in)
	t.Cleanup(func() { b.in.Close(); b.http.Close() })
	return b
}

func (b *rulesBed) do(who, method, path string, form url.Values, headers ...string) (status int, header http.Header, text string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.http.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	r.Header.Set("X-Test-Who", who)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(raw)
}

func (b *rulesBed) ask(in engine.AskInput) holdshort.Request {
	b.t.Helper()
	in.Actor = holdshort.Actor{ID: "key_1", Kind: holdshort.Service}
	out, err := b.kit.Engine().Ask(b.t.Context(), "default", in)
	if err != nil {
		b.t.Fatal(err)
	}
	return out.Request
}

func (b *rulesBed) decide(who string, in engine.DecideInput) {
	b.t.Helper()
	in.Actor = rulesActor(who)
	if _, err := b.kit.Engine().Decide(b.t.Context(), "default", in); err != nil {
		b.t.Fatal(err)
	}
}

// live makes n requests of all sorts, and has people decide most of them, each after a while.
func (b *rulesBed) live(n int) {
	b.t.Helper()
	r := rand.New(rand.NewPCG(7, uint64(n)))
	wait := func() { b.kit.Advance(time.Duration(1+r.IntN(3000)) * time.Second) }
	somebody := func() string { return []string{"ana", "ana", "ana", "ben", "ben", "fin"}[r.IntN(6)] }
	for i := range n {
		call := func(tool, args string) holdshort.Request {
			return b.ask(engine.AskInput{Kind: holdshort.Approval, Actions: []engine.AskAction{{Tool: tool, Args: json.RawMessage(args)}}})
		}
		var req holdshort.Request
		switch r.IntN(9) {
		case 0:
			call("refund", fmt.Sprintf(`{"amount":%d}`, r.IntN(50))) // runs at once
			continue
		case 1:
			call("erase", `{}`) // denied at once
			continue
		case 2:
			req = b.ask(engine.AskInput{Kind: holdshort.Clarification, Question: "Which address?", Audience: holdshort.Audience{Roles: []string{policy.Reviewer}}, ExpiresIn: 24 * time.Hour})
			wait()
			b.decide("ana", engine.DecideInput{Request: req.ID, Action: holdshort.Answer, Value: json.RawMessage(`"here"`)})
			continue
		case 3:
			req = call("mail", `{"to":"x"}`)
			if i%2 == 0 {
				wait()
				b.decide("ben", engine.DecideInput{Request: req.ID, Action: holdshort.Approve})
			} else {
				b.kit.Advance(2 * time.Hour) // expires
			}
			continue
		case 4:
			req = call("refund", `{"amount":900,"iban":"DE89370400440532013000"}`)
			wait()
			b.decide("ana", engine.DecideInput{Request: req.ID, Action: holdshort.Approve})
			b.decide("ben", engine.DecideInput{Request: req.ID, Action: holdshort.Approve})
			continue
		case 5:
			req = call("refund", `{"amount":90}`)
			if _, err := b.kit.Engine().CancelRequest(b.t.Context(), "default", engine.CancelRequestInput{Request: req.ID, Actor: rulesActor("adm"), Reason: "no longer needed"}); err != nil {
				b.t.Fatal(err)
			}
			continue
		}
		req = call("refund", fmt.Sprintf(`{"amount":%d}`, 60+r.IntN(400)))
		wait()
		verb := holdshort.Approve
		if r.IntN(5) == 0 {
			verb = holdshort.Reject
		}
		b.decide(somebody(), engine.DecideInput{Request: req.ID, Action: verb, Message: "so"})
	}
	for range 5 { // and some wait
		b.ask(engine.AskInput{Kind: holdshort.Approval, Actions: []engine.AskAction{{Tool: "refund", Args: json.RawMessage(`{"amount":77}`)}}})
		b.kit.Advance(7 * time.Minute)
	}
	b.kit.Settle()
}
