package reply

import (
	"strings"
	"testing"
)

func TestKeywords(t *testing.T) {
	for _, tt := range []struct {
		name               string
		positive, negative []string
		languages          []string
		actions            bool
		text, want         string
	}{
		{"positive adds a word", []string{"ship it"}, nil, nil, true, "Ship it!", "yes"},
		{"negative adds a word", nil, []string{"hold fire"}, nil, true, "hold fire", "no"},
		{"the lists still count", []string{"ship it"}, nil, nil, true, "yes", "yes"},
		{"a keyword is the whole reply", []string{"ship it"}, nil, nil, true, "ship it tomorrow", "none:not_yes_no"},
		{"negative makes cancel a no", []string{"yes", "ok", "confirm"}, []string{"no", "cancel"}, nil, true, "cancel", "no"},
		{"positive cannot turn a no", []string{"no"}, nil, nil, true, "no", "none:ambiguous"},
		{"positive cannot turn a cancel", []string{"cancel"}, nil, nil, true, "cancel", "cancel"},
		{"positive cannot hold a negation", []string{"do not wait"}, nil, nil, true, "do not wait", "none:ambiguous"},
		{"nor one of a hinted language", []string{"kein problem"}, nil, []string{"de"}, true, "kein Problem", "none:ambiguous_word_needs_language"},
		{"positive cannot settle an ambiguous word", []string{"fine"}, nil, nil, true, "fine", "none:ambiguous_word_needs_language"},
		{"nor one that is a no elsewhere", []string{"da"}, nil, nil, true, "da", "none:ambiguous_word_needs_language"},
		{"nor a question", []string{"ready?"}, nil, nil, true, "ready?", "none:ambiguous"},
		{"negative may take an ambiguous word", nil, []string{"fine"}, nil, true, "fine", "no"},
		{"negative against a yes", nil, []string{"yes"}, nil, true, "yes", "none:ambiguous"},
		{"both", []string{"blue"}, []string{"blue"}, nil, true, "blue", "none:ambiguous"},
		{"a letter does not approve", []string{"x"}, nil, nil, true, "x", "none:letter_too_weak"},
		{"a letter is enough where nothing happens", []string{"x"}, nil, nil, false, "x", "yes"},
		{"emoji against it", []string{"ship it"}, nil, nil, true, "ship it 👎", "none:ambiguous"},
		{"empty keywords match nothing", []string{"", "..."}, []string{""}, nil, true, "...", "none:not_yes_no"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := &Question{Expected: YesNo, Positive: tt.positive, Negative: tt.negative, Languages: tt.languages, Actions: tt.actions}
			if got := reading(Read(tt.text, q), strings.Contains(tt.want, ":")); got != tt.want {
				t.Errorf("%q read as %s, want %s", tt.text, got, tt.want)
			}
		})
	}
}

// The words that the first readers of replies knew are all read, with or without a hint.
func TestFirstWords(t *testing.T) {
	for want, words := range map[Verdict][]string{
		Yes:    {"yes", "y", "כן", "כ", "בטוח", "sure", "ok", "okay", "yep", "yeah", "אישור"},
		No:     {"no", "n", "לא", "ל", "nope", "nah"},
		Cancel: {"cancel", "ביטול"},
	} {
		for _, word := range words {
			for _, languages := range [][]string{nil, {"he"}, {"en"}} {
				if got := Read(word, &Question{Expected: YesNo, Languages: languages}); got.Verdict != want {
					t.Errorf("%q with %v read as %v, want %v", word, languages, got, want)
				}
			}
		}
	}
}

func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		name string
		q    Question
		text string
		want string
	}{
		{"too long for yes_no", Question{Expected: YesNo}, strings.Repeat("yes ", MaxReply/4+1), "none:too_long"},
		{"many yeses", Question{Expected: YesNo}, strings.Repeat("yes ", MaxReply/4), "none:not_yes_no"},
		{"too long for text", Question{Expected: FreeText}, strings.Repeat("a", MaxText+1), "none:too_long"},
		{"long text", Question{Expected: FreeText}, strings.Repeat("cancel ", 1000), "text"},
		{"not text", Question{Expected: FreeText}, "a\xffb", "none:not_text"},
		{"too many options", Question{Expected: SingleChoice, Options: make([]Option, MaxOptions+1)}, "1", "none:too_many_options"},
		{"no options", Question{Expected: MultiChoice}, "all", "none:unknown_option"},
		{"unknown kind", Question{Expected: "essay"}, "hello", "none:unknown_kind"},
		{"longer than the scratch room", Question{Expected: YesNo}, strings.Repeat("\u200B", 1200) + "yes", "yes"},
		{"more parts than options", Question{Expected: MultiChoice, Options: make([]Option, 2)}, strings.Repeat("1,", 300), "none:unknown_option"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := reading(Read(tt.text, &tt.q), strings.Contains(tt.want, ":")); got != tt.want {
				t.Errorf("read as %s, want %s", got, tt.want)
			}
		})
	}
}

func TestFreeTextIsWhatWasTyped(t *testing.T) {
	q := &Question{Expected: FreeText, Languages: []string{"he", "ja"}}
	for text, want := range map[string]string{
		"  Hello, World!  ": "Hello, World!",
		`"cancel"`:          "cancel",
		"„Cancel“":          "Cancel",
		`"Cancel".`:         "Cancel",
		`("never mind")`:    "never mind",
		"「キャンセル」":           "キャンセル",
		`"hello"`:           `"hello"`,
		"cancel it 👍":       "cancel it 👍",
		"yes":               "yes",
		"\u200Fשלום":        "\u200Fשלום",
	} {
		if got := Read(text, q); got.Verdict != Text || got.Text != want {
			t.Errorf("%q read as %v %q, want the text %q", text, got, got.Text, want)
		}
	}
}
