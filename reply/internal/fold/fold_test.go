package fold

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func text(s string) string {
	words, _ := Text(nil, s)
	return string(words)
}

func TestSameWords(t *testing.T) {
	for _, group := range [][]string{
		{"yes", "Yes", " YES ", "yes!", "yes...", "ｙｅｓ", "(yes)", "**yes**", `"yes"`, "‘yes’", "\u200Fyes", "y\u200Bes", "y\u00ADes", "𝓎ℯ𝓈", "ⓨⓔⓢ", "¡yes!"},
		{"hayir", "HAYIR", "hayır", "HAYİR", "Hayir"},
		{"don't", "dont", "DON’T", "don`t", "don´t", "don\u1FFDt"},
		{"oui merci", "Oui ! Merci", "oui! merci", "oui - merci", "oui — merci.", "oui !\nmerci", "oui❗merci"},
		{"r&d", "R & D", "r &d", "R& D"},
		{"não", "NÃO", "na\u0303o", "Ｎão"},
		{"לא", "לֹא", "\u2067לא\u2069"},
		{"نعم", "نَعَمْ", "نـــعم"},
		{"أوافق", "اوافق"},
		{"ज़रूर", "जरूर", "ज\u093Cरूर"},
		{"हाँ", "हां"},
		{"はい", "ハイ", "ﾊｲ"},
		{"한", "\u1112\u1161\u11AB"},
		{"12", "１２", "١٢", "१२", "𝟏𝟐", "12."},
		{"1", "1️⃣", "①", "⑴", "❶"},
		{"👍", "👍🏽", "👍🏿", "👍\uFE0F"},
		{"σας", "ΣΑΣ"},
		{"ארה״ב", `ארה"ב`, "ארהב"},
	} {
		for _, s := range group[1:] {
			if text(s) != text(group[0]) {
				t.Errorf("%q folds to %q, %q to %q", s, text(s), group[0], text(group[0]))
			}
		}
	}
}

func TestDifferentWords(t *testing.T) {
	for _, pair := range [][2]string{
		{"yes", "y̶e̶s̶"}, {"yes", "yes?"}, {"yes", "!yes"}, {"yes", "уes"}, {"yes", "~yes~"}, {"yes", "\u202Eyes"}, {"yes", "yes⃠"},
		{"no", "nº"}, {"no", "№"}, {"no", "nᵒ"}, {"12", "1²"}, {"12", "①②"}, {"12", "1️⃣2️⃣"}, {"12", "1٢"}, {"1.5", "15"}, {"1.5", "1 5"},
		{"có", "cỏ"}, {"sí", "si"}, {"c", "c++"}, {"yes", "yes ❌"}, {"yes", "- yes"}, {"a", "a\x00"}, {"yes", "(yes"}, {"yes", "[ ] yes"},
		{"👍", "👍⃠"}, {`a" and "b`, `"a" and "b"`}, {"yea", `y"ea`}, {"a) (b", "(a) (b)"}, {"yes", "yes 🏽"}, {"yes no", "yes !no"}, {"yes", "yes -"}, {"a b", "a -b"},
		{"1 2", "1 - 2"}, {"yes", "❗yes"}, {"yes", "ye\U000E0073s"},
	} {
		if text(pair[0]) == text(pair[1]) {
			t.Errorf("%q and %q both fold to %q", pair[0], pair[1], text(pair[0]))
		}
	}
}

// Every character, composed or decomposed, folds to the same text, and to no more than the buffer was grown for.
func TestEveryCharacter(t *testing.T) {
	for r := rune(1); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) || hidden(r) {
			continue
		}
		s := "a" + string(r) + "b"
		folded := Append(nil, s)
		if len(folded) > 12*len(s) {
			t.Fatalf("%U folds to %d bytes", r, len(folded))
		}
		if misleading(r) || listNumber(r) > 0 || r == '№' {
			continue
		}
		// Decomposing first must make no difference, except where the decomposition alone is known to mislead.
		if d := norm.NFD.String(s); d != s && !strings.ContainsFunc(d, misleading) {
			if again := Append(nil, d); !bytes.Equal(folded, again) {
				t.Errorf("%U folds to %q, decomposed to %q", r, folded, again)
			}
		}
	}
}

// No word has many marks on one letter. Sorting them must neither take for ever nor hide them.
func TestManyMarks(t *testing.T) {
	few := "a" + strings.Repeat("\u0301", maxMarks/2) + strings.Repeat("\u0323", maxMarks/2)
	if sorted := norm.NFKD.String(few); string(Append(nil, few)) != sorted {
		t.Errorf("%d marks are not in canonical order", maxMarks)
	}
	if many := string(Append(nil, few+"\u0327")); !strings.ContainsRune(many, Opaque) {
		t.Errorf("%d marks fold to %q, which could be a word", maxMarks+1, many)
	}
}

func TestDigitsOfEveryScript(t *testing.T) {
	scripts := 0
	for _, run := range unicode.Nd.R16 {
		for zero := rune(run.Lo); zero <= rune(run.Hi); zero += 10 {
			scripts++
			for v := range rune(10) {
				if got := string(Append(nil, string(zero+v))); got != string('0'+v) {
					t.Fatalf("%U folds to %q, want %d", zero+v, got, v)
				}
			}
		}
	}
	if scripts < 30 {
		t.Errorf("only %d scripts have digits", scripts)
	}
}

func TestBare(t *testing.T) {
	for word, want := range map[string]string{"não": "nao", "đúng": "dung", "όχι": "οχι", "всё": "все", "йод": "йод", "हाँ": "हां", "ok": "ok"} {
		if got := Bare(text(word)); got != norm.NFKD.String(want) {
			t.Errorf("%q without diacritics is %q, want %q", word, got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"Yes!", "não", "1️⃣2️⃣", "👍🏽 ok", "\u202Ex", "a\u0301\u0323", "\"'x'\"", "ﷺ", "한글", "(((a)))"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var room [16]byte
		small := string(Append(room[:0], s))
		if big := string(Append(make([]byte, 0, 12*len(s)+64), s)); small != big {
			t.Fatalf("%q folds to %q in little room and to %q in much", s, small, big)
		}
		if !utf8.ValidString(small) {
			t.Fatalf("%q folds to broken text %q", s, small)
		}
		words := text(s)
		if again := string(Words([]byte(words))); again != words {
			t.Fatalf("the words of %q are %q, and of these %q", s, words, again)
		}
		if strings.Contains(words, "  ") || strings.TrimSpace(words) != words {
			t.Fatalf("the words of %q are %q", s, words)
		}
	})
}
