package reply

import (
	"strings"
	"testing"
)

func refundForm() []Field {
	return []Field{
		{Name: "amount", Type: Number, Required: true},
		{Name: "reason", Type: Enum, Enum: []string{"damaged", "late", "Other"}, Required: true},
		{Name: "note", Type: String},
		{Name: "urgent", Type: Boolean},
		{Name: "items", Type: Integer},
		{Name: "extra", Type: JSON},
	}
}

// filled writes a form's reading as one line.
func filled(r Reading, fields []Field) string {
	if r.Verdict != Filled {
		out := reading(r, true)
		if r.Field != "" {
			out += " " + r.Field
		}
		return out
	}
	var parts []string
	for _, v := range r.Values {
		parts = append(parts, fields[v.Field].Name+"="+string(v.JSON))
	}
	return strings.Join(parts, " ")
}

func TestForm(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"json", `{"amount": 12.50, "reason": "late"}`, `amount=12.5 reason="late"`},
		{"json in any order", `{"reason":"late","note":"a\u0062c","amount":1e2}`, `amount=100 reason="late" note="abc"`},
		{"json of any kind", `{"amount":1,"reason":"late","extra":{ "a": [1, 2] }}`, `amount=1 reason="late" extra={"a":[1,2]}`},
		{"json boolean and integer", `{"amount":0,"reason":"late","urgent":false,"items":3.0}`, `amount=0 reason="late" urgent=false items=3`},
		{"lines", "amount: 12\nreason = late", `amount=12 reason="late"`},
		{"lines with bullets, case and spaces", "- Amount : 12\n* REASON: Late\n\n", `amount=12 reason="late"`},
		{"wide lines", "amount：１２\nreason＝late", `amount=12 reason="late"`},
		{"arabic digits", "amount: ١٢٫٥\nreason: other", `amount=12.5 reason="Other"`},
		{"negative number", "amount: −3\nreason: late", `amount=-3 reason="late"`},
		{"yes is a boolean", "amount: 1\nreason: late\nurgent: yes", `amount=1 reason="late" urgent=true`},
		{"emoji is a boolean", "amount: 1\nreason: late\nurgent: 👎", `amount=1 reason="late" urgent=false`},
		{"quoted text", "amount: 1\nreason: late\nnote: \"a, items: 2\"", `amount=1 reason="late" note="a, items: 2"`},
		{"quoted nothing", "amount: 1\nreason: late\nnote: \"\"", `amount=1 reason="late" note=""`},
		{"a value may hold the signs", "amount: 1\nreason: late\nnote: see https://x.example/?a=b", `amount=1 reason="late" note="see https://x.example/?a=b"`},
		{"control characters are escaped", "{\"amount\":1,\"reason\":\"late\",\"note\":\"a\\u0001\\n\\\"<\"}", `amount=1 reason="late" note="a\u0001\n\"<"`},

		{"cancel", "cancel", "cancel"},
		{"never mind", "Never mind!", "cancel"},
		{"broken json", `{"amount": 12.5`, "none:not_json"},
		{"trailing text", `{"amount":1,"reason":"late"} thanks`, "none:not_json"},
		{"two objects", `{"amount":1,"reason":"late"}{}`, "none:not_json"},
		{"duplicate key", `{"amount":1,"amount":2,"reason":"late"}`, "none:not_json"},
		{"duplicate key by escape", `{"amount":1,"\u0061mount":2,"reason":"late"}`, "none:not_json"},
		{"duplicate key inside", `{"amount":1,"reason":"late","extra":{"a":1,"a":2}}`, "none:not_json"},
		{"lone surrogate", `{"amount":1,"reason":"late","note":"\ud800"}`, "none:not_json"},
		{"pair of surrogates", `{"amount":1,"reason":"late","note":"\ud83d\udc4d"}`, `amount=1 reason="late" note="👍"`},
		{"escaped backslash before u", `{"amount":1,"reason":"late","note":"\\ud800"}`, `amount=1 reason="late" note="\\ud800"`},
		{"unknown key", `{"amount":1,"reason":"late","b":1,"a":1}`, "none:unknown_field a"},
		{"keys are exact", `{"Amount":1,"reason":"late"}`, "none:unknown_field Amount"},
		{"null", `{"amount":null,"reason":"late"}`, "none:wrong_type amount"},
		{"number as text", `{"amount":"1","reason":"late"}`, "none:wrong_type amount"},
		{"not in the list", `{"amount":1,"reason":"LATE"}`, "none:wrong_type reason"},
		{"too big for a double", `{"amount":12345678901234567890,"reason":"late"}`, "none:wrong_type amount"},
		{"not a whole number", "amount: 1\nreason: late\nitems: 2.5", "none:wrong_type items"},
		{"too big for an integer", `{"amount":1,"reason":"late","items":1e20}`, "none:wrong_type items"},
		{"decimal comma", "amount: 1,5\nreason: late", "none:wrong_type amount"},
		{"currency", "amount: 12 €\nreason: late", "none:wrong_type amount"},
		{"raised digit", "amount: 1²\nreason: late", "none:wrong_type amount"},
		{"hesitant boolean", "amount: 1\nreason: late\nurgent: maybe", "none:wrong_type urgent"},
		{"json by text", "amount: 1\nreason: late\nextra: [1]", "none:wrong_type extra"},
		{"missing field", "amount: 1", "none:missing_field reason"},
		{"empty value", "amount:\nreason: late", "none:missing_field amount"},
		{"twice", "amount: 1\namount: 2\nreason: late", "none:duplicate_field amount"},
		{"misspelt", "amuont: 1\nreason: late", "none:unknown_field amuont"},
		{"one line for two", "amount: 1, reason: late", "none:ambiguous amount"},
		{"one line for two, no comma", "amount: 1\nreason: late\nnote: Ann items: 2", "none:ambiguous note"},
		{"one line for two, equals signs", "note=Ann items = 2\namount=1\nreason=late", "none:ambiguous note"},
		{"line separator", "amount: 1\u2028reason: late\rurgent: no", `amount=1 reason="late" urgent=false`},
		{"dash is not zero", "amount: -\nreason: late", "none:wrong_type amount"},
		{"nor is a long one", "amount: —\nreason: late", "none:wrong_type amount"},
		{"nor a plus", "amount=+\nreason=late", "none:wrong_type amount"},
		{"two signs", "amount: -+5\nreason: late", "none:wrong_type amount"},
		{"invisible value", "amount: \u200B\nreason: late", "none:missing_field amount"},
		{"true with a cross", "amount: 1\nreason: late\nurgent: true ❌", "none:wrong_type urgent"},
		{"false with a tick", "amount: 1\nreason: late\nurgent: false ✅", "none:wrong_type urgent"},
		{"negated sign", "amount: 1\nreason: late\nurgent: !👍", "none:wrong_type urgent"},
		{"unfinished", "amount: 1\nreason: late\nurgent: yes,", "none:wrong_type urgent"},
		{"prose", "just give it back please", "none:not_form"},
		{"array", `[1,2]`, "none:not_form"},
		{"empty object", `{}`, "none:missing_field amount"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := &Question{Expected: Form, Fields: refundForm()}
			got := filled(Read(tt.text, q), q.Fields)
			if got != tt.want {
				t.Errorf("%q read as %s, want %s", tt.text, got, tt.want)
			}
		})
	}
}

