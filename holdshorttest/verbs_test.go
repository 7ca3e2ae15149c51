package holdshorttest_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/tool"
)

// survey asks in every way there is, by the name of the way.
var survey = flow.New("survey", 1, func(c *flow.Context, way string) (string, error) {
	colors := []holdshort.Option{{ID: "r", Label: "Red"}, {ID: "g", Label: "Green"}, {ID: "b", Label: "Blue"}}
	q := flow.Question{Text: "What about " + way + "?", TakeCancel: way == "cancel"}
	switch way {
	case "ask", "cancel":
		text, err := flow.Ask(c, "q", q)
		if holdshort.CodeOf(err) == holdshort.Canceled {
			return "canceled", nil
		}
		return text, err
	case "choose":
		return flow.Choose(c, "q", q, colors...)
	case "many":
		ids, err := flow.ChooseMany(c, "q", q, colors...)
		return fmt.Sprint(ids), err
	case "form":
		v, err := flow.Form[struct{ Name string }](c, "q", q, json.RawMessage(`{"type":"object","required":["name"]}`))
		return v.Name, err
	case "confirm":
		yes, err := flow.Confirm(c, "q", q)
		return fmt.Sprint(yes), err
	case "batch":
		results, err := flow.Calls(c, "q", []flow.Request{{Tool: "refund", Args: Refund{"1", 1}}, {Tool: "refund", Args: Refund{"2", 2}}})
		return fmt.Sprintf("%s %v", results[0].Value, holdshort.CodeOf(results[1].Err)), err
	}
	text, err := flow.Call[string](c, "q", "refund", Refund{"77", 120})
	if holdshort.CodeOf(err) == holdshort.Denied {
		return "denied", nil
	}
	return text, err
})

func TestVerbs(t *testing.T) {
	mixed := []holdshort.CallDecision{{CallID: "call_1", Action: holdshort.Approve}, {CallID: "call_2", Action: holdshort.Reject}}
	tests := []struct {
		way    string
		script func(*holdshorttest.Script)
		direct func(*holdshorttest.Person, holdshort.Request)
		want   string
		args   string // of the last call of the tool
	}{
		{"ask", func(s *holdshorttest.Script) { s.Answer("blue") }, func(p *holdshorttest.Person, r holdshort.Request) { p.Answer(r, "blue") }, "blue", ""},
		{"choose", func(s *holdshorttest.Script) { s.Choose("g") }, func(p *holdshorttest.Person, r holdshort.Request) { p.Choose(r, "g") }, "g", ""},
		{"many", func(s *holdshorttest.Script) { s.Choose("b", "r") }, func(p *holdshorttest.Person, r holdshort.Request) { p.Choose(r, "b", "r") }, "[r b]", ""},
		{"form", func(s *holdshorttest.Script) { s.Answer(map[string]string{"name": "ana"}) },
			func(p *holdshorttest.Person, r holdshort.Request) { p.Answer(r, map[string]string{"name": "ana"}) }, "ana", ""},
		{"confirm", func(s *holdshorttest.Script) { s.Approve() }, func(p *holdshorttest.Person, r holdshort.Request) { p.Approve(r) }, "true", ""},
		{"cancel", func(s *holdshorttest.Script) { s.Cancel("no need") }, func(p *holdshorttest.Person, r holdshort.Request) { p.Cancel(r, "no need") }, "canceled", ""},
		{"approve", func(s *holdshorttest.Script) { s.Approve() }, func(p *holdshorttest.Person, r holdshort.Request) { p.Approve(r) }, "re_1", `{"amount":120,"order":"77"}`},
		{"reject", func(s *holdshorttest.Script) { s.Reject("too much") }, func(p *holdshorttest.Person, r holdshort.Request) { p.Reject(r, "too much") }, "denied", ""},
		{"edit", func(s *holdshorttest.Script) { s.Edit(Refund{"77", 100}) }, func(p *holdshorttest.Person, r holdshort.Request) { p.Edit(r, Refund{"77", 100}) }, "re_1", `{"amount":100,"order":"77"}`},
		{"respond", func(s *holdshorttest.Script) { s.Respond("paid by hand") }, func(p *holdshorttest.Person, r holdshort.Request) { p.Respond(r, "paid by hand") }, "paid by hand", ""},
		{"batch", func(s *holdshorttest.Script) { s.Calls(mixed...) }, func(p *holdshorttest.Person, r holdshort.Request) { p.Calls(r, mixed...) }, `"re_1" denied`, `{"amount":1,"order":"1"}`},
	}
	refund := holdshorttest.Counter("refund").Returning("re_1")
	k := holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{survey}, Tools: []tool.Tool{refund.Tool()}, Policy: finance})
	for _, tt := range tests {
		ways := map[string]func(run holdshort.RunID){
			"scripted": func(run holdshort.RunID) { tt.script(k.WhenAsked(holdshorttest.Match{Run: run})) },
			"direct":   func(run holdshort.RunID) { tt.direct(k.As("ben", "finance"), k.Request(run)) },
		}
		for how, do := range ways {
			before := refund.Calls()
			run := k.As("ben").Start("survey", tt.way)
			do(run)
			if got := holdshorttest.Result[string](k, run); got != tt.want {
				t.Errorf("%s, %s: result %q, want %q", tt.way, how, got, tt.want)
			}
			calls := refund.All()[before:]
			if tt.args == "" && len(calls) > 0 || tt.args != "" && (len(calls) != 1 || string(calls[0].Args) != tt.args) {
				t.Errorf("%s, %s: calls %+v, want one with %q", tt.way, how, calls, tt.args)
			}
		}
	}
}
