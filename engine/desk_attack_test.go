package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
)

// What a request withholds is withheld in what was said too, however it is written, and however much of it there is.
func TestAttackSecretsInTexts(t *testing.T) {
	var people []string
	for i := range 20_000 {
		people = append(people, fmt.Sprintf("user%d@example.org", i))
	}
	raw, err := json.Marshal(map[string]any{"iban": "DE89 ABC", "name": "Émile Åström", "kelvin": "kkk", "pin": 4711, "people": people, "open": "hello"})
	if err != nil {
		t.Fatal(err)
	}
	secrets := withheldFrom(holdshort.Request{Actions: []holdshort.Action{{Args: raw, Redacted: []string{"iban", "name", "kelvin", "pin", "people"}}}})
	for text, want := range map[string]string{
		"hello, my account is de89 abc.":         "hello, my account is [withheld].",
		"DE89 ABCDE89 abc":                       "[withheld][withheld]",
		"ÉMILE ÅSTRÖM or émile åström":           "[withheld] or [withheld]",
		"\u212akK and 4711 and 471":              "[withheld] and [withheld] and 471",
		"write to USER17@example.org":            "write to [withheld]",
		"user20000@example.org is nobody":        "user20000@example.org is nobody",
		"broken \xff\xfe but kept: DE89 ABC\xff": "broken \xff\xfe but kept: [withheld]\xff",
		"":                                       "",
	} {
		if got := secrets.hide(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	long := strings.Repeat("please write to all of them, user17@example.org too. ", 1200)
	if got := secrets.hide(long); strings.Contains(got, "user17") || strings.Count(got, Withheld) != 1200 {
		t.Errorf("%d of 1200 are withheld", strings.Count(got, Withheld))
	}
}
