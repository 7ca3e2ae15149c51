package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/internal/testpg"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/postgres"
	"github.com/holdshort/holdshort/store/sqlite"
	"github.com/holdshort/holdshort/tool"
)

// bot is the key of an agent that lives outside; root is an administrator's.
var (
	bot  = holdshort.Actor{ID: "key_bot", Kind: holdshort.Service, Assurance: holdshort.AssuranceToken}
	root = holdshort.Actor{ID: "key_root", Kind: holdshort.Service, Roles: []string{"admin", "reviewer"}, Assurance: holdshort.AssuranceToken}
)

// eachStore runs a test on an engine over either database, with real time.
func eachStore(t *testing.T, conf engine.Config, test func(t *testing.T, e *engine.Engine)) {
	conf.Logger = slog.New(slog.DiscardHandler)
	for name, open := range map[string]func(t *testing.T) (store.Store, error){
		"sqlite": func(t *testing.T) (store.Store, error) {
			return sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"), sqlite.Options{})
		},
		"postgres": func(t *testing.T) (store.Store, error) {
			return postgres.Open(t.Context(), testpg.URL(t), postgres.Options{KeyringFile: filepath.Join(t.TempDir(), "keys"), Logger: conf.Logger})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			e, err := engine.New(s, conf)
			if err != nil {
				t.Fatal(err)
			}
			test(t, e)
		})
	}
}

// wantsRefund is an approval of one call of a tool that this node does not have.
func wantsRefund(amount int) engine.AskInput {
	return engine.AskInput{Kind: holdshort.Approval, Question: "Refund?", Actor: bot, Actions: []engine.AskAction{{Tool: "shop.refund", Args: fmt.Appendf(nil, `{"order":"77","amount":%d}`, amount)}}}
}

func (b *bed) ask(in engine.AskInput) holdshort.Request {
	b.Helper()
	out, err := b.Ask(b.Context(), tenant, in)
	if err != nil {
		b.Fatal(err)
	}
	return out.Request
}

func (b *bed) requestByID(id holdshort.RequestID) holdshort.Request {
	b.Helper()
	req, err := b.RequestByID(b.Context(), tenant, id)
	if err != nil {
		b.Fatal(err)
	}
	return req
}

