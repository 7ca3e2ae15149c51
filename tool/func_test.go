package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/tool"
)

type refund struct {
	Order  string          `json:"order" jsonschema:"number of the order"`
	Amount int64           `json:"amount"`
	Note   *string         `json:"note"`
	Lines  []line          `json:"lines,omitempty"`
	Extra  json.RawMessage `json:"extra,omitempty"`
	At     time.Time       `json:"at,omitzero"`
}

type line struct {
	SKU   string  `json:"sku"`
	Price *string `json:"price"`
}

func refunds(t *testing.T, fn func(context.Context, tool.Call, refund) (string, error)) tool.Tool {
	t.Helper()
	made, err := tool.Func("refund", "pays money back", fn)
	if err != nil {
		t.Fatal(err)
	}
	if made, err = made.Prepare(); err != nil {
		t.Fatal(err)
	}
	return made
}

func TestFuncSchema(t *testing.T) {
	made := refunds(t, func(context.Context, tool.Call, refund) (string, error) { return "", nil })
	if made.Name != "refund" || made.Description != "pays money back" || made.Effect != tool.Write || made.RepeatSafe() {
		t.Errorf("is %+v", made)
	}
	if !strings.Contains(string(made.Schema), "number of the order") {
		t.Errorf("the schema is %s", made.Schema)
	}
	for args, fits := range map[string]bool{
		`{"order":"77","amount":12}`:                                       true,
		`{"order":"77","amount":12,"note":"late"}`:                         true,
		`{"order":"77","amount":12,"note":null}`:                           true,
		`{"order":"77","amount":12,"lines":[{"sku":"a"}],"extra":{"x":1}}`: true,
		`{"order":"77","amount":12,"at":"2026-01-02T03:04:05Z"}`:           true,
		`{"order":"77"}`:                                 false,
		`{"order":77,"amount":12}`:                       false,
		`{"order":"77","amount":1.5}`:                    false,
		`{"order":"77","amount":12,"admin":true}`:        false,
		`{"order":"77","amount":12,"lines":[{"x":1}]}`:   false,
		`{"order":"77","amount":12,"lines":[{"sku":1}]}`: false,
		`[]`:   false,
		`null`: false,
	} {
		if err := made.Validate(json.RawMessage(args)); (err == nil) != fits {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestFuncCall(t *testing.T) {
	made := refunds(t, func(_ context.Context, call tool.Call, in refund) (string, error) {
		if in.Amount < 0 {
			return "", tool.Definite(errors.New("no"))
		}
		if in.Amount > 100 {
			return "", errors.New("lost")
		}
		return call.OperationID + " " + in.Order, nil
	})
	got, err := made.Call(t.Context(), tool.Call{OperationID: "op", Args: json.RawMessage(`{"order":"77","amount":1}`)})
	if err != nil || string(got.Value) != `"op 77"` {
		t.Errorf("gives %s, %v", got.Value, err)
	}
	for args, definite := range map[string]bool{`{"amount":-1}`: true, `{"amount":101}`: false, `{"amount":"x"}`: true, `{`: true, `{"amount":1e30}`: true, `{"lines":[{"sku":1}]}`: true} {
		if _, err := made.Call(t.Context(), tool.Call{Args: json.RawMessage(args)}); err == nil || made.IsDefinite(err) != definite {
			t.Errorf("%s: %v", args, err)
		}
	}
	_, err = made.Call(t.Context(), tool.Call{Args: json.RawMessage(`{"amount":"x"}`)})
	var f *tool.Fault
	if !errors.As(err, &f) || f.Field != "amount" || string(f.Value) != `"x"` || !f.Repairable() {
		t.Errorf("gives %+v", err)
	}
}

type spelled struct {
	Plain string
	embedded
	Tagged  embedded            `json:"tagged"`
	Hidden  string              `json:"-"`
	Dash    string              `json:"-,"`
	Pointer *embedded           `json:"pointer,omitempty"`
	Named   map[string]embedded `json:"named,omitempty"`
	Lists   [][]embedded        `json:"lists,omitempty"`
	Any     any                 `json:"any,omitempty"`
	Raw     json.RawMessage     `json:"raw,omitempty"`
	At      time.Time           `json:"at,omitzero"`
}

type embedded struct {
	Kind string `json:"kind,omitempty"`
}

// Names count as they are written: rules and people read them so.
func TestFuncTakesExactNames(t *testing.T) {
	made, err := tool.Func("f", "", func(context.Context, tool.Call, spelled) (int, error) { return 1, nil })
	if err != nil {
		t.Fatal(err)
	}
	for args, field := range map[string]string{
		`{"Plain":"a","kind":"b","tagged":{"kind":"c"},"-":"d"}`:                              "",
		`{"named":{"KIND":{"kind":"x"},"kind":{}},"other":1,"any":{"PLAIN":1},"raw":{"A":1}}`: "",
		`{"at":"2026-01-02T03:04:05Z","hidden":"x"}`:                                          "",
		`null`:                            "",
		`{"plain":"a"}`:                   "plain",
		`{"KIND":"a"}`:                    "KIND",
		`{"Embedded":{"kind":"a"}}`:       "",
		`{"Tagged":{"kind":"a"}}`:         "Tagged",
		`{"tagged":{"Kind":"a"}}`:         "tagged.Kind",
		`{"pointer":{"\u212aind":"a"}}`:   "pointer.\u212aind",
		`{"named":{"x":{"Kind":"a"}}}`:    "named.x.Kind",
		`{"lists":[[],[{"kInd":"a"}]]}`:   "lists.1.0.kInd",
		`{"AT":"2026-01-02T03:04:05Z"}`:   "AT",
		`{"Plain":"a","kind":"b","X":{}}`: "",
	} {
		_, err := made.Call(t.Context(), tool.Call{Args: json.RawMessage(args)})
		var f *tool.Fault
		if (err != nil) != (field != "") || err != nil && (!errors.As(err, &f) || f.Field != field || !made.IsDefinite(err)) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// It happened: that its result is no JSON must not make that unknown.
func TestFuncResultThatIsNone(t *testing.T) {
	made, err := tool.Func("f", "", func(context.Context, tool.Call, struct{}) (float64, error) { return math.NaN(), nil })
	if err != nil {
		t.Fatal(err)
	}
	got, err := made.Call(t.Context(), tool.Call{})
	if err != nil || !json.Valid(got.Value) || !strings.Contains(string(got.Value), "it was done") {
		t.Errorf("gives %s, %v", got.Value, err)
	}
}

func TestFuncOfAnything(t *testing.T) {
	made, err := tool.Func("f", "", func(_ context.Context, _ tool.Call, in json.RawMessage) (any, error) { return in, nil })
	if err != nil || made.Schema != nil {
		t.Fatalf("has the schema %s, %v", made.Schema, err)
	}
	for _, args := range []string{`{"a":[1]}`, `7`, ``} {
		got, err := made.Call(t.Context(), tool.Call{Args: json.RawMessage(args)})
		if want := args; err != nil || string(got.Value) != want && args != "" || args == "" && string(got.Value) != "null" {
			t.Errorf("%q gives %s, %v", args, got.Value, err)
		}
	}
}

func TestFuncRefuses(t *testing.T) {
	type loop struct{ Next *loop }
	refused := func(name string, err error) {
		t.Helper()
		if !errors.Is(err, holdshort.Invalid) || holdshort.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := tool.Func[struct{}, int]("f", "", nil)
	refused("no function", err)
	_, err = tool.Func("f", "", func(context.Context, tool.Call, chan int) (int, error) { return 0, nil })
	refused("arguments that are none", err)
	_, err = tool.Func("f", "", func(context.Context, tool.Call, struct{}) (func(), error) { return nil, nil })
	refused("results that are none", err)
	_, err = tool.Func("f", "", func(context.Context, tool.Call, loop) (int, error) { return 0, nil })
	refused("arguments without end", err)
}

// Arguments are checked before anybody is asked, and a panic of a write leaves its outcome unknown.
func TestFuncInTheKernel(t *testing.T) {
	made := refunds(t, func(_ context.Context, _ tool.Call, in refund) (string, error) {
		if in.Amount == 13 {
			panic("unlucky")
		}
		return "re_1", nil
	})
	pay := flow.New("pay", 1, func(c *flow.Context, in json.RawMessage) (string, error) {
		return flow.Call[string](c, "pay", "refund", in)
	})
	k := holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{pay}, Tools: []tool.Tool{made}})
	k.WhenAsked(holdshorttest.Match{Kind: holdshort.Approval}).By("ana", "reviewer").Approve()
	run := k.Start("pay", json.RawMessage(`{"order":77,"amount":1}`))
	if f := k.Failure(run); len(k.Requests(run)) != 0 || len(k.Operations(run)) != 0 {
		t.Errorf("arguments that do not fit: %+v after %d questions", f, len(k.Requests(run)))
	}
	run = k.Start("pay", json.RawMessage(`{"order":"77","amount":1}`))
	if got := holdshorttest.Result[string](k, run); got != "re_1" {
		t.Errorf("gives %s", got)
	}
	run = k.Start("pay", json.RawMessage(`{"order":"77","amount":13}`))
	k.Wait(run)
	k.Advance(2 * time.Minute)
	if ops := k.Operations(run); len(ops) != 1 || ops[0].Status != holdshort.OperationUnknown {
		t.Errorf("a panic leaves %+v", ops)
	}
}
