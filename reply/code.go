package reply

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/holdshort/holdshort/reply/internal/fold"
	"github.com/holdshort/holdshort/reply/internal/lexicon"
)

// SplitCode cuts the short code of a request off the beginning of a reply: "K7 yes" is K7 and "yes". A code is one to three
// letters and one to four digits written together; case, width, a # before it, brackets around it and a colon, comma or dash
// after it do not matter. Whether it is the code of a request, rather than a word such as A4, is for Bind to find out.
func SplitCode(text string) (code, rest string, ok bool) {
	text = strings.TrimSpace(text)
	end := strings.IndexFunc(text, isSpace)
	if end < 0 {
		end = len(text)
	}
	if end > 32 {
		return "", "", false
	}
	token, rest := text[:end], strings.TrimSpace(text[end:])
	var room [128]byte
	folded, quoted := fold.Trim(bytes.TrimRight(fold.Append(room[:0], token), " :;-"))
	folded = bytes.TrimPrefix(folded, []byte("#"))
	letters, digits := 0, 0
	for _, c := range folded {
		switch {
		case 'a' <= c && c <= 'z' && digits == 0:
			letters++
		case '0' <= c && c <= '9':
			digits++
		default:
			return "", "", false
		}
	}
	if quoted || letters < 1 || letters > 3 || digits < 1 || digits > 4 {
		return "", "", false
	}
	if after, found := strings.CutPrefix(rest, "- "); found {
		rest = strings.TrimSpace(after)
	}
	return strings.ToUpper(string(folded)), rest, true
}

func isSpace(r rune) bool {
	return r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == 0xA0 || r == 0x3000
}

// maxAnswer is how long a message can be, in characters, and still look like a late answer.
const maxAnswer = 30

// LooksLikeAnswer reports whether a message that nobody waits for is probably a late answer, not a new request: a word for
// yes, no, cancel, all or both, an emoji for one of them, or a list of numbers.
func LooksLikeAnswer(text string, languages []string) bool {
	if len(text) > maxAnswer*utf8.UTFMax || !utf8.ValidString(text) || blank(text) {
		return false
	}
	if utf8.RuneCountInString(strings.TrimSpace(text)) > maxAnswer {
		return false
	}
	hints := lexicon.For(languages)
	var room [scratch]byte
	a := foldAnswer(room[:0], text, &hints)
	if len(a.words) == 0 {
		return a.yes || a.no
	}
	const answers = lexicon.Yes | lexicon.YesLetter | lexicon.No | lexicon.Cancel | lexicon.All | lexicon.Both
	if readPhrase(&hints, a.words).meaning&answers != 0 {
		return true
	}
	for _, c := range a.core {
		if (c < '0' || c > '9') && c != ' ' && c != ',' {
			return false
		}
	}
	return true
}
