package fill

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holdshort/holdshort/tool"
)

func valuesOf(t *testing.T, args string) Values {
	t.Helper()
	v, err := ValuesOf(tool.Call{Tenant: "acme", RunID: "run_1", OperationID: "tr:run_1/pay", Args: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"{", "}", "a}b", "{a", "{}", "{a b}", "{a..b}", "{.a}", "{a?b}", "{@nonsense}", "{@}", "{ä}", "{a{b}}", "{?}", "{a\n}"} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestFill(t *testing.T) {
	tests := []struct {
		text, args, want string
		missing, fails   bool
	}{
		{text: "", args: `{}`},
		{text: "plain", args: `{}`, want: "plain"},
		{text: "{{a}}", args: `{"a":1}`, want: "{a}"},
		{text: "{{{a}}}", args: `{"a":1}`, want: "{1}"},
		{text: "{a}", args: `{"a":"b c"}`, want: "b c"},
		{text: "x{a}y{b}z", args: `{"a":1,"b":true}`, want: "x1ytruez"},
		{text: "{a.b}", args: `{"a":{"b":"c"}}`, want: "c"},
		{text: "{a.1}", args: `{"a":["x","y"]}`, want: "y"},
		{text: "{a}", args: `{"a":12345678901234567890}`, want: "12345678901234567890"},
		{text: "{a}", args: `{"a":1.50}`, want: "1.50"},
		{text: "{a}", args: `{"a":"{b}","b":"no"}`, want: "{b}"},
		{text: "{@operation_id} {@run_id} {@tenant}", args: `{}`, want: "tr:run_1/pay run_1 acme"},
		{text: "{@args}", args: `{"a":1}`, want: `{"a":1}`},
		{text: "{a?}", args: `{}`, missing: true},
		{text: "x{a?}", args: `{"a":null}`, missing: true},
		{text: "{a?}", args: `{"a":""}`, want: ""},
		{text: "{a}", args: `{}`, fails: true},
		{text: "{a}", args: `{"a":null}`, fails: true},
		{text: "{a}", args: `{"a":[1]}`, fails: true},
		{text: "{a}", args: `{"a":{}}`, fails: true},
		{text: "{a.01}", args: `{"a":["x","y"]}`, fails: true},
		{text: "{a.-1}", args: `{"a":["x","y"]}`, fails: true},
		{text: "{a.b}", args: `{"a":"b"}`, fails: true},
	}
	for _, tt := range tests {
		template, err := Parse(tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		got, ok, err := template.Fill(valuesOf(t, tt.args), nil)
		if got != tt.want || ok == (tt.missing || tt.fails) || (err != nil) != tt.fails {
			t.Errorf("%s of %s is %q, %v, %v; want %q, missing %v, fails %v", tt.text, tt.args, got, ok, err, tt.want, tt.missing, tt.fails)
		}
	}
}

// What cannot go where its place is never was sent, and says which argument it is.
func TestWrongIsRepairable(t *testing.T) {
	template, err := Parse("{a.b}")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = template.Fill(valuesOf(t, `{"a":{"b":[1]}}`), nil)
	var f *tool.Fault
	if !errors.As(err, &f) || f.Class != tool.Validation || f.Field != "a.b" || string(f.Value) != "[1]" || !(tool.Tool{}).IsDefinite(err) {
		t.Errorf("gives %#v", err)
	}
}

func TestArgumentsThatAreNone(t *testing.T) {
	for _, args := range []string{"{", "{} {}", "nul"} {
		if _, err := ValuesOf(tool.Call{Args: json.RawMessage(args)}); err == nil || !(tool.Tool{}).IsDefinite(err) {
			t.Errorf("%s: %v", args, err)
		}
	}
	v, err := ValuesOf(tool.Call{})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := v.Value(Place{Name: "a", Optional: true}); ok || err != nil {
		t.Errorf("no arguments have one: %v", err)
	}
}

func TestStructure(t *testing.T) {
	tests := []struct{ body, args, want string }{
		{`{"id":"{order}","note":"for {name}","fixed":1}`, `{"order":77,"name":"ana"}`, `{"fixed":1,"id":77,"note":"for ana"}`},
		{`{"items":"{items}"}`, `{"items":[{"a":1},2]}`, `{"items":[{"a":1},2]}`},
		{`{"a":"{a?}","b":["{b?}","x"]}`, `{}`, `{"b":["x"]}`},
		{`{"a":"x{a?}"}`, `{}`, `{}`},
		{`"{a}"`, `{"a":{"b":null}}`, `{"b":null}`},
		{`["{@operation_id}","{@args}"]`, `{"a":1}`, `["tr:run_1/pay",{"a":1}]`},
		{`{"a":"{a}"}`, `{"a":"\",\"admin\":true,\"x\":\""}`, `{"a":"\",\"admin\":true,\"x\":\""}`},
		{`{"{a}":1}`, `{"a":"x"}`, `{"{a}":1}`},
		{`{"n":"{n}"}`, `{"n":1e400}`, `{"n":1e400}`},
		{`{"t":true,"n":null}`, `{}`, `{"n":null,"t":true}`},
	}
	for _, tt := range tests {
		s, err := ParseStructure(json.RawMessage(tt.body))
		if err != nil {
			t.Errorf("%s: %v", tt.body, err)
			continue
		}
		got, err := s.Fill(valuesOf(t, tt.args))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s of %s is %s, %v; want %s", tt.body, tt.args, got, err, tt.want)
		}
	}
	for _, body := range []string{"{", `{"a":"{"}`, `["}"]`, `{} {}`} {
		if _, err := ParseStructure(json.RawMessage(body)); err == nil {
			t.Errorf("%s is taken", body)
		}
	}
	s, err := ParseStructure(json.RawMessage(`{"a":["{b.c}"],"d":"{e?}{@run_id}"}`))
	if err != nil || len(s.Places()) != 3 {
		t.Errorf("has the places %v, %v", s.Places(), err)
	}
	if _, err := s.Fill(valuesOf(t, `{}`)); err == nil {
		t.Error("is filled without its argument")
	}
}

// A value never becomes syntax: whatever text goes in comes out as the same text.
func TestStructureKeepsValues(t *testing.T) {
	s, err := ParseStructure(json.RawMessage(`{"whole":"{v}","within":"<{v}>"}`))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.String().Draw(r, "text")
		args, err := json.Marshal(map[string]string{"v": text})
		if err != nil {
			r.Fatal(err)
		}
		v, err := ValuesOf(tool.Call{Args: args})
		if err != nil {
			r.Fatal(err)
		}
		raw, err := s.Fill(v)
		if err != nil {
			r.Fatal(err)
		}
		var back map[string]string
		if err := json.Unmarshal(raw, &back); err != nil || len(back) != 2 || back["whole"] != text || back["within"] != "<"+text+">" {
			r.Fatalf("%q became %s", text, raw)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "{a}", "{{", "}}", "{a.b?}x", "{@args}", "{", "a{b}{c}"} {
		f.Add(seed)
	}
	v := Values{args: map[string]any{"a": "x", "b": map[string]any{"c": "{a}"}}}
	f.Fuzz(func(t *testing.T, text string) {
		template, err := Parse(text)
		if err != nil {
			return
		}
		if _, isLiteral := template.Literal(); isLiteral != (len(template.Places()) == 0) {
			t.Errorf("%q: literal is %v with %d places", text, isLiteral, len(template.Places()))
		}
		if got, ok, err := template.Fill(v, nil); err == nil && ok && len(template.Places()) == 0 && got != template.Static() {
			t.Errorf("%q became %q", text, got)
		}
	})
}

func TestKey(t *testing.T) {
	for _, id := range []string{"", "a:run_1/pay", strings.Repeat("a", 255)} {
		if Key(id) != id {
			t.Errorf("%q is %q", id, Key(id))
		}
	}
	seen := map[string]bool{}
	for _, id := range []string{strings.Repeat("a", 256), "a b", "ä", "a\r\nX: y", strings.Repeat("b", 256)} {
		key := Key(id)
		if !strings.HasPrefix(key, "op_") || len(key) != 67 || seen[key] || key != Key(id) {
			t.Errorf("%q is %q", id, key)
		}
		seen[key] = true
	}
}

func TestSchemaOf(t *testing.T) {
	var places []Place
	for _, text := range []string{"{a}", "{b.c}", "{d?}", "{@run_id}", "{b.e?}", "{d?}"} {
		template, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, template.Places()...)
	}
	if got, want := string(SchemaOf(places)), `{"properties":{"a":{},"b":{},"d":{}},"required":["a","b"],"type":"object"}`; got != want {
		t.Errorf("is %s, want %s", got, want)
	}
	if got := string(SchemaOf(nil)); got != `{"properties":{},"type":"object"}` {
		t.Errorf("of nothing is %s", got)
	}
}

func TestCheckSchema(t *testing.T) {
	place := func(name string) []Place { return []Place{{Name: name}} }
	schema := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"object","properties":{"c":{}}},"t":true}}`)
	for name, ok := range map[string]bool{"a": true, "b.c": true, "b": true, "t": true, "t.x": true, "x": false, "b.x": false, "a.x": true} {
		if err := CheckSchema(schema, place(name)); (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, open := range []string{`{}`, `true`, `{"type":"object"}`, `{`} {
		if err := CheckSchema(json.RawMessage(open), place("x")); err != nil {
			t.Errorf("%s: %v", open, err)
		}
	}
	if err := CheckSchema(schema, []Place{{Name: "run_id", Fact: true}}); err != nil {
		t.Error(err)
	}
}
