package reply

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/holdshort/holdshort/reply/internal/lexicon"
)

// oracle is a second, naive reader of the same word files. It is looser than Read on purpose: whatever Read calls a yes, it
// must call one too. It shares no code with the reader but the list of language codes.
type oracle struct {
	words map[string]map[string]map[string]bool // language, section, naively folded phrase
}

var loadOracle = sync.OnceValue(func() *oracle {
	o := &oracle{words: map[string]map[string]map[string]bool{}}
	files, _ := filepath.Glob("words/*.txt")
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			panic(err)
		}
		var languages []string
		section := ""
		for line := range strings.SplitSeq(string(raw), "\n") {
			line, _, _ = strings.Cut(line, "#")
			switch {
			case strings.HasPrefix(line, "language:"):
				languages = strings.Fields(line)[1:]
			case strings.HasPrefix(line, "["):
				section = strings.Trim(strings.TrimSpace(line), "[]")
			default:
				for phrase := range strings.SplitSeq(line, ",") {
					for _, language := range languages {
						o.add(language, section, phrase)
					}
				}
			}
		}
	}
	raw, err := os.ReadFile("cldr/yesno-48.2.0.tsv")
	if err != nil {
		panic(err)
	}
	for line := range strings.SplitSeq(string(raw), "\n") {
		columns := strings.Split(line, "\t")
		if len(columns) != 3 {
			continue
		}
		for _, locale := range strings.Fields(columns[0]) {
			language, _, _ := strings.Cut(locale, "-")
			for i, section := range []string{"yes", "no"} {
				for _, token := range strings.FieldsFunc(columns[i+1], func(r rune) bool { return strings.ContainsRune(":/៖᠄ःᱺ", r) }) {
					o.add(language, section, token)
				}
			}
		}
	}
	return o
})

func (o *oracle) add(language, section, phrase string) {
	phrase = strings.Join(naiveTokens(phrase), " ")
	if phrase == "" {
		return
	}
	if o.words[language] == nil {
		o.words[language] = map[string]map[string]bool{}
	}
	if o.words[language][section] == nil {
		o.words[language][section] = map[string]bool{}
	}
	o.words[language][section][phrase] = true
	o.words[language][section][withoutMarks(phrase)] = true
}

func withoutMarks(s string) string {
	s = strings.Map(func(r rune) rune {
		if 0x300 <= r && r <= 0x36F {
			return -1
		}
		return r
	}, s)
	return strings.NewReplacer("đ", "d", "ł", "l", "ø", "o", "ə", "e", "ŋ", "n", "ɛ", "e", "ɔ", "o").Replace(s)
}

var (
	tones  = regexp.MustCompile(`(:[a-z0-9_+-]+:):skin-tone-[0-9]:`)
	tildes = regexp.MustCompile(`[~〜∼]+`)
	typed  = regexp.MustCompile(`:-?\)|\^\^`)
)

// decomposed leaves the accents alone that would become a space with a mark.
func decomposed(s string) string {
	return norm.NFKD.String(strings.NewReplacer("´", "'", "\u1FFD", "'").Replace(s))
}

// withoutSmiles drops smiles, a tilde that has no partner before it, and the tone of a named emoji.
func withoutSmiles(s string) string {
	s = typed.ReplaceAllString(decomposed(s), " ")
	if len(tildes.FindAllString(s, -1)) == 1 && strings.IndexAny(strings.TrimSpace(s), "~〜∼") > 0 {
		s = tildes.ReplaceAllString(s, " ")
	}
	return strings.ReplaceAll(tones.ReplaceAllString(strings.ToLower(s), "$1"), "::", ": :")
}

