package reply

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/holdshort/holdshort/reply/internal/lexicon"
)

// pickHints turns two numbers into language hints.
func pickHints(a, b uint8) []string {
	return []string{lexicon.Languages[int(a)%len(lexicon.Languages)], lexicon.Languages[int(b)%len(lexicon.Languages)]}
}

// wide replaces ASCII letters and digits by their fullwidth forms.
func wide(s string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r + 0xFEE0
		}
		return r
	}, s)
}

// upper replaces letters by their capitals where that can be undone.
func upper(s string) string {
	return strings.Map(func(r rune) rune {
		if u := unicode.ToUpper(r); unicode.ToLower(u) == r {
			return u
		}
		return r
	}, s)
}

// sameEitherWay are the changes that must not change a reading.
var sameEitherWay = map[string]func(string) string{
	"upper case":  upper,
	"fullwidth":   wide,
	"bidi marks":  func(s string) string { return "\u200F" + s + "\u200E" },
	"isolates":    func(s string) string { return "\u2068" + s + "\u2069" },
	"spaces":      func(s string) string { return "\u00A0 " + s + " \t" },
	"full stop":   func(s string) string { return s + "." },
	"exclamation": func(s string) string { return s + "!!" },
	"zero width":  func(s string) string { return "\uFEFF" + s + "\u200B" },
}

func checkSame(t interface {
	Helper()
	Errorf(string, ...any)
}, text string, q *Question) {
	t.Helper()
	want := Read(text, q)
	if want.Reason == Empty {
		return
	}
	for name, change := range sameEitherWay {
		changed := change(text)
		if len(changed) > MaxReply {
			continue
		}
		if got := Read(changed, q); got.Verdict != want.Verdict || got.Selected != want.Selected {
			t.Errorf("%q is %v, but with %s, %q, it is %v", text, want, name, changed, got)
		}
	}
}

func FuzzYesNo(f *testing.F) {
	for _, r := range corpus(f) {
		if r.q.Expected == YesNo {
			at := uint8(0)
			if len(r.q.Languages) > 0 {
				for i, language := range lexicon.Languages {
					if language == lexicon.Primary(r.q.Languages[0]) {
						at = uint8(i)
					}
				}
			}
			f.Add(r.text, at, at, r.q.Actions)
		}
	}
	f.Fuzz(func(t *testing.T, text string, a, b uint8, actions bool) {
		q := &Question{Expected: YesNo, Actions: actions, Languages: pickHints(a, b)}
		got := Read(text, q)
		switch got.Verdict {
		case Yes:
			if o := loadOracle(); !o.mayBeYes(text, q.Languages) {
				t.Errorf("%q (%v) read as yes, which the oracle cannot see", text, q.Languages)
			} else if o.negated(text, q.Languages) {
				t.Errorf("%q (%v) contains a negation and was read as yes", text, q.Languages)
			}
		case No, Cancel:
		case None:
			if got.Reason == "" {
				t.Errorf("%q has neither a verdict nor a reason", text)
			}
		default:
			t.Errorf("%q read as %v", text, got)
		}
		if utf8.ValidString(text) {
			checkSame(t, text, q)
		}
	})
}

func FuzzChoice(f *testing.F) {
	for _, r := range corpus(f) {
		if r.q.Expected == SingleChoice || r.q.Expected == MultiChoice {
			var labels []string
			for _, o := range r.q.Options {
				labels = append(labels, o.Label)
			}
			f.Add(r.text, strings.Join(labels, "|"), r.q.Expected == MultiChoice, uint8(0))
		}
	}
	f.Fuzz(func(t *testing.T, text, labels string, multi bool, a uint8) {
		q := &Question{Expected: SingleChoice, Languages: pickHints(a, a)}
		if multi {
			q.Expected = MultiChoice
		}
		for label := range strings.SplitSeq(labels, "|") {
			q.Options = append(q.Options, Option{Label: label})
		}
		got := Read(text, q)
		n := 0
		for i := range got.Selected.All() {
			n++
			if i >= len(q.Options) {
				t.Errorf("%q selected option %d of %d", text, i+1, len(q.Options))
			}
		}
		switch {
		case got.Verdict == Selected && (n == 0 || n > 1 && !multi):
			t.Errorf("%q selected %d options, multi %v", text, n, multi)
		case got.Verdict != Selected && n > 0, got.Verdict == Yes, got.Verdict == No, got.Verdict == None && got.Reason == "":
			t.Errorf("%q read as %v with %d selected", text, got, n)
		}
		if utf8.ValidString(text) {
			checkSame(t, text, q)
		}
	})
}

var codeForm = regexp.MustCompile(`^[A-Z]{1,3}[0-9]{1,4}$`)

func FuzzSplitCode(f *testing.F) {
	for _, text := range []string{"K7 yes", "k7: no", "[K7] 1,3", "#K7", "3 pm", "I 5", "Ｋ７ ok", "K７\u200B yes", "A4 paper"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		code, rest, ok := SplitCode(text)
		switch {
		case !ok && (code != "" || rest != ""):
			t.Errorf("%q: no code, but %q and %q", text, code, rest)
		case ok && (!codeForm.MatchString(code) || !strings.Contains(text, rest) || rest != strings.TrimSpace(rest)):
			t.Errorf("%q: code %q, rest %q", text, code, rest)
		}
		LooksLikeAnswer(text, nil)
	})
}