// events that are stored, as "type code actor".
func (b *bed) events(globs ...string) []string {
	b.Helper()
	var all []string
	err := b.store.View(b.Context(), tenant, func(tx store.ReadTx) error {
		found, err := tx.Events(store.EventQuery{Types: globs})
		for _, e := range found.Items {
			all = append(all, strings.TrimSpace(e.Type+" "+e.Code)+" by "+e.Actor)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return all
}

// TestAskRefusals: what cannot be asked is told with a code, a field and a hint, and nothing is stored.
func TestAskRefusals(t *testing.T) {
	b := newBed(t, engine.Config{Tools: []tool.Tool{refundTool(&counter{})}, Limits: engine.Limits{Text: 100, Args: 200}})
	question := engine.AskInput{Kind: holdshort.Clarification, Question: "Which one?", Actor: bot}
	for name, c := range map[string]struct {
		change func(*engine.AskInput)
		code   holdshort.Code
		field  string
	}{
		"no kind":                 {func(in *engine.AskInput) { in.Kind = "" }, holdshort.Invalid, "kind"},
		"a kind of the kernel":    {func(in *engine.AskInput) { in.Kind = holdshort.Reconcile }, holdshort.Invalid, "kind"},
		"an unknown input":        {func(in *engine.AskInput) { in.ExpectedInput = "mood" }, holdshort.Invalid, "expected_input"},
		"an unknown priority":     {func(in *engine.AskInput) { in.Priority = "asap" }, holdshort.Invalid, "priority"},
		"no question":             {func(in *engine.AskInput) { in.Question = " " }, holdshort.Invalid, "question"},
		"a long question":         {func(in *engine.AskInput) { in.Question = strings.Repeat("x", 101) }, holdshort.TooLarge, "question"},
		"a question that is none": {func(in *engine.AskInput) { in.Question = "\xff" }, holdshort.Invalid, "question"},
		"a long id":               {func(in *engine.AskInput) { in.ID = strings.Repeat("x", 201) }, holdshort.Invalid, "id"},
		"no options":              {func(in *engine.AskInput) { in.ExpectedInput = holdshort.SingleChoice }, holdshort.Invalid, "options"},
		"options of a text":       {func(in *engine.AskInput) { in.Options = []holdshort.Option{{ID: "a"}} }, holdshort.Invalid, "options"},
		"two options of one id": {func(in *engine.AskInput) {
			in.ExpectedInput, in.Options = holdshort.MultiChoice, []holdshort.Option{{ID: "a"}, {ID: "a", Label: "b"}}
		}, holdshort.Invalid, "options/1"},
		"an option without id": {func(in *engine.AskInput) {
			in.ExpectedInput, in.Options = holdshort.MultiChoice, []holdshort.Option{{Label: "b"}}
		}, holdshort.Invalid, "options/0"},
		"yes and no of its own": {func(in *engine.AskInput) {
			in.ExpectedInput, in.Options = holdshort.YesNo, []holdshort.Option{{ID: "reject"}, {ID: "approve"}}
		}, holdshort.Invalid, "options"},
		"a form without schema": {func(in *engine.AskInput) { in.ExpectedInput = holdshort.Form }, holdshort.Invalid, "schema"},
		"a schema that is none": {func(in *engine.AskInput) {
			in.ExpectedInput, in.Schema = holdshort.Form, json.RawMessage(`{"type":"mood"}`)
		}, holdshort.Invalid, "schema"},
		"a schema of a text":       {func(in *engine.AskInput) { in.Schema = json.RawMessage(`{"type":"object"}`) }, holdshort.Invalid, "schema"},
		"a context that is none":   {func(in *engine.AskInput) { in.Context = json.RawMessage(`[1]`) }, holdshort.Invalid, "context"},
		"a context that is broken": {func(in *engine.AskInput) { in.Context = json.RawMessage(`{"a":1,"a":2}`) }, holdshort.NotCanonical, "context/a"},
		"a large context":          {func(in *engine.AskInput) { in.Context = json.RawMessage(`{"a":"` + strings.Repeat("x", 200) + `"}`) }, holdshort.TooLarge, "context"},
		"silence approves":         {func(in *engine.AskInput) { in.OnTimeout = holdshort.TimeoutApprove }, holdshort.Forbidden, "on_timeout"},
		"an unknown timeout":       {func(in *engine.AskInput) { in.OnTimeout = "explode" }, holdshort.Invalid, "on_timeout"},
		"too short":                {func(in *engine.AskInput) { in.ExpiresIn = time.Millisecond }, holdshort.Invalid, "expires_in"},
		"too long":                 {func(in *engine.AskInput) { in.ExpiresIn = 400 * 24 * time.Hour }, holdshort.Invalid, "expires_in"},
		"a role without name":      {func(in *engine.AskInput) { in.Audience.Roles = []string{""} }, holdshort.Invalid, "audience"},
		"a quorum below zero":      {func(in *engine.AskInput) { in.Audience.Quorum = -1 }, holdshort.Invalid, "audience"},
		"a quorum for a text":      {func(in *engine.AskInput) { in.Audience.Quorum = 2 }, holdshort.Invalid, "audience/quorum"},
		"an owner where is none":   {func(in *engine.AskInput) { in.Audience.Owner = true }, holdshort.Invalid, "audience/owner"},
		"nobody raises it":         {func(in *engine.AskInput) { in.Actor = holdshort.Actor{} }, holdshort.Forbidden, ""},
		"for somebody else":        {func(in *engine.AskInput) { in.ForUser = "ana" }, holdshort.Forbidden, "for_user"},
		"a session that is not":    {func(in *engine.AskInput) { in.Session = "ses_none" }, holdshort.NotFound, ""},
		"actions of a question":    {func(in *engine.AskInput) { in.Actions = []engine.AskAction{{Tool: "x"}} }, holdshort.Invalid, "actions"},
		"a tool without name":      {func(in *engine.AskInput) { *in = wantsRefund(1); in.Actions[0].Tool = "" }, holdshort.Invalid, "actions/0/tool"},
		"two calls of one id": {func(in *engine.AskInput) {
			*in = wantsRefund(1)
			in.Actions = append(in.Actions, engine.AskAction{Tool: "x", CallID: "call_1"})
		}, holdshort.Invalid, "actions/1/call_id"},
		"arguments that are none": {func(in *engine.AskInput) { *in = wantsRefund(1); in.Actions[0].Args = json.RawMessage(`{`) }, holdshort.NotCanonical, "actions/0/args"},
		"a number that is lost": {func(in *engine.AskInput) {
			*in = wantsRefund(1)
			in.Actions[0].Args = json.RawMessage(`{"n":12345678901234567890}`)
		}, holdshort.NotCanonical, "actions/0/args/n"},
		"large arguments": {func(in *engine.AskInput) {
			*in = wantsRefund(1)
			in.Actions[0].Args = json.RawMessage(`"` + strings.Repeat("x", 200) + `"`)
		}, holdshort.TooLarge, "actions/0/args"},
		"arguments that do not fit a tool of this node": {func(in *engine.AskInput) {
			*in = wantsRefund(1)
			in.Actions[0] = engine.AskAction{Tool: "refund", Args: json.RawMessage(`{"order":"77","amount":-1}`)}
		}, holdshort.DoesNotFit, "actions/0/args/amount"},
	} {
		t.Run(name, func(t *testing.T) {
			in := question
			c.change(&in)
			_, err := b.Ask(t.Context(), tenant, in)
			var e *holdshort.Error
			if code(err) != c.code || !asError(err, &e) || e.Field != c.field || c.field != "" && e.Hint == "" && c.code != holdshort.NotCanonical {
				t.Errorf("%v (field %q, hint %q), want %s of %q", err, e.Field, e.Hint, c.code, c.field)
			}
		})
	}
	page, err := b.Requests(t.Context(), tenant, engine.RequestQuery{})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("%d requests are stored (%v)", len(page.Items), err)
	}
}

func asError(err error, target **holdshort.Error) bool {
	e, ok := err.(*holdshort.Error)
	*target = e
	if !ok {
		*target = &holdshort.Error{}
	}
	return ok
}

// TestAskQuestions: each kind has its usual form, its people and its time.
func TestAskQuestions(t *testing.T) {
	b := newBed(t, engine.Config{})
	form := json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)
	for name, c := range map[string]struct {
		in      engine.AskInput
		input   holdshort.ExpectedInput
		to      string
		expires time.Duration
		decide  engine.DecideInput
		outcome holdshort.Outcome
	}{
		"clarification":  {engine.AskInput{Kind: holdshort.Clarification}, holdshort.FreeText, "reviewer", 5 * time.Minute, engine.DecideInput{Action: holdshort.Answer, Value: json.RawMessage(`"x"`)}, holdshort.Answered},
		"form":           {engine.AskInput{Kind: holdshort.Clarification, ExpectedInput: holdshort.Form, Schema: form}, holdshort.Form, "reviewer", 5 * time.Minute, engine.DecideInput{Action: holdshort.Answer, Value: json.RawMessage(`{"city":"Porto"}`)}, holdshort.Answered},
		"approval":       {engine.AskInput{Kind: holdshort.Approval}, holdshort.YesNo, "reviewer", 10 * time.Minute, engine.DecideInput{Action: holdshort.Approve}, holdshort.Approved},
		"confirmation":   {engine.AskInput{Kind: holdshort.Confirmation, ExpiresIn: time.Hour}, holdshort.YesNo, "reviewer", time.Hour, engine.DecideInput{Action: holdshort.Reject}, holdshort.Rejected},
		"escalation":     {engine.AskInput{Kind: holdshort.Escalation}, holdshort.FreeText, "operator", 24 * time.Hour, engine.DecideInput{Action: holdshort.Answer, Actor: ops, Value: json.RawMessage(`"done"`)}, holdshort.Answered},
		"disambiguation": {engine.AskInput{Kind: holdshort.Disambiguation, ExpiresIn: policy.Never, Options: []holdshort.Option{{ID: "a"}, {ID: "b"}}}, holdshort.SingleChoice, "reviewer", 0, engine.DecideInput{Action: holdshort.Select, OptionIDs: []string{"b"}}, holdshort.Selected},
	} {
		t.Run(name, func(t *testing.T) {
			c.in.Question, c.in.Actor = "Well?", bot
			req := b.ask(c.in)
			if req.ExpectedInput != c.input || len(req.Audience.Roles) != 1 || req.Audience.Roles[0] != c.to || req.Requester.RaisedBy != bot.ID || req.RunID != "" {
				t.Errorf("%+v", req)
			}
			if c.expires == 0 && !req.ExpiresAt.IsZero() || c.expires > 0 && req.ExpiresAt.Sub(req.AskedAt) != c.expires {
				t.Errorf("asked at %s, expires at %s, want after %s", req.AskedAt, req.ExpiresAt, c.expires)
			}
			if got := b.requestByID(req.ID); got.Fingerprint != req.Fingerprint || got.ExpiresAt != req.ExpiresAt {
				t.Errorf("stored %+v, answered %+v", got, req)
			}
			c.decide.Request = req.ID
			if c.decide.Actor.ID == "" {
				c.decide.Actor = ana
			}
			if out := b.decide(c.decide); out.Request.Outcome != c.outcome {
				t.Errorf("outcome %s, want %s", out.Request.Outcome, c.outcome)
			}
			if _, err := b.Claim(t.Context(), tenant, engine.ClaimInput{Request: req.ID, Actor: bot}); code(err) != holdshort.DoesNotFit && code(err) != holdshort.Denied {
				t.Errorf("claimed a question: %v", err)
			}
		})
	}
}

// TestAskForUser: who is asked on behalf of whom is what the key's authentication says, or the session.
func TestAskForUser(t *testing.T) {
	b := newBed(t, engine.Config{Limits: engine.Limits{OpenRequests: 2}})
	session := holdshort.Session{ID: holdshort.NewSessionID(b.clock.now()), User: "carl", Channel: "web", Mode: holdshort.ModeAI}
	if err := b.store.Update(t.Context(), tenant, func(tx store.Tx) error { return tx.PutSession(session) }); err != nil {
		t.Fatal(err)
	}
	in := engine.AskInput{Kind: holdshort.Confirmation, Question: "Sure?", Actor: bot, Session: session.ID}
	req := b.ask(in)
	if !req.Audience.Owner || req.Requester.User != "carl" || req.SessionID != session.ID {
		t.Errorf("%+v", req)
	}
	carl := holdshort.Actor{ID: "carl", Kind: holdshort.Person}
	if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: eve}); code(err) != holdshort.NotFound {
		t.Errorf("eve decides what carl is asked: %v", err)
	}
	b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: carl})
	in.Actor.ForUser = "ben"
	if _, err := b.Ask(t.Context(), tenant, in); code(err) != holdshort.Forbidden {
		t.Errorf("a key that speaks for ben raises in carl's session: %v", err)
	}
	in.Actor.ForUser = "carl"
	b.ask(in)
	b.ask(in)
	if _, err := b.Ask(t.Context(), tenant, in); code(err) != holdshort.LimitReached {
		t.Errorf("a third open request: %v", err)
	}
	in.Session = ""
	if req := b.ask(in); req.Requester.User != "carl" || !req.Audience.Owner {
		t.Errorf("%+v", req)
	}
}

