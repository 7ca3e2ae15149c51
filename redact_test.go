package holdshort_test

import (
	"encoding/json"
	"testing"

	"github.com/holdshort/holdshort"
)

func TestRedact(t *testing.T) {
	for _, c := range []struct {
		args   string
		fields []string
		want   string
	}{
		{`{"a":1,"b":2}`, nil, `{"a":1,"b":2}`},
		{`{"a":1,"b":2}`, []string{"b"}, `{"a":1,"b":"[redacted]"}`},
		{`{"a":1}`, []string{"c"}, `{"a":1}`},
		{`{"a":1,"b":2}`, []string{"*"}, `"[redacted]"`},
		{`{"a":{"b":1,"c":2}}`, []string{"a.b"}, `{"a":{"b":"[redacted]","c":2}}`},
		{`{"a.b":1,"a":{"b":1}}`, []string{"a.b"}, `{"a":{"b":"[redacted]"},"a.b":"[redacted]"}`},
		{`{"a":[{"b":1}]}`, []string{"a.b"}, `{"a":"[redacted]"}`},
		{`{"a":1}`, []string{"b.c"}, `{"a":1}`},
		{`[1,2]`, []string{"a"}, `"[redacted]"`},
		{`"secret"`, []string{"a"}, `"[redacted]"`},
		{`{"a":`, []string{"a"}, `"[redacted]"`},
		{``, []string{"a"}, ``},
	} {
		if got := string(holdshort.Redact(json.RawMessage(c.args), c.fields)); got != c.want {
			t.Errorf("Redact(%s, %v) = %s, want %s", c.args, c.fields, got, c.want)
		}
	}
}
