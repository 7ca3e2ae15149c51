package inbox

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/testall"
)

// submitted is what a browser sends of a form that nobody touched, or of one that was filled in with its values.
func submitted(f field, into url.Values) url.Values {
	switch f.Input {
	case "fixed":
	case "object":
		for _, inner := range f.Fields {
			submitted(inner, into)
		}
	case "list":
		for _, item := range f.Items {
			into.Add(f.Name+".#", item.Number())
			submitted(item, into)
		}
	case "choice":
		for _, c := range f.Choices {
			if c.Chosen {
				into.Set(f.Name+".@", c.ID)
			}
		}
		for _, inner := range f.Fields {
			submitted(inner, into)
		}
	default:
		into.Set(f.Name, strings.ReplaceAll(f.Value, "\n", "\r\n"))
	}
	return into
}

// made gives a random schema and a value that it takes.
func made(r *rand.Rand, depth int) (schema string, value any) {
	texts := []string{"plain", "two words", "a\nb\n\nc", "tab\there", "“quoted” & <b>", "\u202eknab\u200b", "ünïcödé שלום", "0", "true", "null", "{}", "~0.#@", " spaces "}
	kinds := 9
	if depth > 0 {
		kinds = 12
	}
	switch r.IntN(kinds) {
	case 0:
		return `{"type":"string"}`, texts[r.IntN(len(texts))]
	case 1:
		return `{"type":"string","maxLength":500,"title":"A long one"}`, strings.Repeat(texts[r.IntN(len(texts))], 1+r.IntN(8))
	case 2:
		return `{"type":"number"}`, json.Number([]string{"0", "-3.25", "1e3", "12.5", "100000"}[r.IntN(5)])
	case 3:
		return `{"type":"integer","minimum":0,"maximum":99}`, json.Number(strconv.Itoa(r.IntN(100)))
	case 4:
		return `{"type":"boolean"}`, r.IntN(2) == 0
	case 5:
		values := []any{"small", "large", json.Number("3"), nil, true}
		return `{"enum":["small","large",3,null,true]}`, values[r.IntN(len(values))]
	case 6:
		return `{"type":"string","format":"date"}`, "2026-01-31"
	case 7:
		return `{"type":"string","format":"date-time"}`, []string{"2026-01-31T09:00:00Z", "2026-01-31T09:00:00.5+02:00"}[r.IntN(2)]
	case 8:
		return `{"type":["string","null"]}`, []any{"there", nil}[r.IntN(2)]
	case 9:
		item, _ := made(r, 0)
		list := []any{}
		for range r.IntN(4) {
			_, one := remade(r, item)
			list = append(list, one)
		}
		return `{"type":"array","items":` + item + `}`, list
	case 10:
		one, v := made(r, 0)
		two, w := made(r, 0)
		schema := `{"oneOf":[{"type":"object","title":"One","required":["k","x"],"properties":{"k":{"const":"one"},"x":` + one + `}},{"type":"object","title":"Two","required":["k","y"],"properties":{"k":{"const":"two"},"y":` + two + `}}]}`
		if r.IntN(2) == 0 {
			return schema, map[string]any{"k": "one", "x": v}
		}
		return schema, map[string]any{"k": "two", "y": w}
	}
	names := []string{"name", "a.b", "with space", "#", "@", "~1", "0", "é"}
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var properties, required []string
	object := map[string]any{}
	for _, name := range names[:1+r.IntN(4)] {
		schema, value := made(r, depth-1)
		quoted, _ := json.Marshal(name)
		properties = append(properties, string(quoted)+":"+schema)
		if r.IntN(3) > 0 {
			required = append(required, string(quoted))
			object[name] = value
		} else if r.IntN(2) == 0 {
			object[name] = value
		}
	}
	return `{"type":"object","required":[` + strings.Join(required, ",") + `],"properties":{` + strings.Join(properties, ",") + `}}`, object
}

// remade gives another value of a simple schema that made has made.
func remade(r *rand.Rand, schema string) (string, any) {
	for {
		if again, value := made(r, 0); again == schema {
			return schema, value
		}
	}
}

// A form that shows a value and is sent as it stands gives that value back, byte for byte in its canonical form.
func TestFormGivesBackWhatItShows(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 11))
	schemas := 300
	if testall.Enabled() {
		schemas = 3000
	}
	for i := range schemas {
		schema, value := made(r, 3)
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		want, err := holdshort.Canonical(raw)
		if err != nil {
			t.Fatal(err)
		}
		f := fieldFor(shapeOf(json.RawMessage(schema)), json.RawMessage(schema), want, nil, "f", "", true, outermost())
		form := submitted(f, url.Values{"fingerprint": {"x"}})
		got, err := fieldFor(shapeOf(json.RawMessage(schema)), json.RawMessage(schema), want, form, "f", "", true, outermost()).read()
		if err != nil {
			t.Fatalf("%d: %s of %s: %v", i, want, schema, err)
		}
		if canonical, err := holdshort.Canonical(got); err != nil || string(canonical) != string(want) {
			t.Fatalf("%d: %s of %s comes back as %s, %v\n%v", i, want, schema, got, err, form)
		}
	}
}

