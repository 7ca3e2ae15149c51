package repair

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxTokens = 80

// token is one word, number or quoted text of a reply.
type token struct {
	word   string // folded; of a quoted text the words with spaces between
	text   string // as it was typed, without the quotes
	glue   byte   // what stands before it: ' ', '-' also for _, ',' also for line ends, or ':', '=', '?', '!', 0 at the start
	quoted bool
	at, to int // where it stands in the text, quotes aside
}

// tokenize cuts text into tokens. ends is what stands after the last: '?' makes the whole a question.
func tokenize(text string) (tokens []token, ends byte) {
	t := tokenizer{size: len(text)}
	for rest := text; rest != "" && len(t.tokens) <= maxTokens; {
		r, n := utf8.DecodeRuneInString(rest)
		switch {
		case r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029:
			t.flush()
			t.separate(',')
			rest = rest[n:]
		case unicode.IsSpace(r):
			t.flush()
			t.separate(' ')
			rest = rest[n:]
		case t.start == "" && opening(r) != 0:
			if inner, after, ok := quotation(rest, n, opening(r)); ok {
				t.quote(inner, len(text)-len(rest)+n)
				rest = after
				break
			}
			rest = rest[n:]
		default:
			n := t.step(rest, r, n)
			rest = rest[n:]
		}
	}
	t.flush()
	if len(t.tokens) > maxTokens {
		t.glue = '?' // nobody corrects a field in so many words
	}
	return t.tokens, t.glue
}

type tokenizer struct {
	tokens []token
	start  string // of the word under way, and all behind it
	length int    // of the word under way
	glue   byte
	size   int // of the whole text
}

// step takes one character of a word, or of what stands between two.
func (t *tokenizer) step(rest string, r rune, n int) int {
	next, _ := utf8.DecodeRuneInString(rest[n:])
	last, _ := utf8.DecodeLastRuneInString(t.start[:t.length])
	if t.length == 0 {
		last = 0
	}
	switch {
	case isEmoji(r):
		t.flush()
		t.start, t.length = rest, n
		t.flush()
	case strings.ContainsRune(",;،；，、؛|", r):
		if r == ',' && digit(last) && digit(next) && grouped(t.start) {
			return t.grow(rest, n)
		}
		t.flush()
		t.separate(',')
	case r == '=' || r == '＝' || r == '→':
		t.flush()
		t.separate('=')
		if next == '>' {
			return n + 1
		}
	case (r == ':' || r == '：') && (t.length == 0 || unicode.IsLetter(last) || unicode.Is(unicode.M, last) || boundary(rest[n:])):
		t.flush()
		t.separate(':')
	case (r == '-' || r == '_' || r == '־' || r == '–' || r == '—') && t.length > 0 && (unicode.IsLetter(last) || unicode.IsLetter(next)):
		t.flush()
		t.separate('-')
	case t.length > 0 && hebrewPrefix(t.start[:t.length]) && (digit(r) || latin(r)):
		t.flush()
		return t.grow(rest, n)
	default:
		return t.grow(rest, n)
	}
	return n
}

func (t *tokenizer) grow(rest string, n int) int {
	if t.length == 0 {
		t.start = rest
	}
	t.length += n
	return n
}

// flush ends the word under way and takes off what only surrounds it.
func (t *tokenizer) flush() {
	text, at := t.start[:t.length], t.size-len(t.start)
	t.start, t.length = "", 0
	for text != "" {
		r, n := utf8.DecodeRuneInString(text)
		if !strings.ContainsRune("([{'‘`*¿¡.…", r) && !unseen(r) || r == '.' && n < len(text) && digit(rune(text[n])) {
			break
		}
		text, at = text[n:], at+n
	}
	after := byte(0)
	for text != "" {
		r, n := utf8.DecodeLastRuneInString(text)
		if strings.ContainsRune("?？؟", r) {
			after = '?'
		} else if !strings.ContainsRune(")]}'’`*.!…。！\"”", r) && !unseen(r) {
			break
		} else if after == 0 && strings.ContainsRune(".!…。！", r) {
			after = '!'
		}
		text = text[:len(text)-n]
	}
	if text != "" {
		t.add(token{word: foldWord(text), text: text, at: at, to: at + len(text)})
	}
	if after != 0 {
		t.separate(after)
	}
}

func (t *tokenizer) quote(inner string, at int) {
	words, _ := tokenize(inner)
	joined := make([]string, len(words))
	for i := range words {
		joined[i] = words[i].word
	}
	t.add(token{word: strings.Join(joined, " "), text: inner, quoted: true, at: at, to: at + len(inner)})
}

func (t *tokenizer) add(k token) {
	if k.glue = t.glue; len(t.tokens) > 0 && k.glue == 0 {
		k.glue = ' '
	}
	t.glue = 0
	t.tokens = append(t.tokens, k)
}

// separate notes what stands before the next token. The strongest sign stays: a question is one whatever follows it.
func (t *tokenizer) separate(by byte) {
	const order = "- ,!:=?"
	if len(t.tokens) == 0 && by != '?' && by != ':' && by != '=' {
		return
	}
	if t.glue == 0 || strings.IndexByte(order, by) > strings.IndexByte(order, t.glue) {
		t.glue = by
	}
}

// opening is the closing sign of a quotation mark, or 0.
func opening(r rune) rune {
	switch r {
	case '"', '”':
		return r
	case '“':
		return '”'
	case '„':
		return '“'
	case '«':
		return '»'
	case '»':
		return '«'
	}
	return 0
}

// quotation is what stands between the quotation marks that text begins with. The closing one must end a word.
func quotation(text string, n int, closing rune) (inner, after string, ok bool) {
	end := strings.IndexRune(text[n:], closing)
	if end <= 0 {
		return "", "", false
	}
	inner, after = text[n:n+end], text[n+end+utf8.RuneLen(closing):]
	return inner, after, !strings.ContainsAny(inner, "\r\n") && (boundary(after) || strings.ContainsAny(after[:1], ":=;"))
}

// boundary reports whether text begins with what ends a word.
func boundary(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return text == "" || unicode.IsSpace(r) || strings.ContainsRune("\"”“»«.,!)]}?，。", r)
}

func digit(r rune) bool { return unicode.Is(unicode.Nd, r) }
func latin(r rune) bool { return unicode.Is(unicode.Latin, r) }

// grouped reports a number with commas so far: 1,000 is one token, and nobody knows what it says.
func grouped(text string) bool {
	const most = 40 // bytes of a number that anybody would write
	whole := len(text) <= most
	text = text[:min(len(text), most)]
	end := strings.IndexFunc(text, func(r rune) bool { return !digit(r) && r != ',' })
	if end < 0 {
		return whole
	}
	return unicode.IsSpace(rune(text[end])) || strings.IndexByte(".!?)", text[end]) >= 0
}

// hebrewPrefix reports the one or two letters that Hebrew writes onto the next word: to, in, the, and, from, as, that.
func hebrewPrefix(s string) bool {
	if len(s) > 2*len("ל") {
		return false
	}
	n := 0
	for _, r := range s {
		if !strings.ContainsRune("ובלהמכש", r) {
			return false
		}
		n++
	}
	return n > 0 && n <= 2
}
