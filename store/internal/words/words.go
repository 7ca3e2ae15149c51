// Package words turns text into what it is searched by: folded words, and pairs of letters where a script has no spaces.
// It imports the standard library and golang.org/x/text; it knows no database.
package words

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Version grows when a text gives other words than before: what was indexed must then be indexed anew.
const Version = 1

const (
	longest = 32      // letters of a word that count
	most    = 400     // words of one document
	deepest = 8 << 10 // bytes of one text that are looked at
)

// Prefixes of words that are kept beside them, in letters.
const (
	ShortestPrefix = 3
	LongestPrefix  = 8
)

// Split gives the words of a text in order. Case, width and diacritics do not count.
func Split(text string) []string { return split(nil, text, false) }

// Names does the same for names in code: sendRefund is also send and refund.
func Names(text string) []string { return split(nil, text, true) }

func split(out []string, text string, parts bool) []string {
	if len(text) > deepest {
		text = text[:deepest]
	}
	text = strings.ToValidUTF8(text, " ")
	if parts {
		text = text + " " + apart(text)
	}
	var word, pairs []rune
	end := func() {
		if len(word) > 0 {
			out = append(out, string(word[:min(len(word), longest)]))
		}
		for i, r := range pairs {
			out = append(out, string(r))
			if i > 0 {
				out = append(out, string(pairs[i-1:i+1]))
			}
		}
		word, pairs = word[:0], pairs[:0]
	}
	for _, r := range fold(text) {
		switch {
		case spaceless(r):
			if len(word) > 0 {
				end()
			}
			pairs = append(pairs, r)
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
			if len(pairs) > 0 {
				end()
			}
			word = append(word, r)
		default:
			end()
		}
	}
	end()
	return out
}

// fold takes away what people do not type: case, width, accents and vowel points.
func fold(text string) string {
	if plain(text) {
		return strings.ToLower(text)
	}
	text = strings.Map(func(r rune) rune {
		if pointed(r) {
			return -1
		}
		return r
	}, norm.NFKD.String(text))
	return cases.Fold().String(norm.NFC.String(text))
}

func plain(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// pointed are the marks of scripts whose words are the same without them. Elsewhere a mark is a letter.
func pointed(r rune) bool {
	return r >= 0x300 && r <= 0x36f || r >= 0x591 && r <= 0x5c7 || r >= 0x64b && r <= 0x65f || r == 0x670 || r == 0x640
}

// spaceless are the scripts that do not part their words.
func spaceless(r rune) bool {
	return r >= 0xe00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// apart puts a space where a small letter is followed by a capital.
func apart(text string) string {
	var b strings.Builder
	small := false
	for _, r := range text {
		if small && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		small = unicode.IsLower(r)
		b.WriteRune(r)
	}
	return b.String()
}

// Document is what can be found: its words, sorted, each once.
type Document []string

// Of makes a document of texts and of names.
func Of(texts, names []string) Document {
	var out []string
	for _, n := range names {
		out = split(out, n, true)
	}
	for _, t := range texts {
		if len(out) < most {
			out = split(out, t, false)
		}
	}
	out = out[:min(len(out), most)]
	slices.Sort(out)
	return slices.Compact(out)
}

// Terms gives what a document is indexed by: its words, and the beginnings of them.
func (d Document) Terms(word, prefix func(string) string) []string {
	var out []string
	for _, w := range d {
		out = append(out, word(w))
		letters := []rune(w)
		for n := ShortestPrefix; n <= LongestPrefix && n < len(letters); n++ {
			out = append(out, prefix(string(letters[:n])))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Query is what somebody looks for: all of the words, the last of which may go on.
type Query struct {
	whole []string
	start string // what the last word begins with; "" if it is whole
}

// Parse reads a query. One with a space at its end has only whole words.
func Parse(text string) Query {
	all := Split(text)
	if len(all) > 16 {
		all = all[:16]
	}
	q := Query{whole: all}
	if n := len(all); n > 0 && utf8.RuneCountInString(all[n-1]) >= ShortestPrefix && !strings.HasSuffix(text, " ") {
		q.whole, q.start = all[:n-1], all[n-1]
	}
	return q
}

// Empty: there is no word in it.
func (q Query) Empty() bool { return len(q.whole) == 0 && q.start == "" }

// In reports whether a document has what is looked for.
func (q Query) In(d Document) bool {
	for _, w := range q.whole {
		if _, ok := slices.BinarySearch(d, w); !ok {
			return false
		}
	}
	if q.start == "" {
		return true
	}
	i, _ := slices.BinarySearch(d, q.start)
	return i < len(d) && strings.HasPrefix(d[i], q.start)
}

// Terms gives alternatives for each word that a document must have: any of one, all of the list.
func (q Query) Terms(word, prefix func(string) string) [][]string {
	var out [][]string
	for _, w := range q.whole {
		out = append(out, []string{word(w)})
	}
	if q.start == "" {
		return out
	}
	letters := []rune(q.start)
	if len(letters) > LongestPrefix {
		return append(out, []string{prefix(string(letters[:LongestPrefix]))})
	}
	return append(out, []string{word(q.start), prefix(q.start)})
}
