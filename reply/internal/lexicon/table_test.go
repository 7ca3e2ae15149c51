package lexicon

import (
	"slices"
	"strings"
	"testing"
)

func TestTableIsSorted(t *testing.T) {
	if !slices.IsSortedFunc(Table(), func(a, b Entry) int {
		if c := strings.Compare(a.Word, b.Word); c != 0 {
			return c
		}
		return int(a.Language) - int(b.Language)
	}) {
		t.Fatal("the table is not in order: binary search would miss words")
	}
	if !slices.IsSorted(Languages[:]) {
		t.Fatal("the languages are not in order")
	}
}

// The rule of words/README.md: nothing that says no, in its own language or in English, is inside a yes.
func TestNoYesContainsANegation(t *testing.T) {
	for _, e := range Table() {
		if e.Meaning&(Yes|YesMore) == 0 || e.Meaning&Ambiguous != 0 {
			continue
		}
		hints := For([]string{Languages[e.Language]})
		for token := range strings.FieldsSeq(e.Word) {
			here, _ := hints.Meaning([]byte(token))
			if here&(No|Cancel|Negation) != 0 {
				t.Errorf("%s: %q is listed as a yes and contains %q", Languages[e.Language], e.Word, token)
			}
		}
	}
}

func TestWordsThatMeanYesAndNo(t *testing.T) {
	torn := map[string]bool{}
	h := For(nil)
	for _, e := range Table() {
		if _, anywhere := h.Meaning([]byte(e.Word)); Torn(anywhere) {
			torn[e.Word] = true
		}
	}
	for _, word := range []string{"n", "y", "da", "jo", "ee", "ehe", "tak", "hai"} {
		if !torn[word] {
			t.Errorf("%q should mean yes in one language and no in another", word)
		}
	}
	if len(torn) < 21 {
		t.Errorf("only %d words mean both: CLDR alone has 21", len(torn))
	}
}

func TestMeaningNeedsItsLanguage(t *testing.T) {
	for _, tt := range []struct {
		word  string
		hints []string
		want  Meaning
	}{
		{"da", nil, 0},
		{"da", []string{"sr"}, Yes},
		{"da", []string{"luo"}, No},
		{"da", []string{"sr", "luo"}, Ambiguous},
		{"n", []string{"sw"}, Ambiguous},
		{"n", nil, No},
		{"y", []string{"az"}, Ambiguous},
		{"y", nil, YesLetter},
		{"no", []string{"pl"}, Ambiguous},
		{"dung", []string{"vi"}, Ambiguous},
		{"si", []string{"es-MX"}, Yes},
		{"si", []string{"fr", "it"}, Ambiguous},
		{"כן", nil, Yes},
		{"כן", []string{"iw-IL"}, Yes},
		{"hayir", []string{"TR"}, No},
		{"yes", []string{"", "x", "zz-ZZ", "toolong-x"}, Yes},
	} {
		h := For(tt.hints)
		here, _ := h.Meaning([]byte(tt.word))
		const verdicts = Yes | YesLetter | No | Ambiguous | Cancel
		if here&verdicts != tt.want {
			t.Errorf("%q with %v: got %b, want %b", tt.word, tt.hints, here&verdicts, tt.want)
		}
	}
}
