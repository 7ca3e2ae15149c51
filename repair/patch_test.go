package repair

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
)

func TestApply(t *testing.T) {
	for _, c := range []struct{ name, args, set, want string }{
		{"a field", `{"a":1,"b":2}`, `{"a":3}`, `{"a":3,"b":2}`},
		{"a new field", `{"b":2}`, `{"a":3}`, `{"a":3,"b":2}`},
		{"within another", `{"size":{"width":1,"height":2}}`, `{"size.width":5}`, `{"size":{"height":2,"width":5}}`},
		{"within one that is not there", `{"x":1}`, `{"size.width":5}`, `{"size":{"width":5},"x":1}`},
		{"through a list", `{"lines":[{"n":1},{"n":2}]}`, `{"lines.1.n":7}`, `{"lines":[{"n":1},{"n":7}]}`},
		{"through a list, with brackets", `{"lines":[{"n":1},{"n":2}]}`, `{"lines[0].n":7}`, `{"lines":[{"n":7},{"n":2}]}`},
		{"an element", `{"tags":["a","b"]}`, `{"tags.1":"c"}`, `{"tags":["a","c"]}`},
		{"a key with a dot", `{"a.b":1}`, `{"a.b":2}`, `{"a.b":2}`},
		{"several", `{"a":1,"b":{"c":1,"d":1},"e":1}`, `{"a":2,"b.c":2,"b.d":3}`, `{"a":2,"b":{"c":2,"d":3},"e":1}`},
		{"what is not canonical becomes it", "{ \"b\" : 1.0,\n\"a\":\"\\u0041\" }", `{"c":1e2}`, `{"a":"A","b":1,"c":100}`},
		{"signs of markup stay as they are", `{"a":"<b>&","c":1}`, `{"c":"</b>"}`, `{"a":"<b>&","c":"</b>"}`},
		{"no arguments", ``, `{"a":1}`, `{"a":1}`},
		{"nothing", `{"a":1}`, `{}`, ""},
		{"too many", `{}`, `{"a":1,"b":1,"c":1,"d":1}`, ""},
		{"a field and its part", `{"a":{"b":1}}`, `{"a":{},"a.b":1}`, ""},
		{"one place in two spellings", `{"a":[1]}`, `{"a.0":1,"a[0]":2}`, ""},
		{"within a number", `{"a":1}`, `{"a.b":1}`, ""},
		{"beyond a list", `{"a":[1]}`, `{"a.1":1}`, ""},
		{"before a list", `{"a":[1]}`, `{"a.-1":1}`, ""},
		{"a name in a list", `{"a":[1]}`, `{"a.b":1}`, ""},
		{"a name that means two", `{"a.b":1,"a":{"b":1}}`, `{"a.b":2}`, ""},
		{"no name", `{}`, `{"":1}`, ""},
		{"an empty step", `{}`, `{"a..b":1}`, ""},
		{"no object", `[1]`, `{"0":1}`, ""},
		{"no JSON", `{"a":`, `{"a":1}`, ""},
		{"a key twice", `{"a":1,"a":2}`, `{"a":1}`, ""},
		{"a very long way", `{}`, `{"` + strings.Repeat("a.", 40) + `a":1}`, ""},
		{"a very long value", `{}`, `{"a":"` + strings.Repeat("x", MaxValue) + `"}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p Patch
			if err := json.Unmarshal([]byte(`{"set":`+c.set+`}`), &p); err != nil {
				t.Fatal(err)
			}
			got, err := p.Apply(json.RawMessage(c.args))
			if string(got) != c.want || (err == nil) != (c.want != "") {
				t.Errorf("gives %s, %v; want %s", got, err, c.want)
			}
			if err != nil && (holdshort.CodeOf(err) == holdshort.Internal || holdshort.HintOf(err) == "") {
				t.Errorf("refuses with %v", err)
			}
		})
	}
	if _, err := (Patch{Set: map[string]json.RawMessage{"a": json.RawMessage("{")}}).Apply(json.RawMessage("{}")); err == nil {
		t.Error("a value that is no JSON was set")
	}
}

func TestDiff(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{`{"a":1}`, `{ "a": 1.0 }`, ``},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, ``},
		{`{"a":1,"b":2}`, `{"a":3,"b":2}`, `a: 1 > 3`},
		{`{"size":{"w":1,"h":2}}`, `{"size":{"w":1,"h":3}}`, `size.h: 2 > 3`},
		{`{"a":1}`, `{"b":1}`, `a: 1 > ; b:  > 1`},
		{`{"l":[1,2]}`, `{"l":[1,3]}`, `l.1: 2 > 3`},
		{`{"l":[1,2]}`, `{"l":[1]}`, `l: [1,2] > [1]`},
		{`{"a":{}}`, `{"a":[]}`, `a: {} > []`},
		{`1`, `2`, `: 1 > 2`},
		{`{"a":null}`, `{}`, `a: null > `},
		{`{`, `{`, ``},
		{`{`, `{}`, `: { > {}`},
		{`{"z":1,"a":1,"m":1}`, `{"z":2,"a":2,"m":2}`, `a: 1 > 2; m: 1 > 2; z: 1 > 2`},
	} {
		var got []string
		for _, d := range Diff(json.RawMessage(c.before), json.RawMessage(c.after)) {
			got = append(got, fmt.Sprintf("%s: %s > %s", d.Field, d.Before, d.After))
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s and %s differ in %q, want %q", c.before, c.after, got, c.want)
		}
	}
}

// madeUp is a JSON value of at most some depth.
func madeUp(r *rand.Rand, depth int) any {
	switch n := r.IntN(8); {
	case n < 2 && depth > 0:
		object := map[string]any{}
		for range r.IntN(4) {
			object[string(rune('a'+r.IntN(5)))] = madeUp(r, depth-1)
		}
		return object
	case n < 3 && depth > 0:
		list := []any{}
		for range r.IntN(4) {
			list = append(list, madeUp(r, depth-1))
		}
		return list
	case n < 5:
		return r.IntN(100)
	case n < 6:
		return r.IntN(2) == 0
	}
	return []string{"", "x", "<&>", "é\u2028", "1:1"}[r.IntN(5)]
}

// TestDiffTellsApart: nothing for the same value however it is written, something for any other, and what Apply set is all that differs.
func TestDiffTellsApart(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		value := map[string]any{"k": madeUp(r, 4), "m": madeUp(r, 2)}
		plain, _ := json.Marshal(value)
		pretty, _ := json.MarshalIndent(value, " ", "\t")
		if d := Diff(plain, pretty); len(d) != 0 {
			t.Fatalf("%s differs from itself in %v", plain, d)
		}
		other, _ := json.Marshal(map[string]any{"k": madeUp(r, 4), "m": value["m"]})
		a, _ := holdshort.Canonical(plain)
		b, _ := holdshort.Canonical(other)
		if d := Diff(plain, other); (len(d) == 0) != (string(a) == string(b)) {
			t.Fatalf("%s and %s differ in %v", plain, other, d)
		}
		set, _ := holdshort.CanonicalValue(madeUp(r, 2))
		after, err := Patch{Set: map[string]json.RawMessage{"k": set}}.Apply(plain)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := holdshort.Canonical(after); err != nil || string(again) != string(after) {
			t.Fatalf("%s is not canonical", after)
		}
		for _, d := range Diff(plain, after) {
			if d.Field != "k" && !strings.HasPrefix(d.Field, "k.") {
				t.Fatalf("setting k in %s changed %s", plain, d.Field)
			}
		}
		if now, there := at(after, "k"); !there || string(now) != string(set) {
			t.Fatalf("k is %s, want %s", now, set)
		}
	}
}
