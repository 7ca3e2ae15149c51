package repair

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/tool"
)

func TestMessage(t *testing.T) {
	ratio := calls(t)["ratio"].Fault
	for _, c := range []struct {
		name, asked, language string
		fault                 tool.Fault
		want                  string
	}{
		{"a list of values", "Create a 1:1 sunset image", "en", ratio,
			"You asked: “Create a 1:1 sunset image”\nThat did not work: aspect_ratio cannot be match_input_img.\nIt can be: 1:1, 16:9, 4:3, 3:4, 9:16, …\nWhat should aspect_ratio be?"},
		{"Hebrew", "תמונה 1:1", "he-IL", ratio,
			"ביקשת: “תמונה 1:1”\nזה לא הצליח: aspect_ratio לא יכול להיות match_input_img.\nאפשר: 1:1, 16:9, 4:3, 3:4, 9:16, …\nמה צריך להיות aspect_ratio?"},
		{"the old code of Hebrew", "", "iw", tool.Fault{Field: "a", Value: json.RawMessage("1")}, "זה לא הצליח: a לא יכול להיות 1.\nמה צריך להיות a?"},
		{"Portuguese", "Crie uma imagem 1:1", "pt_BR", ratio,
			"Você pediu: “Crie uma imagem 1:1”\nNão deu certo: aspect_ratio não pode ser match_input_img.\nPode ser: 1:1, 16:9, 4:3, 3:4, 9:16, …\nQual deve ser o valor de aspect_ratio?"},
		{"another language", "x", "ja", tool.Fault{Field: "count", Value: json.RawMessage("40"), Message: "at most 10"},
			"You asked: “x”\nThat did not work: count cannot be 40.\nIt says: at most 10\nWhat should count be?"},
		{"no value", "", "en", tool.Fault{Field: "name", Message: "is required"}, "That did not work: name is missing or cannot be what it is.\nIt says: is required\nWhat should name be?"},
		{"no field", "", "en", tool.Fault{Message: "bad request"}, "That did not work: the other side did not take the details.\nIt says: bad request\nWhat should be changed? Please write field: value."},
		{"what does not belong in a line", "two\nlines\u202E \x00", "en", tool.Fault{Field: "a\nb", Value: json.RawMessage(`"x\ny"`), Message: "m\r\nn"},
			"You asked: “two lines”\nThat did not work: a b cannot be x y.\nIt says: m n\nWhat should a b be?"},
		{"placeholders in what others wrote", "{field}", "en", tool.Fault{Field: "{value}", Value: json.RawMessage(`"{field}"`)}, "You asked: “{field}”\nThat did not work: {value} cannot be {field}.\nWhat should {value} be?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Message(c.fault, c.asked, c.language); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	long := strings.Repeat("a very long story ", 500)
	f := tool.Fault{Field: long, Message: long}
	f.Value, _ = json.Marshal(long)
	for range 300 {
		f.Allowed = append(f.Allowed, f.Value)
	}
	if got := Message(f, long, "en"); len(got) > 2000 {
		t.Errorf("a message of %d bytes", len(got))
	}
}

func TestAgain(t *testing.T) {
	for _, language := range append(Languages(), "xx") {
		for _, reason := range Reasons() {
			err := refuse(reason, "aspect_ratio")
			got := Again(err, "the question", language)
			if strings.ContainsAny(got, "{}") || (reason == Canceled) != !strings.HasSuffix(got, "\n\nthe question") || strings.HasPrefix(got, "\n") {
				t.Errorf("%s in %s: %q", reason, language, got)
			}
			if !errors.Is(err, reason) || ReasonOf(err) != reason || errors.Is(err, holdshort.Canceled) != (reason == Canceled) {
				t.Errorf("%s is refused with %#v", reason, err)
			}
		}
	}
	if got := Again(errors.New("x"), "the question", "en"); got != "the question" {
		t.Errorf("an error of somebody else gives %q", got)
	}
	if got := ReasonOf(nil); got != "" {
		t.Errorf("no error has the reason %q", got)
	}
}

func TestConfirm(t *testing.T) {
	changes := []Change{{Field: "aspect_ratio", Before: json.RawMessage(`"match_input_img"`), After: json.RawMessage(`"1:1"`)}, {Field: "count\n", After: json.RawMessage("2")}}
	for language, want := range map[string]string{
		"en": "This is how I understood you:\naspect_ratio: match_input_img → 1:1\ncount: (nothing) → 2\nShall I change that and try again?",
		"he": "כך הבנתי אותך:\naspect_ratio: match_input_img → 1:1\ncount: (כלום) → 2\nלשנות את זה ולנסות שוב?",
		"pt": "Foi isto que entendi:\naspect_ratio: match_input_img → 1:1\ncount: (nada) → 2\nPosso mudar isso e tentar de novo?",
	} {
		if got := Confirm(changes, language); got != want {
			t.Errorf("in %s: got\n%s\nwant\n%s", language, got, want)
		}
	}
}

func TestCatalogue(t *testing.T) {
	for _, c := range catalogue {
		for s := range sayCount {
			english := catalogue[0].says[s]
			if c.says[s] == "" || strings.Count(c.says[s], "{") != strings.Count(english, "{") {
				t.Errorf("%s: text %d is %q, in English %q", c.language, s, c.says[s], english)
			}
			for _, name := range []string{"{asked}", "{field}", "{value}", "{values}", "{message}"} {
				if strings.Contains(c.says[s], name) != strings.Contains(english, name) {
					t.Errorf("%s: text %d lacks or adds %s", c.language, s, name)
				}
			}
		}
		for _, reason := range Reasons() {
			text := c.again[reason]
			if text == "" || strings.Contains(text, "{field}") != strings.Contains(catalogue[0].again[reason], "{field}") {
				t.Errorf("%s: %s says %q", c.language, reason, text)
			}
			if c.language == "he" && !strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Hebrew, r) }) {
				t.Errorf("%s: %s says %q", c.language, reason, text)
			}
		}
		if len(c.again) != len(Reasons()) {
			t.Errorf("%s has %d reasons, there are %d", c.language, len(c.again), len(Reasons()))
		}
	}
}

func TestErrorsNeverQuote(t *testing.T) {
	c := calls(t)["ratio"]
	for _, text := range []string{"secretword", "use secretword", "1:1 secretword", "prompt: not secretword", `{"aspect_ratio":"secretword"}`, "fix secretword"} {
		_, err := Read(text, c.Fault, c.Args, c.Schema, []Line{{Role: "user", Text: "secretword"}})
		if err == nil || strings.Contains(err.Error(), "secretword") {
			t.Errorf("%q is refused with %v", text, err)
		}
	}
}
