package script_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/model/script"
)

var (
	yes = new(true)
	no  = new(false)
)

const refundSchema = `{"type":"object","properties":{
	"order":{"type":"string"},"amount":{"type":"number"},"count":{"type":["integer","null"]},"urgent":{"type":"boolean"},
	"lines":{"type":"array","items":{"$ref":"#/$defs/line"}},"any":{},
	"either":{"anyOf":[{"type":"null"},{"type":"integer"}]}},
	"$defs":{"line":{"type":"object","properties":{"n":{"type":"integer"}}},"loop":{"$ref":"#/$defs/loop"}}}`

func user(text string) model.Message { return model.Message{Role: model.User, Text: text} }

func result(tool, text string) model.Message {
	return model.Message{Role: model.ToolRole, Tool: tool, Text: text}
}

func failure(tool, text string) model.Message {
	return model.Message{Role: model.ToolRole, Tool: tool, Text: text, Failed: true}
}

var wished = model.Message{Role: model.Assistant, Text: "a moment", Calls: []model.Call{{ID: "c1", Tool: "orders.refund"}}}

func desk() []script.Rule {
	return []script.Rule{
		{When: script.When{User: `refund order (\S+) for (\d+)`}, Call: []script.CallSpec{{Tool: "orders.refund", Args: map[string]any{"order": "$1", "amount": "$2"}}}},
		{When: script.When{Tool: "orders.refund", Failed: yes}, Say: "It did not work: {result}"},
		{When: script.When{Tool: "orders.refund", User: `and tell (?P<who>\w+)`}, Say: "Done, and told ${who}."},
		{When: script.When{Tool: "orders.refund"}, Say: "Done: {result}"},
		{When: script.When{Result: `"state":"(\w+)"`, Failed: no}, Say: "It is $1, ${1}, paid {result.paid.total} by {result.paid.by.0.name}."},
		{When: script.When{User: `^price`}, Say: "That is $$1, $5 or {this}; $0 {result}"},
		{Say: "I can look up, refund and cancel orders."},
	}
}

func TestAnswers(t *testing.T) {
	m, err := script.New(desk())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		messages []model.Message
		text     string
		args     string
	}{
		"a user's message":             {[]model.Message{user("please refund order A-7 for 120 now")}, "", `{"amount":120,"order":"A-7"}`},
		"no rule but the last":         {[]model.Message{user("hello")}, "I can look up, refund and cancel orders.", ""},
		"nothing at all":               {nil, "I can look up, refund and cancel orders.", ""},
		"a result":                     {[]model.Message{user("x"), wished, result("orders.refund", `"refunded"`)}, "Done: refunded", ""},
		"a result that is no JSON":     {[]model.Message{user("x"), wished, result("orders.refund", "all {good} $1")}, "Done: all {good} $1", ""},
		"an object":                    {[]model.Message{user("x"), wished, result("orders.refund", `{"id": 7}`)}, `Done: {"id": 7}`, ""},
		"a failure":                    {[]model.Message{user("x"), wished, failure("orders.refund", "too much")}, "It did not work: too much", ""},
		"a user above a result":        {[]model.Message{user("do it and tell ben"), wished, result("orders.refund", "1")}, "Done, and told ben.", ""},
		"user rules wait for users":    {[]model.Message{user("refund order A for 1"), wished, result("orders.refund", "1")}, "Done: 1", ""},
		"the newest of a batch":        {[]model.Message{user("x"), wished, result("orders.refund", "1"), result("orders.refund", "2")}, "Done: 2", ""},
		"a batch, by the rules' order": {[]model.Message{user("x"), wished, failure("orders.refund", "1"), result("orders.refund", "2")}, "It did not work: 1", ""},
		"parts of a result": {[]model.Message{user("x"), wished, result("orders.find", `{"state":"open","paid":{"total":12.5,"by":[{"name":"ana"}]}}`)},
			"It is open, open, paid 12.5 by ana.", ""},
		"an older batch is past": {[]model.Message{user("x"), wished, result("orders.refund", "1"), {Role: model.Assistant, Text: "ok"}, user("hi")},
			"I can look up, refund and cancel orders.", ""},
		"its own words are no input": {[]model.Message{user("x"), wished, result("orders.refund", "1"), {Role: model.Assistant, Text: "so"}}, "Done: 1", ""},
		"dollars and braces":         {[]model.Message{user("price?")}, "That is $1, $5 or {this}; price {result}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			req := model.Request{Messages: c.messages, Tools: []model.Tool{{Name: "orders.refund", Schema: json.RawMessage(refundSchema)}}}
			got, err := m.Generate(t.Context(), req, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != c.text {
				t.Errorf("said %q, want %q", got.Text, c.text)
			}
			if c.args == "" {
				if len(got.Calls) != 0 || got.Stop != model.StopEnd {
					t.Errorf("calls %v, stop %s", got.Calls, got.Stop)
				}
				return
			}
			if len(got.Calls) != 1 || string(got.Calls[0].Args) != c.args || got.Stop != model.StopCalls {
				t.Errorf("calls %+v, stop %s, want %s", got.Calls, got.Stop, c.args)
			}
		})
	}
}

