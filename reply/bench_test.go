package reply

import (
	"fmt"
	"testing"
)

// speedCases are one typical and one awkward reply of each kind.
func speedCases() map[string]struct {
	text string
	q    *Question
} {
	colours := []Option{{ID: "r", Label: "Red"}, {ID: "g", Label: "Green"}, {ID: "b", Label: "Dark blue"}, {ID: "y", Label: "Yellow"}}
	var many []Option
	for i := range 20 {
		many = append(many, Option{ID: fmt.Sprintf("opt_%d", i), Label: fmt.Sprintf("Option with a longer label %c", 'a'+i)})
	}
	pt := []string{"pt-BR", "es"}
	type c = struct {
		text string
		q    *Question
	}
	return map[string]c{
		"yes_no":            {"Yes!", &Question{Expected: YesNo, Actions: true}},
		"yes_no_hinted":     {"Não, obrigado 🙏", &Question{Expected: YesNo, Actions: true, Languages: pt}},
		"yes_no_wide":       {"＂ＹＥＳ＂", &Question{Expected: YesNo}},
		"yes_no_phrase":     {"yes, go ahead please", &Question{Expected: YesNo, Actions: true, Languages: pt}},
		"yes_no_none":       {"ok but please change the date to the day after tomorrow", &Question{Expected: YesNo, Actions: true, Languages: pt}},
		"yes_no_labels":     {"Hold", &Question{Expected: YesNo, Options: []Option{{ID: "approve", Label: "Ship it"}, {ID: "reject", Label: "Hold"}}}},
		"single_number":     {"2", &Question{Expected: SingleChoice, Options: colours}},
		"single_label":      {"dark blue", &Question{Expected: SingleChoice, Options: colours}},
		"single_of_20":      {"option with a longer label q", &Question{Expected: SingleChoice, Options: many}},
		"multi_numbers":     {"1, 3 and 4", &Question{Expected: MultiChoice, Options: colours}},
		"multi_labels":      {"red, dark blue and yellow", &Question{Expected: MultiChoice, Options: colours}},
		"multi_range_of_20": {"1-5, 7, 9-20", &Question{Expected: MultiChoice, Options: many}},
		"cancel":            {"never mind", &Question{Expected: SingleChoice, Options: colours}},
		"free_text":         {"Please send it to the office in Lisbon, second floor.", &Question{Expected: FreeText, Languages: pt}},
	}
}

// Reading needs no memory beyond its result.
func TestReadAllocatesNothing(t *testing.T) {
	for name, c := range speedCases() {
		t.Run(name, func(t *testing.T) {
			if n := testing.AllocsPerRun(100, func() { Read(c.text, c.q) }); n != 0 {
				t.Errorf("%v allocations for each reply, want none", n)
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	for name, c := range speedCases() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Read(c.text, c.q)
			}
		})
	}
	form := &Question{Expected: Form, Fields: []Field{
		{Name: "amount", Type: Number, Required: true}, {Name: "reason", Type: Enum, Enum: []string{"damaged", "late"}, Required: true},
	}}
	for name, text := range map[string]string{
		"form_json":  `{"amount": 12.5, "reason": "late"}`,
		"form_lines": "amount: 12.5\nreason: late",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Read(text, form)
			}
		})
	}
}
