package reply

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

func TestEveryMessageInEveryLanguage(t *testing.T) {
	for _, language := range []string{"en", "he", "pt"} {
		if !slices.Contains(CatalogueLanguages(), language) {
			t.Errorf("the catalogue lacks %s", language)
		}
	}
	english := &catalogue[0]
	if english.language != "en" {
		t.Fatal("English, the fallback, must come first")
	}
	for i := range catalogue {
		c := &catalogue[i]
		seen := map[string]bool{}
		for m := range messageCount {
			text := c.texts[m]
			if text == "" || text != strings.TrimSpace(text) || seen[text] {
				t.Errorf("%s: message %d is empty, untrimmed or a repetition: %q", c.language, m, text)
			}
			seen[text] = true
			got, want := placeholder.FindAllString(text, -1), placeholder.FindAllString(english.texts[m], -1)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s: message %d has placeholders %v, English has %v", c.language, m, got, want)
			}
			if i > 0 && text == english.texts[m] {
				t.Errorf("%s: message %d is still English", c.language, m)
			}
		}
	}
}

func TestSayFallsBackToEnglish(t *testing.T) {
	for _, tt := range []struct {
		languages []string
		want      string
	}{
		{nil, "That request expired — want to try again?"},
		{[]string{"he-IL"}, "הבקשה פגה — רוצה לנסות שוב?"},
		{[]string{"iw"}, "הבקשה פגה — רוצה לנסות שוב?"},
		{[]string{"xx", "PT-br"}, "Esse pedido expirou — quer tentar de novo?"},
		{[]string{"xx"}, "That request expired — want to try again?"},
	} {
		if got := Say(Expired, tt.languages); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.languages, got, tt.want)
		}
	}
	if got, want := Say(Stale, nil), "I'm not waiting on a question right now — what would you like to do?"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := Say(Stale, []string{"he"}), "אני לא מחכה לתשובה כרגע — מה תרצה לעשות?"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Say(SeveralOpen, nil, "{codes}", "K7, K8"); !strings.HasSuffix(got, ": K7, K8.") {
		t.Errorf("got %q", got)
	}
	if got := Say(messageCount, nil); got != "" {
		t.Errorf("a message that does not exist says %q", got)
	}
}

// Every reason has a text that fits its question, names what is wrong, and stands once before the original question.
func TestAskAgain(t *testing.T) {
	const question = "Refund 120 EUR to order 77?"
	fields := []Field{{Name: "colour", Type: Enum, Enum: []string{"a", "b", "c", "d", "e", "f"}, Required: true}, {Name: "n", Type: Number}}
	for _, tt := range []struct {
		q    Question
		text string
		want string
	}{
		{Question{Expected: YesNo}, "banana", "Please answer yes or no."},
		{Question{Expected: YesNo}, "", "Please write one."},
		{Question{Expected: YesNo}, "da", "Please write the whole word"},
		{Question{Expected: YesNo, Actions: true}, "y", "Please write the whole word"},
		{Question{Expected: YesNo, Actions: true}, `"yes"`, "without them"},
		{Question{Expected: YesNo}, "👍👎", "in two ways"},
		{Question{Expected: YesNo}, strings.Repeat("a", MaxReply+1), "shorter"},
		{Question{Expected: SingleChoice, Options: make([]Option, 3)}, "purple", "pick one option"},
		{Question{Expected: SingleChoice, Options: make([]Option, 3)}, "7", "from 1 to 3"},
		{Question{Expected: SingleChoice, Options: make([]Option, 3)}, "1 2", "Only one"},
		{Question{Expected: MultiChoice, Options: make([]Option, 3)}, "purple", "pick options"},
		{Question{Expected: MultiChoice, Options: make([]Option, 3)}, "3-1", "backwards"},
		{Question{Expected: MultiChoice, Options: make([]Option, 3)}, "both", "more than two"},
		{Question{Expected: Form, Fields: fields}, `{`, "JSON"},
		{Question{Expected: Form, Fields: fields}, "color: a", "no field color"},
		{Question{Expected: Form, Fields: fields}, "colour: a\ncolour: b", "colour is there twice"},
		{Question{Expected: Form, Fields: fields}, "colour: z", "colour. Please use one of: a, b, c, d, e, …"},
		{Question{Expected: Form, Fields: fields}, "colour: a\nn: many", "value of n"},
		{Question{Expected: Form, Fields: fields}, "n: 1", "colour is missing"},
		{Question{Expected: Form, Fields: fields[1:]}, "hello", "one field on each line"},
		{Question{Expected: YesNo, Languages: []string{"he"}}, "banana", "אפשר לענות כן או לא?"},
		{Question{Expected: YesNo, Languages: []string{"pt"}}, "banana", "responda sim ou não"},
	} {
		r := Read(tt.text, &tt.q)
		got := AskAgainText(r, &tt.q, question)
		prefix, rest, _ := strings.Cut(got, "\n\n")
		if r.Verdict != None || !strings.Contains(prefix, tt.want) || rest != question || placeholder.MatchString(got) {
			t.Errorf("%q (%v): got %q, want %q and the question", tt.text, r, got, tt.want)
		}
	}
}