func TestTypesComeFromTheSchema(t *testing.T) {
	for name, c := range map[string]struct {
		args map[string]any
		want string
	}{
		"number":                {map[string]any{"amount": "$1"}, `{"amount":12}`},
		"text stays text":       {map[string]any{"order": "$1"}, `{"order":"12"}`},
		"one of two types":      {map[string]any{"count": "$1"}, `{"count":12}`},
		"one of two schemas":    {map[string]any{"either": "$1"}, `{"either":12}`},
		"boolean":               {map[string]any{"urgent": "$2"}, `{"urgent":true}`},
		"a number is no bool":   {map[string]any{"urgent": "$1"}, `{"urgent":"12"}`},
		"not a number":          {map[string]any{"amount": "$3"}, `{"amount":"abc"}`},
		"put together":          {map[string]any{"amount": "-$1.5"}, `{"amount":-12.5}`},
		"no word of it":         {map[string]any{"any": "$1", "other": "$1"}, `{"any":"12","other":"12"}`},
		"through a reference":   {map[string]any{"lines": []any{map[string]any{"n": "$1"}, map[string]any{"n": 3}}}, `{"lines":[{"n":12},{"n":3}]}`},
		"wrong on purpose":      {map[string]any{"amount": "12"}, `{"amount":"12"}`},
		"a group that is none":  {map[string]any{"amount": "$9"}, `{"amount":"$9"}`},
		"a part of a result":    {map[string]any{"any": "{result.a}", "order": "{result.n}", "amount": "{result.n}"}, `{"amount":7,"any":[1],"order":"7"}`},
		"a text of a result":    {map[string]any{"any": "{result.t}"}, `{"any":"hi"}`},
		"a null of a result":    {map[string]any{"any": "{result.z}"}, `{"any":null}`},
		"no such part":          {map[string]any{"any": "{result.x.y}"}, `{"any":"{result.x.y}"}`},
		"nothing":               {nil, `{}`},
		"not only placeholders": {map[string]any{"any": "{a} and {result.n}"}, `{"any":"{a} and 7"}`},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := script.New([]script.Rule{{When: script.When{Tool: "look", User: `(\d+) (\w+) (\w+)`}, Call: []script.CallSpec{{Tool: "refund", Args: c.args}}}})
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.Generate(t.Context(), model.Request{
				Messages: []model.Message{user("12 true abc"), wished, result("look", `{"a":[1],"n":7,"t":"hi","z":null}`)},
				Tools:    []model.Tool{{Name: "refund", Schema: json.RawMessage(refundSchema)}},
			}, nil)
			if err != nil || len(got.Calls) != 1 || string(got.Calls[0].Args) != c.want {
				t.Errorf("%v, %v, want %s", got.Calls, err, c.want)
			}
		})
	}
}