// TestAskPolicy: the policy judges what a raiser wants to do. It resolves at once what it allows or denies, and what it does not speak of asks.
func TestAskPolicy(t *testing.T) {
	rules := policy.Func(func(_ context.Context, c policy.Call) (policy.Verdict, error) {
		var args struct{ Amount int }
		if json.Unmarshal(c.Args, &args) != nil || !c.Known || c.Effect != "write" || c.User != "" {
			return policy.Verdict{}, fmt.Errorf("unexpected %+v", c)
		}
		switch {
		case args.Amount < 10:
			return policy.Verdict{Decision: policy.Allow, Rule: "small"}, nil
		case args.Amount > 1000:
			return policy.Verdict{Decision: policy.Deny, Rule: "huge"}, nil
		case args.Amount == 500:
			panic("a rule that fails")
		case args.Amount > 100:
			return policy.Verdict{Decision: policy.Ask, Rule: "big", Audience: holdshort.Audience{Roles: []string{"finance"}}, Question: "A big one?"}, nil
		}
		return policy.Verdict{}, nil
	})
	b := newBed(t, engine.Config{Policy: rules})
	for _, c := range []struct {
		amounts  []int
		outcome  holdshort.Outcome
		actor    string
		to       string
		question string
		code     holdshort.Code
	}{
		{amounts: []int{5}, outcome: holdshort.Approved, actor: "system:policy:small"},
		{amounts: []int{5000}, outcome: holdshort.Rejected, actor: "system:policy:huge"},
		{amounts: []int{5, 6}, outcome: holdshort.Approved, actor: "system:policy:small"},
		{amounts: []int{5, 50, 5000}, outcome: holdshort.Rejected, actor: "system:policy:huge"},
		{amounts: []int{50}, to: "reviewer", question: "Refund?"},
		{amounts: []int{500}, to: "reviewer", question: "Refund?"},
		{amounts: []int{200}, to: "finance", question: "A big one?"},
		{amounts: []int{5, 200}, to: "finance", question: "A big one?"},
		{amounts: []int{50, 200}, code: holdshort.DoesNotFit},
	} {
		t.Run(fmt.Sprint(c.amounts), func(t *testing.T) {
			in := wantsRefund(c.amounts[0])
			for _, n := range c.amounts[1:] {
				in.Actions = append(in.Actions, wantsRefund(n).Actions...)
			}
			out, err := b.Ask(t.Context(), tenant, in)
			if code(err) != c.code {
				t.Fatalf("%v, want %s", err, c.code)
			}
			if err != nil {
				return
			}
			if c.outcome != "" {
				if out.Request.Status != holdshort.RequestResolved || out.Request.Outcome != c.outcome || out.Decision == nil || out.Decision.Actor.ID != c.actor {
					t.Fatalf("%+v", out)
				}
				claimed, err := b.Claim(t.Context(), tenant, engine.ClaimInput{Request: out.Request.ID, Actor: bot})
				if c.outcome == holdshort.Approved && (err != nil || len(claimed.Actions) != len(c.amounts)) || c.outcome == holdshort.Rejected && code(err) != holdshort.Denied {
					t.Errorf("%+v %v", claimed, err)
				}
				return
			}
			if out.Request.Status != holdshort.RequestOpen || out.Decision != nil || out.Request.Audience.Roles[0] != c.to || out.Request.Question != c.question {
				t.Errorf("%+v", out.Request)
			}
			for i, a := range out.Request.Actions {
				if a.NeedsApproval != (c.amounts[i] >= 10) || a.CallID != fmt.Sprint("call_", i+1) {
					t.Errorf("%+v", a)
				}
			}
		})
	}
	if req := b.ask(engine.AskInput{Kind: holdshort.Approval, Actor: bot, Actions: wantsRefund(50).Actions}); !strings.Contains(req.Question, "shop.refund") {
		t.Errorf("it asks %q", req.Question)
	}
}