// A form that was empty and is filled in gives what was filled in.
func TestFormFilledIn(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, schema string
		form         url.Values
		want         string // "": it does not fit
		wrong        string // the field that does not
	}{
		{"required text may be empty", `{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}`, url.Values{"f.a": {""}}, `{"a":""}`, ""},
		{"optional text left empty", `{"type":"object","properties":{"a":{"type":"string"}}}`, url.Values{"f.a": {""}}, `{}`, ""},
		{"required number missing", `{"type":"object","required":["a"],"properties":{"a":{"type":"number"}}}`, url.Values{"f.a": {""}}, "", "f.a"},
		{"no number", `{"type":"object","properties":{"a":{"type":"number"}}}`, url.Values{"f.a": {"1,5"}}, "", "f.a"},
		{"a number in quotes", `{"type":"object","properties":{"a":{"type":"number"}}}`, url.Values{"f.a": {`"5"`}}, "", "f.a"},
		{"not a number at all", `{"type":"object","properties":{"a":{"type":"number"}}}`, url.Values{"f.a": {"NaN"}}, "", "f.a"},
		{"spaces around a number", `{"type":"object","properties":{"a":{"type":"number"}}}`, url.Values{"f.a": {" 5 "}}, `{"a":5}`, ""},
		{"none of the choices", `{"type":"object","properties":{"a":{"enum":["x"]}}}`, url.Values{"f.a": {`"y"`}}, "", "f.a"},
		{"yes", `{"type":"object","properties":{"a":{"type":"boolean"}}}`, url.Values{"f.a": {"true"}}, `{"a":true}`, ""},
		{"a moment without seconds", `{"type":"object","properties":{"a":{"type":"string","format":"date-time"}}}`, url.Values{"f.a": {"2026-01-31T09:00"}}, `{"a":"2026-01-31T09:00:00Z"}`, ""},
		{"an optional object left empty", `{"type":"object","properties":{"o":{"type":"object","required":["x"],"properties":{"x":{"type":"number"}}}}}`, url.Values{"f.o.x": {""}}, `{}`, ""},
		{"an optional object half filled in", `{"type":"object","properties":{"o":{"type":"object","required":["x"],"properties":{"x":{"type":"number"},"y":{"type":"string"}}}}}`, url.Values{"f.o.x": {""}, "f.o.y": {"there"}}, "", "f.o.x"},
		{"entries in their order", `{"type":"array","items":{"type":"string"}}`, url.Values{"f.#": {"7", "2"}, "f.7": {"first"}, "f.2": {"second"}}, `["first","second"]`, ""},
		{"an entry that was taken out", `{"type":"array","items":{"type":"string"}}`, url.Values{"f.#": {"2"}, "f.7": {"first"}, "f.2": {"second"}}, `["second"]`, ""},
		{"entries that are no numbers", `{"type":"array","items":{"type":"string"}}`, url.Values{"f.#": {"x", "-1", "1e9"}}, `[]`, ""},
		{"no alternative chosen", `{"oneOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"string"}}}]}`, url.Values{}, "", "f"},
		{"the second alternative", `{"oneOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"string"}}}]}`, url.Values{"f.@": {"1"}, "f.1.b": {"x"}, "f.0.a": {"y"}}, `{"b":"x"}`, ""},
		{"named choices", `{"oneOf":[{"const":1,"title":"One"},{"const":2,"title":"Two"}]}`, url.Values{"f": {"2"}}, `2`, ""},
		{"what is no form is JSON", `{"allOf":[{"type":"object"}]}`, url.Values{"f": {`{"a": [1]}`}}, `{"a": [1]}`, ""},
		{"broken JSON", `{"allOf":[{"type":"object"}]}`, url.Values{"f": {`{"a": [1`}}, "", "f"},
		{"a reference", `{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","properties":{"x":{"$ref":"#/$defs/n"}}},"n":{"type":"integer"}}}`, url.Values{"f.x": {"4"}}, `{"x":4}`, ""},
		{"a reference to itself", `{"type":"object","properties":{"x":{"$ref":"#"}}}`, url.Values{"f.x.x.x.x.x.x.x": {""}}, `{}`, ""},
		{"line ends of browsers", `{"type":"string","maxLength":900}`, url.Values{"f": {"a\r\nb\rc\n"}}, `"a\nb\nc\n"`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := formFor(holdshort.Request{Schema: json.RawMessage(tt.schema)}, tt.form).read()
			if tt.want == "" {
				if holdshort.CodeOf(err) != holdshort.DoesNotFit || fieldOf(err) != tt.wrong || holdshort.HintOf(err) == "" {
					t.Fatalf("%s, %v at %q, want %q", got, err, fieldOf(err), tt.wrong)
				}
				return
			}
			if err != nil || string(got) != tt.want {
				t.Fatalf("%s, %v, want %s", got, err, tt.want)
			}
		})
	}
}

// Adding, taking out and choosing change the form and nothing else of it.
func TestFormDrawnAgain(t *testing.T) {
	t.Parallel()
	form := url.Values{"f.#": {"0", "4"}, "f.0": {"a"}, "f.4": {"b"}, "fingerprint": {"x"}}
	with := func(action string) url.Values {
		out := url.Values{"action": {action}}
		for k, v := range form {
			out[k] = v
		}
		return out
	}
	more, ok := redrawn(with("add:f"))
	if want := fmt.Sprint([]string{"0", "4", "5"}); !ok || fmt.Sprint(more["f.#"]) != want {
		t.Errorf("%v, want %s", more["f.#"], want)
	}
	less, ok := redrawn(with("drop:f.0"))
	if !ok || fmt.Sprint(less["f.#"]) != "[4]" || less.Get("f.4") != "b" {
		t.Errorf("%v", less)
	}
	for _, action := range []string{"approve", "reject", "addf", "other:f", "drop:", ""} {
		if _, ok := redrawn(with(action)); ok {
			t.Errorf("%q only draws the form again", action)
		}
	}
	if fmt.Sprint(form["f.#"]) != "[0 4]" {
		t.Errorf("what was sent has changed: %v", form)
	}
}
