package inbox

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
)

// What is withheld is in no part of what is drawn of arguments, however they are made and whatever is named.
func TestArgsWithhold(t *testing.T) {
	const secret = "S3CRET"
	tests := []struct {
		name, args string
		withheld   []string
		shows      []string
	}{
		{"a field", `{"iban":"S3CRET","to":"cora"}`, []string{"iban"}, []string{"cora"}},
		{"a field within", `{"bank":{"iban":"S3CRET","name":"north"}}`, []string{"bank.iban"}, []string{"north"}},
		{"a field named with a dot", `{"bank.iban":"S3CRET","bank":{"iban":"S3CRET"}}`, []string{"bank.iban"}, nil},
		{"an object", `{"bank":{"iban":"S3CRET"}}`, []string{"bank"}, nil},
		{"within what is a list", `{"bank":[{"iban":"S3CRET"}]}`, []string{"bank.iban"}, nil},
		{"within what is a text", `{"bank":"S3CRET"}`, []string{"bank.iban"}, nil},
		{"everything", `{"a":"S3CRET"}`, []string{"*"}, nil},
		{"what is no object", `["S3CRET"]`, []string{"a"}, nil},
		{"a text as a whole", `"S3CRET"`, []string{"a"}, nil},
		{"two of three", `{"a":"S3CRET","b":"S3CRET","c":"open"}`, []string{"a", "b"}, []string{"open"}},
	}
	for _, tt := range tests {
		nodes := nodesOf(json.RawMessage(tt.args), tt.withheld, "x")
		raw, err := json.Marshal(nodes)
		if err != nil {
			t.Fatal(err)
		}
		leaves := leavesOf(json.RawMessage(tt.args), tt.withheld)
		hidden := false
		for _, l := range leaves {
			hidden = hidden || l.withheld
			if strings.Contains(l.text, secret) {
				t.Errorf("%s: %+v", tt.name, l)
			}
		}
		found := false
		for _, n := range nodes {
			found = found || n.hides()
		}
		if strings.Contains(string(raw), secret) || !hidden || !found {
			t.Errorf("%s: %s", tt.name, raw)
		}
		for _, text := range tt.shows {
			if !strings.Contains(string(raw), text) {
				t.Errorf("%s does not show %q: %s", tt.name, text, raw)
			}
		}
		if amount := callAmount(holdshort.Action{Args: json.RawMessage(tt.args)}, tt.withheld); amount != "" {
			t.Errorf("%s: the button names %q", tt.name, amount)
		}
	}
	if amount := callAmount(holdshort.Action{Args: json.RawMessage(`{"amount":5}`)}, []string{"amount"}); amount != "" {
		t.Errorf("the button names the amount %q that is withheld", amount)
	}
}

// A text that looks like something else is told from it.
func TestLeavesAreTold(t *testing.T) {
	for raw, want := range map[string]string{
		`"79"`: "“79”", `79`: "79", `"true"`: "“true”", `true`: "true", `""`: "“”", `" x"`: "“ x”", `"null"`: "“null”", `null`: "null", `"plain words"`: "plain words", `"7a"`: "7a", `"{}"`: "“{}”", `{}`: "{}",
	} {
		nodes := nodesOf(json.RawMessage(raw), nil, "x")
		if len(nodes) != 1 || nodes[0].Text != want {
			t.Errorf("%s is shown as %q, want %q", raw, nodes[0].Text, want)
		}
	}
}

// Whatever a tool answers is drawn in a moment.
func TestArgsOfAnyDepth(t *testing.T) {
	deep := strings.Repeat(`{"a":[`, 3000) + `"core"` + strings.Repeat(`]}`, 3000)
	began := time.Now()
	raw, err := json.Marshal(nodesOf(json.RawMessage(deep), nil, "x"))
	if err != nil || !strings.Contains(string(raw), "core") {
		t.Fatalf("%v, %d bytes", err, len(raw))
	}
	if took := time.Since(began); took > time.Minute { // far more than linear work takes
		t.Errorf("it takes %s", took)
	}
}