// With one field missing, the reply may be its bare value.
func TestBareValue(t *testing.T) {
	for _, tt := range []struct {
		name  string
		field Field
		text  string
		want  string
	}{
		{"number", Field{Type: Number}, "12.5", `x=12.5`},
		{"number of another script", Field{Type: Integer}, "४२", `x=42`},
		{"fraction without zero", Field{Type: Number}, ".5", `x=0.5`},
		{"dash is not zero", Field{Type: Number}, "–", "none:wrong_type x"},
		{"another field inside", Field{Type: String}, "Ann, optional=5", "none:ambiguous x"},
		{"another field inside quotes", Field{Type: String}, `"Ann, optional=5"`, `x="Ann, optional=5"`},
		{"negative zero", Field{Type: Number}, "-0", `x=0`},
		{"small number", Field{Type: Number}, "0.0000001", `x=1e-7`},
		{"time is not a number", Field{Type: Number}, "10:30", "none:wrong_type x"},
		{"time is text", Field{Type: String}, "10:30", `x="10:30"`},
		{"address is text", Field{Type: String}, "https://x.example/a=b", `x="https://x.example/a=b"`},
		{"lines are text", Field{Type: String}, "first\nsecond", `x="first\nsecond"`},
		{"another field is not text", Field{Type: String}, "y: 5", "none:unknown_field y"},
		{"nor with an equals sign", Field{Type: String}, "color=red", "none:unknown_field color"},
		{"named all the same", Field{Type: String}, "X = red", `x="red"`},
		{"boolean", Field{Type: Boolean}, "Nope", `x=false`},
		{"boolean true", Field{Type: Boolean}, "TRUE", `x=true`},
		{"enum", Field{Type: Enum, Enum: []string{"late", "damaged"}}, "Late!", `x="late"`},
		{"enum beats cancel", Field{Type: Enum, Enum: []string{"keep", "cancel"}}, "cancel", `x="cancel"`},
		{"enum by case", Field{Type: Enum, Enum: []string{"a", "A"}}, "A", `x="A"`},
		{"enum in two spellings", Field{Type: Enum, Enum: []string{"ａ", "A"}}, "a", "none:wrong_type x"},
		{"cancel", Field{Type: String}, "cancel", "cancel"},
		{"quoted cancel", Field{Type: String}, `"cancel"`, `x="cancel"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.field.Name, tt.field.Required = "x", true
			q := &Question{Expected: Form, Fields: []Field{
				{Name: "known", Type: String, Required: true, Known: true}, tt.field, {Name: "optional", Type: String},
			}}
			if got := filled(Read(tt.text, q), q.Fields); got != tt.want {
				t.Errorf("%q read as %s, want %s", tt.text, got, tt.want)
			}
		})
	}
}

func TestBareValueNeedsExactlyOneMissing(t *testing.T) {
	two := []Field{{Name: "a", Type: String, Required: true}, {Name: "b", Type: String, Required: true}}
	if got := Read("hello", &Question{Expected: Form, Fields: two}); got.Reason != NotForm {
		t.Errorf("with two missing: %v", got)
	}
	none := []Field{{Name: "a", Type: String, Required: true, Known: true}, {Name: "b", Type: String}}
	if got := Read("hello", &Question{Expected: Form, Fields: none}); got.Reason != NotForm {
		t.Errorf("with none missing: %v", got)
	}
}

// A boolean in a form that makes something happen is as strict as an approval.
func TestFormBooleanWithActions(t *testing.T) {
	q := &Question{Expected: Form, Actions: true, Fields: []Field{{Name: "x", Type: Boolean, Required: true}}}
	for text, want := range map[string]string{"y": "none:wrong_type x", `"yes"`: "none:wrong_type x", "yes": "x=true", "n": "x=false", "yes 👎": "none:wrong_type x",
		`"true"`: "none:wrong_type x", "true": "x=true", "true 👎": "none:wrong_type x", "!✅": "none:wrong_type x"} {
		if got := filled(Read(text, q), q.Fields); got != want {
			t.Errorf("%q read as %s, want %s", text, got, want)
		}
	}
}