func TestResultsOfABatch(t *testing.T) {
	m, err := script.New([]script.Rule{{Say: "{results}"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Generate(t.Context(), model.Request{Messages: []model.Message{user("x"), result("a", `"one"`), result("b", "two")}}, nil)
	if err != nil || got.Text != "one\ntwo" {
		t.Errorf("%q, %v", got.Text, err)
	}
}

// A run that asks the same again must get the same calls, and no two conversations may share an id.
func TestCallIDs(t *testing.T) {
	m, err := script.New([]script.Rule{{Call: []script.CallSpec{{Tool: "a"}, {Tool: "a"}}}})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	messages := []model.Message{user("go")}
	for range 50 {
		first, err := m.Generate(t.Context(), model.Request{Messages: messages}, nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := m.Generate(t.Context(), model.Request{Messages: messages}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range first.Calls {
			if c.ID != again.Calls[i].ID {
				t.Errorf("%s, then %s", c.ID, again.Calls[i].ID)
			}
			if seen[c.ID] {
				t.Errorf("%s twice", c.ID)
			}
			seen[c.ID] = true
		}
		messages = append(messages, model.Message{Role: model.Assistant, Calls: first.Calls}, result("a", "1"), result("a", "1"))
	}
}

func TestSaysWordByWord(t *testing.T) {
	m, err := script.New([]script.Rule{{Say: " two  words\nand a line "}})
	if err != nil {
		t.Fatal(err)
	}
	var pieces []string
	got, err := m.Generate(t.Context(), model.Request{System: "be kind", Messages: []model.Message{user("one two three")}}, func(text string) { pieces = append(pieces, text) })
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(pieces, "") != got.Text || len(pieces) < 5 {
		t.Errorf("%q for %q", pieces, got.Text)
	}
	if want := (model.Usage{Input: 5, Output: 5}); got.Usage != want || got.Model != script.Name {
		t.Errorf("%+v of %s, want %+v", got.Usage, got.Model, want)
	}
}

func TestWaitsAndCanBeCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, err := script.New([]script.Rule{{Say: "hi", Wait: time.Minute}})
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if _, err := m.Generate(t.Context(), model.Request{}, nil); err != nil || time.Since(begin) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin = time.Now()
		_, err = m.Generate(ctx, model.Request{}, func(string) { t.Error("said something") })
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		begin = time.Now()
		if _, err = m.Generate(ctx, model.Request{}, nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 0 {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

func TestNoRuleMatches(t *testing.T) {
	m, err := script.New([]script.Rule{{When: script.When{User: "x"}, Say: "y"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Generate(t.Context(), model.Request{Messages: []model.Message{user("secret")}}, nil)
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.Rejected || model.Retryable(err) || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

func TestRulesThatCannotBeRead(t *testing.T) {
	fine := script.Rule{When: script.When{User: "x"}, Say: "y"}
	for name, c := range map[string]struct {
		rules []script.Rule
		field string
	}{
		"none":                {nil, "rules"},
		"user":                {[]script.Rule{fine, {When: script.When{User: "("}, Say: "y"}}, "rules[1].when.user"},
		"result":              {[]script.Rule{{When: script.When{Result: "["}, Say: "y"}}, "rules[0].when.result"},
		"nothing to answer":   {[]script.Rule{fine, {When: script.When{Tool: "x"}}}, "rules[1]"},
		"out of reach":        {[]script.Rule{fine, {Say: "all"}, fine}, "rules[2]"},
		"a call of no tool":   {[]script.Rule{{Call: []script.CallSpec{{Tool: "a"}, {}}}}, "rules[0].call[1].tool"},
		"args JSON can't say": {[]script.Rule{{Call: []script.CallSpec{{Tool: "a", Args: map[string]any{"f": func() {}}}}}}, "rules[0].call[0].args"},
		"wait":                {[]script.Rule{{Say: "y", Wait: -1}}, "rules[0].wait"},
	} {
		_, err := script.New(c.rules)
		var e *holdshort.Error
		if !errors.As(err, &e) || e.Code != holdshort.Invalid || e.Field != c.field || e.Hint == "" || e.Message == "" {
			t.Errorf("%s: %v, want %s", name, err, c.field)
		}
	}
}

func TestRulesInJSON(t *testing.T) {
	var rules []script.Rule
	text := `[{"when":{"tool":"a","failed":false},"say":"b","call":[{"tool":"c","args":{"d":1}}]}]`
	if err := json.Unmarshal([]byte(text), &rules); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(rules)
	if err != nil || string(again) != text {
		t.Errorf("%s, %v", again, err)
	}
}

func FuzzExpand(f *testing.F) {
	f.Add("$1 {result} {result.a} ${x} $$ {", "(a)(?P<x>b)?", `{"a":[1]}`, "ab")
	f.Add("${", "", "", "")
	f.Add("{results}$12{result.0}", "(.*)", "[1]", "\xff")
	f.Fuzz(func(t *testing.T, say, when, text, said string) {
		m, err := script.New([]script.Rule{{When: script.When{User: when, Tool: "t"}, Say: "x" + say, Call: []script.CallSpec{{Tool: "t", Args: map[string]any{"a": say}}}}})
		if err != nil {
			return
		}
		got, err := m.Generate(t.Context(), model.Request{Messages: []model.Message{user(said), result("t", text)}, Tools: []model.Tool{{Name: "t", Schema: json.RawMessage(refundSchema)}}}, nil)
		if err == nil && !json.Valid(got.Calls[0].Args) {
			t.Errorf("arguments %q", got.Calls[0].Args)
		}
	})
}