func TestButtonsSayWhatTheyDo(t *testing.T) {
	call := func(args, tool string) holdshort.Action {
		return holdshort.Action{CallID: tool, Tool: tool, Args: json.RawMessage(args), NeedsApproval: true}
	}
	tests := []struct {
		want string
		req  holdshort.Request
	}{
		{"Approve 590", holdshort.Request{Actions: []holdshort.Action{call(`{"amount":590}`, "orders.refund")}}},
		{"Approve 590.50 EUR", holdshort.Request{Actions: []holdshort.Action{call(`{"amount":590.5,"currency":"EUR"}`, "orders.refund")}}},
		{"Approve orders.refund", holdshort.Request{Actions: []holdshort.Action{call(`{"amount":590,"total":600}`, "orders.refund")}}},
		{"Approve orders.refund", holdshort.Request{Actions: []holdshort.Action{call(`{"amount":"590"}`, "orders.refund")}}},
		{"Approve 5", holdshort.Request{Actions: []holdshort.Action{call(`{"amount":5,"currency":"\u202eEU"}`, "orders.refund")}}},
		{"Approve", holdshort.Request{Actions: []holdshort.Action{call(`{}`, "orders.\u200brefund")}}},
		{"Approve all 2 calls", holdshort.Request{Actions: []holdshort.Action{call(`{"amount":5}`, "a"), call(`{}`, "b")}}},
		{"Yes, tell her", holdshort.Request{Options: []holdshort.Option{{ID: "approve", Label: "Yes, tell her"}}}},
		{"Approve", holdshort.Request{Options: []holdshort.Option{{ID: "approve", Label: "Yes\u202e"}}}},
	}
	for _, tt := range tests {
		if got := buttonText("Approve", "approve", needed(tt.req), tt.req, sight{}); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// confirmation is for what cannot be undone, and only for what may run of it.
func TestConfirmation(t *testing.T) {
	final := holdshort.Action{CallID: "a", Tool: "files.delete", Reversible: "no", NeedsApproval: true}
	safe := holdshort.Action{CallID: "b", Tool: "files.list", Reversible: "yes", NeedsApproval: true}
	free := holdshort.Action{CallID: "c", Tool: "files.wipe", Reversible: "no"}
	tests := []struct {
		name  string
		calls []holdshort.Action
		want  string
	}{
		{"one", []holdshort.Action{final}, "delete"},
		{"one of two", []holdshort.Action{final, safe}, "1"},
		{"two", []holdshort.Action{final, {CallID: "d", Tool: "x", Reversible: "no", NeedsApproval: true}}, "2"},
		{"none", []holdshort.Action{safe}, ""},
		{"nobody knows", []holdshort.Action{{Tool: "x", NeedsApproval: true}}, ""},
		{"a read that declares nothing", []holdshort.Action{{Tool: "x", Effect: "read", Reversible: "no", NeedsApproval: true}}, ""},
		{"what runs anyway", []holdshort.Action{final, free}, "delete"},
	}
	for _, tt := range tests {
		req := holdshort.Request{Actions: tt.calls}
		if got := confirmationOfAll(req); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if err := confirmed(req, holdshort.Approve, nil, tt.want); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err := confirmed(req, holdshort.Reject, nil, ""); err != nil {
			t.Errorf("%s: rejecting needs a word: %v", tt.name, err)
		}
		if err := confirmed(req, holdshort.Approve, nil, "something else"); (err == nil) != (tt.want == "") {
			t.Errorf("%s: anything confirms it: %v", tt.name, err)
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 { // whatever is chosen for each, what is typed is how many of those that may run are final
		var req holdshort.Request
		var calls []holdshort.CallDecision
		finals := 0
		for i := range 2 + r.IntN(6) {
			id := string(rune('a' + i))
			a := holdshort.Action{CallID: id, Tool: "t", NeedsApproval: true, Reversible: []string{"no", "yes"}[r.IntN(2)]}
			c := holdshort.CallDecision{CallID: id, Action: []holdshort.Verb{holdshort.Approve, holdshort.Edit, holdshort.Reject, holdshort.Respond}[r.IntN(4)]}
			if a.Reversible == "no" && (c.Action == holdshort.Approve || c.Action == holdshort.Edit) {
				finals++
			}
			req.Actions, calls = append(req.Actions, a), append(calls, c)
		}
		err := confirmed(req, holdshort.Approve, calls, "")
		if (err != nil) != (finals > 0) {
			t.Fatalf("%d final: %v", finals, err)
		}
	}
}
