package inbox

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzVisible: nothing that a stranger writes is HTML on a page, and nothing in it is invisible.
func FuzzVisible(f *testing.F) {
	for _, seed := range []string{"plain", "<b>", "a\u202eb", "\u200b", "p\u0430y", "\xff\xfe", "&amp;", "line\nbreak", "שלום", "e\u0301", "\U0001f469\u200d\U0001f680", "\u3164"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if raw, err := json.Marshal(text); err == nil { // written by its numbers it is the same text
			var one, two string
			if json.Unmarshal(raw, &one) != nil || json.Unmarshal([]byte(spelled(string(raw))), &two) != nil || one != two {
				t.Fatalf("%q becomes %q", one, two)
			}
		}
		shown := string(visible(text))
		rest := shown
		for { // what is left without our own marks
			before, after, found := strings.Cut(rest, `<span class="odd" title="`)
			if strings.ContainsAny(before, "<>\"'") {
				t.Fatalf("%q is shown as %q", text, shown)
			}
			if strings.ContainsFunc(before, odd) {
				t.Fatalf("%q hides something: %q", text, shown)
			}
			if !found {
				return
			}
			_, after, ok := strings.Cut(after, "</span>")
			if !ok {
				t.Fatalf("%q breaks the mark: %q", text, shown)
			}
			rest = after
		}
	})
}

// FuzzPlainCell: no cell of an exported table begins like a formula, and nothing is lost of what it held.
func FuzzPlainCell(f *testing.F) {
	for _, seed := range []string{"", "plain", "=1+1", "+1", "-1", "@x", "\tx", "\r=x", "'=x", "＝1", "|x", "%x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := plainCell(text)
		if strings.TrimPrefix(got, "'") != text && got != text {
			t.Fatalf("%q becomes %q", text, got)
		}
		if got != "" && strings.ContainsRune("=+-@\t\r\n|%＝＋－＠", []rune(got)[0]) {
			t.Fatalf("%q is still a formula", got)
		}
	})
}
