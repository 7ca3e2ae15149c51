package reply

import (
	"encoding/json"
	"testing"
)

func FuzzForm(f *testing.F) {
	for _, text := range []string{`{"amount":1,"note":"x","kind":"late","ok":true}`, "amount: 5\nnote = hello", "7", "late", "yes",
		`{"amount":1e400}`, `{"a":1,"a":2}`, `{"note":"\ud800"}`, "amount=٣", "cancel", `{"amount":1} x`, "note: \"\"", "amount: 1,5"} {
		f.Add(text, uint8(0))
	}
	f.Fuzz(func(t *testing.T, text string, known uint8) {
		q := &Question{Expected: Form, Fields: []Field{
			{Name: "amount", Type: Number, Required: true, Known: known&1 != 0},
			{Name: "note", Type: String, Required: true, Known: known&2 != 0},
			{Name: "kind", Type: Enum, Enum: []string{"late", "damaged"}, Required: true, Known: known&4 != 0},
			{Name: "ok", Type: Boolean, Known: known&8 != 0},
			{Name: "count", Type: Integer},
			{Name: "more", Type: JSON},
		}}
		got := Read(text, q)
		if got.Verdict != Filled {
			if len(got.Values) > 0 || got.Verdict == None && got.Reason == "" || got.Verdict != None && got.Verdict != Cancel {
				t.Errorf("%q read as %v with %d values", text, got, len(got.Values))
			}
			return
		}
		given := map[int]bool{}
		for _, v := range got.Values {
			if given[v.Field] || !json.Valid(v.JSON) {
				t.Errorf("%q: field %d is %s", text, v.Field, v.JSON)
			}
			given[v.Field] = true
		}
		for i, field := range q.Fields {
			if field.Required && !field.Known && !given[i] {
				t.Errorf("%q filled the form without %s", text, field.Name)
			}
		}
		// What was read must read as itself.
		object := map[string]json.RawMessage{}
		for _, v := range got.Values {
			object[q.Fields[v.Field].Name] = v.JSON
		}
		again, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		second := Read(string(again), q)
		if second.Verdict != Filled || len(second.Values) != len(got.Values) {
			t.Fatalf("%q was read, but %s is %v", text, again, second)
		}
		for i, v := range second.Values {
			if v.Field != got.Values[i].Field || q.Fields[v.Field].Type != JSON && string(v.JSON) != string(got.Values[i].JSON) {
				t.Errorf("%q: %s became %s", text, got.Values[i].JSON, v.JSON)
			}
		}
	})
}
