package tool_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/holdshort/holdshort/tool"
)

type payment struct {
	Size   int `json:"size"`
	Amount int
	To     struct {
		Kind string `json:"kind"`
	} `json:"to"`
	More map[string]struct {
		Kind string `json:"kind"`
	} `json:"more,omitempty"`
	List []struct {
		Kind string `json:"kind"`
	} `json:"list,omitempty"`
}

// What a rule reads is what the function gets: no other spelling of a field's name may take its place.
func TestOtherSpellingsOfAField(t *testing.T) {
	var got payment
	made, err := tool.Func("pay", "", func(_ context.Context, _ tool.Call, in payment) (int, error) { got = in; return 0, nil })
	if err != nil {
		t.Fatal(err)
	}
	loose := made
	loose.Schema = json.RawMessage(`{"type":"object","properties":{"size":{"type":"integer"},"Amount":{"type":"integer"}}}`) // what a configuration wrote in its place
	for name, declared := range map[string]tool.Tool{"its own schema": made, "a loose schema": loose} {
		declared, err := declared.Prepare()
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range []string{
			`{"Amount":1,"amount":5000,"size":1,"to":{"kind":"a"}}`,
			`{"Amount":1,"size":1,"ſize":5000,"to":{"kind":"a"}}`,
			`{"Amount":1,"size":1,"to":{"kind":"a","Kind":"b","\u212aind":"b"}}`,
			`{"Amount":1,"size":1,"to":{"kind":"a"},"more":{"x":{"kind":"a","\u212aind":"b"}}}`,
			`{"Amount":1,"size":1,"to":{"kind":"a"},"list":[{"kind":"a","\u212aind":"b"}]}`,
		} {
			got = payment{}
			if declared.Validate(json.RawMessage(args)) != nil {
				continue
			}
			_, err := declared.Call(t.Context(), tool.Call{Args: json.RawMessage(args)})
			bad := got.Size > 1 || got.Amount > 1 || got.To.Kind == "b" || len(got.List) > 0 && got.List[0].Kind == "b" || got.More["x"].Kind == "b"
			if bad && err == nil {
				t.Errorf("%s: the function gets %+v of %s", name, got, args)
			}
		}
	}
}
