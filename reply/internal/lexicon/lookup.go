package lexicon

import "strings"

// English is always among the hints: it is what people fall back to on any keyboard.
const English = "en"

// Hints is the set of languages in which words are looked up.
type Hints struct {
	bits [4]uint64
}

// For collects the languages of BCP 47 tags. Unknown ones are ignored; English and the emoji always count.
func For(tags []string) Hints {
	h := Hints{bits: always}
	for _, tag := range tags {
		if i, ok := languageIndex(tag); ok {
			h.bits[i>>6] |= 1 << (i & 63)
		}
	}
	return h
}

var always = func() (bits [4]uint64) {
	for _, tag := range []string{English, "und"} {
		if i, ok := languageIndex(tag); ok {
			bits[i>>6] |= 1 << (i & 63)
		}
	}
	return bits
}()

func (h *Hints) has(language uint8) bool {
	return h.bits[language>>6]&(1<<(language&63)) != 0
}

// Primary is the language subtag of a BCP 47 tag in lower case, with the retired codes replaced; "" if there is none.
func Primary(tag string) string {
	end := strings.IndexAny(tag, "-_")
	if end < 0 {
		end = len(tag)
	}
	if end < 2 || end > 3 {
		return ""
	}
	code := tag[:end]
	for i := range len(code) {
		if 'A' <= code[i] && code[i] <= 'Z' {
			code = strings.ToLower(code)
			break
		}
	}
	switch code {
	case "iw":
		return "he"
	case "in":
		return "id"
	case "tl":
		return "fil"
	case "mo":
		return "ro"
	case "sh":
		return "sr"
	case "cmn":
		return "zh"
	}
	return code
}

func languageIndex(tag string) (int, bool) {
	code := Primary(tag)
	lo, hi := 0, len(Languages)
	for lo < hi {
		mid := (lo + hi) / 2
		if Languages[mid] < code {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(Languages) && Languages[lo] == code && code != ""
}

// Meaning is what the folded words stand for in the hinted languages together, and what they stand for anywhere.
// A word on which the hinted languages do not agree is Ambiguous and nothing else: nobody guesses.
func (h *Hints) Meaning(words []byte) (here, anywhere Meaning) {
	lo, hi := 0, len(table)
	for lo < hi {
		mid := (lo + hi) / 2
		if table[mid].Word < string(words) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for ; lo < len(table) && table[lo].Word == string(words); lo++ {
		e := &table[lo]
		anywhere |= e.Meaning
		if e.Meaning&Sole != 0 || h.has(e.Language) {
			here |= e.Meaning
		}
	}
	return settle(here), anywhere
}

const (
	anyYes = Yes | YesLetter
	anyNo  = No | Cancel | Negation
	picks  = All | Both | AllOccurrences | ThisOne
)

func settle(m Meaning) Meaning {
	if m&Ambiguous != 0 || m&anyYes != 0 && m&anyNo != 0 || m&(anyYes|No|Cancel) != 0 && m&picks != 0 {
		if m&No != 0 {
			m |= Negation // no answer by itself any more, but still not to be found inside a yes
		}
		return m&^(anyYes|YesMore|No|NoMore|Cancel|Polite|picks) | Ambiguous
	}
	return m
}

// Torn reports a word that means yes in one language and no in another.
func Torn(anywhere Meaning) bool {
	return anywhere&anyYes != 0 && anywhere&No != 0
}

// Table is the whole table, for tests.
func Table() []Entry { return table[:] }
