package answer

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestOf(t *testing.T) {
	tests := []struct{ body, want string }{
		{"", "null"},
		{" \n", "null"},
		{`{"a":1}`, `{"a":1}`},
		{" [1]\n", `[1]`},
		{"hello <b>", `"hello <b>"`},
		{`{"a":1} trailing`, `"{\"a\":1} trailing"`},
		{"caf\xe9 au lait with enough text", `"caf` + "\uFFFD" + ` au lait with enough text"`},
		{"a\x00b", `{"binary":true,"media_type":"x/y","bytes":3,"base64":"YQBi"}`},
		{"\xff\xfe\xfd\xfc", `{"binary":true,"media_type":"x/y","bytes":4,"base64":"//79/A=="}`},
		{"\"\xff\"", `{"binary":true,"media_type":"x/y","bytes":3,"base64":"Iv8i"}`},
	}
	for _, tt := range tests {
		if got := string(Of([]byte(tt.body), "x/y")); got != tt.want {
			t.Errorf("%q is %s, want %s", tt.body, got, tt.want)
		}
	}
}

// Whatever comes, the result is JSON that is text, and no longer than it may be by much.
func TestAlwaysJSON(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := rapid.OneOf(rapid.SliceOf(rapid.Byte()), rapid.Map(rapid.String(), func(s string) []byte { return []byte(s) })).Draw(r, "bytes")
		for _, value := range []json.RawMessage{Of(b, ""), Truncated(b, 9), Limit(Of(b, ""), 10)} {
			if !json.Valid(value) || !utf8.Valid(value) {
				r.Fatalf("%q gives %q", b, value)
			}
		}
		if !utf8.ValidString(Text(b)) || len(Tail(b)) < len(b)-3 {
			r.Fatalf("%q is no text", b)
		}
	})
}

func TestLimit(t *testing.T) {
	long := Marshal(strings.Repeat("ä", 100))
	var cut Cut
	if err := json.Unmarshal(Limit(long, 20), &cut); err != nil || !cut.Truncated || cut.Bytes != int64(len(long)) || cut.Text != `"`+strings.Repeat("ä", 9) {
		t.Errorf("is %+v, %v", cut, err)
	}
	if got := Limit(long, len(long)); string(got) != string(long) {
		t.Errorf("what fits is cut: %s", got)
	}
}

func TestBound(t *testing.T) {
	for _, letter := range []string{"a", "\x01", `"`} {
		for _, size := range []int{10, 1 << 20, 2 << 20} {
			value := Marshal(strings.Repeat(letter, size))
			got := Bound(value)
			if len(got) > Most || !json.Valid(got) || len(value) <= Most && string(got) != string(value) || len(value) > Most && !strings.HasPrefix(string(got), `{"truncated":true`) {
				t.Errorf("%d times %q become %d bytes", size, letter, len(got))
			}
		}
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{"": "", "a": "a", "ä"[:1]: "", "aä"[:2]: "a", "€"[:2]: "", "😀"[:3]: "", "a😀"[:4]: "a", "€": "€", "a\xffb": "a\uFFFDb"} {
		if got := Text([]byte(in)); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"": "", "a": "a", "ä"[1:]: "", "€"[1:] + "x": "x", "😀"[1:] + "y": "y", "€": "€"} {
		if got := string(Tail([]byte(in))); got != want {
			t.Errorf("the end %q is %q, want %q", in, got, want)
		}
	}
}

func TestMarshalOfWhatIsNone(t *testing.T) {
	if got := Marshal(make(chan int)); !json.Valid(got) {
		t.Errorf("is %s", got)
	}
}
