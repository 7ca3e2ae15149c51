package flow_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
)

var sizes = []holdshort.Option{{ID: "s", Label: "Small"}, {ID: "m", Label: "Medium"}, {ID: "l", Label: "Large"}}

// What a question becomes, before the engine makes a request of it.
func TestDrafts(t *testing.T) {
	schema := json.RawMessage(`{"type":"object"}`)
	owner, reviewers, operators := holdshort.Audience{Owner: true}, holdshort.Audience{Roles: []string{"reviewer"}}, holdshort.Audience{Roles: []string{"operator"}}
	tests := []struct {
		name    string
		ask     func(c *flow.Context, q flow.Question)
		kind    holdshort.Kind
		input   holdshort.ExpectedInput
		allowed []holdshort.Verb
		options []string
		to      holdshort.Audience
		expires time.Duration
		prompt  bool
	}{
		{"Ask", func(c *flow.Context, q flow.Question) { flow.Ask(c, "q", q) }, holdshort.Clarification, holdshort.FreeText, []holdshort.Verb{"answer"}, nil, owner, 5 * time.Minute, true},
		{"Confirm", func(c *flow.Context, q flow.Question) { flow.Confirm(c, "q", q) }, holdshort.Confirmation, holdshort.YesNo, []holdshort.Verb{"approve", "reject"}, []string{"approve", "reject"}, owner, 5 * time.Minute, true},
		{"Choose", func(c *flow.Context, q flow.Question) { flow.Choose(c, "q", q, sizes...) }, holdshort.Disambiguation, holdshort.SingleChoice, []holdshort.Verb{"select"}, []string{"s", "m", "l"}, owner, 5 * time.Minute, true},
		{"ChooseMany", func(c *flow.Context, q flow.Question) { flow.ChooseMany(c, "q", q, sizes...) }, holdshort.Disambiguation, holdshort.MultiChoice, []holdshort.Verb{"select"}, []string{"s", "m", "l"}, owner, 5 * time.Minute, true},
		{"Form", func(c *flow.Context, q flow.Question) { flow.Form[any](c, "q", q, schema) }, holdshort.Clarification, holdshort.Form, []holdshort.Verb{"answer"}, nil, owner, 5 * time.Minute, true},
		{"Approve", func(c *flow.Context, q flow.Question) { flow.Approve(c, "q", q) }, holdshort.Approval, holdshort.YesNo, []holdshort.Verb{"approve", "reject"}, []string{"approve", "reject"}, reviewers, 10 * time.Minute, false},
		{"Escalate", func(c *flow.Context, q flow.Question) { flow.Escalate(c, "q", q) }, holdshort.Escalation, holdshort.FreeText, []holdshort.Verb{"approve", "reject", "answer", "respond"}, nil, operators, 24 * time.Hour, false},
	}
	for _, tt := range tests {
		draft := func(q flow.Question) holdshort.Request {
			m := newMemory()
			suspended(t, m.run(made(func(c *flow.Context) (int, error) { tt.ask(c, q); return 1, nil }), ""))
			return m.asked["q"]
		}
		t.Run(tt.name, func(t *testing.T) {
			got := draft(flow.Question{Text: "Well?"})
			var ids []string
			for _, o := range got.Options {
				ids = append(ids, o.ID)
			}
			same(t, "allowed", got.Allowed, tt.allowed)
			same(t, "options", ids, tt.options)
			is(t, "kind", got.Kind, tt.kind)
			is(t, "input", got.ExpectedInput, tt.input)
			is(t, "question", got.Question, "Well?")
			is(t, "expires in", got.ExpiresIn, tt.expires)
			is(t, "prompt", got.Prompt, tt.prompt)
			is(t, "origin", got.OriginStepID, "q")
			is(t, "source", got.Source, "flow")
			is(t, "on timeout", got.OnTimeout, holdshort.TimeoutResume)
			is(t, "on reject", got.OnReject, holdshort.RejectReturn)
			is(t, "take cancel", got.TakeCancel, false)
			if !reflect.DeepEqual(got.Audience, tt.to) {
				t.Errorf("audience is %+v, want %+v", got.Audience, tt.to)
			}
		})
		t.Run(tt.name+" as written", func(t *testing.T) {
			got := draft(flow.Question{Text: "Well?", To: holdshort.Audience{Users: []string{"ana"}, Quorum: 2}, Expires: time.Second, OnTimeout: holdshort.TimeoutClear, OnReject: holdshort.RejectCancel,
				TakeCancel: true, Priority: holdshort.PriorityHigh, Reason: "high_risk", Source: "agent", Language: "he", Context: map[string]int{"n": 1}})
			if !slices.Equal(got.Audience.Users, []string{"ana"}) || got.Audience.Owner || got.Audience.Roles != nil || got.Audience.Quorum != 2 {
				t.Errorf("audience is %+v", got.Audience)
			}
			is(t, "expires in", got.ExpiresIn, time.Second)
			is(t, "on timeout", got.OnTimeout, holdshort.TimeoutClear)
			is(t, "on reject", got.OnReject, holdshort.RejectCancel)
			is(t, "take cancel", got.TakeCancel, true)
			is(t, "context", string(got.Context), `{"n":1}`)
			is(t, "rest", string(got.Priority)+got.Reason+got.Source+got.Language, "highhigh_riskagenthe")
		})
		t.Run(tt.name+" for ever, of a quorum", func(t *testing.T) {
			got := draft(flow.Question{Text: "Well?", Expires: flow.Never, To: holdshort.Audience{Quorum: 3, Separate: true}})
			is(t, "expires in", got.ExpiresIn, 0)
			want := tt.to
			want.Quorum, want.Separate = 3, true
			if !reflect.DeepEqual(got.Audience, want) {
				t.Errorf("audience is %+v, want %+v", got.Audience, want)
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	resolved := func(o holdshort.Outcome, value string, ids ...string) flow.Answer {
		return flow.Answer{Status: holdshort.RequestResolved, Outcome: o, Value: json.RawMessage(value), OptionIDs: ids}
	}
	schema := json.RawMessage(`{"type":"object"}`)
	tests := []struct {
		name   string
		ask    func(c *flow.Context) (any, error)
		answer flow.Answer
		result string
	}{
		{"a text", func(c *flow.Context) (any, error) { return flow.Ask(c, "q", flow.Question{}) }, resolved("answered", `"77"`), `"77"`},
		{"a text that is a number", func(c *flow.Context) (any, error) { return flow.Ask(c, "q", flow.Question{}) }, resolved("answered", `77`), `"77"`},
		{"yes", func(c *flow.Context) (any, error) { return flow.Confirm(c, "q", flow.Question{}) }, resolved("approved", `null`), `true`},
		{"no", func(c *flow.Context) (any, error) { return flow.Confirm(c, "q", flow.Question{}) }, resolved("rejected", `null`), `false`},
		{"one of them", func(c *flow.Context) (any, error) { return flow.Choose(c, "q", flow.Question{}, sizes...) }, resolved("selected", `null`, "m"), `"m"`},
		{"some, in the options' order", func(c *flow.Context) (any, error) { return flow.ChooseMany(c, "q", flow.Question{}, sizes...) }, resolved("selected", `null`, "l", "s"), `["s","l"]`},
		{"a form", func(c *flow.Context) (any, error) { return flow.Form[map[string]int](c, "q", flow.Question{}, schema) }, resolved("answered", `{"n":1}`), `{"n":1}`},
		{"approved", func(c *flow.Context) (any, error) {
			a, err := flow.Approve(c, "q", flow.Question{})
			return a.Approved(), err
		}, yes("q"), `true`},
		{"edited is not approved", func(c *flow.Context) (any, error) {
			a, err := flow.Approve(c, "q", flow.Question{})
			return a.Approved(), err
		}, resolved("edited", `null`), `false`},
		{"expired is not approved", func(c *flow.Context) (any, error) {
			a, err := flow.Approve(c, "q", flow.Question{})
			return a.Approved(), err
		},
			flow.Answer{Status: holdshort.RequestExpired, Outcome: holdshort.Approved}, `false`},
		{"who and what", func(c *flow.Context) (any, error) {
			a, err := flow.Escalate(c, "q", flow.Question{})
			return a.Actor.ID + ": " + a.Message, err
		},
			flow.Answer{Status: holdshort.RequestResolved, Actor: holdshort.Actor{ID: "ana"}, Message: "done"}, `"ana: done"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory()
			f := made(tt.ask)
			suspended(t, m.run(f, ""))
			m.answer("q", tt.answer)
			completed(t, m.run(f, ""), tt.result)
		})
	}
}

func TestQuestionsNobodyAnswered(t *testing.T) {
	expired := &holdshort.Failure{Code: holdshort.Expired, Message: "nobody answered in time", Step: "q"}
	run := func(t *testing.T, q flow.Question, failure *holdshort.Failure, stood holdshort.OnTimeout) flow.Ending {
		m := newMemory()
		f := made(func(c *flow.Context) (string, error) {
			ok, err := flow.Confirm(c, "q", q)
			if ok || err == nil {
				t.Errorf("gives %v, %v", ok, err)
			}
			return string(holdshort.CodeOf(err)), nil
		})
		suspended(t, m.run(f, ""))
		raw, _ := json.Marshal(flow.Answer{Status: holdshort.RequestExpired, OnTimeout: stood})
		m.settle(holdshort.JournalEntry{Key: "q", Kind: flow.KindAsk, Error: failure, Outcome: raw})
		return m.run(f, "")
	}
	completed(t, run(t, flow.Question{}, expired, holdshort.TimeoutResume), `"expired"`)
	completed(t, run(t, flow.Question{TakeCancel: true}, &holdshort.Failure{Code: holdshort.Canceled}, holdshort.TimeoutFail), `"canceled"`)
	failed(t, run(t, flow.Question{OnTimeout: holdshort.TimeoutFail}, expired, holdshort.TimeoutFail), holdshort.Expired)
	failed(t, newMemory().run(made(func(c *flow.Context) (string, error) { return flow.Ask(c, "q", flow.Question{Context: func() {}}) }), ""), holdshort.Invalid)
}

func TestAFormThatFitsItsSchemaButNotTheFlow(t *testing.T) {
	m := newMemory()
	f := made(func(c *flow.Context) (int, error) {
		return flow.Form[int](c, "q", flow.Question{}, json.RawMessage(`{}`))
	})
	suspended(t, m.run(f, ""))
	m.answer("q", flow.Answer{Status: holdshort.RequestResolved, Value: json.RawMessage(`"seven"`)})
	failed(t, m.run(f, ""), holdshort.DoesNotFit)
}