// naiveTokens decomposes, lowers, drops what cannot be seen or may be left out, and cuts at everything that is not a letter, a
// mark, a digit or a sign with a meaning.
func naiveTokens(s string) []string {
	var out strings.Builder
	for _, r := range decomposed(s) {
		r = unicode.ToLower(r)
		switch {
		case r == 'ı':
			r = 'i'
		case r == 'ς':
			r = 'σ'
		case r == 0x671:
			r = 0x627
		case r == 0x649, r == 0x6CC:
			r = 0x64A
		case r == 0x6A9:
			r = 0x643
		case r == 0x629, r == 0x6C1, r == 0x6BE:
			r = 0x647
		case r == 0x901:
			r = 0x902
		case 0x30A1 <= r && r <= 0x30F6:
			r -= 0x60
		}
		switch {
		case unicode.In(r, unicode.Cf, unicode.Variation_Selector), strings.ContainsRune("'’‘ʼʻʽʾʿʹ`´‛′׳״\"¡\u0640\u034F\uA78C", r),
			0x591 <= r && r <= 0x5C7, 0x610 <= r && r <= 0x61A, 0x64B <= r && r <= 0x65F, r == 0x670, 0x6D6 <= r && r <= 0x6ED,
			strings.ContainsRune("\u093C\u09BC\u0A3C\u0ABC\u0B3C\u0CBC\u0307\U000110BA\U00011133", r), 0x1F3FB <= r && r <= 0x1F3FF:
		case r == 0xF0B || unicode.IsSpace(r) || strings.ContainsRune(".,!()[]{}*_“”„‟«»‹›「」『』〝〞〟″‚【】〔〕《》〈〉〖〗、،。۔।॥։።·།၊။។᙮᠃՝፣߸꓾᠂՜߹", r):
			out.WriteRune(' ')
		case unicode.Is(unicode.So, r):
			out.WriteString(" " + string(r) + " ")
		default:
			if strings.ContainsRune("‐‑‒–—―−־﹘", r) {
				r = '-'
			}
			out.WriteRune(r)
		}
	}
	return strings.Fields(out.String())
}

// languages are the hinted ones, English, the emoji, and those whose script gives them away.
func (o *oracle) languages(hints []string) []string {
	all := []string{"en", "und", "he", "ko", "ja", "th", "el", "ka", "hy", "ta", "te", "kn", "ml", "gu", "si", "km"}
	for _, tag := range hints {
		all = append(all, lexicon.Primary(tag))
	}
	return all
}

func (o *oracle) in(section, phrase string, languages []string) bool {
	for _, language := range languages {
		if o.words[language][section][phrase] {
			return true
		}
	}
	return false
}

// negated reports a token that says no in a hinted language.
func (o *oracle) negated(text string, hints []string) bool {
	for _, token := range naiveTokens(text) {
		languages := []string{"en"}
		for _, tag := range hints {
			languages = append(languages, lexicon.Primary(tag))
		}
		if o.in("negation", token, languages) || o.in("no", token, languages) {
			return true
		}
	}
	return false
}

// mayBeYes reports text that is made of nothing but listed phrases, at least one of them a yes and none a no.
func (o *oracle) mayBeYes(text string, hints []string) bool {
	languages := o.languages(hints)
	tokens := slices.DeleteFunc(naiveTokens(withoutSmiles(text)), func(token string) bool { return token == "-" || token == "❗" || token == "❕" })
	// reach[i] has bit 1 when the first i tokens can be read, bit 2 when there is a yes among them.
	reach := make([]int, len(tokens)+1)
	reach[0] = 1
	for i := range tokens {
		for j := i + 1; j <= len(tokens) && reach[i] != 0; j++ {
			phrase := strings.Join(tokens[i:j], " ")
			switch {
			case o.in("yes", phrase, languages):
				reach[j] |= 3
			case o.in("yes more", phrase, languages), o.in("polite", phrase, languages), o.in("neutral", phrase, languages):
				reach[j] |= reach[i]
			}
		}
	}
	return reach[len(tokens)]&2 != 0
}

// The oracle itself is held to the corpus: it knows every yes there, and no dangerous reply.
func TestOracleKnowsTheCorpus(t *testing.T) {
	o := loadOracle()
	for _, r := range corpus(t) {
		if r.want == "yes" && len(r.q.Options) == 0 && !o.mayBeYes(r.text, r.q.Languages) {
			t.Errorf("%s: the oracle does not know %q", r.where, r.text)
		}
	}
}
