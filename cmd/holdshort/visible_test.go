package main

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	tests := []struct{ in, want string }{
		{"plain, ünïcode 日本 👍", "plain, ünïcode 日本 👍"},
		{"a\u202eb", "a⟨U+202E⟩b"},
		{"zero\u200bwidth\u200d\ufeff", "zero⟨U+200B⟩width⟨U+200D⟩⟨U+FEFF⟩"},
		{"\x1b[2Jx\x07\r", "⟨U+001B⟩[2Jx⟨U+0007⟩⟨U+000D⟩"},
		{"two\nlines\u2028three", "two\nlines⟨U+2028⟩three"},
		{"soft\u00adhyphen no\u00a0break", "soft⟨U+00AD⟩hyphen no⟨U+00A0⟩break"},
		{"tag\U000e0041", "tag⟨U+E0041⟩"},
		{"filler\u3164\u2800", "filler⟨U+3164⟩⟨U+2800⟩"},
		{"bad\xffutf8", "bad⟨U+FFFD⟩utf8"},
	}
	for _, tt := range tests {
		if got := visible(tt.in); got != tt.want {
			t.Errorf("visible(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	if got := oneLine("a\nb"); got != "a⏎b" {
		t.Errorf("%q", got)
	}
}

// JSON is shown with escapes, and is still the same value.
func TestVisibleJSON(t *testing.T) {
	for _, in := range []string{`{"a":"x` + "\u202e\U000e0041" + `y","b":[1,{"c":null}]}`, `"` + "\u200b" + `"`, `{}`} {
		got := visibleJSON(json.RawMessage(in))
		var before, after any
		if json.Unmarshal([]byte(in), &before) != nil || json.Unmarshal([]byte(got), &after) != nil {
			t.Fatalf("%s became %s", in, got)
		}
		a, _ := json.Marshal(before)
		b, _ := json.Marshal(after)
		if string(a) != string(b) || strings.ContainsAny(got, "\u202e\u200b\U000e0041") {
			t.Errorf("%s became %s", in, got)
		}
	}
	if got := visibleJSON(json.RawMessage("no\u202ejson")); got != "no⟨U+202E⟩json" {
		t.Errorf("%q", got)
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\u202eb\x1b")
	f.Fuzz(func(t *testing.T, in string) {
		got := visible(in)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && hides(r) }) {
			t.Errorf("%q became %q", in, got)
		}
		for _, line := range wrap(oneLine(in), 20) {
			if len([]rune(line)) > 200 {
				t.Errorf("a line of %q", line)
			}
		}
	})
}

func TestDiff(t *testing.T) {
	got := strings.Join(diff(json.RawMessage(`{"a":1,"b":"x"}`), json.RawMessage(`{"a":2,"b":"x","c":true}`)), "\n")
	want := "  {\n-   \"a\": 1,\n-   \"b\": \"x\"\n+   \"a\": 2,\n+   \"b\": \"x\",\n+   \"c\": true\n  }"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
