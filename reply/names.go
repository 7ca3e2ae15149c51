package reply

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/holdshort/holdshort/reply/internal/fold"
	"github.com/holdshort/holdshort/reply/internal/lexicon"
)

// sameWords compares folded words with a word of the question.
func sameWords(words []byte, s string) bool {
	if len(s) == 0 {
		return false
	}
	var room [scratch]byte
	other, _ := fold.Text(room[:0], s)
	return len(other) > 0 && (bytes.Equal(words, other) || bytes.Equal(words, withoutSigns(other)))
}

// withoutSigns is a name without the emoji around it, as people type it who see "🍕 Pizza"; a name of emoji alone stays.
func withoutSigns(name []byte) []byte {
	plain := name
	for len(plain) > 0 {
		token, after, _ := bytes.Cut(plain, space)
		if !emojiToken(token) {
			break
		}
		plain = after
	}
	for len(plain) > 0 {
		start := bytes.LastIndexByte(plain, ' ') + 1
		if !emojiToken(plain[start:]) {
			break
		}
		plain = bytes.TrimRight(plain[:start], " ")
	}
	if len(plain) == 0 {
		return name
	}
	return plain
}

func emojiToken(token []byte) bool {
	r, n := utf8.DecodeRune(token)
	return n == len(token) && r >= 0x2190 && unicode.Is(unicode.So, r)
}

// namesCancel reports a name that a reply with a cancel word may have been meant as: "cancel" beside "Cancel my plan", and
// "cancel it" beside "Cancel". Nobody can tell then whether the question is withdrawn or answered.
func namesCancel(words []byte, name string, hints *lexicon.Hints) bool {
	var room [scratch]byte
	label, _ := fold.Text(room[:0], name)
	if hasWords(label, words) {
		return true
	}
	for rest := label; len(rest) > 0; {
		token, after, _ := bytes.Cut(rest, space)
		rest = after
		if m, _ := hints.Meaning(token); m&lexicon.Cancel != 0 && hasWords(words, token) {
			return true
		}
	}
	return false
}

// hasWords reports whether part stands in words as words of its own.
func hasWords(words, part []byte) bool {
	for from := 0; len(part) > 0; {
		at := bytes.Index(words[from:], part)
		if at < 0 {
			return false
		}
		start, end := from+at, from+at+len(part)
		if (start == 0 || gap(words[start-1])) && (end == len(words) || gap(words[end])) {
			return true
		}
		from = start + 1
	}
	return false
}

func gap(c byte) bool { return c == ' ' || c == '&' }

// labelNumber is the number that people would call an option by, because its label begins with it: 3 for "3 pm", "#3", "$3",
// "3-4 people" and "Option 3", nothing for "3.5 kg" and "Room 3".
func labelNumber(name string, hints *lexicon.Hints) (int, bool) {
	if !mayBeNumber(name) {
		return 0, false
	}
	var room [scratch]byte
	words, _ := fold.Text(room[:0], beginning(name))
	words = bytes.TrimLeftFunc(words, isSign)
	if token, after, found := bytes.Cut(words, space); found {
		if m, _ := hints.Meaning(token); m&lexicon.OptionWord != 0 {
			words = bytes.TrimLeftFunc(after, isSign)
		}
	}
	v, after, ok := leadingNumber(words)
	if len(after) > 1 && bytes.IndexByte([]byte(".,/"), after[0]) >= 0 && '0' <= after[1] && after[1] <= '9' {
		return 0, false
	}
	return v, ok
}

func isSign(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// idNumber is the number that an id is, if it is one. An id that only begins with a digit is not what people call anything.
func idNumber(name string) (int, bool) {
	if !mayBeNumber(name) || len(name) > maxNumber {
		return 0, false
	}
	var room [scratch]byte
	words, _ := fold.Text(room[:0], name)
	v, after, ok := leadingNumber(words)
	return v, ok && len(after) == 0
}

func mayBeNumber(name string) bool {
	for i := range len(name) {
		if '0' <= name[i] && name[i] <= '9' || name[i] >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// maxNumber is how far into a name a number is looked for, in bytes.
const maxNumber = 80

func beginning(name string) string {
	if len(name) <= maxNumber {
		return name
	}
	end := maxNumber
	for end > 0 && !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end]
}

func leadingNumber(words []byte) (v int, after []byte, ok bool) {
	i := 0
	for ; i < len(words) && '0' <= words[i] && words[i] <= '9'; i++ {
		v = min(v*10+int(words[i]-'0'), 1<<20)
	}
	return v, words[i:], i > 0
}
