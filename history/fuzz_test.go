package history

import (
	"testing"
	"unicode/utf8"
)

// FuzzParse: whatever another system answers, every message that comes of it has a text, a role and a type, and merging it again changes
// nothing.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`[]`, `{}`, `null`, `[null]`, `{"success":true,"messages":[{"id":1,"content":"x","createdAt":"2025-10-29T12:00:00Z"}]}`,
		`[{"_id":"a","sender":{"role":"agent"},"message":"y","created_at":1e300}]`, `[{"content":"z","timestamp":-1},{"content":"z","timestamp":"NaN"}]`, `[{"content":["a"]}]`, `{"messages":{}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, err := parse(raw)
		if err != nil && list != nil {
			t.Fatalf("%v with %v", list, err)
		}
		for _, m := range list {
			if len(m.Parts) != 1 || m.Parts[0].Text == "" || m.Role == "" || m.Type == "" || utf8.Valid(raw) && !utf8.ValidString(m.Parts[0].Text) {
				t.Fatalf("%+v", m)
			}
		}
		once := Merge(nil, list)
		for _, m := range once {
			if len(keysOf(m)) == 0 {
				return // nothing tells it from a copy of itself
			}
		}
		if twice := Merge(once, list); len(twice) != len(once) {
			t.Fatalf("%d messages, merged again %d", len(once), len(twice))
		}
	})
}