// TestAskNarrows: a raiser can be stricter than the policy, never less strict.
func TestAskNarrows(t *testing.T) {
	b := newBed(t, engine.Config{Policy: asking(policy.Verdict{Decision: policy.Ask, Audience: holdshort.Audience{Roles: []string{"reviewer", "finance"}, Users: []string{"dan"}, Quorum: 2}, ExpiresIn: time.Hour, OnTimeout: holdshort.TimeoutApprove})})
	for name, c := range map[string]struct {
		change func(*engine.AskInput)
		code   holdshort.Code
		want   holdshort.Audience
	}{
		"nothing":        {func(*engine.AskInput) {}, "", holdshort.Audience{Roles: []string{"reviewer", "finance"}, Users: []string{"dan"}, Quorum: 2}},
		"one role":       {func(in *engine.AskInput) { in.Audience.Roles = []string{"finance"} }, "", holdshort.Audience{Roles: []string{"finance"}, Quorum: 2}},
		"one user":       {func(in *engine.AskInput) { in.Audience.Users = []string{"dan"} }, "", holdshort.Audience{Users: []string{"dan"}, Quorum: 2}},
		"more people":    {func(in *engine.AskInput) { in.Audience.Quorum, in.Audience.Separate = 3, true }, "", holdshort.Audience{Roles: []string{"reviewer", "finance"}, Users: []string{"dan"}, Quorum: 3, Separate: true}},
		"another role":   {func(in *engine.AskInput) { in.Audience.Roles = []string{"finance", "friends"} }, holdshort.Forbidden, holdshort.Audience{}},
		"another user":   {func(in *engine.AskInput) { in.Audience.Users = []string{"eve"} }, holdshort.Forbidden, holdshort.Audience{}},
		"the owner":      {func(in *engine.AskInput) { in.Audience.Owner = true }, holdshort.Forbidden, holdshort.Audience{}},
		"fewer people":   {func(in *engine.AskInput) { in.Audience.Quorum = 1 }, holdshort.Forbidden, holdshort.Audience{}},
		"a shorter time": {func(in *engine.AskInput) { in.ExpiresIn = time.Minute }, "", holdshort.Audience{Roles: []string{"reviewer", "finance"}, Users: []string{"dan"}, Quorum: 2}},
		"a longer time":  {func(in *engine.AskInput) { in.ExpiresIn = 2 * time.Hour }, holdshort.Forbidden, holdshort.Audience{}},
		"for ever":       {func(in *engine.AskInput) { in.ExpiresIn = policy.Never }, holdshort.Forbidden, holdshort.Audience{}},
		"no approval by the clock": {func(in *engine.AskInput) { in.OnTimeout = holdshort.TimeoutFail }, "",
			holdshort.Audience{Roles: []string{"reviewer", "finance"}, Users: []string{"dan"}, Quorum: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			in := wantsRefund(50)
			c.change(&in)
			out, err := b.Ask(t.Context(), tenant, in)
			if code(err) != c.code {
				t.Fatalf("%v, want %s", err, c.code)
			}
			if err != nil {
				return
			}
			if got := out.Request.Audience; fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("asks %+v, want %+v", got, c.want)
			}
			expires, timeout := time.Hour, holdshort.TimeoutApprove
			if in.ExpiresIn > 0 {
				expires = in.ExpiresIn
			}
			if in.OnTimeout != "" {
				timeout = in.OnTimeout
			}
			if out.Request.ExpiresAt.Sub(out.Request.AskedAt) != expires || out.Request.OnTimeout != timeout {
				t.Errorf("expires %s after %s, then %s", out.Request.ExpiresAt, out.Request.AskedAt, out.Request.OnTimeout)
			}
		})
	}
}

// TestAskOnce: under one id a key raises one request, however often and at the same time it tries.
func TestAskOnce(t *testing.T) {
	eachStore(t, engine.Config{}, func(t *testing.T, e *engine.Engine) {
		in := wantsRefund(50)
		in.ID = "order-77"
		var mu sync.Mutex
		seen, fresh := map[holdshort.RequestID]int{}, 0
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				out, err := e.Ask(t.Context(), tenant, in)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				seen[out.Request.ID]++
				if !out.Replayed {
					fresh++
				}
			})
		}
		wg.Wait()
		if len(seen) != 1 || fresh != 1 {
			t.Errorf("%d requests, %d of them new", len(seen), fresh)
		}
		other := wantsRefund(51)
		other.ID = in.ID
		if _, err := e.Ask(t.Context(), tenant, other); code(err) != holdshort.Duplicate {
			t.Errorf("another request under the same id: %v", err)
		}
		in.Actor.ID = "key_other"
		if out, err := e.Ask(t.Context(), tenant, in); err != nil || out.Replayed {
			t.Errorf("the same id of another key: %+v %v", out, err)
		}
	})
}
