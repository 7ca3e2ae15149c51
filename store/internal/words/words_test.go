package words

import (
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string]string{
		"Refund 120 EUR to order 77?":    "refund 120 eur to order 77",
		"Rückerstattung für José, ÅSA":   "ruckerstattung fur jose asa",
		"Straße STRASSE":                 "strasse strasse",
		"ＦＵＬＬ　ｗｉｄｔｈ":                     "full width",
		"ana@example.com":                "ana example com",
		"send_refund crm.update-contact": "send refund crm update contact",
		"שָׁלוֹם עולם":                   "שלום עולם",
		"مُحَمَّد":                       "محمد",
		"退款给用户":                          "退 款 退款 给 款给 用 给用 户 用户",
		"order退款":                        "order 退 款 退款",
		"환불 요청":                          "환불 요청",
		"":                               "",
		" \x00\xff?!":                    "",
		"नमस्ते":                         "नमस्ते",
	} {
		if got := strings.Join(Split(text), " "); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
	if got := strings.Join(Names("sendRefund"), " "); got != "sendrefund send refund" {
		t.Errorf("a name gives %q", got)
	}
}

func TestFound(t *testing.T) {
	d := Of([]string{"Refund 120 EUR to order 77?", "退款给用户"}, []string{"sendRefund", "big refunds"})
	for query, want := range map[string]bool{
		"refund": true, "REFUND eur": true, "refu": true, "ref": true, "eur ref": true, "refunds": true, "refundss": false, "fund": false, "send": true,
		"sendrefund": true, "77": true, "7": false, "ref eur": false, "eur": true, "退款": true, "款": true, "用退": false, "e": false, "refu ": false, "refund ": true,
	} {
		q := Parse(query)
		if got := q.In(d); got != want {
			t.Errorf("%q is found: %v, want %v", query, got, want)
		}
	}
}

// TestTermsAgree: what In finds, the terms find; for a word that is not longer than the longest prefix nothing more.
func TestTermsAgree(t *testing.T) {
	word, prefix := func(s string) string { return "w" + s }, func(s string) string { return "p" + s }
	docs := []string{"refund order", "refunds", "refunding everything", "ref", "re", "退款给用户", "internationalisation of words", "internationale"}
	for _, text := range docs {
		d := Of([]string{text}, nil)
		terms := d.Terms(word, prefix)
		for _, query := range []string{"refund", "refun", "ref", "re", "order", "ord", "refund ord", "款给", "internation", "internationali", "every", "x", "refunding"} {
			q := Parse(query)
			indexed := true
			for _, any := range q.Terms(word, prefix) {
				indexed = indexed && slices.ContainsFunc(any, func(term string) bool { return slices.Contains(terms, term) })
			}
			in := q.In(d)
			if in && !indexed || indexed && !in && len([]rune(query)) <= LongestPrefix {
				t.Errorf("%q in %q: %v, by its terms %v", query, text, in, indexed)
			}
		}
	}
}

func TestBounds(t *testing.T) {
	d := Of([]string{strings.Repeat("word1 Wort2 x", 100_000), strings.Repeat("a", 100_000)}, nil)
	if len(d) > most {
		t.Errorf("%d words", len(d))
	}
	for _, w := range d {
		if len([]rune(w)) > longest {
			t.Errorf("a word of %d letters", len(w))
		}
	}
	if q := Parse(strings.Repeat("many ", 1000)); len(q.whole) > 16 {
		t.Errorf("a query of %d words", len(q.whole))
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("Refund 退款 \xff José")
	f.Fuzz(func(t *testing.T, text string) {
		for _, w := range Split(text) {
			if w == "" || strings.ContainsAny(w, " '\"\\\x00") {
				t.Errorf("%q gives the word %q", text, w)
			}
		}
	})
}
