package reply

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holdshort/holdshort/reply/internal/lexicon"
)

// Mixtures of listed words, in the languages in play and others, with signs between them: a yes only ever comes of yeses.
func TestMixturesOfWords(t *testing.T) {
	const agreeing = lexicon.Yes | lexicon.YesLetter | lexicon.YesMore | lexicon.Polite | lexicon.Neutral
	all, agree := map[uint8][]lexicon.Entry{}, map[uint8][]lexicon.Entry{}
	for _, e := range lexicon.Table() {
		all[e.Language] = append(all[e.Language], e)
		if e.Meaning&agreeing != 0 {
			agree[e.Language] = append(agree[e.Language], e)
		}
	}
	english := uint8(0)
	for i, language := range lexicon.Languages {
		if language == lexicon.English {
			english = uint8(i)
		}
	}
	yes := 0
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.Uint8Range(0, uint8(len(lexicon.Languages)-1)).Draw(t, "first language")
		second := rapid.Uint8Range(0, uint8(len(lexicon.Languages)-1)).Draw(t, "second language")
		hints := []string{lexicon.Languages[first], lexicon.Languages[second]}
		h := lexicon.For(hints)
		var text strings.Builder
		denied := false
		for i := range rapid.IntRange(1, 4).Draw(t, "words") {
			if i > 0 {
				text.WriteString(rapid.SampledFrom([]string{" ", ", ", "! ", " 👍 ", "\n", ". ", "  "}).Draw(t, "between"))
			}
			from := rapid.SampledFrom([]uint8{first, second, english, rapid.Uint8Range(0, uint8(len(lexicon.Languages)-1)).Draw(t, "other")}).Draw(t, "from")
			list := all[from]
			if len(agree[from]) > 0 && rapid.IntRange(0, 3).Draw(t, "agreeing") > 0 { // else hardly anything would be a yes
				list = agree[from]
			}
			e := rapid.SampledFrom(list).Draw(t, "word")
			text.WriteString(e.Word)
			here, _ := h.Meaning([]byte(e.Word))
			denied = denied || here&(lexicon.No|lexicon.Negation|lexicon.Cancel) != 0
		}
		q := &Question{Expected: YesNo, Languages: hints, Actions: rapid.Bool().Draw(t, "actions")}
		got := Read(text.String(), q)
		if got.Verdict == Yes {
			yes++
			o := loadOracle()
			if denied || !o.mayBeYes(text.String(), hints) || o.negated(text.String(), hints) {
				t.Fatalf("%q (%v) read as yes", text.String(), hints)
			}
		}
		checkSame(t, text.String(), q)
	})
	t.Logf("%d mixtures were a yes", yes)
}
